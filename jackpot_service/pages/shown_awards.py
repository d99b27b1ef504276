"""Awards as pages show them: what there is to do about each, what they come to, and how an amount was arrived at."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from jackpot_service.domain.awards import TO_PAY, AwardState
from jackpot_service.domain.money import from_minor
from jackpot_service.domain.rules import FundedBy, Policy
from jackpot_service.pages import figures
from jackpot_service.pages.policy_words import POLICY_PHRASES
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.open_awards import AGES, OpenTotal
from jackpot_service.reports.award_basis import AwardBasis
from jackpot_service.reports.round_calculation import Quotient

TIMES: Final = "\N{MULTIPLICATION SIGN}"
DIVIDED: Final = "\N{DIVISION SIGN}"

SOON: Final = timedelta(days=14)
"""So long before its claim period ends, an award is soon unclaimed."""

TO_DO: Final[Mapping[AwardState, str]] = {
    AwardState.HELD: "two people approve or reject it",
    AwardState.STOPPED: "two people release it",
    AwardState.REJECTED: "nothing, unless two people reinstate it",
    AwardState.UNCLAIMED: "its casino or the house's operators pay it, or two people forfeit it",
    AwardState.PAYABLE: "its casino or the house's operators pay it",
    AwardState.PART_PAID: "its casino or the house's operators pay the rest",
}
"""By the state of an award; of any other there is nothing to do."""

NO_CLAIM_DATE: Final[Mapping[AwardState, str]] = {
    AwardState.PAYABLE: "no end: the casino has set no claim period",
    AwardState.HELD: "no date while the award waits for approval",
    AwardState.REJECTED: "nothing is to be paid: people rejected the award",
    AwardState.STOPPED: "no date while the payment is stopped",
    AwardState.PART_PAID: "no end: the casino has set no claim period",
    AwardState.PAID: "nothing is left to be paid",
    AwardState.FORFEITED: "nothing is left to be paid: the award is forfeited",
    AwardState.REVERSED: "nothing is to be paid: a correction took the award back",
}
"""Why an award has no date until which it can be claimed, by its state; an unclaimed one has had its date."""

WAITING: Final = frozenset({AwardState.HELD, AwardState.STOPPED, AwardState.UNCLAIMED})
"""The states in which an award needs somebody of the house: they are marked in gold."""

ORDER: Final = (
    AwardState.HELD,
    AwardState.STOPPED,
    AwardState.UNCLAIMED,
    AwardState.PART_PAID,
    AwardState.PAYABLE,
)
"""In which totals stand: what needs somebody comes first."""


@dataclass(frozen=True, slots=True)
class ShownAward:
    """An award in a list, as it stands at an instant."""

    record: AwardRecord
    at: datetime

    @property
    def state(self) -> AwardState:
        """Where it stands, with the claim period in force now."""
        return self.record.state_at(self.at)

    @property
    def needs_somebody(self) -> bool:
        """Whether it waits for people, or for its player for too long."""
        return self.state in WAITING

    @property
    def made_at(self) -> datetime:
        """When it was made: it took its first step then."""
        return self.record.steps[0].taken_at

    @property
    def to_do(self) -> str:
        """The next thing to do about it; empty if there is nothing."""
        return TO_DO.get(self.state, "")

    @property
    def claim(self) -> tuple[str, str]:
        """Until when it can be claimed, or why there is no such date: a title, and what stands there."""
        until = self.record.claimable_until
        if until is None:
            return "Claim", NO_CLAIM_DATE[self.state]
        return "Claim ended" if self.state is AwardState.UNCLAIMED else "Claim ends", figures.moment(until)

    @property
    def claim_left(self) -> timedelta | None:
        """For how long it can still be claimed, if that is not long; None for any other."""
        until = self.record.claimable_until
        return until - self.at if until is not None and timedelta() <= until - self.at <= SOON else None

    @property
    def unpaid_minor(self) -> int:
        """The part of it that is still to be paid, or would be; 0 where nothing is."""
        award = self.record.award
        is_open = award.state in {*TO_PAY, AwardState.HELD, AwardState.STOPPED}
        return award.unpaid_minor if is_open else 0


@dataclass(frozen=True, slots=True)
class Sum:
    """So many awards, and what is unpaid of them in minor units."""

    awards: int = 0
    unpaid_minor: int = 0

    def __add__(self, other: "Sum") -> "Sum":
        return Sum(self.awards + other.awards, self.unpaid_minor + other.unpaid_minor)


@dataclass(frozen=True, slots=True)
class TotalRow:
    """The open awards of a state and a currency, by age and together."""

    state: AwardState
    currency: str
    by_age: Mapping[str, Sum] = field(default_factory=dict)

    @property
    def ages(self) -> Sequence[Sum]:
        """A sum for each age, the youngest first."""
        return [self.by_age.get(age, Sum()) for age in AGES]

    @property
    def together(self) -> Sum:
        """The sum of all ages."""
        return sum(self.by_age.values(), Sum())


def total_rows(totals: Iterable[OpenTotal]) -> Sequence[TotalRow]:
    """Put totals into rows of a table, what needs somebody first."""
    rows: dict[tuple[AwardState, str], dict[str, Sum]] = {}
    for total in totals:
        rows.setdefault((total.state, total.currency), {})[total.age] = Sum(total.awards, total.unpaid_minor)
    in_order = sorted(rows, key=lambda key: (ORDER.index(key[0]), key[1]))
    return [TotalRow(state, currency, rows[state, currency]) for state, currency in in_order]


def calculation(record: AwardRecord, made_of: AwardBasis) -> Iterator[tuple[str, str]]:
    """List the figures from the stake to the amount, in the order in which they are used, each with its name."""
    rate, base, basis, payoff = made_of.rate, made_of.base, made_of.basis, made_of.payoff
    stake = from_minor(made_of.stake_minor, rate.exponent)
    yield "Stake", figures.money(made_of.stake_minor, rate)
    in_base = f"{base}{figures.SPACE}{figures.number(rate.base_per_unit)}"
    yield f"Rate, of rate sheet {made_of.round.rate_sheet}", in_base
    yield f"Stake {TIMES} rate", figures.exact(stake * rate.base_per_unit, base)
    if record.award.funded_by == FundedBy.METER:
        yield "On offer, M", figures.exact(basis.meter, base)
        if basis.entitled is None:
            yield "The value of the round's stakes, W", figures.exact(basis.weight, base)
        else:
            part = Quotient.of(basis.entitled)
            yield "The hand's part of M", figures.exact(part.rounded, base) + ("" if part.is_exact else "…")
    yield "Formula", payoff.formula.replace(" x ", f" {TIMES} ").replace(" / ", f" {DIVIDED} ")
    exact = Quotient.of(payoff.due)
    yield "Due, before rounding", figures.exact(exact.rounded, rate.currency) + ("" if exact.is_exact else "…")
    before_minor = made_of.paid_before_minor(record.award.amount_minor)
    if before_minor:
        yield "Less what earlier verdicts paid", figures.money(before_minor, rate)
    yield "Payable, rounded down", figures.money(record.award.amount_minor, rate)


def how_winners_share(made_of: AwardBasis) -> str:
    """Say how several winners of the round are paid, where the hand has a part of the meter; empty for any other."""
    return "" if made_of.basis.entitled is None else POLICY_PHRASES[Policy(made_of.basis.policy)]
