"""A verification that goes on from another proves as much as one from zero, of all that came since."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from itertools import count
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.database import snapshots
from jackpot_service.database.transactions import Session
from jackpot_service.ledger.mismatches import Code
from jackpot_service.ledger.verification import Looks, Progress, Reached, Verification, Verified
from jackpot_service.proof import documents
from jackpot_service.proof.proof import SUMS_ARE_LIKE_DAYS, verify
from tests.proof.corruption import Corruption, change, forge, in_round, refact, remove
from tests.properties.profile import CASES
from tests.support import history
from tests.support.clock import Clock
from tests.support.logins import owner_url

pytestmark = pytest.mark.long

HISTORIES: Final = (
    "history",
    "test_awards",
    "test_corrections",
    "test_status_changes",
)
"""Modules that write a history, by what it is about."""

ENDED, HALF_WAY, BEGUN = "ended", "half way", "begun"
"""Where the verification stood that the next goes on from: at its end, or where it was interrupted."""

ACTS_BETWEEN: Final = {ENDED: 1, HALF_WAY: 3, BEGUN: 3} if CASES else {ENDED: 13, HALF_WAY: 23, BEGUN: 29}
"""After how many acts it is verified again."""


def go_on(session: Session, since: Mapping[str, Verified]) -> tuple[Verification, list[Reached]]:
    reached: list[Reached] = []
    return verify(session, since=since, on_reached=reached.append), reached


@pytest.mark.deep
@pytest.mark.parametrize("stood", ACTS_BETWEEN)
@pytest.mark.parametrize("name", HISTORIES)
def test_going_on_at_moments_of_a_history_proves_what_one_proof_from_zero_does(
    database_url: str, monkeypatch: pytest.MonkeyPatch, name: str, stood: str
) -> None:
    monkeypatch.setattr(documents, "PAGE", 2)
    engine = sqlalchemy.create_engine(owner_url(database_url), isolation_level="REPEATABLE READ")
    last: Mapping[str, Verified] = {}

    def verify_now() -> None:
        nonlocal last
        with engine.connect() as session:
            proof, reached = go_on(session, last)
        assert proof.mismatches == ()
        last = reached[{ENDED: -1, HALF_WAY: len(reached) // 2, BEGUN: 0}[stood]].books

    at_every_look(monkeypatch, ACTS_BETWEEN[stood], verify_now)
    write_history(name, database_url)
    verify_now()

    with engine.connect() as session:
        (from_last, at_the_end), (from_zero, all_of_it) = go_on(session, last), go_on(session, {})
    assert from_last.mismatches == from_zero.mismatches == ()
    assert at_the_end[-1].books == all_of_it[-1].books
    assert from_last.entries == 0 or stood != ENDED
    engine.dispose()


def at_every_look(monkeypatch: pytest.MonkeyPatch, nth: int, act: Callable[[], None]) -> None:
    """Do something at every nth act of a casino, or look at a world's clock, which comes before each act of its."""
    look, casino_act, looks = Clock.__call__, history.Casino.act, count(1)

    def look_and_act(clock: Clock) -> Any:
        if next(looks) % nth == 0:
            act()
        return look(clock)

    def act_and_act(casino: history.Casino, use_case: Callable[[Session], Any]) -> Any:
        if next(looks) % nth == 0:
            act()
        return casino_act(casino, use_case)

    monkeypatch.setattr(Clock, "__call__", look_and_act)
    monkeypatch.setattr(history.Casino, "act", act_and_act)


def write_history(name: str, url: str) -> None:
    if name == "history":
        write_all(url)
    else:
        import_module(f"tests.proof.{name}").write(url)


def write_all(url: str) -> None:
    with history.engine_of(url) as engine:
        history.write(engine)


# --- What is found, and what is not -----------------------------------------------------------------------------------


BEFORE: dict[str, Mapping[str, Verified]] = {}
"""How far each database was verified when the first half of its history had been written."""


def write(url: str) -> None:
    """Play at the live jackpot's tables, verify, and play at the others'."""
    random.seed(5)
    with history.engine_of(url) as engine:
        casino = history.Casino(engine)
        history.open_casino(casino)
        casino.bet("K1", "across", ("a", "ann", "h1", "EUR", 100), ("b", "bob", "h1", "GBP", 100))
        history.play_live(casino)
        with snapshots.snapshot(engine) as session:
            _, reached = go_on(session, {})
        BEFORE[url] = reached[-1].books
        history.play_cyber(casino)
        history.play_capped(casino)
        casino.settle("K1", "across", 2, h1=history.NOTHING)


@pytest.fixture
def before(url: str) -> Mapping[str, Verified]:
    return BEFORE[url]


HIT, LOST, PART, HELD, ACROSS = map(in_round, ("hit", "lost", "part", "held", "across"))

CAME_SINCE: Final = (
    change("bets", "stake_minor = stake_minor + 1", f"{PART} AND bet_id = 'b'", "entry-digest"),
    change("bets", "player_id = 'eve'", f"{ACROSS} AND bet_id = 'a'", "entry-digest"),
    refact("result,hands,0,2", """'["2c", "3d", "5h", "7s", "9d"]'""", ACROSS, "entry-digest"),
    change("awards", "amount_minor = amount_minor + 1", f"{PART} AND bet_id = 'b'", "award-figures"),
    change("award_steps", "step = 'payable'", f"{HELD} AND step = 'held' AND bet_id = 'a'", "award-steps held-balance"),
    change("rounds", "bet_count = bet_count + 1", PART, "round-bet-count"),
    refact("settlement,meter_before", """'"1"'""", PART, "settlement-figures"),
    change("entries", "head = sha256(head)", f"{PART} AND step = 2", "chain-broken"),
    change("entries", "kind = 'gift'", f"{PART} AND step = 2", "entry-kind"),
    change("stripes", "reserve = reserve + 1", "jackpot_id = 'live' AND stripe_no = 1", "stripe-pools"),
    change("cycles", "rules_version = 2", "jackpot_id = 'capped' AND cycle = 3", "rules-missing"),
    remove("bets", f"{PART} AND bet_id = 'c'", "entry-digest"),
    remove("rounds", PART, "round-missing"),
    forge("bets", "jackpot_id, round_key + 1, 'x', 1, 'zoe', hand, currency, 5", f"bets WHERE {PART}", "round-missing"),
    change("casinos", "name = 'Eins'", "casino_id = 'c1'", "entry-digest"),
    change("acts", "reason = 'otherwise'", "seq = 2", "entry-digest"),
    change("rates", "base_per_unit = 1.2", "number = 1 AND currency = 'GBP'", "entry-digest"),
)
"""What came after the verification, or what people did at any time: and one of the codes by which it is found."""

CAME_BEFORE: Final = (
    change("bets", "stake_minor = stake_minor + 1", f"{HIT} AND bet_id = 'b'", "entry-digest"),
    refact("result,hands,0,2", """'["2c", "3d", "5h", "7s", "9d"]'""", LOST, "entry-digest"),
    change("entries", "amounts = amounts[2:] || amounts[1]", f"{LOST} AND step = 1", "entry-postings"),
    remove("bets", LOST, "entry-digest"),
)
"""What was verified, and changed afterwards."""


def codes_from(session: Session, corruption: Corruption, since: Mapping[str, Verified]) -> set[Code]:
    changed: Any = session.execute(text(corruption.statement))
    assert changed.rowcount == 1
    return {mismatch.code for mismatch in verify(session, since=since).mismatches}


def test_of_untouched_books_only_what_came_since_is_looked_at(
    superuser: Session, before: Mapping[str, Verified]
) -> None:
    proof, all_of_it = verify(superuser, since=before), verify(superuser)

    assert proof.mismatches == all_of_it.mismatches == ()
    live = superuser.scalar(text("SELECT count(*) FROM rounds WHERE jackpot_id = 'live'"))
    assert proof.rounds == all_of_it.rounds - (live or 0)
    assert 0 < proof.entries < all_of_it.entries


@pytest.mark.parametrize("corruption", CAME_SINCE, ids=str)
def test_what_is_changed_of_what_came_since_is_found(
    superuser: Session, before: Mapping[str, Verified], corruption: Corruption
) -> None:
    codes_ = codes_from(superuser, corruption, before)

    assert codes_ >= corruption.codes
    assert codes_ <= {mismatch.code for mismatch in verify(superuser).mismatches}


@pytest.mark.parametrize("corruption", CAME_BEFORE, ids=str)
def test_what_is_changed_of_what_came_before_is_found_from_zero_only(
    superuser: Session, before: Mapping[str, Verified], corruption: Corruption
) -> None:
    # The days on which something came since are added up whole, and these histories take a day.
    assert codes_from(superuser, corruption, before) <= {Code.DAY_FIGURES}
    assert corruption.codes <= {mismatch.code for mismatch in verify(superuser).mismatches}


def test_an_entry_at_which_it_stood_must_be_there_with_its_head(
    superuser: Session, before: Mapping[str, Verified]
) -> None:
    place = f"jackpot_id = 'live' AND stripe_no = 1 AND seq = {before['live'].seq_on(1)}"
    for statement, ending in (
        ("UPDATE entries SET head = sha256(head)", "differs"),
        ("DELETE FROM entries", "is gone"),
    ):
        with superuser.begin_nested() as savepoint:
            superuser.execute(text(f"{statement} WHERE {place}"))
            by_code = {mismatch.code: mismatch.detail for mismatch in verify(superuser, since=before).mismatches}
            savepoint.rollback()
        assert by_code[Code.VERIFIED_HEAD].endswith(ending)


def test_a_jackpot_that_was_verified_must_be_there(superuser: Session, before: Mapping[str, Verified]) -> None:
    mismatches_ = verify(superuser, since={**before, "gone": Verified()}).mismatches

    assert [(mismatch.code, mismatch.book) for mismatch in mismatches_] == [(Code.VERIFIED_HEAD, "gone")]


# --- How far it is --------------------------------------------------------------------------------------------------

ALL_LOOKS = Looks.IN_CHAIN + Looks.IN_SUMS + Looks.IN_ROUND
AT_ACTS = Looks.IN_CHAIN + Looks.IN_ACT


def test_going_on_from_an_interruption_tells_how_many_looks_are_left(
    superuser: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "PAGE", 2)
    _, reached = go_on(superuser, {})
    in_live = [
        progress.books for progress in reached if "live" in progress.books and not progress.books["live"].is_whole
    ]
    half_way = in_live[len(in_live) // 2]

    from_zero: list[Progress] = []
    verify(superuser, on_progress=from_zero.append)
    seen: list[Progress] = []
    verify(superuser, since=half_way, on_progress=seen.append)

    acts = superuser.scalar(text("SELECT count(*) FROM entries WHERE jackpot_id = '-'")) or 0
    in_books = superuser.scalar(text("SELECT count(*) FROM entries WHERE jackpot_id <> '-'")) or 0
    waiting = superuser.scalar(
        text("SELECT count(*) FROM entries WHERE jackpot_id = 'live' AND round_key > :last"),
        {"last": half_way["live"].last_round_key},
    )
    assert (from_zero[-1].done, from_zero[-1].total) == (ALL_LOOKS * in_books + AT_ACTS * acts,) * 2
    assert (seen[-1].done, seen[-1].total) == (Looks.IN_ROUND * (waiting or 0),) * 2
    assert (waiting or 0) > 5


def test_of_books_that_were_under_way_all_looks_are_due_at_each_entry_that_came_since(
    superuser: Session, before: Mapping[str, Verified]
) -> None:
    seen: list[Progress] = []
    under_way = {book: replace(verified, is_whole=False) for book, verified in before.items()}
    verify(superuser, since=under_way, on_progress=seen.append)

    came: Counter[str] = Counter(
        dict(superuser.execute(text("SELECT jackpot_id, sum(seq)::int FROM stripes GROUP BY 1")).all())
    )
    for book, verified in before.items():
        came[book] -= sum(stripe.seq for stripe in verified.stripes.values())
    acts = came.pop("-")
    assert seen[-1].total == ALL_LOOKS * came.total() + AT_ACTS * acts
    assert min(came.total(), acts) > 0


def test_it_also_goes_on_while_the_sums_of_days_are_proved(superuser: Session) -> None:
    seen: list[Progress] = []
    verify(superuser, on_progress=seen.append)

    of_live = [progress.done for progress in seen if progress.book == "live"]
    assert of_live == sorted(of_live)
    assert len(set(of_live)) > SUMS_ARE_LIKE_DAYS


# --- Where it stops telling ------------------------------------------------------------------------------------------


def test_nothing_is_told_any_more_once_something_is_wrong(superuser: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "PAGE", 2)
    superuser.execute(text(f"UPDATE bets SET player_id = 'eve' WHERE {LOST} AND bet_id = 'a'"))  # noqa: S608

    proof, reached = go_on(superuser, {})

    assert proof.mismatches
    assert {"capped", "cyber", "live"} <= reached[-1].books.keys()
    assert not reached[-1].is_whole
    again, _ = go_on(superuser, reached[-1].books)
    assert again.mismatches == proof.mismatches
    assert again.rounds < proof.rounds
