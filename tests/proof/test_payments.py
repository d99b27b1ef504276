"""The proof finds payments that nobody recorded, that come to another amount, or that could not have been."""

from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.models import PaymentRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, change, codes_after, forge, in_round, mismatches_after_changing, remove
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


def write(url: str) -> None:
    """Pay one award in parts, with a payment reversed, and its rest stopped and released; leave another unpaid."""
    world = World(url)
    world.open(base_amount="1000")
    rule = {"casino_id": "c1", "currency": "GBP", "report_at_minor": 1, "withhold_at_minor": 1, "percent": "20"}
    world.change("casino-withholding", rule, request_id="rule")
    for round_id in ("parts", "unpaid"):
        world.bet(bet("b1", currency="GBP"), round_id=round_id)
        world.settle(hand("1", FLUSH), round_id=round_id)
    [award] = world.round("parts")["settlement"]["awards"]
    path = f"/v1/awards/{award['award_id']}"
    for number, (amount_minor, withheld) in enumerate(((1000, 300), (400, 100))):
        body = {"request_id": f"p{number}", "reference": f"slip {number}", "amount_minor": amount_minor}
        world.put(f"{path}/payment", {**body, "withheld_minor": withheld}, key=world.key(Role.TABLE)).ok(201)
    reversal = {"jackpot_id": "j1", "award_id": award["award_id"], "reference": "slip 0"}
    world.change("payment-reversal", reversal, request_id="reversal")
    stop = {"request_id": "stop", "reason": "in doubt"}
    world.put(f"{path}/stop", stop, key=world.person("Fay", Role.FINANCE)).ok(201)
    release = {"jackpot_id": "j1", "table_id": "T1", "round_id": "parts", "decision": "release"}
    world.change("held-awards", release, request_id="release")
    rest = {"request_id": "p2", "reference": "slip 2", "withheld_minor": 400}
    world.put(f"{path}/payment", rest, key=world.key(Role.TABLE)).ok(201)
    world.close()


FIRST: Final = "reference = 'slip 0' AND reverses IS NULL"
REVERSAL: Final = "reverses IS NOT NULL"
LAST: Final = "reference = 'slip 2'"
ACT: Final = "request_id = 'p0'"
REVERSED_BY: Final = "seq = (SELECT act_seq FROM payments WHERE reverses IS NOT NULL)"
KEY: Final = "jackpot_id, round_key, act_seq + 1000, bet_id, tier, correction, amount_minor"
PAID_OF_UNPAID: Final = f"(SELECT round_key FROM awards WHERE {in_round('unpaid')})"  # noqa: S608  constants

CORRUPTIONS: Final = (
    change("payments", "amount_minor = amount_minor + 1", FIRST, "award-payments day-figures"),
    change("payments", "withheld_minor = withheld_minor + 1", FIRST, "award-payments"),
    change("payments", "withheld_minor = 0", REVERSAL, "award-payments"),
    change("payments", "cost = cost + 1", FIRST, "award-payments day-figures"),
    change("payments", "reference = 'x'", FIRST, "award-payments"),
    change("payments", "reverses = 1", REVERSAL, "award-payments"),
    change("payments", "correction = 1", LAST, "award-payments day-figures document-without-entry"),
    change("payments", f"round_key = {PAID_OF_UNPAID}", LAST, "award-payments day-figures"),
    change("payments", "jackpot_id = 'ghost'", LAST, "award-payments book-unknown day-figures"),
    remove("payments", LAST, "award-payments day-figures"),
    remove("payments", REVERSAL, "award-payments day-figures"),
    forge(
        "payments",
        f"{KEY}, withheld_minor, cost, 'forged', NULL",
        f"payments WHERE {LAST}",
        "award-payments day-figures",
    ),
    change("acts", "after = jsonb_set(after, '{payment,amount_minor}', '2')", ACT, "award-payments entry-digest"),
    change(
        "acts",
        "after = jsonb_set(after, '{payment,withheld_minor}', '301')",
        ACT,
        "award-payments act-record entry-digest entry-postings",
    ),
    change("acts", "after = after #- '{payment,withheld_minor}'", ACT, "act-record entry-underivable entry-digest"),
    change("acts", "after = jsonb_set(after, '{payment,payer}', '\"Eve\"')", ACT, "entry-digest"),
    change(
        "acts", "after = jsonb_set(after, '{payment,channel}', '\"pigeon\"')", ACT, "entry-underivable entry-digest"
    ),
    change("acts", "after = after - 'payment'", ACT, "act-record entry-underivable entry-digest"),
    change("acts", "after = jsonb_set(after, '{reverses}', '2')", REVERSED_BY, "award-payments entry-digest"),
    change(
        "entries",
        "figures[1].minor = figures[1].minor + 1",
        "kind = 'payment_reversed'",
        "day-figures entry-digest",
    ),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_the_books_of_an_untouched_history_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()
    paid = superuser.execute(
        text("SELECT amount_minor, withheld_minor, reverses IS NULL FROM payments ORDER BY act_seq")
    ).all()
    assert [tuple(row) for row in paid] == [
        (1000, 300, True),
        (400, 100, True),
        (-1000, -300, False),
        (2100, 400, True),
    ]


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


CHANGES: Final = {"amount_minor": "amount_minor + 1", "reverses": "1, amount_minor = -amount_minor, withheld_minor = 0"}
BY_TYPE: Final = ((sqlalchemy.Text, "{} || 'x'"), (sqlalchemy.Numeric, "{} + 10"), (sqlalchemy.Integer, "{} + 10"))


@pytest.mark.long
@pytest.mark.parametrize("column", PaymentRow.__table__.columns, ids=str)
def test_a_change_of_any_column_is_found(superuser: Session, column: sqlalchemy.Column[Any]) -> None:
    how = CHANGES.get(column.name) or next(
        how.format(column.name) for kind, how in BY_TYPE if isinstance(column.type, kind)
    )
    assert mismatches_after_changing(superuser, column, how, where=LAST)
