"""The rules sheet of a jackpot: the version in force and the one that waits, and how their amounts are converted."""

from dataclasses import dataclass
from datetime import date, datetime

from jackpot_service.database.transactions import Session
from jackpot_service.domain.acceptance import largest_minor_of, require_stakes
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.claims import ClaimPeriods
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.money import Rate
from jackpot_service.domain.paytables import PaytableLine, paytable, unit_minor
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.printed_rates import Conversion, SheetInForce
from jackpot_service.domain.rates import RateSource
from jackpot_service.domain.rules import JackpotRules, sha256_of
from jackpot_service.domain.table_limits import TableLimits
from jackpot_service.records import claims, immutable, rate_sheets, references
from jackpot_service.reports.jackpots import JackpotState, jackpot_state
from jackpot_service.reports.table_limits import limited_tables


@dataclass(frozen=True, slots=True)
class RulesVersion:
    """A version of the rules, and when it was booked: at the jackpot's opening, or as it was approved."""

    version: int
    rules: JackpotRules
    approved_at: datetime

    @property
    def sha256(self) -> str:
        """The SHA-256 of its document."""
        return sha256_of(self.rules)


@dataclass(frozen=True, slots=True)
class TableAmounts:
    """The bounds of a table's stakes in the currency of a rules sheet, rounded as those of the rules; None without."""

    token: int | None
    least_stake: int | None
    largest_stake: int | None


@dataclass(frozen=True, slots=True)
class TableOnSheet:
    """A table that has limits of its own, with these in the base currency and in that of the sheet."""

    table_id: str
    version: int
    limits: TableLimits
    amounts: TableAmounts


@dataclass(frozen=True, slots=True)
class Amounts:
    """
    The amounts of the rules in the currency of a rules sheet, for display: whole minor units, rounded down.

    `least_stake` is rounded up: no smaller one is accepted.
    `unit` is the stake that prizes are printed for: the token, or one unit of the currency.
    """

    unit: int
    token: int | None
    least_stake: int | None
    largest_stake: int | None
    reset_amount: int
    limit: int | None


@dataclass(frozen=True, slots=True)
class RulesSheet:
    """
    A jackpot as it stands, the version of its running cycle and the one that waits for the next.

    `conversion` says in which currency amounts are, and by which rate; `lines` are the paytable. `stake_minor` is a
    stake that prizes are asked for, too; None if none is. `claim_periods` are those of the casinos of its tables.
    `tables` are those with limits of their own, by id, as far as the reader sees them.
    """

    state: JackpotState
    version: RulesVersion
    pending: RulesVersion | None
    conversion: Conversion
    amounts: Amounts
    lines: tuple[PaytableLine, ...]
    stake_minor: int | None
    claim_periods: ClaimPeriods
    tables: tuple[TableOnSheet, ...]


@dataclass(frozen=True, slots=True)
class RulesQuestion:
    """A reader, the jackpot, the currency of amounts (None: its base), and a stake that prizes are asked for."""

    reader: Principal
    jackpot_id: str
    currency: str | None
    stake_minor: int | None


def rules_sheet(session: Session, question: RulesQuestion, *, at: datetime) -> RulesSheet:
    """
    Read the rules sheet with amounts by the rate sheet in force.

    Raises: UnknownJackpot; NoRate; for a stake that no bet could have StakeOutOfRange, CurrencyNotAccepted.
    """
    jackpot_id, stake_minor = question.jackpot_id, question.stake_minor
    state = jackpot_state(session, jackpot_id, at=at)
    base = state.rules.base
    rate = state.sheet.rate(question.currency or base)
    if stake_minor is not None:
        stake = Bet("asked", "asked", "asked", rate.currency, stake_minor)
        require_stakes(Bets.of([stake]), rules=state.rules, sheet=state.sheet)
    following = state.following_version
    return RulesSheet(
        state=state,
        version=_version(session, jackpot_id, state.rules_version),
        pending=None if following == state.rules_version else _version(session, jackpot_id, following),
        conversion=Conversion(base, rate, _sheet_in_force(session, rate, base=base, number=state.sheet.number)),
        amounts=_amounts(state, rate),
        lines=paytable(state.rules, meter=state.meter, sheet=state.sheet, currency=rate.currency),
        stake_minor=stake_minor,
        claim_periods=claims.periods_of(session, jackpot_id, casino_id=question.reader.casino_id),
        tables=tuple(
            TableOnSheet(
                limited_table.table_id,
                limited_table.version,
                limited_table.limits,
                _table_amounts(limited_table.limits, rate),
            )
            for limited_table in limited_tables(session, question.reader, jackpot_id).tables
        ),
    )


def _table_amounts(limits: TableLimits, rate: Rate) -> TableAmounts:
    return TableAmounts(
        token=None if limits.token is None else rate.most_minor_within(limits.token),
        least_stake=None if limits.least_stake is None else rate.least_minor_within(limits.least_stake),
        largest_stake=None if limits.largest_stake is None else rate.most_minor_within(limits.largest_stake),
    )


def _amounts(state: JackpotState, rate: Rate) -> Amounts:
    rules = state.rules
    own = rules.largest_stakes.get(rate.currency)
    return Amounts(
        unit=unit_minor(rules, currency=rate.currency, sheet=state.sheet),
        token=None if rules.token is None else rate.most_minor_within(rules.token),
        least_stake=None if rules.least_stake is None else rate.least_minor_within(rules.least_stake),
        largest_stake=None if rules.largest_stake is None else largest_minor_of(rate, rules.largest_stake, own),
        reset_amount=rate.most_minor_within(rules.reset_amount),
        limit=None if rules.limit is None else rate.most_minor_within(rules.limit),
    )


def _version(session: Session, jackpot_id: str, version: int) -> RulesVersion:
    rules = immutable.rules(session, jackpot_id, version)
    return RulesVersion(version, rules, references.rules_booked_at(session, jackpot_id, version))


def _sheet_in_force(session: Session, rate: Rate, *, base: str, number: int) -> SheetInForce | None:
    head = rate_sheets.find(session, base, number)
    came_with = rate_sheets.with_which_it_came(session, base, rate.currency, number=number)
    if head is None or came_with is None:
        return None
    return SheetInForce(head.number, head.effective_at, came_with.number, _source(came_with.source))


def _source(facts: Facts | None) -> RateSource | None:
    return None if facts is None else RateSource(facts["name"], date.fromisoformat(facts["date"]), facts["sha256"])
