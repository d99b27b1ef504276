"""A jackpot's cycles: which one runs, and where the last one was cut off."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.ledger.stripes import MOST_STRIPES

_AT = """
SELECT max(cycle) FROM cycles
WHERE jackpot_id = %(jackpot_id)s AND coalesce(cut[%(stripe_no)s + 1], 0) < %(seq)s
"""

_OPEN = """
INSERT INTO cycles (jackpot_id, cycle, rules_version, stripe_no, seq, cut)
VALUES (%(jackpot_id)s, %(cycle)s, %(rules_version)s, %(stripe_no)s, %(seq)s, %(cut)s)
"""

OF_ENTRY: Final = "coalesce(passed.cycles[width_bucket(e.seq - 1, passed.cuts)], 1)"
"""
SQL for the cycle that an entry `e` stands after, given what `joined_cuts` says of its stripe.

Cuts never fall from one cycle to the next, so they are searched by halves. The opening stands after none; it is of the
first cycle.
"""


def joined_cuts(book: str) -> str:
    """
    Join to entries `e` every cut where it crosses their stripe. `book` is the parameter that names the jackpot.

    No more stripes are looked at than a jackpot can have.
    """
    return f"LEFT JOIN cuts_of_stripes({book}, {MOST_STRIPES - 1}) AS passed ON passed.stripe_no = e.stripe_no"


@dataclass(frozen=True, slots=True)
class Cycle:
    """
    The running cycle of a jackpot and the cut at which it began.

    `rules_version` is the one it was opened under, `following_version` the newest approved: the next cycle's.
    """

    cycle: int
    rules_version: int
    cut: tuple[int, ...]
    following_version: int

    def began_after(self, *, stripe_no: int, seq: int) -> bool:
        """Whether an entry at this place belongs to an earlier cycle: a jackpot won since."""
        return stripe_no < len(self.cut) and seq <= self.cut[stripe_no]


def send_at(pipe: Pipeline, jackpot_id: str, *, stripe_no: int, seq: int) -> Cursor:
    """Send the question in which cycle an entry stands; `at_of` reads the answer."""
    return pipe.send(_AT, {"jackpot_id": jackpot_id, "stripe_no": stripe_no, "seq": seq})


def at_of(cursor: Cursor) -> int:
    """Read the answer to `send_at`."""
    for (cycle,) in cursor:
        if cycle is not None:
            return int(cycle)
    message = "An entry that stands in no cycle: its jackpot was not opened by this service."
    raise LookupError(message)


def cut_after(positions: Sequence[int], *, stripe_no: int) -> tuple[int, ...]:
    """The cut that one more entry on a stripe makes, all stripes being locked at these positions."""
    return tuple(seq + (number == stripe_no) for number, seq in enumerate(positions))


def open_next(
    pipe: Pipeline, jackpot_id: str, *, cycle: int, rules_version: int, stripe_no: int, cut: Sequence[int]
) -> None:
    """Open a cycle by the entry that the cut ends with, under the lock of all stripes."""
    pipe.send(
        _OPEN,
        {
            "jackpot_id": jackpot_id,
            "cycle": cycle,
            "rules_version": rules_version,
            "stripe_no": stripe_no,
            "seq": cut[stripe_no],
            "cut": list(cut),
        },
    )
