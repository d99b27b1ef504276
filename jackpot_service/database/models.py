"""
The tables as statements name them: columns, their types, and which of them may be null.

Laws, keys and indexes stand in `migrations/` alone. Every table but `stripes`, `days`, `rounds`, `keys` and those of
jobs is append-only: the service's login may only insert, and triggers refuse the rest. Tables of a jackpot carry
`jackpot_id` in every key; reference tables (casinos, tables, keys, rate sheets) never point at them. `entry_seq` is the
entry of the reference stripe that wrote a reference row. `jackpot db check` compares all of it with the revisions.
"""

from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, ClassVar, Final

from sqlalchemy import BigInteger, Boolean, Date, Integer, LargeBinary, Numeric, Text, Time, literal_column, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import UserDefinedType

Count = Annotated[int, mapped_column(Integer)]
"""A whole number of 32 bits; any other is of 64."""

primary_key = partial(mapped_column, primary_key=True)


class Figure(UserDefinedType[str]):
    """The type of PostgreSQL, see `domain.figures`."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Write the type's name."""
        return "figure"


ischema_names["figure"] = Figure  # By this the tables can be compared with a database.


class Base(DeclarativeBase):
    """
    The type of each column, by what Python makes of it.

    Text is compared byte by byte, as Python does: a replay must list ids in the order of the first answer.
    """

    type_annotation_map: ClassVar = {
        str: Text(collation="C"),
        int: BigInteger,
        bool: Boolean,
        bytes: LargeBinary,
        Decimal: Numeric,
        date: Date,
        time: Time,
        datetime: TIMESTAMP(timezone=True),
        list[str]: ARRAY(Text),
        list[int]: ARRAY(BigInteger),
        list[Decimal]: ARRAY(Numeric),
        dict[str, Any]: JSONB(none_as_null=True),
        list[dict[str, Any]]: JSONB,
    }


class StripeRow(Base):
    """
    One of a jackpot's K stripes: its part of every pool, and the end of its chain of entries.

    `seq` and `head` are those of its last entry; `booked_at` never falls. `added_by` is the seq, on stripe 0, of the
    entry that added it: 1 for those of the opening. Up to `summed_to` its entries are in the sums of their days.
    `limits_version` is the version of its jackpot's table limits, 0 before the first.
    """

    __tablename__ = "stripes"

    jackpot_id: Mapped[str] = primary_key()
    stripe_no: Mapped[Count] = primary_key()
    seq: Mapped[int]
    head: Mapped[bytes]
    meter_players: Mapped[Decimal]
    meter_house: Mapped[Decimal]
    reserve: Mapped[Decimal]
    prize_fund: Mapped[Decimal]
    accepting: Mapped[bool]
    booked_at: Mapped[datetime]
    added_by: Mapped[int]
    summed_to: Mapped[int]
    limits_version: Mapped[Count]


class EntryRow(Base):
    """
    One entry: its place in its stripe's chain, what it belongs to, its postings as four parallel arrays, its figures.

    An entry of a round carries the round's key and its step, the round's own count of entries from 1. Casino, table and
    rules version are those of its figures, and empty, or 0, where there is none. The view `postings` shows one row a
    posting, `figures` one row a figure.

    `facts` are what a closing, a result, a cancellation or voids recorded, as `domain.facts` writes it; null for
    anything else. The views `results`, `hands`, `settlements` and `cancellations` show their columns.
    """

    __tablename__ = "entries"

    jackpot_id: Mapped[str] = primary_key()
    stripe_no: Mapped[Count] = primary_key()
    seq: Mapped[int] = primary_key()
    kind: Mapped[str]
    principal: Mapped[str]
    round_key: Mapped[int | None]
    step: Mapped[Count | None]
    received_at: Mapped[datetime]
    booked_at: Mapped[datetime]
    digest: Mapped[bytes]
    head: Mapped[bytes]
    accounts: Mapped[list[str]]
    currencies: Mapped[list[str]]
    amounts: Mapped[list[Decimal]]
    movements: Mapped[list[str]]
    casino_id: Mapped[str]
    table_id: Mapped[str]
    rules_version: Mapped[Count]
    figures: Mapped[list[str]] = mapped_column(ARRAY(Figure))
    facts: Mapped[dict[str, Any] | None]


class _SummedFigures:
    """The columns that days and past days share: what figures are attributed to, their other keys, and their sums."""

    jackpot_id: Mapped[str] = primary_key()
    day: Mapped[date] = primary_key()
    cycle: Mapped[Count] = primary_key()
    gaming_day: Mapped[date] = primary_key()
    kind: Mapped[str] = primary_key()
    casino_id: Mapped[str] = primary_key()
    table_id: Mapped[str] = primary_key()
    rules_version: Mapped[Count] = primary_key()
    currency: Mapped[str] = primary_key()
    account: Mapped[str] = primary_key()
    tier: Mapped[str] = primary_key()
    detail: Mapped[str] = primary_key()
    made_on: Mapped[date] = primary_key()
    number: Mapped[int]
    minor: Mapped[Decimal]
    value: Mapped[Decimal]


class DayRow(_SummedFigures, Base):
    """
    The sums of the figures of a stripe's entries on a day, by what figures are attributed to and their other keys.

    Those of entries beyond the stripe's `summed_to` are not among them. `day` is the UTC day on which the entries were
    booked, `gaming_day` their casino's, `cycle` the one that they stand after. A column that a kind does not use is
    empty, or 0; `made_on` differs from the day only of award steps and payments. Figures taken back are negative.
    """

    __tablename__ = "days"

    stripe_no: Mapped[Count] = primary_key()


class PastDayRow(_SummedFigures, Base):
    """The sums of a day that is over, of all stripes together; otherwise as `DayRow`. Written once, when it is read."""

    __tablename__ = "past_days"


class CycleRow(Base):
    """
    One life of a jackpot, opened by the entry at (stripe_no, seq) under a rules version.

    `cut` is every stripe's seq at that entry, in the order of stripe numbers: what stands at or before it belongs to
    earlier cycles. A stripe that the array does not reach had no entry then.
    """

    __tablename__ = "cycles"

    jackpot_id: Mapped[str] = primary_key()
    cycle: Mapped[Count] = primary_key()
    rules_version: Mapped[Count]
    stripe_no: Mapped[Count]
    seq: Mapped[int]
    cut: Mapped[list[int]]


class WithholdingRuleRow(Base):
    """
    A version of a casino's withholding rule in a currency, by the act of this seq; amounts are its minor units.

    It is the rule of rounds that are opened from `in_force_from` on, until a later version is.
    """

    __tablename__ = "withholding_rules"

    casino_id: Mapped[str] = primary_key()
    currency: Mapped[str] = primary_key()
    version: Mapped[Count] = primary_key()
    in_force_from: Mapped[datetime]
    least_multiple: Mapped[int | None]
    report_at_minor: Mapped[int]
    withhold_at_minor: Mapped[int | None]
    percent: Mapped[Decimal | None]
    entry_seq: Mapped[int]


class CasinoRow(Base):
    """
    A casino: the operator whose players bet; it collects the stakes and pays the awards.

    Its gaming days start at `day_starts`, a wall-clock time in its zone. The check of the zone is that it can be used.
    """

    __tablename__ = "casinos"

    casino_id: Mapped[str] = primary_key()
    name: Mapped[str]
    entry_seq: Mapped[int]
    zone: Mapped[str]
    day_starts: Mapped[time]


class TableRow(Base):
    """A gaming table. Its casino, game and jackpot never change; a table that moves gets a new id."""

    __tablename__ = "tables"

    table_id: Mapped[str] = primary_key()
    casino_id: Mapped[str]
    game: Mapped[str]
    jackpot_id: Mapped[str | None]
    entry_seq: Mapped[int]


class PrincipalRow(Base):
    """
    A user or a service account: one name, one role, one department, perhaps one casino. None of it ever changes.

    Names are the same that differ in their case alone, or that look alike, as two functions of the database know.
    `cli`, of no act, is the command line.
    """

    __tablename__ = "principals"

    name: Mapped[str] = primary_key()
    role: Mapped[str]
    casino_id: Mapped[str | None]
    is_automaton: Mapped[bool]
    department: Mapped[str]
    entry_seq: Mapped[int]


class KeyRow(Base):
    """
    A key of a principal: a secret, of which only the hash is here, or a subject of an issuer of tokens.

    `revoked_at` is written once. `last_used_at` is a note for people, which the books do not vouch for.
    """

    __tablename__ = "keys"

    key_id: Mapped[str] = primary_key()
    secret_hash: Mapped[bytes | None]
    principal: Mapped[str]
    table_ids: Mapped[list[str]]
    revoked_at: Mapped[datetime | None]
    entry_seq: Mapped[int]
    issuer: Mapped[str | None]
    subject: Mapped[str | None]
    last_used_at: Mapped[datetime | None]


class RateSheetRow(Base):
    """
    A rate sheet: all rates of a base currency, numbered, in force from its effective time.

    `source` is the document that its new rates were taken from, as `domain.facts.of_rate_source` writes it.
    """

    __tablename__ = "rate_sheets"

    base: Mapped[str] = primary_key()
    number: Mapped[Count] = primary_key()
    effective_at: Mapped[datetime]
    source: Mapped[dict[str, Any] | None]
    entry_seq: Mapped[int]


class RateRow(Base):
    """One rate of a sheet: base units per one unit of the currency, and the currency's exponent, fixed with it."""

    __tablename__ = "rates"

    base: Mapped[str] = primary_key()
    number: Mapped[Count] = primary_key()
    currency: Mapped[str] = primary_key()
    base_per_unit: Mapped[Decimal]
    exponent: Mapped[Count]


class JackpotRow(Base):
    """A jackpot: its id and its base currency, which never change. Its first cycle says when it was opened."""

    __tablename__ = "jackpots"

    jackpot_id: Mapped[str] = primary_key()
    base: Mapped[str]


class RulesVersionRow(Base):
    """One version of a jackpot's rules, as the document that `domain.rules.as_document` writes."""

    __tablename__ = "rules_versions"

    jackpot_id: Mapped[str] = primary_key()
    version: Mapped[Count] = primary_key()
    document: Mapped[dict[str, Any]]
    entry_seq: Mapped[int]


class TableLimitsRow(Base):
    """
    The limits that one table of a jackpot got, as the document that `domain.table_limits.as_document` writes.

    `version` counts such changes of any of the jackpot's tables. `entry_seq` is the entry on stripe 0 that recorded it.
    """

    __tablename__ = "table_limits"

    jackpot_id: Mapped[str] = primary_key()
    version: Mapped[Count] = primary_key()
    table_id: Mapped[str]
    document: Mapped[dict[str, Any]]
    entry_seq: Mapped[int]


class ActRow(Base):
    """
    An administrative act: what the entry of this seq in the reference book recorded. All of them are the audit trail.

    `request_id` is the caller's id of the act, `decides` the change request that it decides or carries out. `effects`
    are the entries that it booked in jackpots' books, as `domain.facts.of_effect` writes them.
    """

    __tablename__ = "acts"

    seq: Mapped[int] = primary_key()
    request_id: Mapped[str | None]
    decides: Mapped[str | None]
    subject: Mapped[str]
    jackpot_id: Mapped[str | None]
    reason: Mapped[str | None]
    request: Mapped[dict[str, Any] | None]
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any]]
    effects: Mapped[list[dict[str, Any]]]


class ChangeRequestRow(Base):
    """A change that a user or service account requested; `entry_seq` is the act that says so."""

    __tablename__ = "change_requests"

    request_id: Mapped[str] = primary_key()
    kind: Mapped[str]
    subject: Mapped[str]
    jackpot_id: Mapped[str | None]
    payload: Mapped[dict[str, Any]]
    reason: Mapped[str]
    base_version: Mapped[str]
    to_confirm: Mapped[dict[str, Any]]
    maker: Mapped[str]
    made_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    approvals_due: Mapped[Count]
    entry_seq: Mapped[int]


class ChangeDecisionRow(Base):
    """
    A checker's decision on a change request. The database itself holds that the checker is not the maker.

    A trigger refuses a checker who may not decide the kind, or is the maker in other letters. `is_emergency` marks the
    one exception, an approval by its own maker: see `EmergencySwitchRow`. One decision is final: a rejection, or the
    last of the approvals that are due.
    """

    __tablename__ = "change_decisions"

    request_id: Mapped[str] = primary_key()
    checker: Mapped[str] = primary_key()
    outcome: Mapped[str] = primary_key()
    maker: Mapped[str]
    reason: Mapped[str]
    confirmed: Mapped[dict[str, Any]]
    is_emergency: Mapped[bool]
    is_final: Mapped[bool]
    decided_at: Mapped[datetime]
    entry_seq: Mapped[int]


class RoundRow(Base):
    """
    One table's round. Locked by whatever changes it, so that bets, voids, closing, result, cancellation come in turn.

    `round_key` is ours and ordered by time; (table_id, round_id) is the caller's. `steps` counts its entries,
    `bet_count` and `weight` its live bets, `replays` the repeated calls that were answered. `game_number` is what the
    table shows its players, if a call has said it.
    """

    __tablename__ = "rounds"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    table_id: Mapped[str]
    round_id: Mapped[str]
    casino_id: Mapped[str]
    state: Mapped[str]
    rules_version: Mapped[Count]
    rate_sheet: Mapped[Count]
    steps: Mapped[Count]
    bet_count: Mapped[Count]
    weight: Mapped[Decimal]
    replays: Mapped[Count]
    opened_at: Mapped[datetime]
    game_number: Mapped[str | None]


NOT_ENDED = RoundRow.state.in_([literal_column("'open'"), literal_column("'closed'")])
"""WHERE this: rounds that wait for their end. No parameters, so that the planner knows that their index fits."""


class BetRow(Base):
    """
    A jackpot bet as it was accepted, by the entry that is its round's `step`. Never changed: a void is a row.

    Each month has a partition of its own, see `schema/months.py`.
    """

    __tablename__ = "bets"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    bet_id: Mapped[str] = primary_key()
    step: Mapped[Count]
    player_id: Mapped[str]
    hand: Mapped[str]
    currency: Mapped[str]
    stake_minor: Mapped[int]
    occurred_at: Mapped[datetime | None]


class VoidRow(Base):
    """A bet made void; a tombstone where the void came before its bet."""

    __tablename__ = "voids"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    bet_id: Mapped[str] = primary_key()
    step: Mapped[Count]
    is_tombstone: Mapped[bool]


class AwardRow(Base):
    """
    One bet's prize, written once; what becomes of it are rows of `award_steps`.

    `correction` numbers the verdict that made it: 0 for the round's settlement.
    """

    __tablename__ = "awards"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    bet_id: Mapped[str] = primary_key()
    tier: Mapped[str] = primary_key()
    award_id: Mapped[str]
    amount_minor: Mapped[int]
    currency: Mapped[str]
    cost: Mapped[Decimal]
    funded_by: Mapped[str]
    correction: Mapped[Count] = primary_key()


class AwardStepRow(Base):
    """
    One step of an award's life; its state is the latest.

    `act_seq` is the act that took it; the first step was taken by the settlement itself.
    """

    __tablename__ = "award_steps"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    bet_id: Mapped[str] = primary_key()
    tier: Mapped[str] = primary_key()
    step: Mapped[str] = primary_key()
    taken_at: Mapped[datetime]
    act_seq: Mapped[int | None]
    correction: Mapped[Count] = primary_key()


class PaymentRow(Base):
    """
    A casino's statement, by the act of this seq, that it paid an award or a part of it; all of it is in the act.

    One below zero reverses the payment of the act that it names. `cost` is the part's in the base currency.
    `withheld_minor`, of the same sign, is how much of it the casino kept for its authority.
    """

    __tablename__ = "payments"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    act_seq: Mapped[int] = primary_key()
    bet_id: Mapped[str]
    tier: Mapped[str]
    correction: Mapped[Count]
    amount_minor: Mapped[int]
    withheld_minor: Mapped[int]
    cost: Mapped[Decimal]
    reference: Mapped[str]
    reverses: Mapped[int | None]


class SlipPrintRow(Base):
    """A print of an award's slip, by the act of this seq; the casino numbers its slips from 1, without a gap."""

    __tablename__ = "slip_prints"

    casino_id: Mapped[str] = primary_key()
    number: Mapped[Count] = primary_key()
    copy: Mapped[Count] = primary_key()
    jackpot_id: Mapped[str]
    round_key: Mapped[int]
    bet_id: Mapped[str]
    tier: Mapped[str]
    correction: Mapped[Count]
    entry_seq: Mapped[int]


class CorrectionRow(Base):
    """A correction of a settled round: `number` counts those of the round; the act says all of it."""

    __tablename__ = "corrections"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    number: Mapped[Count] = primary_key()
    act_seq: Mapped[int]


class CompensationRow(Base):
    """
    An amount that the house granted, by the act of this seq, to a bettor who would have won.

    The round was cancelled, or it was settled and the bet's prize was denied.
    """

    __tablename__ = "compensations"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    act_seq: Mapped[int] = primary_key()
    bet_id: Mapped[str]
    player_id: Mapped[str]
    amount_minor: Mapped[int]
    currency: Mapped[str]
    cost: Mapped[Decimal]
    document: Mapped[str]


class StatementSettlementRow(Base):
    """
    A casino's statement settled, by the act of this seq: what it paid (negative: was paid), for which period.

    `balance_before` is what the casino was owed (negative: owed) at `positions`, every stripe's seq.
    """

    __tablename__ = "statement_settlements"

    jackpot_id: Mapped[str] = primary_key()
    casino_id: Mapped[str] = primary_key()
    currency: Mapped[str] = primary_key()
    reference: Mapped[str] = primary_key()
    period_from: Mapped[datetime]
    period_to: Mapped[datetime]
    amount: Mapped[Decimal]
    positions: Mapped[list[int]]
    balance_before: Mapped[Decimal]
    act_seq: Mapped[int]


class ExceptionRow(Base):
    """
    A refusal that finance must see: one row a kind, table, round and content.

    The id, ordered by time, is what the database's function `exception_id` makes of them. Refusals are numbered from 1,
    and chained by their heads: see `records.exceptions`.
    """

    __tablename__ = "exceptions"

    exception_id: Mapped[str] = primary_key()
    kind: Mapped[str]
    table_id: Mapped[str]
    round_id: Mapped[str]
    digest: Mapped[bytes]
    jackpot_id: Mapped[str]
    principal: Mapped[str]
    noticed_at: Mapped[datetime]
    detail: Mapped[dict[str, Any]]
    number: Mapped[int]
    head: Mapped[bytes]


class ExceptionCountRow(Base):
    """How many refusals of an hour an exception stands for, of the kinds that are counted by kind, table and hour."""

    __tablename__ = "exception_counts"

    exception_id: Mapped[str] = primary_key()
    refusals: Mapped[int]


class AcknowledgementRow(Base):
    """An exception of any kind that somebody looked into; `entry_seq` is the act that says who, when and why."""

    __tablename__ = "exception_acknowledgements"

    exception_id: Mapped[str] = primary_key()
    entry_seq: Mapped[int]


class CasinoClaimsRow(Base):
    """For how long awards can be claimed at a casino, and where forfeited ones go, since the act of this seq."""

    __tablename__ = "casino_claims"

    casino_id: Mapped[str] = primary_key()
    version: Mapped[Count] = primary_key()
    claim_days: Mapped[Count | None]
    forfeited_to: Mapped[str]
    entry_seq: Mapped[int]


class ChangePolicyRow(Base):
    """
    The roles that ask for a kind of change and decide it, since the act of this seq; the latest version is in force.

    The schema begins with version 1, of no act: the policy that the service is shipped with.
    """

    __tablename__ = "change_policies"

    kind: Mapped[str] = primary_key()
    version: Mapped[Count] = primary_key()
    asked_by: Mapped[list[str]]
    decided_by: Mapped[list[str]]
    needs_other_department: Mapped[bool]
    entry_seq: Mapped[int]


class EmergencySwitchRow(Base):
    """
    Whether one person alone may approve an own request, since the act of this seq; the latest row says what is so now.

    The schema begins with a row of seq 0 that says off.
    """

    __tablename__ = "emergency_switches"

    entry_seq: Mapped[int] = primary_key()
    is_on: Mapped[bool]


class ClosedPeriodRow(Base):
    """
    A period that is closed, by the act of this seq: from `starts_at` (null: the beginning) to `ends_at`, not included.

    `reports` holds, by the names of the reports, their version and the SHA-256 of their content.
    """

    __tablename__ = "closed_periods"

    ends_at: Mapped[datetime] = primary_key()
    starts_at: Mapped[datetime | None]
    reports: Mapped[dict[str, Any]]
    entry_seq: Mapped[int]


class ReconciledDayRow(Base):
    """
    A UTC day of a jackpot's book that was over, and was read one document and one entry at a time, once.

    It is what was booked after `starts` up to `ends`, a seq of each stripe. `sums` are what was found, as objects of
    side, version, account, currency, movement and amount, in the `report_version` of the reader.
    """

    __tablename__ = "reconciled_days"

    jackpot_id: Mapped[str] = primary_key()
    report_version: Mapped[Count] = primary_key()
    day: Mapped[date] = primary_key()
    starts: Mapped[list[int]]
    ends: Mapped[list[int]]
    sums: Mapped[list[dict[str, Any]]]
    read_at: Mapped[datetime]


class SealRow(Base):
    """
    A seal: `document` is its canonical bytes as text, `entry_seq` the act that says who made it, and why.

    `public_key` shows that its signature fits; whose key that is, only a copy outside shows.
    """

    __tablename__ = "seals"

    number: Mapped[int] = primary_key()
    document: Mapped[str]
    entry_seq: Mapped[int]
    public_key: Mapped[bytes]


class VerificationRow(Base):
    """
    Where a verification stood that had found nothing wrong: at its end (`is_whole`), or on its way there.

    `continues` is the number of the row from which it went on; None for one that began at zero. The counts are those
    of the run; `books` says how far each book is verified, as `records.checkpoints` writes it.
    """

    __tablename__ = "verifications"

    number: Mapped[int] = primary_key()
    begun_at: Mapped[datetime]
    noted_at: Mapped[datetime]
    service_version: Mapped[str]
    continues: Mapped[int | None]
    is_whole: Mapped[bool]
    entries: Mapped[int]
    rounds: Mapped[int]
    bets: Mapped[int]
    awards: Mapped[int]
    books: Mapped[dict[str, Any]]


IS_TO_DO: Final = text("state IN ('queued', 'running')")
IS_TO_REMOVE: Final = text("state IN ('done', 'failed', 'cancelled') AND chunks > 0")
"""The conditions of partial indexes of jobs, which a statement has to have word by word."""


class JobRow(Base):
    """A job (see `domain.jobs.Job`), and who holds it until when: `holder` runs it until `lease_until`."""

    __tablename__ = "jobs"

    job_id: Mapped[str] = primary_key()
    kind: Mapped[str]
    request: Mapped[dict[str, Any]]
    parameters: Mapped[dict[str, Any]]
    principal: Mapped[str]
    casino_id: Mapped[str | None]
    request_id: Mapped[str]
    created_at: Mapped[datetime]
    state: Mapped[str]
    file_name: Mapped[str]
    media_type: Mapped[str]
    chunks: Mapped[Count]
    size: Mapped[int]
    position: Mapped[dict[str, Any] | None]
    done: Mapped[int]
    total: Mapped[int | None]
    attempts: Mapped[Count]
    began_at: Mapped[datetime | None]
    began_with: Mapped[int]
    heartbeat_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    error: Mapped[str | None]
    cancelled_by: Mapped[str | None]
    removed_at: Mapped[datetime | None]
    holder: Mapped[str | None]
    lease_until: Mapped[datetime | None]


class JobChunkRow(Base):
    """A part of a job's file, numbered from 1. It is written once, and removed with the file."""

    __tablename__ = "job_chunks"

    job_id: Mapped[str] = primary_key()
    number: Mapped[Count] = primary_key()
    content: Mapped[bytes]
    sha256: Mapped[bytes]
