"""The proof finds withholding rules that nobody asked for, and payments that withheld more than was due."""

from datetime import timedelta
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.models import WithholdingRuleRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, change, codes_after, forge, mismatches_after_changing, remove
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

RULE: Final = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 100, "withhold_at_minor": 200}


def write(url: str) -> None:
    """A rule of 20 per cent, an award of EUR 25.00 under it that is paid with all of it withheld, and a later rule."""
    world = World(url)
    world.open(base_amount="1000")
    world.add_casino("c2")
    world.change("casino-withholding", {**RULE, "percent": "20", "least_multiple": 2}, request_id="first")
    world.clock.advance(timedelta(hours=1))
    world.bet(bet("b1"), round_id="won")
    [award] = world.settle(hand("1", FLUSH), round_id="won")["awards"]
    body = {"request_id": "p1", "reference": "slip", "withheld_minor": 500}
    world.put(f"/v1/awards/{award['award_id']}/payment", body, key=world.key(Role.TABLE)).ok(201)
    later = (world.clock() + timedelta(days=1)).isoformat()
    world.change("casino-withholding", {**RULE, "percent": "30", "from": later}, request_id="second")
    world.close()


FIRST: Final = "version = 1"
SECOND: Final = "version = 2"
ACT: Final = "seq = (SELECT entry_seq FROM withholding_rules WHERE version = 2)"
COPIED: Final = "version, in_force_from, least_multiple, report_at_minor, withhold_at_minor, percent, entry_seq"
WITHHELD: Final = "kind = 'amount_withheld'"
BOOKED: Final = "entry-digest award-payments act-record entry-postings"
LESS: Final = "entry-digest award-payments"

CORRUPTIONS: Final = (
    change("withholding_rules", "percent = 19", FIRST, LESS),
    change("withholding_rules", "percent = 21", FIRST, "entry-digest"),
    change("withholding_rules", "least_multiple = 26", FIRST, LESS),
    change("withholding_rules", "withhold_at_minor = 2501", FIRST, LESS),
    change("withholding_rules", "report_at_minor = 101", FIRST, "entry-digest"),
    change("withholding_rules", "in_force_from = in_force_from + interval '2 hours'", FIRST, LESS),
    change("withholding_rules", "in_force_from = in_force_from - interval '2 days'", SECOND, "entry-digest"),
    change("withholding_rules", "currency = 'GBP'", FIRST, LESS),
    change("withholding_rules", "casino_id = 'c2'", FIRST, LESS),
    change("withholding_rules", "version = 3", SECOND, "entry-digest"),
    change("withholding_rules", "entry_seq = entry_seq + 1000", SECOND, "document-without-entry entry-digest"),
    remove("withholding_rules", SECOND, "entry-digest"),
    forge(
        "withholding_rules",
        f"casino_id, 'GBP', {COPIED}",
        f"withholding_rules WHERE {FIRST}",
        "document-without-entry change-done",
    ),
    change("acts", "after = jsonb_set(after, '{percent}', '\"31\"')", ACT, "entry-digest change-done"),
    change("acts", "before = NULL", ACT, "entry-digest change-done"),
    change(
        "change_requests",
        "payload = jsonb_set(payload, '{percent}', '\"31\"')",
        "request_id = 'second'",
        "entry-digest change-done",
    ),
    change("acts", "after = jsonb_set(after, '{payment,withheld_minor}', '501')", "request_id = 'p1'", BOOKED),
    change(
        "acts",
        "after = jsonb_set(after, '{payment,withheld_minor}', '0')",
        "request_id = 'p1'",
        BOOKED,
    ),
    change("acts", "effects = '[]'", "request_id = 'p1'", "entry-digest act-record entry-kind"),
    change(
        "acts",
        "effects = jsonb_set(effects, '{0,recorded,withheld_minor}', '1')",
        "request_id = 'p1'",
        "entry-digest act-record",
    ),
    change("entries", "accounts[2] = 'withheld:c2'", WITHHELD, "entry-digest entry-postings day-figures"),
    change("entries", "amounts = ARRAY[-4, 4]", WITHHELD, "entry-digest entry-postings day-figures"),
    change("payments", "withheld_minor = 499", "true", "award-payments"),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_the_books_of_an_untouched_history_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()
    rows = superuser.execute(text("SELECT version, percent FROM withholding_rules ORDER BY version")).all()
    assert [(version, f"{percent:f}") for version, percent in rows] == [(1, "20"), (2, "30")]
    assert superuser.scalar(text("SELECT withheld_minor FROM payments")) == 500


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


CHANGES: Final = {"casino_id": "'c2'", "version": "3"}
BY_TYPE: Final = (
    (sqlalchemy.Text, "{} || 'x'"),
    (sqlalchemy.DateTime, "{} + interval '1 second'"),
    (sqlalchemy.Numeric, "{} + 1"),
    (sqlalchemy.Integer, "{} + 1"),
)


@pytest.mark.long
@pytest.mark.parametrize("column", WithholdingRuleRow.__table__.columns, ids=str)
def test_a_change_of_any_column_is_found(superuser: Session, column: sqlalchemy.Column[Any]) -> None:
    how = next(how.format(column.name) for kind, how in BY_TYPE if isinstance(column.type, kind))
    assert mismatches_after_changing(superuser, column, CHANGES.get(column.name, how))
