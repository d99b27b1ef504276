"""The proof derives corrections of rounds again, and finds whatever is changed about them."""

import random
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.dialects.postgresql import ARRAY

from jackpot_service.database import snapshots
from jackpot_service.database.models import Base
from jackpot_service.database.transactions import Session
from jackpot_service.domain.cards import parse_cards
from jackpot_service.domain.outcomes import Hand, HandStatus, Result
from jackpot_service.ledger.mismatches import Code
from jackpot_service.proof.proof import verify
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.jackpots import ChangeSuspension, suspend_jackpot
from jackpot_service.usecases.record_payment import RecordPayment, record_payment
from tests.proof.corruption import (
    Corruption,
    change,
    codes_after,
    forge,
    in_round,
    mismatches_after_changing,
    refact,
    remove,
)
from tests.support import history, people, two_people
from tests.support.history import FLUSH, FOUR, NOTHING, NOTHING_TOO, ROYAL, STRAIGHT_FLUSH

pytestmark = pytest.mark.long

WRITTEN: Final = ("corrections", "awards", "award_steps")
"""The tables that a correction writes, besides its act."""


def _correct(casino: history.Casino, jackpot_id: str, table: str, round_id: str, bet_count: int, **hands: str) -> None:
    """Correct a round by hands whose cards are given; no cards make a hand dead."""
    hands_ = tuple(
        Hand(name, HandStatus.DEALT if cards else HandStatus.DEAD, parse_cards(cards.split()))
        for name, cards in hands.items()
    )
    result = Result(bet_count, hands_)
    name = RoundName(table, round_id)
    casino.act(lambda session: two_people.correct(session, jackpot_id, name, result, now=casino.now))


def _pay(casino: history.Casino, round_id: str) -> None:
    """Have a casino acknowledge that it paid out what a round's last verdict awarded."""
    payable = """
        SELECT a.award_id FROM awards a JOIN rounds r USING (jackpot_id, round_key)
        WHERE r.round_id = :round_id AND a.correction = (SELECT count(*) FROM corrections c
                                                         WHERE c.round_key = a.round_key)
    """

    def act(session: Session) -> None:
        for award_id in session.scalars(text(payable), {"round_id": round_id}).all():
            record_payment(session, RecordPayment(casino.operate(), award_id, "slip"))

    casino.act(act)


def write(url: str) -> None:
    """Write a history with every kind of correction in it; the same stripes each time."""
    random.seed(7)
    with history.engine_of(url) as engine:
        _play(history.Casino(engine))


def _play(casino: history.Casino) -> None:
    history.open_casino(casino)
    two = (("a", "ann", "h1", "EUR", 100), ("b", "bob", "h2", "GBP", 200))
    casino.bet("T1", "misread", *two)
    casino.settle("T1", "misread", 2, h1=FLUSH, h2=NOTHING)
    casino.bet("T1", "overlooked", *two)
    casino.settle("T1", "overlooked", 2, h1=NOTHING, h2=NOTHING_TOO)
    casino.bet("T1", "untouched", *two)
    casino.settle("T1", "untouched", 2, h1=FLUSH, h2=NOTHING)
    casino.bet("T2", "false", *two)
    casino.settle("T2", "false", 2, h1=ROYAL, h2=FOUR)
    _correct(casino, "live", "T1", "misread", 2, h1=FOUR, h2="")
    _correct(casino, "live", "T2", "false", 2, h1=NOTHING, h2=FOUR)
    _correct(casino, "live", "T1", "overlooked", 2, h1=ROYAL, h2=NOTHING)
    _pay(casino, "misread")
    _correct(casino, "live", "T1", "misread", 2, h1=FLUSH, h2=NOTHING)
    three = (("a", "ann", "h1", "EUR", 100), ("b", "ann", "h2", "EUR", 100), ("c", "ann", "h3", "EUR", 100))
    for round_id in ("part", "later"):
        casino.bet("C1", round_id, *three)
        casino.settle("C1", round_id, 3, h1=STRAIGHT_FLUSH, h2=FLUSH, h3=NOTHING)
    _correct(casino, "cyber", "C1", "part", 3, h1=NOTHING, h2=FLUSH, h3=ROYAL)
    casino.bet("K1", "held", ("a", "ann", "h1", "EUR", 3000), ("b", "bob", "h2", "EUR", 10))
    casino.settle("K1", "held", 2, h1=FOUR, h2=FLUSH)
    suspension = Act(two_people.ASKS, casino.now, request_id="suspension", reason="as agreed")
    casino.act(lambda session: suspend_jackpot(session, ChangeSuspension(people.enrol(session, suspension), "capped")))
    _correct(casino, "capped", "K1", "held", 2, h1=FLUSH, h2=FOUR)


def test_the_books_of_an_untouched_history_are_right(url: str) -> None:
    with history.engine_of(url) as engine, snapshots.snapshot(engine) as session:
        assert verify(session).mismatches == ()


def test_the_history_has_every_kind_of_correction(superuser: Session) -> None:
    corrected = superuser.execute(
        text("SELECT r.round_id, count(*) FROM corrections c JOIN rounds r USING (jackpot_id, round_key) GROUP BY 1")
    )
    assert dict(corrected.all()) == {"misread": 2, "false": 1, "overlooked": 1, "part": 1, "held": 1}
    accounts = set(superuser.scalars(text("SELECT account FROM postings WHERE movement = 'correction'")))
    assert accounts == {
        "awards:held",
        "casino:c1",
        "casino:c2",
        "fx:EUR",
        "fx:GBP",
        "house:adjustments",
        "pool:meter:house",
        "pool:meter:players",
        "pool:prize_fund",
    }


MISREAD, FALSE, UNTOUCHED = map(in_round, ("misread", "false", "untouched"))
ACT = "(SELECT max(act_seq) FROM corrections WHERE jackpot_id = 'cyber')"
"""The act of a correction that no other followed."""
REQUEST = f"request_id = (SELECT decides FROM acts WHERE seq = {ACT})"  # noqa: S608  as above
"""The change request that it carried out."""


CORRUPTIONS: Final = (
    change("corrections", "number = 3", f"{MISREAD} AND number = 2", "correction-act"),
    change("corrections", "act_seq = act_seq + 1", FALSE, "correction-act"),
    change("corrections", "jackpot_id = 'x'", FALSE, "correction-act book-unknown"),
    change("corrections", "round_key = 17", FALSE, "correction-act round-missing"),
    remove("corrections", FALSE, "correction-act"),
    forge("corrections", "jackpot_id, round_key, 1, 1", f"rounds WHERE {UNTOUCHED}", "correction-act"),
    change("awards", "amount_minor = amount_minor + 1", f"{FALSE} AND correction = 1", "award-figures"),
    change("awards", "award_id = 'aw_'", f"{FALSE} AND correction = 1", "award-figures"),
    change(
        "awards",
        "cost = cost + 1",
        f"{MISREAD} AND correction = 1",
        "award-figures correction-figures act-record",
    ),
    remove("awards", f"{FALSE} AND correction = 1", "award-figures document-without-entry"),
    forge(
        "awards",
        "jackpot_id, round_key, bet_id, 'straight', 1, 'x', amount_minor, currency, cost, funded_by",
        f"awards WHERE {UNTOUCHED}",
        "award-figures",
    ),
    change(
        "award_steps",
        "taken_at = taken_at + interval '1 us'",
        f"{FALSE} AND step = 'reversed' AND bet_id = 'a'",
        "award-steps",
    ),
    change("award_steps", "act_seq = 1", f"{FALSE} AND correction = 1", "award-steps"),
    change("award_steps", "act_seq = NULL", f"{FALSE} AND correction = 1", "award-steps"),
    remove("award_steps", f"{FALSE} AND step = 'reversed' AND bet_id = 'a'", "award-steps"),
    remove("award_steps", f"{FALSE} AND correction = 1", "award-steps"),
    forge(
        "award_steps",
        "jackpot_id, round_key, bet_id, tier, 0, 'reversed', taken_at, 1",
        f"award_steps WHERE {UNTOUCHED}",
        "award-steps",
    ),
    remove(
        "payments",
        f"{MISREAD} AND correction = 1",
        "award-payments award-steps correction-figures entry-postings award-figures day-figures",
    ),
    change("acts", "before = before || '{\"number\": 7}'", f"seq = {ACT}", "entry-digest correction-figures"),
    change("acts", "before = NULL", f"seq = {ACT}", "entry-digest correction-figures"),
    change("acts", "before = '[7]'", f"seq = {ACT}", "entry-digest correction-figures record-unreadable"),
    change("acts", 'after = after || \'{"weight": "7"}\'', f"seq = {ACT}", "entry-digest correction-figures"),
    change(
        "acts",
        "effects = jsonb_set(effects, '{0,recorded,house_seed}', '\"7\"')",
        f"seq = {ACT}",
        "entry-digest correction-figures",
    ),
    change(
        "acts",
        "effects = jsonb_set(effects, '{0,recorded,result,bet_count}', '9')",
        f"seq = {ACT}",
        "entry-digest correction-figures result-count",
    ),
    change(
        "acts",
        "effects = jsonb_set(effects, '{0,recorded,result,hands}', '[]')",
        f"seq = {ACT}",
        "entry-digest result-hands",
    ),
    change(
        "acts",
        "effects = jsonb_set(effects, '{0,recorded,positions,1}', '0')",
        f"seq = {ACT}",
        "entry-digest correction-figures entry-postings settlements-cross",
    ),
    change(
        "acts",
        "effects = jsonb_set(effects, '{0,recorded,positions,0}', '1')",
        f"seq = {ACT}",
        "entry-digest correction-figures entry-postings settlement-positions settlements-cross",
    ),
    change(
        "acts",
        "effects = jsonb_set(effects, '{0,recorded,round_key}', '17')",
        f"seq = {ACT}",
        "entry-digest correction-act award-figures award-steps",
    ),
    change(
        "acts",
        "effects = jsonb_set(effects, '{0,kind}', '\"jackpot_retired\"')",
        "request_id = 'suspension'",
        "entry-digest entry-kind act-record jackpot-status",
    ),
    change("acts", "decides = NULL", f"seq = {ACT}", "entry-digest change-done act-principal"),
    change(
        "change_requests",
        "payload = jsonb_set(payload, '{result,hands,0,cards,0}', '\"2d\"')",
        REQUEST,
        "entry-digest change-done",
    ),
    change("change_requests", "kind = 'held-awards'", REQUEST, "entry-digest change-done"),
    refact("result,bet_count", "'7'", FALSE, "entry-digest result-count correction-figures"),
)


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


def test_a_result_whose_cards_are_changed_is_found_in_the_verdict_that_it_replaced(superuser: Session) -> None:
    cards = refact("result,hands,0,2", """'["2c", "3d", "5h", "7s", "9d"]'""", FALSE, "")
    assert Code.CORRECTION_FIGURES in codes_after(superuser, cards)


BY_TYPE: Final = (
    (sqlalchemy.DateTime, "{} + interval '1 day'"),
    (sqlalchemy.Text, "coalesce({}, '') || 'x'"),
    (sqlalchemy.Numeric, "{} + 10"),
    (sqlalchemy.Integer, "coalesce({}, 0) + 10"),
)
CHANGES: Final = {
    "award_steps.step": "'held'",
    "awards.funded_by": "CASE funded_by WHEN 'meter' THEN 'prize_fund' ELSE 'meter' END",
}
COLUMNS: Final = [column for table in WRITTEN for column in Base.metadata.tables[table].columns]


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_a_change_of_any_column_that_a_correction_writes_is_found(
    superuser: Session, column: sqlalchemy.Column[Any]
) -> None:
    assert not isinstance(column.type, ARRAY)
    by_type = next(how for kind, how in BY_TYPE if isinstance(column.type, kind)).format(column.name)
    where = f"{FALSE} AND {'number' if column.table.name == 'corrections' else 'correction'} = 1"
    assert mismatches_after_changing(superuser, column, CHANGES.get(str(column), by_type), where=where)
