"""The proof sees that closed periods follow one another, and that their reports still say what they said."""

from datetime import timedelta
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.models import Base
from jackpot_service.database.transactions import Session
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Role
from jackpot_service.ledger.mismatches import Code
from jackpot_service.ledger.verification import NotCompared
from jackpot_service.proof.proof import verify
from jackpot_service.reports.finance import registry
from tests.proof.corruption import Corruption, change, codes_after, mismatches_after_changing, remove
from tests.support.asking import raise_version
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.long


def write(url: str) -> None:
    """Two closed periods, and bets in each and after them."""
    world = World(url)
    world.open(base_amount="1000", stripes=2)
    for number in range(3):
        world.bet(bet("a"), round_id=f"r{number}")
        world.settle(hand("1", FLUSH), round_id=f"r{number}")
        world.clock.advance(timedelta(days=1))
        if number < 2:
            body = {"request_id": f"p{number}", "to": instant(world.clock()), "reason": "day end"}
            world.post("/v1/closed-periods", body, key=world.person("Fay", Role.FINANCE)).ok(201)
    world.close()


def test_closed_periods_that_nobody_touched_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()
    assert superuser.scalar(text("SELECT count(*) FROM closed_periods")) == 2


def test_reports_of_another_version_are_told_and_are_no_mismatch(
    superuser: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verify(superuser).not_compared == {}
    raise_version(monkeypatch, "trial-balance")
    monkeypatch.setattr(
        registry, "REPORTS", {name: report for name, report in registry.REPORTS.items() if name != "fx"}
    )

    proof = verify(superuser)

    assert proof.mismatches == ()
    assert proof.not_compared == {NotCompared("trial-balance", 2, 3): 2, NotCompared("fx", 1, None): 2}


FIRST = "starts_at IS NULL"
SECOND = "starts_at IS NOT NULL"
KEPT = "'{trial-balance,sha256}'"
OF_ANOTHER_EDITION = f"jsonb_set(jsonb_set(reports, {KEPT}, '\"x\"'), '{{trial-balance,report_version}}', '99')"

CORRUPTIONS: Final = (
    change("closed_periods", f"reports = jsonb_set(reports, {KEPT}, '\"x\"')", FIRST, "closed-period entry-digest"),
    # A report of another version says other things than the one that was kept: only the act's digest tells.
    change("closed_periods", f"reports = {OF_ANOTHER_EDITION}", FIRST, "entry-digest"),
    change("closed_periods", "reports = '{}'", FIRST, "entry-digest"),
    change("closed_periods", "starts_at = starts_at - interval '1 hour'", SECOND, "closed-period entry-digest"),
    change("closed_periods", "ends_at = ends_at + interval '1 hour'", SECOND, "closed-period entry-digest"),
    change("closed_periods", "entry_seq = 1", FIRST, "document-without-entry entry-digest"),
    remove("closed_periods", SECOND, "entry-digest"),
    remove("closed_periods", FIRST, "closed-period entry-digest"),
)
"""What somebody with every right might change, and every code by which the proof names it, no more and no less."""


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


def test_a_figure_that_is_not_what_was_reported_is_found(superuser: Session) -> None:
    """Whoever alters a figure that a report is summed from has the hash of what it said against him."""
    altered = change("days", "value = value + 1", "account = 'house:seed'", "closed-period day-figures")
    assert codes_after(superuser, altered) == altered.codes


@pytest.mark.parametrize("split", ['"x"', '{"meter": 1}'])
def test_rules_that_cannot_be_read_are_named_though_closed_reports_are_split_by_them(
    superuser: Session, split: str
) -> None:
    altered = f"UPDATE rules_versions SET document = jsonb_set(document, '{{split,meter}}', '{split}')"  # noqa: S608
    superuser.execute(text(altered))

    assert {Code.DAY_FIGURES} < {mismatch.code for mismatch in verify(superuser).mismatches}


@pytest.mark.parametrize("column", Base.metadata.tables["closed_periods"].columns, ids=str)
def test_a_change_of_any_column_is_found(superuser: Session, column: sqlalchemy.Column[Any]) -> None:
    changed = {"reports": "'{}'", "entry_seq": "entry_seq + 1"}.get(column.name, f"{column.name} - interval '1 hour'")
    assert mismatches_after_changing(superuser, column, changed, where=SECOND)


def test_a_closed_period_in_which_something_could_yet_be_booked_is_found(superuser: Session) -> None:
    back = "booked_at = (SELECT max(ends_at) FROM closed_periods) - interval '1 us'"
    altered = change("stripes", back, "jackpot_id = 'j1' AND stripe_no = 0", "closed-period")

    assert Code.CLOSED_PERIOD in codes_after(superuser, altered)
