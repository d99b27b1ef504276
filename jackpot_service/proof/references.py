"""The reference documents as their rows are now: casinos, tables, people, keys, rate sheets; which jackpots exist."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import Row, and_, func, select

from jackpot_service.database.models import (
    AcknowledgementRow,
    ActRow,
    CasinoClaimsRow,
    CasinoRow,
    ChangeDecisionRow,
    ChangePolicyRow,
    ChangeRequestRow,
    ClosedPeriodRow,
    EmergencySwitchRow,
    EntryRow,
    JackpotRow,
    KeyRow,
    PasskeyRevocationRow,
    PasskeyRow,
    PrincipalRow,
    RateRow,
    RateSheetRow,
    TableRow,
    WithholdingRuleRow,
)
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import Rate, RateSheet
from jackpot_service.proof.decoding import Decoder, is_vector
from jackpot_service.proof.positions import PagedRows
from jackpot_service.records import checkpoints
from jackpot_service.usecases.changes.registry import CARRIES_OUT

OF_ROUNDS: Final = frozenset(
    {
        EntryKind.AWARDS_APPROVED,
        EntryKind.AWARDS_REJECTED,
        EntryKind.AWARDS_REINSTATED,
        EntryKind.AWARD_STOPPED,
        EntryKind.EVIDENCE_RECORDED,
        EntryKind.AWARDS_RELEASED,
        EntryKind.AWARD_FORFEITED,
        EntryKind.AWARD_PAID,
        EntryKind.PAYMENT_REVERSED,
        EntryKind.SLIP_PRINTED,
        EntryKind.COMPENSATION,
        EntryKind.COMPENSATION_DECLINED,
    }
)
"""The kinds of act that are about one round."""


@dataclass(frozen=True, slots=True)
class RecordedEffect:
    """An entry in a jackpot's book, as an act says that it booked it: of which kind, and what it recorded."""

    act: int
    kind: str
    recorded: Mapping[str, Any]

    @property
    def positions(self) -> tuple[int, ...] | None:
        """Where it says that the jackpot's stripes stood; None if it does not say so."""
        stated = self.recorded.get("positions")
        return tuple(stated) if stated and is_vector(stated) else None


@dataclass(frozen=True, slots=True)
class ActIndex:
    """
    Which acts are about a jackpot.

    `effects` are the entries on stripe 0 of its book, by their seq, which acts say that they booked; what cannot be
    read says nothing. `statements` are the seqs of acts that settled one. Of acts on its rounds only the round's key
    and the act's seq are kept, side by side; `strays` name no round. `evidence` names the acts that recorded some, by
    round key.
    """

    effects: dict[int, RecordedEffect] = field(default_factory=dict)
    statements: list[int] = field(default_factory=list)
    round_keys: "array[int]" = field(default_factory=lambda: array("q"))
    seqs: "array[int]" = field(default_factory=lambda: array("q"))
    strays: list[int] = field(default_factory=list)
    evidence: dict[int, list[int]] = field(default_factory=dict)

    def add_round(self, key: object, seq: int) -> None:
        """Take notice of an act on a round, whatever the act says that its key is."""
        if type(key) is int and -(2**63) <= key < 2**63:
            self.round_keys.append(key)
            self.seqs.append(seq)
        else:
            self.strays.append(seq)


@dataclass(frozen=True, slots=True)
class Index:
    """
    Which acts are to be looked at, by what they are about: all of them are read through for it once.

    Of whatever jackpot, by their seqs: `of_changes` carry out a change request, or are of a kind that does,
    `of_revocations` revoke a key, `without_entry` have none. `booked_again` counts the entries, by book and seq, which
    more than one act says that it booked: how often after the first.
    """

    by_jackpot: defaultdict[str, ActIndex] = field(default_factory=lambda: defaultdict(ActIndex))
    of_changes: list[int] = field(default_factory=list)
    of_revocations: list[int] = field(default_factory=list)
    without_entry: list[int] = field(default_factory=list)
    booked_again: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, act: Row[Any]) -> None:
        """Take notice of an act."""
        if act.kind is None:
            self.without_entry.append(act.seq)
        if act.decides is not None or act.kind in CARRIES_OUT:
            self.of_changes.append(act.seq)
        if act.kind == EntryKind.KEY_REVOKED:
            self.of_revocations.append(act.seq)
        for effect in act.effects:
            effects = self.by_jackpot[effect["book"]].effects
            if effect["seq"] in effects:
                self.booked_again[effect["book"], effect["seq"]] += 1
            effects[effect["seq"]] = RecordedEffect(act.seq, effect["kind"], effect["recorded"])
        if act.kind == EntryKind.STATEMENT_SETTLED and act.jackpot_id is not None:
            self.by_jackpot[act.jackpot_id].statements.append(act.seq)
        if act.kind in OF_ROUNDS and isinstance(jackpot_id := round_of(act).get("jackpot_id"), str):
            key = round_of(act).get("round_key")
            self.by_jackpot[jackpot_id].add_round(key, act.seq)
            if act.kind == EntryKind.EVIDENCE_RECORDED and type(key) is int:
                self.by_jackpot[jackpot_id].evidence.setdefault(key, []).append(act.seq)


@dataclass(frozen=True, slots=True)
class Document:
    """A row of a reference table: which it is, which kind of act writes such rows, and what that one shows."""

    name: str
    seq: int
    kind: EntryKind
    facts: Facts


@dataclass(frozen=True, slots=True)
class KeyMade:
    """A key: who made it and when, and when it was revoked."""

    maker: str
    made_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class References:
    """
    All reference documents, by id; sheets by base and number, with the instant each is in force from.

    Each row has the columns of its table; an act's also its entry's `kind`, `principal` and `received_at`, a
    principal's its name `in_one_case` and `by_look`. All but the acts are kept in memory: there are few, and everything
    refers to them. Of acts there is one for each award that was paid; they are read when they are asked for, and
    the `index` names those to ask for. `keys_made` are by the names of those who hold the keys,
    `change_policies` and `casino_claims` in the order of their acts.
    """

    jackpots: Mapping[str, str]
    casinos: Mapping[str, Row[Any]]
    tables: Mapping[str, Row[Any]]
    principals: Mapping[str, Row[Any]]
    keys: Mapping[str, Row[Any]]
    keys_made: Mapping[str, Sequence[KeyMade]]
    sheets: Mapping[tuple[str, int], RateSheet]
    sheet_rows: Mapping[tuple[str, int], Row[Any]]
    acts: Mapping[int, Row[Any]]
    change_requests: Mapping[str, Row[Any]]
    change_decisions: Mapping[tuple[str, str, str], Row[Any]]
    acknowledgements: Mapping[str, Row[Any]]
    closed_periods: Sequence[Row[Any]]
    seals: Mapping[int, tuple[int, str]]
    emergency_switches: Sequence[Row[Any]]
    change_policies: Sequence[Row[Any]]
    passkeys: Mapping[str, Row[Any]]
    passkey_revocations: Mapping[str, Row[Any]]
    withholding_rules: Sequence[Row[Any]]
    casino_claims: Sequence[Row[Any]]
    index: Index

    def index_of(self, jackpot_id: str) -> ActIndex:
        """Which acts are about a jackpot."""
        return self.index.by_jackpot.get(jackpot_id) or ActIndex()

    def effective_at(self, base: str, number: int) -> datetime:
        """When a sheet came, or comes, into force. Raises: KeyError if there is none of this number."""
        effective_at: datetime = self.sheet_rows[base, number].effective_at
        return effective_at


_PRINCIPALS: Final = select(
    PrincipalRow.__table__,
    func.name_in_one_case(PrincipalRow.name).label("in_one_case"),
    func.name_by_look(PrincipalRow.name).label("by_look"),
)


_KEYS_MADE: Final = select(KeyRow.principal, EntryRow.principal, EntryRow.received_at, KeyRow.revoked_at).join(
    EntryRow,
    and_(EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0, EntryRow.seq == KeyRow.entry_seq),
)


def read(session: Session, decoder: Decoder, *, index: Index | None = None) -> References:
    """Read all reference documents as they are now, past every cache; the `index` as well, if it is not known yet."""
    rows = partial(_rows, session, decoder)
    rates: defaultdict[tuple[str, int], dict[str, Rate]] = defaultdict(dict)
    for row in rows(RateRow):
        rates[row.base, row.number][row.currency] = Rate(row.currency, row.base_per_unit, row.exponent)
    sheet_rows = {(row.base, row.number): row for row in rows(RateSheetRow)}
    acts = PagedRows(partial(_acts, session, decoder), partial(_first_act, session))
    keys_made: defaultdict[str, list[KeyMade]] = defaultdict(list)
    for principal, maker, made_at, revoked_at in session.execute(_KEYS_MADE):
        keys_made[principal].append(KeyMade(maker, made_at, revoked_at))
    return References(
        jackpots={row.jackpot_id: row.base for row in rows(JackpotRow)},
        casinos={row.casino_id: row for row in rows(CasinoRow)},
        tables={row.table_id: row for row in rows(TableRow)},
        principals={row.name: row for row in session.execute(_PRINCIPALS)},
        keys={row.key_id: row for row in rows(KeyRow)},
        keys_made=keys_made,
        sheets={
            (base, number): RateSheet(base, number, rates[base, number])
            for base, number in sorted(sheet_rows.keys() | rates.keys())
        },
        sheet_rows=sheet_rows,
        acts=acts,
        change_requests={row.request_id: row for row in rows(ChangeRequestRow)},
        change_decisions={(row.request_id, row.checker, row.outcome): row for row in rows(ChangeDecisionRow)},
        acknowledgements={row.exception_id: row for row in rows(AcknowledgementRow)},
        closed_periods=list(rows(ClosedPeriodRow)),
        seals={seal.number: (seal.entry_seq, seal.sha256) for seal in checkpoints.every_seal(session)},
        emergency_switches=list(rows(EmergencySwitchRow)),
        change_policies=sorted(rows(ChangePolicyRow), key=attrgetter("entry_seq", "kind")),
        passkeys={row.passkey_id: row for row in rows(PasskeyRow)},
        passkey_revocations={row.passkey_id: row for row in rows(PasskeyRevocationRow)},
        withholding_rules=list(rows(WithholdingRuleRow)),
        casino_claims=sorted(rows(CasinoClaimsRow), key=attrgetter("entry_seq", "casino_id", "version")),
        index=_indexed(acts.values()) if index is None else index,
    )


def _indexed(acts: Iterable[Row[Any]]) -> Index:
    index = Index()
    for act in acts:
        index.add(act)
    return index


def round_of(row: Row[Any]) -> Mapping[str, Any]:
    """The round that an act says it is about; empty if it says none."""
    stated = row.after.get("round")
    return stated if isinstance(stated, dict) else {}


def _acts(session: Session, decoder: Decoder, first: int, end: int) -> Mapping[int, Row[Any]]:
    """Read acts, each with its entry's kind and principal, and when it came in; None where the entry is not there."""
    entry = and_(EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0, EntryRow.seq == ActRow.seq)
    rows = session.execute(
        select(ActRow.__table__, EntryRow.kind, EntryRow.principal, EntryRow.received_at)
        .join(EntryRow, entry, isouter=True)
        .where(ActRow.seq >= first, ActRow.seq < end)
        .order_by(ActRow.seq)
    )
    return {row.seq: row for row in decoder.rows(ActRow.__tablename__, rows)}


def _first_act(session: Session, seq: int) -> int | None:
    return session.scalar(select(func.min(ActRow.seq)).where(ActRow.seq >= seq))


def _rows(session: Session, decoder: Decoder, model: Any) -> Iterable[Any]:  # noqa: ANN401  any of the tables
    table = model.__table__
    return decoder.rows(table.name, session.execute(select(table).order_by(*table.primary_key.columns)))
