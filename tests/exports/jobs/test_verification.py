"""A verification as a job: what it finds and where, how far it is, and that an interruption loses only what is new."""

import json
import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final

import pytest
from sqlalchemy import text

from jackpot_service.database.reads import Reads
from jackpot_service.domain.principals import Role
from jackpot_service.exports.jobs.kinds import Json, Kind, Piece
from jackpot_service.exports.jobs.requests import KINDS
from jackpot_service.exports.jobs.runner import MOST_ATTEMPTS
from jackpot_service.exports.jobs.verification import verification
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = pytest.mark.slow

ZERO: Final = {"from": "zero"}
LAST: Final = {"from": "last"}

ROUNDS: Final = 6


@pytest.fixture
def played(world: World) -> World:
    """Rounds in two jackpots, so that there are several notes on the way."""
    world.open(base_amount="1000", stripes=2)
    world.open(jackpot_id="j2", base_amount="1000", tables=("T2",))
    for number in range(ROUNDS):
        table_id = "T1" if number % 2 else "T2"
        world.bet(bet("a"), round_id=f"r{number}", table_id=table_id)
        world.settle(hand("1", NOTHING), round_id=f"r{number}", table_id=table_id)
    return world


def start(world: World, parameters: Body = ZERO, *, request_id: str = "v") -> Body:
    body: Body = world.ask_job(parameters, kind="verification", request_id=request_id).ok(201)
    return body


def job(world: World, request_id: str = "v") -> Body:
    jobs = world.get("/v1/jobs").ok()["items"]
    return next(dict(job) for job in jobs if job["request_id"] == request_id)


def run(world: World, request_id: str = "v") -> Body:
    job_id, runs = job(world, request_id)["job_id"], world.get("/v1/verification-runs").ok()["items"]
    return next(dict(run_) for run_ in runs if run_["job_id"] == job_id)


def notes(world: World) -> list[Body]:
    items: list[Body] = world.get("/v1/verifications").ok()["items"]
    return items[::-1]


def expire(world: World) -> None:
    with world.engine.begin() as session:
        session.execute(text("UPDATE jobs SET lease_until = now() - interval '1 second'"))


def often() -> Mapping[str, Kind[Any]]:
    """The kind with a note and a piece wherever there can be one."""
    return {"verification": verification(note_every_s=0, piece_every_s=0)}


def interrupted(is_time: Callable[[Piece], bool], act: Callable[[], object]) -> Mapping[str, Kind[Any]]:
    """The same; something happens once, before the first piece for which it is time is written."""
    kind = often()["verification"]

    def pieces(reads: Reads, parameters: Json, position: Json | None) -> Generator[Piece, None, None]:
        is_over = False
        for piece in kind.pieces(reads, parameters, position):
            if not is_over and is_time(piece):
                is_over = True
                act()
            yield piece

    return {"verification": replace(kind, pieces=pieces)}


def after(pieces: int) -> Callable[[Piece], bool]:
    """Whether so many pieces of an attempt are written."""
    numbers = count()
    return lambda _piece: next(numbers) >= pieces


def has_note(piece: Piece) -> bool:
    return piece.position is not None and piece.position["note"] is not None


@dataclass
class Noted:
    """Whether so many pieces with a note have come, and the notes that they name: the proof itself may be further."""

    pieces: int
    numbers: list[int] = field(default_factory=list)

    def __call__(self, piece: Piece) -> bool:
        if piece.position is not None and has_note(piece):
            self.numbers.append(piece.position["note"])
        return len(self.numbers) == self.pieces


def raising(error: BaseException) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


def test_right_books_are_proved_and_noted(played: World) -> None:
    job_id = start(played)["job_id"]
    assert run(played)["outcome"] is None

    assert played.runner().run_next()

    (note,) = notes(played)
    shown = run(played)
    assert (shown["state"], shown["from"], shown["error"]) == ("done", "zero", None)
    assert shown["progress"]["done"] == shown["progress"]["total"]
    outcome = shown["outcome"]
    assert (outcome["is_clean"], outcome["mismatches"], outcome["first_mismatches"]) == (True, 0, [])
    assert (outcome["note"], outcome["continues"], outcome["books"]) == (note["number"], None, 3)
    assert {name: outcome[name] for name in ("entries", "rounds", "bets", "awards")} == {
        name: note[name] for name in ("entries", "rounds", "bets", "awards")
    }
    assert (outcome["rounds"], outcome["bets"]) == (ROUNDS, ROUNDS)
    assert note["is_whole"]
    file = json.loads(played.get(f"/v1/jobs/{job_id}/file").text)
    assert (file["mismatches"], file["mismatch_count"], file["service_version"]) == ([], 0, note["service_version"])


def test_a_corrupted_row_is_named_by_its_code_and_place_and_nothing_is_noted(played: World) -> None:
    past_the_service(played.database_url, "UPDATE rounds SET bet_count = 7 WHERE round_id = 'r3'")
    job_id = start(played)["job_id"]

    assert played.runner().run_next()

    outcome = run(played)["outcome"]
    assert (outcome["is_clean"], outcome["note"]) == (False, None)
    (mismatch,) = outcome["first_mismatches"]
    assert (mismatch["code"], mismatch["book"]) == ("round-bet-count", "j1")
    assert "r3" in mismatch["place"]
    assert played.books.mismatches()[0].place == mismatch["place"]
    assert not [note for note in notes(played) if note["is_whole"]]
    file = json.loads(played.get(f"/v1/jobs/{job_id}/file").text)
    assert file["mismatches"] == [mismatch]
    assert file["codes"] == {"round-bet-count": 1}


def test_it_goes_on_from_the_last_note(played: World) -> None:
    start(played)
    played.runner().run_next()
    played.bet(bet("z"), round_id="later")

    job_ = start(played, LAST, request_id="w")
    assert job_["parameters"] == {"from": "last", "continues": notes(played)[0]["number"]}
    played.runner().run_next()

    first, second = notes(played)
    assert second["continues"] == first["number"]
    assert run(played, "w")["outcome"]["continues"] == first["number"]
    assert run(played, "w")["outcome"]["rounds"] == 1


def test_without_a_note_the_last_is_zero(played: World) -> None:
    assert start(played, LAST)["parameters"] == {"from": "last", "continues": None}
    played.runner().run_next()
    assert run(played)["outcome"]["rounds"] == ROUNDS


def test_it_says_on_the_way_how_far_it_is(played: World) -> None:
    start(played)
    seen: list[Body] = []
    kinds = interrupted(lambda piece: piece.done * 2 > (piece.total or 0) > 0, lambda: seen.append(job(played)))

    played.runner(kinds=kinds).run_next()

    (middle,) = seen
    assert (middle["state"], middle["file"]) == ("running", None)
    assert 0 < middle["progress"]["done"] < middle["progress"]["total"]


def test_bets_are_taken_while_it_reads(played: World) -> None:
    """It reads one instant: what comes meanwhile is neither held up nor seen."""
    start(played)
    kinds = interrupted(lambda piece: piece.done > 0, lambda: played.bet(bet("m"), round_id="meanwhile"))

    played.runner(kinds=kinds).run_next()

    assert run(played)["outcome"]["is_clean"]
    assert run(played)["outcome"]["rounds"] == ROUNDS
    assert played.live_bets("T1", "meanwhile") == 1


def test_a_runner_that_is_to_stop_leaves_it_to_the_next_which_goes_on_from_the_note(played: World) -> None:
    start(played)
    stop = threading.Event()
    noted = Noted(1)
    assert played.runner(kinds=interrupted(noted, stop.set), stop=stop).run_next()
    left = job(played)
    assert (left["state"], left["progress"]["attempts"]) == ("queued", 0)
    assert run(played)["outcome"] is None  # The proof itself may be further, and at its end, when a piece is written.

    assert played.runner(kinds=often()).run_next()

    whole = notes(played)[-1]
    assert whole["is_whole"]
    assert run(played)["state"] == "done"
    assert run(played)["outcome"]["continues"] == noted.numbers[0]
    assert run(played)["progress"]["done"] == run(played)["progress"]["total"]


def test_one_that_was_lost_goes_on_after_its_lease(played: World) -> None:
    start(played)
    noted = Noted(2)  # The first of them is written before the runner is lost.
    with pytest.raises(SystemExit):
        played.runner(kinds=interrupted(noted, raising(SystemExit()))).run_next()
    assert not played.runner(kinds=often()).run_next()
    expire(played)

    assert played.runner(kinds=often()).run_next()

    outcome = run(played)["outcome"]
    assert outcome["is_clean"]
    assert outcome["continues"] == noted.numbers[0]


def test_what_was_wrong_before_an_interruption_is_found_again(played: World) -> None:
    past_the_service(played.database_url, "UPDATE rounds SET bet_count = 7 WHERE round_id = 'r3'")
    start(played)
    with pytest.raises(SystemExit):
        played.runner(kinds=interrupted(lambda piece: piece.done == piece.total, raising(SystemExit()))).run_next()
    expire(played)

    assert played.runner(kinds=often()).run_next()

    assert [each["code"] for each in run(played)["outcome"]["first_mismatches"]] == ["round-bet-count"]


def test_one_that_never_gets_further_is_given_up(played: World) -> None:
    start(played)
    kinds = interrupted(lambda _piece: True, raising(SystemExit()))
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(SystemExit):
            played.runner(kinds=kinds).run_next()
        expire(played)

    assert played.runner(kinds=kinds).run_next()

    shown = run(played)
    assert shown["state"] == "failed"
    assert shown["error"].startswith("given-up:")


def test_the_same_note_again_is_no_further_attempt_that_counts_anew(played: World) -> None:
    """A job whose process ends after each note it goes on from is given up in the end."""
    start(played)
    stop = threading.Event()
    assert played.runner(kinds=interrupted(has_note, stop.set), stop=stop).run_next()
    never = {"verification": verification(note_every_s=3600, piece_every_s=0)}

    def once(reads: Reads, parameters: Json, position: Json | None) -> Generator[Piece, None, None]:
        with_pieces = never["verification"].pieces(reads, parameters, position)
        yield next(with_pieces)
        raise SystemExit

    kinds = {"verification": replace(never["verification"], pieces=once)}
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(SystemExit):
            played.runner(kinds=kinds).run_next()
        expire(played)

    assert played.runner(kinds=kinds).run_next()
    assert run(played)["error"].startswith("given-up:")


def test_one_that_is_cancelled_ends_where_it_is(played: World) -> None:
    job_id = start(played)["job_id"]
    cancelling = f"/v1/jobs/{job_id}/cancellation"

    def cancel() -> None:
        played.post(cancelling, {}, key=played.key(Role.FINANCE)).problem(403, "job-forbidden")
        played.post(cancelling, {}, key=played.key(Role.AUDITOR)).ok()

    assert played.runner(kinds=interrupted(has_note, cancel)).run_next()

    assert (run(played)["state"], run(played)["cancelled_by"]) == ("cancelled", "a auditor")
    assert not [thread for thread in threading.enumerate() if thread.name == "work that reports"]
    start(played, request_id="w")


def test_auditors_alone_start_it(played: World) -> None:
    for role in (Role.FINANCE,):
        played.ask_job(ZERO, kind="verification", key=played.key(role)).problem(403, "job-forbidden")
    for role in set(Role) - {Role.FINANCE, Role.AUDITOR}:
        played.ask_job(ZERO, kind="verification", key=played.key(role)).problem(403, "role-forbidden")
    of_casino = played.key(Role.FINANCE, casino_id="c1")
    played.ask_job(ZERO, kind="verification", key=of_casino).problem(403, "job-forbidden")


@pytest.mark.parametrize("parameters", [{}, {"from": "here"}, {"from": None}, {"from": "zero", "note": 1}])
def test_a_request_that_cannot_be_is_refused(played: World, parameters: Body) -> None:
    played.ask_job(parameters, kind="verification").problem(422, "payload-invalid")


def test_one_is_under_way_at_a_time(played: World) -> None:
    job_id = start(played)["job_id"]
    other = played.person("Anna", Role.AUDITOR)

    assert played.ask_job(ZERO, kind="verification", request_id="v").ok(200)["job_id"] == job_id
    refused = played.ask_job(LAST, kind="verification", request_id="w", key=other)
    assert refused.problem(409, "job-under-way")["job_id"] == job_id
    played.ask_job({"jackpot_id": "j1", "format": "hledger"}, request_id="j").ok(201)
    while played.runner().run_next():
        pass
    played.ask_job(LAST, kind="verification", request_id="w", key=other).ok(201)


def test_of_two_auditors_who_start_at_once_one_does(played: World) -> None:
    keys = [played.person(name, Role.AUDITOR) for name in ("Ada", "Anna", "Abel", "Aino")]
    barrier, answers = threading.Barrier(len(keys)), []

    def ask(key: str) -> None:
        barrier.wait()
        answers.append(played.ask_job(ZERO, kind="verification", key=key))

    threads = [threading.Thread(target=ask, args=[key]) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answer.status for answer in answers) == [201, 409, 409, 409]
    assert len(played.get("/v1/verification-runs").ok()["items"]) == 1


def test_every_kind_but_this_may_wait_for_another_of_its_kind() -> None:
    assert [name for name, kind in KINDS.items() if kind.is_alone] == ["verification"]
