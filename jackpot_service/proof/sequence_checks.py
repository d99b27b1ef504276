"""Whether a jackpot's settlements saw one order of events, so that no two of them paid from the same money."""

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import pairwise
from typing import Final

from sqlalchemy import ColumnElement, Numeric, Text, and_, cast, exists, func, or_, select, true
from sqlalchemy.dialects.postgresql import JSONPATH

from jackpot_service.database.models import AwardRow, EntryRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger import replay
from jackpot_service.ledger.cycles import cut_after
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.verification import NOTHING, Verified
from jackpot_service.proof.decoding import is_vector

PAGE = 1000

OVERLAP = 250
"""So many entries of each stripe before the last verified one are looked at again: who settled then may have committed
after who saw it not."""

_SEQS: Final = '$.settlement.positions[*] ? (@.type() == "number")'

Seen = tuple[tuple[int, ...], int, int, bool]
"""A settlement: the positions it saw, the stripe and seq of its entry, and whether it paid from the meter."""


def settlements_do_not_cross(
    session: Session, book: str, also: Sequence[Seen] = (), *, since: Verified = NOTHING
) -> Found:
    """
    Of any two settlements, one saw at least what the other saw; what comes after an award from the meter saw it.

    `also` are others who saw all stripes: money moved by hand, suspensions and resumptions, corrections of rounds,
    rejected awards reinstated. Where all were compared before, those since are, with one another and with those among
    the last entries before.

    Every settlement reads one instant of all stripes, and instants have an order. Two that each lack what the other
    saw, or an award from the meter that the next settlement overlooks, mean that a lock was missing.
    """
    by_acts = sorted((seen for seen in also if _is_near(seen, since)), key=_place)
    in_order = merge(_by_position(session, book, since), by_acts, key=_place)
    for earlier, later in pairwise(in_order):
        positions, stripe_no, _, paid_from_meter = earlier
        least = cut_after(positions, stripe_no=stripe_no) if paid_from_meter else positions
        if not _covers(later[0], least):
            place = f"stripe {later[1]}, seq {later[2]}"
            detail = f"saw {list(later[0])}, and an earlier one at stripe {stripe_no}, seq {earlier[2]} {list(least)}"
            yield Mismatch(Code.SETTLEMENTS_CROSS, book, place, detail)


def _is_near(seen: Seen, since: Verified) -> bool:
    _, stripe_no, seq, _ = seen
    return not since.is_whole or seq > since.seq_on(stripe_no) - OVERLAP


def _near(session: Session, book: str, since: Verified) -> ColumnElement[bool]:
    if not since.is_whole:
        return true()
    return or_(
        *(
            and_(EntryRow.stripe_no == stripe_no, EntryRow.seq > since.seq_on(stripe_no) - OVERLAP)
            for stripe_no in replay.stripe_numbers(session, book)
        )
    )


def _place(seen: Seen) -> tuple[int, tuple[int, ...], bool]:
    """In which order settlements stand; of two with one sum and other positions, either crosses the other."""
    return sum(seen[0]), seen[0], seen[3]


def _by_position(session: Session, book: str, since: Verified) -> Iterator[Seen]:
    """Read a jackpot's settlements in the order of what they saw, through a cursor of the server."""
    paid_from_meter = exists().where(
        AwardRow.jackpot_id == EntryRow.jackpot_id,
        AwardRow.round_key == EntryRow.round_key,
        AwardRow.funded_by == "meter",
        AwardRow.correction == 0,
    )
    positions_seen = EntryRow.facts["settlement"]["positions"]
    seqs = func.jsonb_path_query(EntryRow.facts, cast(_SEQS, JSONPATH)).column_valued("seq")
    total = select(func.sum(cast(seqs, Numeric))).scalar_subquery()
    question = (
        select(positions_seen, EntryRow.stripe_no, EntryRow.seq, paid_from_meter)
        .where(EntryRow.jackpot_id == book, EntryRow.kind == EntryKind.RESULT.value, _near(session, book, since))
        .order_by(total, cast(positions_seen, Text), paid_from_meter)
    )
    with session.execute(question, execution_options={"yield_per": PAGE}) as rows:
        for positions, stripe_no, seq, is_paid in rows:
            if is_vector(positions):  # Else it is named where its round is looked at.
                yield tuple(positions), stripe_no, seq, is_paid


def _covers(later: Sequence[int], earlier: Sequence[int]) -> bool:
    return len(later) >= len(earlier) and all(seq >= before for seq, before in zip(later, earlier, strict=False))
