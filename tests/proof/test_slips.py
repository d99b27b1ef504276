"""The proof finds slips that were not printed as the acts say, or not numbered one by one."""

from typing import Any, Final

import pytest
import sqlalchemy

from jackpot_service.database.models import SlipPrintRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, change, codes_after, forge, mismatches_after_changing, remove
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


def write(url: str) -> None:
    """Print the slips of two awards, and one of them again; a third has none."""
    world = World(url)
    world.open(base_amount="1000")
    world.bet(*(bet(f"b{number}") for number in range(3)))
    awards = world.settle(hand("1", FLUSH))["awards"]
    for number, award in enumerate((awards[0], awards[1], awards[0])):
        path, body = f"/v1/awards/{award['award_id']}/slip", {"request_id": f"s{number}"}
        assert world.post(path, body, key=world.key(Role.TABLE)).status == 201
    world.close()


AGAIN: Final = "copy = 2"
ACT: Final = "request_id = 's1'"
OF_AN_AWARD: Final = "jackpot_id, round_key, 'b2', tier, correction"

CORRUPTIONS: Final = (
    change("slip_prints", "number = 3", "number = 2", "slip-series"),
    change("slip_prints", "copy = 3", AGAIN, "slip-series"),
    change("slip_prints", "bet_id = 'b1'", AGAIN, "slip-series"),
    change("slip_prints", "casino_id = 'c2'", "number = 2", "slip-series"),
    change("slip_prints", "entry_seq = entry_seq + 1", AGAIN, "slip-series"),
    remove("slip_prints", "number = 2", "slip-series"),
    forge("slip_prints", f"casino_id, 3, 1, {OF_AN_AWARD}, entry_seq", f"slip_prints WHERE {AGAIN}", "slip-series"),
    change("acts", "after = jsonb_set(after, '{slip,number}', '7')", ACT, "entry-digest slip-series"),
    change("acts", "after = jsonb_set(after, '{awards,0,cost}', '\"1\"')", ACT, "act-record entry-digest"),
    change("acts", "after = jsonb_set(after, '{slip}', '7')", ACT, "entry-digest entry-underivable slip-series"),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_the_books_of_an_untouched_history_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


@pytest.mark.long
@pytest.mark.parametrize("column", SlipPrintRow.__table__.columns, ids=str)
def test_a_change_of_any_column_is_found(superuser: Session, column: sqlalchemy.Column[Any]) -> None:
    how = f"{column.name} || 'x'" if isinstance(column.type, sqlalchemy.Text) else f"{column.name} + 10"
    assert mismatches_after_changing(superuser, column, how, where=AGAIN)
