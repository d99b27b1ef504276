"""The entries of some windows that tell a reader something, in the order in which they were booked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal
from jackpot_service.events.event import Place
from jackpot_service.events.sight import ROUND_KINDS, act_kinds, is_of_the_house, sees_round
from jackpot_service.events.windows import Window

# Of a round that a reader does not see, the entry that hit the jackpot still tells that.
#
# Rows are looked up by their keys. For rounds the order says by which: while the table is new the callers' ids seem to
# be as good, and would read all rounds of the jackpot.
_OF_ROUNDS = text(
    """
    SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.kind,
           e.round_key, e.step, r.table_id, r.round_id, r.casino_id, r.rules_version, r.rate_sheet
    FROM unnest(CAST(:books AS text[]), CAST(:stripe_nos AS int[]), CAST(:afters AS bigint[]), CAST(:uptos AS bigint[]))
         AS w (book, stripe_no, after, upto)
    CROSS JOIN LATERAL (
        SELECT o.jackpot_id, o.stripe_no, o.seq, o.booked_at, o.kind, o.round_key, o.step
        FROM entries o
        WHERE o.jackpot_id = w.book AND o.stripe_no = w.stripe_no AND o.seq > w.after AND o.seq <= w.upto
          AND o.kind = ANY(:kinds)
    ) AS e
    CROSS JOIN LATERAL (
        SELECT o.table_id, o.round_id, o.casino_id, o.rules_version, o.rate_sheet
        FROM rounds o
        WHERE o.jackpot_id = e.jackpot_id AND o.round_key BETWEEN e.round_key AND e.round_key
        ORDER BY o.round_key
        LIMIT 1
    ) AS r
    LEFT JOIN LATERAL (
        SELECT o.cycle_after > o.cycle AS is_hit
        FROM settlements o
        WHERE NOT :sees_all AND e.kind = 'result' AND o.jackpot_id = e.jackpot_id AND o.round_key = e.round_key
        LIMIT 1
    ) AS s ON true
    WHERE :sees_all
       OR (r.casino_id = :casino_id AND (CAST(:tables AS text[]) = '{}' OR r.table_id = ANY(:tables)))
       OR s.is_hit
    """
)

# What an act about a casino's round, award or statement recorded names the casino, or a table, which is a casino's.
_ACTS = text(
    """
    SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.kind
    FROM entries e
    WHERE e.jackpot_id = :book AND e.stripe_no = 0 AND e.seq > :after AND e.seq <= :upto AND e.kind = ANY(:kinds)
      AND (CAST(:casino_id AS text) IS NULL
           OR EXISTS (SELECT FROM (SELECT o.after FROM acts o WHERE o.seq = e.seq LIMIT 1) AS a
                      LEFT JOIN tables t ON t.table_id = a.after ->> 'table_id'
                      WHERE coalesce(a.after -> 'round' ->> 'casino_id', a.after ->> 'casino_id', t.casino_id)
                            = :casino_id
                        AND (CAST(:tables AS text[]) = '{}'
                             OR coalesce(a.after -> 'round' ->> 'table_id', a.after ->> 'table_id') = ANY(:tables))))
    """
)


@dataclass(frozen=True, slots=True)
class OfRound:
    """The round that an entry is a step of, with what was pinned when it was first seen."""

    round_key: int
    step: int
    table_id: str
    round_id: str
    casino_id: str
    rules_version: int
    rate_sheet: int


@dataclass(frozen=True, slots=True)
class ToldEntry:
    """
    An entry that tells a reader something; `round` is None for an act.

    `only_public`: the reader may know no more of it than that the jackpot was hit.
    """

    place: Place
    kind: EntryKind
    round: OfRound | None
    only_public: bool = False


def told_entries(session: Session, reader: Principal, windows: Sequence[Window]) -> list[ToldEntry]:
    """
    Find the entries in some windows that tell a reader something, by booking time.

    Those of one stripe stay in their order, since no entry of it is dated before the one that it follows.
    """
    sight: dict[str, Any] = {"casino_id": reader.casino_id, "tables": sorted(reader.table_ids)}
    of_rounds = [window for window in windows if window.book != REFERENCE_BOOK]
    found = []
    if of_rounds:
        columns = {
            "books": [window.book for window in of_rounds],
            "stripe_nos": [window.stripe_no for window in of_rounds],
            "afters": [window.after for window in of_rounds],
            "uptos": [window.upto for window in of_rounds],
        }
        kinds = sorted(ROUND_KINDS)
        rows = session.execute(
            _OF_ROUNDS, {**columns, **sight, "kinds": kinds, "sees_all": is_of_the_house(reader)}
        ).all()
        found += [_of_round(reader, Place(*row[:4]), row[4], OfRound(*row[5:])) for row in rows]
    for window in windows:
        if window.book == REFERENCE_BOOK:
            bounds = {"book": window.book, "after": window.after, "upto": window.upto}
            rows = session.execute(_ACTS, {**bounds, **sight, "kinds": sorted(act_kinds(reader))}).all()
            found += [ToldEntry(Place(*row[:4]), EntryKind(row[4]), None) for row in rows]
    return sorted(found, key=_in_order)


def _of_round(reader: Principal, place: Place, kind: str, round_: OfRound) -> ToldEntry:
    is_seen = sees_round(reader, table_id=round_.table_id, casino_id=round_.casino_id)
    return ToldEntry(place, EntryKind(kind), round_, only_public=not is_seen)


def _in_order(entry: ToldEntry) -> tuple[Any, ...]:
    place = entry.place
    return place.booked_at, place.book, place.stripe_no, place.seq
