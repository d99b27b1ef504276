"""A report as a job is made anew whenever its runner was lost, and is the same to the byte."""

import threading
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import Final

import pytest

from jackpot_service.database.reads import Reads
from jackpot_service.domain.principals import Role
from jackpot_service.exports.jobs.kinds import Json, Piece
from jackpot_service.exports.jobs.report import report
from jackpot_service.exports.jobs.runner import MOST_ATTEMPTS
from jackpot_service.reports.finance import registry
from tests.exports.jobs import kinds
from tests.exports.jobs.kinds import Kinds
from tests.exports.jobs.test_runner import expire, job, written
from tests.support.answers import Body
from tests.support.asking import report_answer
from tests.support.bets import bet
from tests.support.drivers import kept_on_loop
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

BETS: Final = 20

FORMS: Final = ("csv", "xlsx")


@pytest.fixture
def played(world: World) -> World:
    """A jackpot with twenty bets."""
    world.open(base_amount="1000", stripes=3)
    for number in range(BETS // 2):
        world.bet(bet("a"), bet("b", hand="2", currency="GBP"), round_id=f"r{number}")
    return world


def ask(world: World, form: str = "csv") -> Body:
    parameters = {"name": "rounds", "section": "bets", "format": form}
    return world.ask_job(parameters, kind="report", key=world.person("Fay", Role.FINANCE)).ok(201)


def small() -> Kinds:
    """Reports in pieces of three rows."""
    return {"report": report(rows=3)}


def interrupted(after: int, act: Callable[[], object]) -> Kinds:
    """Reports in small pieces; when so many of an attempt are written, something happens before the next."""
    kind = small()["report"]

    def pieces(reads: Reads, parameters: Json, position: Json | None) -> Generator[Piece, None, None]:
        with closing(kind.pieces(reads, parameters, position)) as made:
            for number, piece in enumerate(made):
                if number == after:
                    act()
                yield piece

    return {"report": replace(kind, pieces=pieces)}


def taken(world: World) -> int:
    """Connections in use, but for those that bets keep."""
    connections: int = world.engine.pool.checkedout()  # type: ignore[attr-defined]
    return connections - len(kept_on_loop(world))


def whole(world: World, form: str) -> bytes:
    """The file of the one job, as it is when nothing interrupts it."""
    (parameters,) = (row["parameters"] for row in world.books.rows("SELECT parameters FROM jobs"))
    content = b"".join(piece.content for piece in small()["report"].pieces(Reads(world.engine), parameters, None))
    if form == "csv":
        stated = {"end": parameters["to"], "section": "bets", "format": "csv"}
        assert content == report_answer(world, "rounds", **stated).text.encode()
    return content


@pytest.mark.parametrize("form", FORMS)
def test_what_is_done_is_seen_while_it_is_done(played: World, form: str) -> None:
    ask(played, form)
    seen: list[Body] = []

    assert played.runner(kinds=interrupted(4, lambda: seen.append(job(played)))).run_next()

    (middle,) = seen
    assert (middle["state"], middle["progress"]["total"], middle["file"]) == ("running", BETS, None)
    # The first piece of CSV has the header and two rows; of a workbook nothing is there yet.
    assert middle["progress"]["done"] == (11 if form == "csv" else 12)
    assert middle["progress"]["rate_per_second"] > 0
    assert (len(written(played)) > 0) is (form == "xlsx" or middle["progress"]["done"] == 11)
    assert job(played)["progress"]["done"] == BETS
    assert written(played) == whole(played, form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("after", [1, *(pytest.param(after, marks=pytest.mark.long) for after in (0, 6))])
def test_a_runner_that_was_lost_is_followed_by_one_that_makes_the_same_file(
    played: World, form: str, after: int
) -> None:
    ask(played, form)
    lost = played.runner(kinds=interrupted(after, kinds.raising(SystemExit())))
    with pytest.raises(SystemExit):
        lost.run_next()
    assert taken(played) == 0
    played.bet(bet(), round_id="later")
    played.void("b", round_id="r0")
    played.settle(hand("1", FLUSH), hand("2"), round_id="r1")
    expire(played)

    assert played.runner(kinds=small()).run_next()

    assert job(played)["state"] == "done"
    assert job(played)["progress"]["done"] == BETS
    assert job(played)["file"]["size"] == len(written(played))
    assert written(played) == whole(played, form)


@pytest.mark.parametrize("form", FORMS)
def test_a_runner_that_is_told_to_stop_leaves_it_midway_to_the_next(played: World, form: str) -> None:
    ask(played, form)
    stop = threading.Event()

    assert played.runner(kinds=interrupted(2, stop.set), stop=stop).run_next()

    assert (job(played)["state"], job(played)["progress"]["attempts"], taken(played)) == ("queued", 0, 0)
    assert played.runner(kinds=small()).run_next()
    assert written(played) == whole(played, form)


@pytest.mark.parametrize("form", FORMS)
def test_it_can_be_cancelled_midway(played: World, form: str) -> None:
    path = f"/v1/jobs/{ask(played, form)['job_id']}/cancellation"

    def cancel() -> None:
        played.post(path, {}, key=played.key(Role.AUDITOR)).ok()

    assert played.runner(kinds=interrupted(2, cancel)).run_next()

    assert (job(played)["state"], taken(played)) == ("cancelled", 0)
    assert played.books.value("SELECT count(*) FROM job_chunks") == 2


def test_one_that_ends_every_runner_is_given_up_though_each_gets_some_way(played: World) -> None:
    ask(played)
    for number in range(MOST_ATTEMPTS):
        with pytest.raises(SystemExit):
            played.runner(kinds=interrupted(number, kinds.raising(SystemExit()))).run_next()
        assert job(played)["progress"]["attempts"] == number + 1
        expire(played)

    assert played.runner(kinds=small()).run_next()

    assert job(played)["state"] == "failed"
    assert job(played)["error"].startswith("given-up: ")


def test_a_report_that_another_version_does_not_know_fails_its_job(
    played: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(played)
    monkeypatch.setattr(registry, "REPORTS", {})

    assert played.runner().run_next()

    assert job(played)["state"] == "failed"
    assert job(played)["error"].startswith("report-unknown: ")


def test_a_jackpot_that_is_opened_before_it_is_done_is_not_in_it(played: World) -> None:
    ask(played)
    before = whole(played, "csv")
    played.open(jackpot_id="j2", tables=("T2",))
    played.bet(bet(), table_id="T2")

    assert played.runner().run_next()

    assert written(played) == before
