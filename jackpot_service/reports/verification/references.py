"""The reference documents as their rows are now: casinos, tables, people, keys, rate sheets; which jackpots exist."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, select

from jackpot_service.db import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import Rate, RateSheet
from jackpot_service.ledger.schema import EntryRow
from jackpot_service.records.periods_schema import ClosedPeriodRow
from jackpot_service.records.schema import (
    AcknowledgementRow,
    ActRow,
    CasinoRow,
    ChangeDecisionRow,
    ChangeRequestRow,
    JackpotRow,
    KeyRow,
    PrincipalRow,
    RateRow,
    RateSheetRow,
    TableRow,
)

EFFECT_KEYS = {"book", "seq", "kind", "recorded"}


@dataclass(frozen=True, slots=True)
class RecordedEffect:
    """An entry in a jackpot's book, as an act says that it booked it: of which kind, and what it recorded."""

    act: int
    kind: str
    recorded: Mapping[str, Any]

    def stated(self, name: str) -> Any:  # noqa: ANN401  whatever it says
        """What it recorded under a name; None if nothing."""
        return self.recorded.get(name) if isinstance(self.recorded, dict) else None

    @property
    def positions(self) -> tuple[int, ...] | None:
        """Where it says that the jackpot's stripes stood; None if it does not say so."""
        stated = self.stated("positions")
        is_vector = isinstance(stated, list) and stated and all(type(seq) is int for seq in stated)
        return tuple(stated) if is_vector else None


@dataclass(frozen=True, slots=True)
class Document:
    """A row of a reference table: which it is, which kind of act writes such rows, and what that one shows."""

    name: str
    seq: int
    kind: EntryKind
    facts: Facts


@dataclass(frozen=True, slots=True)
class References:
    """
    All reference documents, by id; sheets by base and number, with the instant each is in force from.

    Each row has the columns of its table; an act's also its entry's `kind` and `received_at`. All are kept in memory:
    there are few, and everything refers to them.
    """

    jackpots: Mapping[str, str]
    casinos: Mapping[str, Row[Any]]
    tables: Mapping[str, Row[Any]]
    principals: Mapping[str, Row[Any]]
    keys: Mapping[str, Row[Any]]
    sheets: Mapping[tuple[str, int], RateSheet]
    sheet_rows: Mapping[tuple[str, int], Row[Any]]
    acts: Mapping[int, Row[Any]]
    change_requests: Mapping[str, Row[Any]]
    change_decisions: Mapping[str, Row[Any]]
    acknowledgements: Mapping[str, Row[Any]]
    closed_periods: Sequence[Row[Any]]

    def effects_in(self, book: str) -> dict[int, RecordedEffect]:
        """What acts say that they booked on stripe 0 of a book, by the seq there; what cannot be read says nothing."""
        return {
            effect["seq"]: RecordedEffect(row.seq, effect["kind"], effect["recorded"])
            for row in self.acts.values()
            for effect in row.effects
            if effect.keys() == EFFECT_KEYS and effect["book"] == book
        }

    def effective_at(self, base: str, number: int) -> datetime:
        """When a sheet came, or comes, into force. Raises: KeyError if there is none of this number."""
        effective_at: datetime = self.sheet_rows[base, number].effective_at
        return effective_at


def read(session: Session) -> References:
    """Read all reference documents as they are now, past every cache."""
    rates: defaultdict[tuple[str, int], dict[str, Rate]] = defaultdict(dict)
    for row in _rows(session, RateRow):
        rates[row.base, row.number][row.currency] = Rate(row.currency, row.base_per_unit, row.exponent)
    sheet_rows = {(row.base, row.number): row for row in _rows(session, RateSheetRow)}
    return References(
        jackpots={row.jackpot_id: row.base for row in _rows(session, JackpotRow)},
        casinos={row.casino_id: row for row in _rows(session, CasinoRow)},
        tables={row.table_id: row for row in _rows(session, TableRow)},
        principals={row.name: row for row in _rows(session, PrincipalRow)},
        keys={row.key_id: row for row in _rows(session, KeyRow)},
        sheets={
            (base, number): RateSheet(base, number, rates[base, number])
            for base, number in sorted(sheet_rows.keys() | rates.keys())
        },
        sheet_rows=sheet_rows,
        acts={row.seq: row for row in _acts(session)},
        change_requests={row.request_id: row for row in _rows(session, ChangeRequestRow)},
        change_decisions={row.request_id: row for row in _rows(session, ChangeDecisionRow)},
        acknowledgements={row.exception_id: row for row in _rows(session, AcknowledgementRow)},
        closed_periods=list(_rows(session, ClosedPeriodRow)),
    )


def _acts(session: Session) -> Any:  # noqa: ANN401  as below
    """Each act with the kind of its entry, and when it came in; None for both where the entry is not there."""
    entry = and_(EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0, EntryRow.seq == ActRow.seq)
    return session.execute(
        select(ActRow.__table__, EntryRow.kind, EntryRow.received_at)
        .join(EntryRow, entry, isouter=True)
        .order_by(ActRow.seq)
    )


def _rows(session: Session, model: Any) -> Any:  # noqa: ANN401  any of the tables, all its columns
    return session.execute(select(model.__table__).order_by(*model.__table__.primary_key.columns))
