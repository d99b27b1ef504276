"""
The figures of an entry: numbers and amounts, of which days are sums, and which reports read.

Postings are sums of a batch by account. They do not state how many bets they are of, in which of its currencies a value
was staked, which tiers were won and what stood on each hand.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from decimal import Decimal
from enum import StrEnum
from itertools import groupby
from typing import Final, NamedTuple

from jackpot_service.domain.allocation import Contribution, stakes_by_currency
from jackpot_service.domain.awards import AwardState, AwardStep
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.corrections import Correction
from jackpot_service.domain.held_awards import MadeAward
from jackpot_service.domain.money import ZERO, RateSheet, plain
from jackpot_service.domain.settlement import Award, Settlement, Terms


class FigureKind(StrEnum):
    """
    The kind of a figure.

    Late refunds are those of bets whose cycle had been won: `house:adjustments` bears the parts of meter and reserve.
    Squares are the squares of what stood on each hand that was judged. Figures of these that a correction takes back
    are negative. Award steps are those that acts took: decisions about awards, stops of payments, forfeitures, and
    reversals; a stop, a release and a forfeiture are of what was unpaid. Payments count awards that were paid as a
    whole, and sum all that was paid.

    Postings are no part of an entry's figures: they stand in the entry as postings. Days have them as figures of this
    kind, but for those of bets, whose rules say where they go.
    """

    BETS = "bets"
    REFUNDS = "refunds"
    LATE_REFUNDS = "late_refunds"
    HANDS = "hands"
    SQUARES = "squares"
    AWARDS = "awards"
    AWARD_STEPS = "award_steps"
    PAYMENTS = "payments"
    POSTINGS = "postings"


REVERSED_WHILE_HELD: Final = "reversed_while_held"
"""The step of an award that a correction takes back before it was decided: nobody had been credited with it."""

REVERSED_WHILE_STOPPED: Final = "reversed_while_stopped"
"""The step of an award that a correction takes back while its payment was stopped."""

FORFEITED_TO_METER: Final = "forfeited_to_meter"
"""The step of an award whose unpaid rest went back to the jackpot; `forfeited` is that of one that did not."""

_REVERSED: Final[Mapping[AwardState, str]] = {
    AwardState.PAYABLE: AwardStep.REVERSED,
    AwardState.HELD: REVERSED_WHILE_HELD,
    AwardState.STOPPED: REVERSED_WHILE_STOPPED,
}


class Figure(NamedTuple):
    """
    So many of a kind, in minor units of a currency, and their value in base units of the jackpot.

    Of awards, their steps and payments `tier` was won, `account` is the pool that pays and `value` what they cost it.
    `detail` is the first state of awards, the step, the jackpot of payments. Steps and payments have the day on which
    their awards were made, too.

    A tuple rather than a dataclass: it is made for every batch.
    """

    kind: FigureKind
    number: int
    minor: int
    value: Decimal
    currency: str = ""
    tier: str = ""
    account: str = ""
    detail: str = ""
    made_on: date | None = None

    def written(self) -> str:
        """Write it as PostgreSQL writes a row: the digest covers just that. No part holds what would be quoted."""
        made_on = "" if self.made_on is None else self.made_on.isoformat()
        of_what = f"{self.kind},{self.currency},{self.tier},{self.account},{self.detail},{made_on}"
        return f"({of_what},{self.number},{self.minor},{plain(self.value)})"

    @classmethod
    def read(cls, written: str) -> "Figure":
        """Read what `written` wrote. Raises: ValueError."""
        *of_what, made_on, number, minor, value = written[1:-1].split(",")
        kind, currency, tier, account, detail = of_what
        day = date.fromisoformat(made_on) if made_on else None
        return cls(FigureKind(kind), int(number), int(minor), Decimal(value), currency, tier, account, detail, day)


def figures_of_bets(contributed: Contribution, bets: Mapping[str, int]) -> tuple[Figure, ...]:
    """Return a batch's figures by currency, given how many of its bets are in each; in alphabetical order."""
    return tuple(
        Figure(FigureKind.BETS, bets[currency], contributed.stakes_minor[currency], value, currency)
        for currency, value in contributed.values.items()
    )


def figures_of_settlement(
    settlement: Settlement, bets: Iterable[Bet], *, terms: Terms, won_since: Collection[str]
) -> tuple[Figure, ...]:
    """Sum what a settlement refunded, awarded and judged, given all bets that were live."""
    refunded = {bet.bet_id for bet in settlement.refunds}
    judged = (bet for bet in bets if bet.bet_id not in refunded)
    return (
        *figures_of_refunds(settlement.refunds, terms=terms, won_since=won_since),
        *figures_of_awards(settlement.awards),
        *figures_of_hands(judged, terms.sheet),
    )


def figures_of_refunds(bets: Collection[Bet], *, terms: Terms, won_since: Collection[str]) -> tuple[Figure, ...]:
    """Return refunded bets' figures by currency, and by whether their cycle has been won (`won_since` names those)."""
    refunds = []
    for kind in (FigureKind.REFUNDS, FigureKind.LATE_REFUNDS):
        is_late = kind is FigureKind.LATE_REFUNDS
        chosen = [bet for bet in bets if (bet.bet_id in won_since) is is_late]
        if not chosen:
            continue
        numbers = Counter(bet.currency for bet in chosen)
        for currency, minor in stakes_by_currency(chosen).items():
            value = terms.sheet.base_value(minor, currency)
            refunds.append(Figure(kind, numbers[currency], minor, value, currency))
    return tuple(refunds)


def figures_of_correction(
    correction: Correction, *, terms: Terms, won_since: Collection[str], made_on: Mapping[int, date]
) -> tuple[Figure, ...]:
    """
    Sum what a correction changed: refunds and judged hands, the awards that it made, and those that it took back.

    `made_on` is the UTC day on which each verdict on the round was booked, by its number.
    """
    dead, alive = correction.found_dead, correction.found_alive
    steps = (
        _AwardLine(
            past.award.tier,
            past.award.funded_by,
            past.award.bet.currency,
            _REVERSED[past.award.state],
            made_on[past.correction],
            past.award.amount_minor,
            past.award.cost,
        )
        for past in correction.reversed_awards
    )
    return (
        *figures_of_refunds(dead, terms=terms, won_since=won_since),
        *_taken_back(figures_of_refunds(alive, terms=terms, won_since=won_since)),
        *figures_of_hands(alive, terms.sheet),
        *_taken_back(figures_of_hands(dead, terms.sheet)),
        *figures_of_awards(correction.awards),
        *_summed(FigureKind.AWARD_STEPS, steps),
    )


def figures_of_decision(step: str, awards: Iterable[MadeAward], *, made_on: Mapping[int, date]) -> tuple[Figure, ...]:
    """Sum awards of one round that took a step; each verdict on it was booked on a UTC day, by its number."""
    return _summed(
        FigureKind.AWARD_STEPS,
        (
            _AwardLine(
                award.tier,
                award.funded_by,
                award.currency,
                step,
                made_on[award.correction],
                award.amount_minor,
                award.cost,
            )
            for award in awards
        ),
    )


def figures_of_awards(awards: Collection[Award]) -> tuple[Figure, ...]:
    """Sum awards as a settlement, or a correction, made them."""
    if not awards:
        return ()
    return _summed(
        FigureKind.AWARDS,
        (
            _AwardLine(
                award.tier, award.funded_by, award.bet.currency, award.state, None, award.amount_minor, award.cost
            )
            for award in awards
        ),
    )


class _AwardLine(NamedTuple):
    """An award, by the keys of its figures, and what it comes to."""

    tier: str
    account: str
    currency: str
    detail: str
    made_on: date | None
    minor: int
    cost: Decimal


def _summed(kind: FigureKind, awards: Iterable[_AwardLine]) -> tuple[Figure, ...]:
    def key(award: _AwardLine) -> tuple[str, str, str, str, date]:
        return award.tier, award.account, award.currency, award.detail, award.made_on or date.min

    sums = []
    for (tier, account, currency, detail, _), lines in groupby(sorted(awards, key=key), key):
        group = list(lines)
        amounts = sum(award.minor for award in group), sum((award.cost for award in group), ZERO)
        sums.append(Figure(kind, len(group), *amounts, currency, tier, account, detail, group[0].made_on))
    return tuple(sums)


def _taken_back(figures: Iterable[Figure]) -> tuple[Figure, ...]:
    return tuple(figure._replace(number=-figure.number, minor=-figure.minor, value=-figure.value) for figure in figures)


def figures_of_hands(bets: Iterable[Bet], sheet: RateSheet) -> tuple[Figure, ...]:
    """
    Sum what stood on each hand of a round that was judged, and its square; nothing if there is none.

    Bettors of one hand win together, so chance goes by hands.
    """
    stakes: defaultdict[tuple[str, str], int] = defaultdict(int)
    for bet in bets:
        stakes[bet.hand, bet.currency] += bet.stake_minor
    on_hand: dict[str, Decimal] = {}
    for (hand, currency), minor in stakes.items():
        on_hand[hand] = on_hand.get(hand, ZERO) + sheet.base_value(minor, currency)
    values = on_hand.values()
    if not values:
        return ()
    squares = sum((value * value for value in values), ZERO)
    return (
        Figure(FigureKind.HANDS, len(values), 0, sum(values, ZERO)),
        Figure(FigureKind.SQUARES, len(values), 0, squares),
    )


def figure_of_payment(
    award: MadeAward, *, paid_minor: int, amount_minor: int, cost: Decimal, jackpot_id: str, made_on: date
) -> Figure:
    """
    A payment of an award of which `paid_minor` had been paid, or, below zero, the reversal of one.

    It counts as one if the whole award is paid by it, as minus one if it is no more, and otherwise as none.
    """
    number = int(paid_minor + amount_minor == award.amount_minor) - int(paid_minor == award.amount_minor)
    of_what = award.currency, award.tier, award.funded_by
    return Figure(FigureKind.PAYMENTS, number, amount_minor, cost, *of_what, jackpot_id, made_on)
