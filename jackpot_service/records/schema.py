"""
The source documents' tables: what was told to the ledger, and what it answered.

Every table but `rounds` and `keys` is append-only: the application's role may only insert, and triggers refuse the
rest (see the migrations). Tables of a jackpot carry `jackpot_id` in every key; reference tables (casinos, tables,
keys, rate sheets) never point at them. `entry_seq` is the entry of the reference stripe that wrote a reference row.
"""

from datetime import datetime, time
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    Time,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.database.transactions import Base
from jackpot_service.domain.principals import NAME_LETTERS
from jackpot_service.ledger.schema import Amount, Count, Instant, Key, Position, exact

IDENTIFIER = "'^[A-Za-z0-9._:-]{1,64}$'"


class CasinoRow(Base):
    """
    A casino: the operator whose players bet; it collects the stakes and pays the awards.

    Its gaming days start at `day_starts`, a wall-clock time in its zone. The check of the zone is that it can be used.
    """

    __tablename__ = "casinos"
    __table_args__ = (
        PrimaryKeyConstraint("casino_id"),
        CheckConstraint(f"casino_id ~ {IDENTIFIER}", name="casino_id"),
        CheckConstraint("timestamptz 'epoch' AT TIME ZONE zone IS NOT NULL", name="zone"),
        CheckConstraint("day_starts < '24:00' AND extract(second FROM day_starts) = 0", name="day_starts"),
    )

    casino_id: Mapped[Key]
    name: Mapped[Key]
    entry_seq: Mapped[Position]
    zone: Mapped[Key]
    day_starts: Mapped[time] = mapped_column(Time)


class TableRow(Base):
    """A gaming table. Its casino, game and jackpot never change; a table that moves gets a new id."""

    __tablename__ = "tables"
    __table_args__ = (
        PrimaryKeyConstraint("table_id"),
        ForeignKeyConstraint(["casino_id"], ["casinos.casino_id"]),
        CheckConstraint(f"table_id ~ {IDENTIFIER}", name="table_id"),
    )

    table_id: Mapped[Key]
    casino_id: Mapped[Key]
    game: Mapped[Key]
    jackpot_id: Mapped[Key | None]
    entry_seq: Mapped[Position]


class PrincipalRow(Base):
    """
    A person or a machine: one name, one role, perhaps one casino. None of it ever changes.

    Names are the same that differ in their case alone, or that look alike, as two functions of the database know.
    `cli`, of no act, is the command line.
    """

    __tablename__ = "principals"
    __table_args__ = (
        PrimaryKeyConstraint("name"),
        ForeignKeyConstraint(["casino_id"], ["casinos.casino_id"]),
        Index("uq_principals_name_in_one_case", text("name_in_one_case(name)"), unique=True),
        Index("uq_principals_name_by_look", text("name_by_look(name)"), unique=True),
        CheckConstraint(f"name ~ '^[{NAME_LETTERS}]+$'", name="name"),
        CheckConstraint(
            "(name = 'cli') = (entry_seq = 0) AND (name <> 'cli' OR (role = 'operator' AND is_automaton))", name="cli"
        ),
        CheckConstraint("role IN ('table', 'finance', 'rates', 'operator', 'auditor')", name="role"),
        CheckConstraint(
            "CASE role WHEN 'table' THEN casino_id IS NOT NULL WHEN 'finance' THEN true ELSE casino_id IS NULL END",
            name="casino_id",
        ),
    )

    name: Mapped[Key]
    role: Mapped[Key]
    casino_id: Mapped[Key | None]
    is_automaton: Mapped[bool] = mapped_column(Boolean)
    entry_seq: Mapped[Position]


class KeyRow(Base):
    """
    What shows a principal: a secret, of which only the hash is here, or a subject of an issuer of tokens.

    `revoked_at` is written once. `last_used_at` is a note for people, which the books do not vouch for.
    """

    __tablename__ = "keys"
    __table_args__ = (
        PrimaryKeyConstraint("key_id"),
        ForeignKeyConstraint(["principal"], ["principals.name"]),
        Index("ix_keys_principal_entry_seq", "principal", "entry_seq"),
        Index("uq_keys_issuer_subject", "issuer", "subject", unique=True, postgresql_where=text("revoked_at IS NULL")),
        CheckConstraint("length(secret_hash) = 32", name="secret_hash"),
        CheckConstraint("principal <> 'cli'", name="principal"),
        CheckConstraint(
            "(secret_hash IS NULL) <> (subject IS NULL) AND (issuer IS NULL) = (subject IS NULL)", name="shown"
        ),
    )

    key_id: Mapped[Key]
    secret_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    principal: Mapped[Key]
    table_ids: Mapped[list[str]] = mapped_column(ARRAY(Text))
    revoked_at: Mapped[datetime | None] = mapped_column(TIMESTAMP(timezone=True))
    entry_seq: Mapped[Position]
    issuer: Mapped[Key | None]
    subject: Mapped[Key | None]
    last_used_at: Mapped[datetime | None] = mapped_column(TIMESTAMP(timezone=True))


class RateSheetRow(Base):
    """
    A rate sheet: all rates of a base currency, numbered, in force from its effective time.

    `source` is the document that its new rates were taken from, as `domain.facts.of_rate_source` writes it.
    """

    __tablename__ = "rate_sheets"
    __table_args__ = (
        PrimaryKeyConstraint("base", "number"),
        CheckConstraint("number >= 1", name="number"),
        Index("ix_rate_sheets_base_effective_at_number", "base", "effective_at", "number"),
    )

    base: Mapped[Key]
    number: Mapped[Count]
    effective_at: Mapped[Instant]
    source: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    entry_seq: Mapped[Position]


class RateRow(Base):
    """One rate of a sheet: base units per one unit of the currency, and the currency's exponent, pinned with it."""

    __tablename__ = "rates"
    __table_args__ = (
        PrimaryKeyConstraint("base", "number", "currency"),
        ForeignKeyConstraint(["base", "number"], ["rate_sheets.base", "rate_sheets.number"]),
        CheckConstraint("base_per_unit > 0 AND scale(base_per_unit) <= 10 AND base_per_unit < 1e10", name="rate"),
        CheckConstraint("exponent BETWEEN 0 AND 4", name="exponent"),
        CheckConstraint("currency <> base OR base_per_unit = 1", name="base"),
    )

    base: Mapped[Key]
    number: Mapped[Count]
    currency: Mapped[Key]
    base_per_unit: Mapped[Amount]
    exponent: Mapped[Count]


class JackpotRow(Base):
    """A jackpot: its id and its base currency, which never change. Its first cycle says when it was opened."""

    __tablename__ = "jackpots"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id"),
        CheckConstraint(f"jackpot_id ~ {IDENTIFIER} AND jackpot_id <> '-'", name="jackpot_id"),
    )

    jackpot_id: Mapped[Key]
    base: Mapped[Key]


class RulesVersionRow(Base):
    """One version of a jackpot's rules, as the document that `domain.rules.as_document` writes."""

    __tablename__ = "rules_versions"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "version"),
        CheckConstraint("version >= 1", name="version"),
    )

    jackpot_id: Mapped[Key]
    version: Mapped[Count]
    document: Mapped[dict[str, Any]] = mapped_column(JSONB)
    entry_seq: Mapped[Position]


class ActRow(Base):
    """
    An administrative act: what the entry of this seq in the reference book recorded. All of them are the audit trail.

    `request_id` is the caller's id of the act, `decides` the change request that it decides or carries out. `effects`
    are the entries that it booked in jackpots' books, as `domain.facts.of_effect` writes them.
    """

    __tablename__ = "acts"
    __table_args__ = (
        PrimaryKeyConstraint("seq"),
        UniqueConstraint("request_id"),
        Index("ix_acts_decides_seq", "decides", "seq"),
        Index("ix_acts_jackpot_id_seq", "jackpot_id", "seq"),
    )

    seq: Mapped[Position]
    request_id: Mapped[Key | None]
    decides: Mapped[Key | None]
    subject: Mapped[Key]
    jackpot_id: Mapped[Key | None]
    reason: Mapped[Key | None]
    asked: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    before: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    after: Mapped[dict[str, Any]] = mapped_column(JSONB)
    effects: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)


class ChangeRequestRow(Base):
    """A change that one person (or machine) asked for; `entry_seq` is the act that says so."""

    __tablename__ = "change_requests"
    __table_args__ = (
        PrimaryKeyConstraint("request_id"),
        UniqueConstraint("request_id", "maker"),
        ForeignKeyConstraint(["maker"], ["principals.name"]),
        CheckConstraint(f"request_id ~ {IDENTIFIER}", name="request_id"),
        CheckConstraint("length(reason) > 0", name="reason"),
        CheckConstraint("expires_at > made_at", name="expires_at"),
    )

    request_id: Mapped[Key]
    kind: Mapped[Key]
    subject: Mapped[Key]
    jackpot_id: Mapped[Key | None]
    payload: Mapped[dict[str, Any]] = mapped_column(JSONB)
    reason: Mapped[Key]
    base_version: Mapped[Key]
    to_confirm: Mapped[dict[str, Any]] = mapped_column(JSONB)
    maker: Mapped[Key]
    made_at: Mapped[Instant]
    expires_at: Mapped[Instant]
    entry_seq: Mapped[Position]


class ChangeDecisionRow(Base):
    """
    What another person made of a change request. The database itself holds that it is another.

    A trigger refuses a checker who may not decide the kind, or is the maker in other letters. `is_emergency` marks the
    one exception, an approval by its own maker: see `deciding_schema.EmergencySwitchRow`.
    """

    __tablename__ = "change_decisions"
    __table_args__ = (
        PrimaryKeyConstraint("request_id"),
        ForeignKeyConstraint(["request_id", "maker"], ["change_requests.request_id", "change_requests.maker"]),
        ForeignKeyConstraint(["checker"], ["principals.name"]),
        CheckConstraint("outcome IN ('approved', 'rejected')", name="outcome"),
        CheckConstraint("(checker <> maker) <> is_emergency", name="two_people"),
    )

    request_id: Mapped[Key]
    maker: Mapped[Key]
    checker: Mapped[Key]
    outcome: Mapped[Key]
    reason: Mapped[Key | None]
    confirmed: Mapped[dict[str, Any]] = mapped_column(JSONB)
    is_emergency: Mapped[bool] = mapped_column(Boolean)
    decided_at: Mapped[Instant]
    entry_seq: Mapped[Position]


class RoundRow(Base):
    """
    One table's round. Locked by whatever changes it, so that its bets, voids, result and cancellation come one by one.

    `round_key` is ours and ordered by time; (table_id, round_id) is the caller's. `steps` counts its entries,
    `bet_count` and `weight` its live bets, `replays` the repeated calls that were answered.
    """

    __tablename__ = "rounds"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "round_key"),
        # For one round, by its ids, and for a table's latest. By `by_index` no plan takes the primary key for either:
        # until a table is analysed indexes seem to cost the same but for their height, and the lower one would have all
        # rounds of the jackpot read for one.
        Index("uq_rounds_ids", "jackpot_id", text("by_index((table_id || ' '::text) || round_id)"), unique=True),
        Index("ix_rounds_latest", "jackpot_id", text("by_index(table_id)"), "round_key"),
        # For the rounds that are open too long; see docs/decisions/exceptions.md for what it costs.
        Index("ix_rounds_open", "round_key", postgresql_where=text("state = 'open'")),
        CheckConstraint(f"round_id ~ {IDENTIFIER}", name="round_id"),
        CheckConstraint("state IN ('open', 'settled', 'cancelled')", name="state"),
        CheckConstraint("bet_count >= 0 AND steps >= 1 AND weight >= 0", name="counts"),
        exact("weight"),
        {"postgresql_with": {"fillfactor": "70"}},
    )

    jackpot_id: Mapped[Key]
    round_key: Mapped[Position]
    table_id: Mapped[Key]
    round_id: Mapped[Key]
    casino_id: Mapped[Key]
    state: Mapped[Key]
    rules_version: Mapped[Count]
    rate_sheet: Mapped[Count]
    steps: Mapped[Count]
    bet_count: Mapped[Count]
    weight: Mapped[Amount]
    replays: Mapped[Count]
    opened_at: Mapped[Instant]


class BetRow(Base):
    """
    A jackpot bet as it was accepted, by the entry that is its round's `step`. Never changed: a void is a row.

    Each month has a partition of its own, see `records.partitions`.
    """

    __tablename__ = "bets"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "round_key", "bet_id"),
        CheckConstraint("stake_minor > 0", name="stake_minor"),
        {"postgresql_partition_by": "RANGE (round_key)"},
    )

    jackpot_id: Mapped[Key]
    round_key: Mapped[Position]
    bet_id: Mapped[Key]
    step: Mapped[Count]
    player_id: Mapped[Key]
    hand: Mapped[Key]
    currency: Mapped[Key]
    stake_minor: Mapped[Position]
    occurred_at: Mapped[datetime | None] = mapped_column(TIMESTAMP(timezone=True))


class VoidRow(Base):
    """A bet made void; a tombstone where the void came before its bet."""

    __tablename__ = "voids"
    __table_args__ = (PrimaryKeyConstraint("jackpot_id", "round_key", "bet_id"),)

    jackpot_id: Mapped[Key]
    round_key: Mapped[Position]
    bet_id: Mapped[Key]
    step: Mapped[Count]
    is_tombstone: Mapped[bool] = mapped_column(Boolean)


class AwardRow(Base):
    """
    One bet's prize, written once; what becomes of it are rows of `award_steps`.

    `correction` numbers the verdict that made it: 0 for the round's settlement.
    """

    __tablename__ = "awards"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "round_key", "bet_id", "tier", "correction"),
        CheckConstraint("correction >= 0", name="correction"),
        CheckConstraint("amount_minor > 0", name="amount_minor"),
        CheckConstraint("funded_by IN ('prize_fund', 'meter')", name="funded_by"),
        Index("ix_awards_award_id", "award_id"),
        Index("ix_awards_round_key_award_id", "round_key", "award_id"),
        exact("cost"),
    )

    jackpot_id: Mapped[Key]
    round_key: Mapped[Position]
    bet_id: Mapped[Key]
    tier: Mapped[Key]
    award_id: Mapped[Key]
    amount_minor: Mapped[Position]
    currency: Mapped[Key]
    cost: Mapped[Amount]
    funded_by: Mapped[Key]
    correction: Mapped[Count] = mapped_column(server_default="0")


class AwardStepRow(Base):
    """
    One step of an award's life; its state is the latest.

    `act_seq` is the act that took it; the first step was taken by the settlement itself.
    """

    __tablename__ = "award_steps"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "round_key", "bet_id", "tier", "step", "correction"),
        CheckConstraint("correction >= 0", name="correction"),
        CheckConstraint(
            "step IN ('payable', 'held', 'approved', 'rejected', 'reinstated', 'paid', 'reversed')", name="step"
        ),
        Index(
            "ix_award_steps_out_of_the_ordinary",
            "round_key",
            "step",
            postgresql_where=text("step IN ('held', 'rejected', 'reversed')"),
        ),
    )

    jackpot_id: Mapped[Key]
    round_key: Mapped[Position]
    bet_id: Mapped[Key]
    tier: Mapped[Key]
    step: Mapped[Key]
    taken_at: Mapped[Instant]
    act_seq: Mapped[Position | None]
    correction: Mapped[Count] = mapped_column(server_default="0")


class CorrectionRow(Base):
    """A correction of a settled round: `number` counts those of the round; the act says all of it."""

    __tablename__ = "corrections"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "round_key", "number"),
        CheckConstraint("number >= 1", name="number"),
    )

    jackpot_id: Mapped[Key]
    round_key: Mapped[Position]
    number: Mapped[Count]
    act_seq: Mapped[Position]


class CompensationRow(Base):
    """What the house gave, by the act of this seq, to somebody who would have won in a round that was cancelled."""

    __tablename__ = "compensations"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "round_key", "act_seq"),
        CheckConstraint("amount_minor <> 0", name="amount_minor"),
        exact("cost"),
    )

    jackpot_id: Mapped[Key]
    round_key: Mapped[Position]
    act_seq: Mapped[Position]
    bet_id: Mapped[Key]
    player_id: Mapped[Key]
    amount_minor: Mapped[Position]
    currency: Mapped[Key]
    cost: Mapped[Amount]
    document: Mapped[Key]


class StatementSettlementRow(Base):
    """
    A casino's statement settled, by the act of this seq: what it paid (negative: was paid), for which period.

    `balance_before` is what the casino was owed (negative: owed) at `positions`, every stripe's seq.
    """

    __tablename__ = "statement_settlements"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "casino_id", "currency", "reference"),
        CheckConstraint("amount <> 0", name="amount"),
        CheckConstraint("period_to > period_from", name="period"),
        exact("amount", "balance_before"),
    )

    jackpot_id: Mapped[Key]
    casino_id: Mapped[Key]
    currency: Mapped[Key]
    reference: Mapped[Key]
    period_from: Mapped[Instant]
    period_to: Mapped[Instant]
    amount: Mapped[Amount]
    positions: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    balance_before: Mapped[Amount]
    act_seq: Mapped[Position]


class ExceptionRow(Base):
    """
    A refusal that finance must see: one row a kind, table, round and content.

    The id, ordered by time, is what the database's function `exception_id` makes of them. Refusals are numbered from 1,
    and chained by their heads: see `records.exceptions`.
    """

    __tablename__ = "exceptions"
    __table_args__ = (
        PrimaryKeyConstraint("exception_id"),
        UniqueConstraint("kind", "table_id", "round_id", "digest"),
        UniqueConstraint("number"),
        CheckConstraint("length(digest) = 32", name="digest"),
        CheckConstraint("number >= 1 AND length(head) = 32", name="chain"),
    )

    exception_id: Mapped[Key]
    kind: Mapped[Key]
    table_id: Mapped[Key]
    round_id: Mapped[Key]
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    jackpot_id: Mapped[Key]
    principal: Mapped[Key]
    noticed_at: Mapped[Instant]
    detail: Mapped[dict[str, Any]] = mapped_column(JSONB)
    number: Mapped[Position]
    head: Mapped[bytes] = mapped_column(LargeBinary)


class AcknowledgementRow(Base):
    """An exception of any kind that somebody looked into; `entry_seq` is the act that says who, when and why."""

    __tablename__ = "exception_acknowledgements"
    __table_args__ = (PrimaryKeyConstraint("exception_id"),)

    exception_id: Mapped[Key]
    entry_seq: Mapped[Position]
