"""The proof holds for bets wherever they are: before the months, in months, and where no month was made."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.rounds import Month
from jackpot_service.ledger.mismatches import Code
from jackpot_service.proof.proof import verify
from jackpot_service.schema import months
from tests.proof.corruption import mismatches_after
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.logins import owner_url
from tests.support.world import World


def write(url: str) -> None:
    """Bet and settle in months that have partitions, in one that has none, and in one that was made too late for it."""
    world = World(url)
    world.open(stripes=2)
    _play(world, "before")
    coming = Month.of(datetime.now(UTC)).later(12)
    months.make(owner_url(url), now=coming.begins_at, ahead=1)
    for number in range(3):
        world.clock.at = coming.later(number).begins_at
        _play(world, f"month-{number}")
    months.make(owner_url(url), now=world.clock.at, ahead=1)
    _play(world, "late")
    world.close()


def _play(world: World, round_id: str) -> None:
    world.bet(bet("b1"), bet("b2", hand="2"), round_id=round_id)
    world.settle(hand("1", NOTHING), hand("2", ("2s", "3s", "4d", "9c", "Th")), round_id=round_id)


ROUNDS = ("before", "month-0", "month-1", "month-2", "late")


def _bet(round_id: str) -> str:
    return f"bet_id = 'b1' AND round_key = (SELECT round_key FROM rounds WHERE round_id = '{round_id}')"  # noqa: S608


def test_bets_of_all_partitions_are_proved(superuser: Session) -> None:
    places = set(superuser.scalars(text("SELECT DISTINCT tableoid::regclass::text FROM bets")))
    assert len(places) == 4
    assert {"bets_before", "bets_default"} < places
    proof = verify(superuser)
    assert (proof.rounds, proof.bets, proof.mismatches) == (len(ROUNDS), 2 * len(ROUNDS), ())


@pytest.mark.parametrize("round_id", ROUNDS)
def test_a_bet_that_is_changed_is_found_in_any_partition(superuser: Session, round_id: str) -> None:
    mismatches_ = mismatches_after(superuser, f"UPDATE bets SET stake_minor = 101 WHERE {_bet(round_id)}")  # noqa: S608
    assert {Code.ENTRY_DIGEST, Code.ENTRY_POSTINGS} <= {mismatch.code for mismatch in mismatches_}


@pytest.mark.parametrize("round_id", ROUNDS)
def test_a_bet_that_is_gone_is_missed_in_any_partition(superuser: Session, round_id: str) -> None:
    mismatches_ = mismatches_after(superuser, f"DELETE FROM bets WHERE {_bet(round_id)}")  # noqa: S608
    assert Code.ENTRY_DIGEST in {mismatch.code for mismatch in mismatches_}


def test_a_month_that_was_taken_away_is_missed_until_it_is_back(superuser: Session) -> None:
    question = """
    SELECT DISTINCT b.tableoid::regclass::text, pg_get_expr(c.relpartbound, c.oid)
    FROM bets b
    JOIN rounds r USING (jackpot_id, round_key)
    JOIN pg_class c ON c.oid = b.tableoid
    WHERE r.round_id = 'month-0'
    """
    ((place, bound),) = superuser.execute(text(question)).all()
    superuser.execute(text(f"ALTER TABLE bets DETACH PARTITION {place}"))
    without = verify(superuser)
    superuser.exec_driver_sql(f"ALTER TABLE bets ATTACH PARTITION {place} {bound}")
    again = verify(superuser)

    assert without.bets == 2 * (len(ROUNDS) - 1)
    assert Code.ENTRY_DIGEST in {mismatch.code for mismatch in without.mismatches}
    assert (again.bets, again.mismatches) == (2 * len(ROUNDS), ())
