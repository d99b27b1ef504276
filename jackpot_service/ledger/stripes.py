"""A jackpot's stripes: choosing, locking and adding them. `books` reads their contents, after the lock."""

import random
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import func, select

from jackpot_service.database.models import StripeRow
from jackpot_service.database.pipelines import Pipeline
from jackpot_service.database.transactions import Session
from jackpot_service.ledger.digests import first_head

MOST_STRIPES: Final = 256
"""A jackpot has no more of them: a hit locks all, and a meter sums all."""

_LOCK_ONE = """
SELECT stripe_no FROM stripes WHERE jackpot_id = %(jackpot_id)s AND stripe_no = %(stripe_no)s FOR NO KEY UPDATE
"""

_LOCK_OTHERS = """
SELECT stripe_no FROM stripes WHERE jackpot_id = %(jackpot_id)s AND stripe_no > 0
ORDER BY stripe_no FOR NO KEY UPDATE
"""

_ADD = """
INSERT INTO stripes (jackpot_id, stripe_no, seq, head, meter_players, meter_house, reserve, prize_fund, accepting,
                     booked_at, added_by, limits_version)
SELECT %(jackpot_id)s, stripe_no, 0, head, 0, 0, 0, 0, %(accepting)s, %(now)s, %(added_by)s, %(limits_version)s
FROM unnest(%(stripe_nos)s::int[], %(heads)s::bytea[]) AS new (stripe_no, head)
"""

_SET_ACCEPTING = """
UPDATE stripes SET accepting = %(accepting)s WHERE jackpot_id = %(jackpot_id)s
"""

_SET_LIMITS = """
UPDATE stripes SET limits_version = %(version)s WHERE jackpot_id = %(jackpot_id)s
"""

_RAISE_ONE = """
UPDATE stripes SET booked_at = %(instant)s
WHERE jackpot_id = %(jackpot_id)s AND stripe_no = %(stripe_no)s AND booked_at < %(instant)s
"""

_LEVEL = """
UPDATE stripes SET booked_at = latest.booked_at
FROM (SELECT booked_at FROM stripes WHERE jackpot_id = %(jackpot_id)s AND stripe_no = %(stripe_no)s) AS latest
WHERE stripes.jackpot_id = %(jackpot_id)s AND stripes.booked_at < latest.booked_at
"""


def choose(count: int) -> int:
    """Choose a stripe for an entry: any will do, and chance keeps writers apart."""
    return random.randrange(count)  # noqa: S311  nothing to guess here


def lock_one(pipe: Pipeline, jackpot_id: str, stripe_no: int) -> None:
    """Lock one stripe until the commit: no hit can happen meanwhile, since a hit holds all."""
    pipe.send(_LOCK_ONE, {"jackpot_id": jackpot_id, "stripe_no": stripe_no})


def lock_all(pipe: Pipeline, jackpot_id: str) -> None:
    """
    Lock all stripes until the commit, stripe 0 first, then in a second statement the others in order.

    An act that adds a stripe holds stripe 0, so the second statement sees every stripe there is.
    """
    lock_one(pipe, jackpot_id, 0)
    pipe.send(_LOCK_OTHERS, {"jackpot_id": jackpot_id})


def raise_one(pipe: Pipeline, jackpot_id: str, stripe_no: int, *, to: datetime) -> None:
    """Let nothing be booked on a stripe before an instant any more; a stripe that has passed it stays as it is."""
    pipe.send(_RAISE_ONE, {"jackpot_id": jackpot_id, "stripe_no": stripe_no, "instant": to})


def level(pipe: Pipeline, jackpot_id: str, *, stripe_no: int) -> None:
    """
    Let nothing be booked on any stripe before the last entry of this one any more, under the lock of all.

    So no instant lies between a cut and the entry that makes it: what comes after the cut is booked after the entry.
    """
    pipe.send(_LEVEL, {"jackpot_id": jackpot_id, "stripe_no": stripe_no})


def booking_time(session: Session, book: str, *, now: datetime) -> datetime:
    """When an entry that comes now is booked on stripe 0, if its lock is held: time never falls on a stripe."""
    question = select(func.greatest(StripeRow.booked_at, now)).where(
        StripeRow.jackpot_id == book, StripeRow.stripe_no == 0
    )
    booked_at: datetime = session.execute(question).scalar_one()
    return booked_at


def last_booked_at(session: Session, jackpot_id: str) -> datetime:
    """When the last entry that the session sees was booked, on any stripe: what saw it is not booked before it."""
    question = select(func.max(StripeRow.booked_at)).where(StripeRow.jackpot_id == jackpot_id)
    booked_at: datetime = session.execute(question).scalar_one()
    return booked_at


def add(
    pipe: Pipeline,
    jackpot_id: str,
    *,
    stripe_nos: Sequence[int],
    now: datetime,
    added_by: int,
    accepting: bool = True,
    limits_version: int = 0,
) -> None:
    """
    Add empty stripes to a jackpot, under the lock of stripe 0 if it has one.

    `added_by` is the seq, on stripe 0, of the entry that says so. Nothing is booked on them before `now`.
    """
    pipe.send(
        _ADD,
        {
            "jackpot_id": jackpot_id,
            "stripe_nos": list(stripe_nos),
            "heads": [first_head(jackpot_id, stripe_no) for stripe_no in stripe_nos],
            "now": now,
            "added_by": added_by,
            "accepting": accepting,
            "limits_version": limits_version,
        },
    )


def set_accepting(pipe: Pipeline, jackpot_id: str, *, accepting: bool) -> None:
    """
    Suspend or resume bets, on every stripe, under the lock of all.

    A bet that waits for one of the stripes sees it when it gets the lock, so none is accepted after the commit.
    """
    pipe.send(_SET_ACCEPTING, {"jackpot_id": jackpot_id, "accepting": accepting})


def set_limits(pipe: Pipeline, jackpot_id: str, *, version: int) -> None:
    """
    Name the version of the table limits in force, on every stripe, under the lock of all.

    A bet that waits for one of the stripes sees it when it gets the lock, so none is accepted under the one before.
    """
    pipe.send(_SET_LIMITS, {"jackpot_id": jackpot_id, "version": version})
