"""The proof finds claims that nobody set, and forfeitures of awards that could still be claimed, or of another sum."""

from datetime import timedelta
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.models import CasinoClaimsRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, change, codes_after, forge, in_round, mismatches_after_changing, remove
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


def write(url: str) -> None:
    """Forfeit the rest of an award to the state, and another award to the jackpot; leave a third one unclaimed."""
    world = World(url)
    world.add_casino("c2")
    world.open(base_amount="1000", stripes=1)
    for round_id in ("statutory", "meter", "unclaimed"):
        world.bet(bet("b1", currency="GBP"), round_id=round_id)
        world.settle(hand("1", FLUSH), round_id=round_id)
    for to, days in (("statutory", 30), ("meter", 40)):
        claims = {"casino_id": "c1", "claim_days": days, "forfeited_to": to}
        world.change("casino-claims", claims, request_id=f"claims-{to}")
        [award] = world.round(to)["settlement"]["awards"]
        if to == "statutory":
            body = {"request_id": "part", "reference": "slip", "amount_minor": 1000}
            world.put(f"/v1/awards/{award['award_id']}/payment", body, key=world.key(Role.TABLE)).ok(201)
        world.clock.advance(timedelta(days=days))
        forfeiture = {"jackpot_id": "j1", "award_id": award["award_id"]}
        world.change("award-forfeiture", forfeiture, request_id=f"forfeit-{to}")
    world.close()


FIRST: Final = "version = 1"
LAST: Final = "version = 2"
TAKEN: Final = f"step = 'forfeited' AND {in_round('statutory')}"
UNCLAIMED: Final = f"(SELECT round_key FROM awards WHERE {in_round('unclaimed')})"  # noqa: S608  constants
TO_METER: Final = f"step = 'forfeited' AND {in_round('meter')}"


def act_of(request_id: str) -> str:
    return f"decides = '{request_id}' AND after ? 'forfeiture'"


STATUTORY: Final = act_of("forfeit-statutory")
METER: Final = act_of("forfeit-meter")
SET: Final = "decides = 'claims-meter' AND after ? 'claim_days'"
ENTRY: Final = "kind = 'award_forfeited' AND 'statutory:c1' = ANY (accounts)"

DANGLING: Final = "document-without-entry entry-digest act-record entry-postings day-figures"
LESS_PAID: Final = "award-payments act-record entry-postings day-figures"
MOVED: Final = "entry-digest entry-postings day-figures"

CORRUPTIONS: Final = (
    # Another version in force than was set, or none: the forfeitures under it were not due then.
    change("casino_claims", "claim_days = 31", FIRST, "entry-digest act-record entry-postings"),
    change("casino_claims", "claim_days = NULL", FIRST, "entry-digest act-record entry-postings"),
    change("casino_claims", "claim_days = 29", FIRST, "entry-digest act-record"),
    change("casino_claims", "forfeited_to = 'meter'", FIRST, "entry-digest act-record entry-postings day-figures"),
    change("casino_claims", "version = 7", LAST, "entry-digest act-record"),
    change("casino_claims", "casino_id = 'c2'", LAST, "entry-digest act-record entry-postings day-figures"),
    change("casino_claims", "entry_seq = 1", LAST, DANGLING),
    remove("casino_claims", LAST, "entry-digest act-record entry-postings day-figures"),
    forge(
        "casino_claims",
        "'c1', 3, 1, 'meter', entry_seq + 1",
        f"casino_claims WHERE {LAST}",
        "document-without-entry act-record",
    ),
    change("acts", "after = jsonb_set(after, '{claim_days}', '41')", SET, "change-done entry-digest"),
    change("acts", "before = jsonb_set(before, '{claim_days}', '31')", SET, "change-done entry-digest"),
    # Forfeitures.
    remove("award_steps", TAKEN, "award-steps"),
    change("award_steps", "act_seq = act_seq + 1", TAKEN, "award-steps"),
    change("award_steps", "step = 'reversed'", TAKEN, "award-steps award-payments"),
    change("award_steps", "taken_at = taken_at + interval '1 day'", TO_METER, "award-steps"),
    forge(
        "award_steps",
        f"jackpot_id, {UNCLAIMED}, bet_id, tier, 0, step, taken_at, act_seq",
        f"award_steps WHERE {TAKEN}",
        "award-steps",
    ),
    change("payments", "amount_minor = 999", "reference = 'slip'", LESS_PAID),
    change(
        "acts", "after = jsonb_set(after, '{forfeiture,amount_minor}', '1501')", STATUTORY, "act-record entry-digest"
    ),
    change("acts", "after = jsonb_set(after, '{forfeiture,to}', '\"meter\"')", STATUTORY, "act-record entry-digest"),
    change("acts", "after = after - 'forfeiture'", METER, "act-record entry-digest"),
    change("entries", "figures[1].minor = figures[1].minor + 1", ENTRY, "day-figures entry-digest"),
    change("entries", "accounts = array_replace(accounts, 'statutory:c1', 'statutory:c2')", ENTRY, MOVED),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_the_books_of_an_untouched_history_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()
    booked = superuser.execute(
        text(
            "SELECT account, trim_scale(sum(amount)) FROM postings WHERE movement = 'forfeiture' GROUP BY 1 ORDER BY 1"
        )
    ).all()
    assert {account: str(amount) for account, amount in booked} == {
        "casino:c1": "-40",
        "fx:EUR": "-29.25",
        "fx:GBP": "25",
        "pool:prize_fund": "29.25",
        "statutory:c1": "15",
    }


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


CHANGES: Final = {"casino_id": "'c2'", "forfeited_to": "'statutory'"}
BY_TYPE: Final = ((sqlalchemy.Integer, "{} + 10"),)


@pytest.mark.long
@pytest.mark.parametrize("column", CasinoClaimsRow.__table__.columns, ids=str)
def test_a_change_of_any_column_is_found(superuser: Session, column: sqlalchemy.Column[Any]) -> None:
    how = CHANGES.get(column.name) or f"{column.name} + 10"
    assert mismatches_after_changing(superuser, column, how, where=LAST)
