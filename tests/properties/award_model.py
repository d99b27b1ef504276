"""
Awards of rounds with one bet, in plain Python: where each stands, what of it was paid, and where the rest went.

Stated again from the decisions, not from the service. A refusal is raised as `Refused` with the code that the service
should answer.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

RATES: Final = {"EUR": Fraction(1), "GBP": Fraction("1.17"), "SEK": Fraction("0.0873"), "JPY": Fraction("0.0061")}
STAKES: Final = {"EUR": 100, "GBP": 250, "SEK": 1000, "JPY": 300}
UNITS: Final = {"EUR": 100, "GBP": 100, "SEK": 100, "JPY": 1}

MULTIPLES: Final = {
    "2c 3d 4h 7s 9c": 0,
    "Ad Kd Jd Td 3d": 25,
    "Ah Kh Jh Th 3h": 25,
    "2s 2h 2d 2c 7s": 250,
    "9h 8h 7h 6h 5h": 2500,
}
"""Cards that may be dealt, and how many stakes they pay: nothing, two flushes, four of a kind, a straight flush."""

HELD_FROM: Final = 100
"""An award of so many euros is held at its settlement."""

WITHHELD_FROM: Final = 10_000
WITHHELD_PERCENT: Final = 24
"""From so many minor units of its currency on, so much of an award is to be withheld."""

TO_PAY: Final = frozenset({"payable", "part-paid"})
UNPAID: Final = TO_PAY | {"stopped"}
"""The states of an award that has a rest which its casino keeps for the player."""


class Refused(Exception):
    """The model's answer where the ledger refuses: the code of the problem."""


@dataclass(frozen=True)
class Claims:
    """For how many days a casino's awards can be claimed, for ever without days; and where the rest goes then."""

    days: int | None
    to: str


@dataclass
class Award:
    """One award as anybody would keep it: where it stands since when, and its payments by reference."""

    currency: str
    multiple: int
    amount: int
    correction: int
    stands: str
    since: datetime
    award_id: str = ""
    was_released: bool = False
    payments: dict[str, int] = field(default_factory=dict)
    withheld_of: dict[str, int] = field(default_factory=dict)
    reversed: set[str] = field(default_factory=set)
    forfeited_to: str = ""
    payable_since: datetime = field(init=False)

    def __post_init__(self) -> None:
        self.payable_since = self.since

    @property
    def paid(self) -> int:
        return sum(amount for reference, amount in self.payments.items() if reference not in self.reversed)

    @property
    def withheld(self) -> int:
        return sum(amount for reference, amount in self.withheld_of.items() if reference not in self.reversed)

    @property
    def still_to_withhold(self) -> int:
        due = self.amount * WITHHELD_PERCENT // 100 if self.amount >= WITHHELD_FROM else 0
        return due - self.withheld

    @property
    def rest(self) -> int:
        return self.amount - self.paid

    @property
    def state(self) -> str:
        if self.stands != "payable" or not self.paid:
            return self.stands
        return "part-paid" if self.rest else "paid"

    def cost(self, amount: int) -> Fraction:
        return Fraction(amount, UNITS[self.currency]) * RATES[self.currency]

    def is_unclaimed(self, claims: Claims, now: datetime) -> bool:
        is_over = claims.days is not None and now > self.since + timedelta(days=claims.days)
        return is_over and self.state in TO_PAY

    def shown(self, claims: Claims, now: datetime) -> str:
        return "unclaimed" if self.is_unclaimed(claims, now) else self.state

    def take(self, stands: str, now: datetime) -> None:
        self.stands, self.since = stands, now

    def stop(self, now: datetime) -> None:
        if self.state not in TO_PAY or self.was_released:
            raise Refused("award-state")
        self.take("stopped", now)

    def pay(self, reference: str, amount: int, withheld: int) -> None:
        if self.state not in TO_PAY:
            raise Refused("award-state")
        if reference in self.payments:
            raise Refused("payment-reference-taken")
        if amount > self.rest:
            raise Refused("payment-too-large")
        if withheld > self.still_to_withhold:
            raise Refused("withholding-too-large")
        self.payments[reference], self.withheld_of[reference] = amount, withheld

    def forfeit(self, claims: Claims, now: datetime) -> None:
        """Nothing of it is paid any more; what was paid stays so."""
        if self.state not in TO_PAY:
            raise Refused("award-state")
        if not self.is_unclaimed(claims, now):
            raise Refused("award-claimable")
        self.take("forfeited", now)
        self.forfeited_to = claims.to

    def print(self) -> None:
        if self.state not in TO_PAY | {"paid"}:
            raise Refused("award-state")


DECISIONS: Final[Mapping[str, tuple[str, str]]] = {
    "approve": ("held", "payable"),
    "reject": ("held", "rejected"),
    "reinstate": ("rejected", "payable"),
    "release": ("stopped", "payable"),
}
"""Where awards stand that two people decide about, and where they stand then."""


@dataclass
class Round:
    """A settled round of one bet: the cards of its verdict in force, and the awards of all its verdicts."""

    round_id: str
    currency: str
    cards: str
    awards: list[Award] = field(default_factory=list)
    corrections: int = 0

    def settle(self, now: datetime) -> None:
        self._award(self._due, now, may_be_held=True)

    @property
    def _due(self) -> int:
        return STAKES[self.currency] * MULTIPLES[self.cards]

    def _award(self, amount: int, now: datetime, *, may_be_held: bool) -> None:
        if amount:
            new = Award(self.currency, MULTIPLES[self.cards], amount, self.corrections, "payable", now)
            if may_be_held and new.cost(amount) >= HELD_FROM:
                new.stands = "held"
            self.awards.append(new)

    def decide(self, decision: str, now: datetime) -> None:
        """What a settlement held is decided by round; a stopped award may be a correction's."""
        before, after = DECISIONS[decision]
        chosen = [
            award for award in self.awards if award.state == before and (decision == "release" or award.correction == 0)
        ]
        if not chosen:
            raise Refused(f"nothing-{before}")
        if decision == "reinstate" and self.corrections:
            raise Refused("round-corrected")
        for award_ in chosen:
            award_.take(after, now)
            award_.was_released |= decision == "release"
            if decision != "release":
                award_.payable_since = now

    def reverse(self, award: Award, reference: str) -> None:
        """Take a payment back, unless a later verdict counted it."""
        if reference not in award.payments:
            raise Refused("payment-unknown")
        if reference in award.reversed:
            raise Refused("payment-reversed")
        if award.state not in {"paid", "part-paid"}:
            raise Refused("award-state")
        if self.corrections > award.correction:
            raise Refused("round-corrected")
        award.reversed.add(reference)

    def correct(self, cards: str, now: datetime) -> None:
        """
        Judge it anew: awards of which nothing was paid are taken back, and what is due beyond what was paid is awarded.

        What was rejected is not awarded again, and what is stopped not either before its release.
        """
        if cards == self.cards:
            raise Refused("nothing-to-correct")
        if any(award.stands == "forfeited" for award in self.awards):
            raise Refused("award-forfeited")
        if any(0 < award.paid < award.amount for award in self.awards):
            raise Refused("award-part-paid")
        multiple = MULTIPLES[cards]
        missing = max(0, STAKES[self.currency] * multiple - sum(award.paid for award in self.awards))
        of_same_prize = {award.state for award in self.awards if award.multiple == multiple}
        if "rejected" in of_same_prize:
            missing = 0
        if missing and "stopped" in of_same_prize:
            raise Refused("award-stopped")
        for award in self.awards:
            if award.state in {"held", "payable", "stopped"}:
                award.take("reversed", now)
        self.cards = cards
        self.corrections += 1
        self._award(missing, now, may_be_held=False)


@dataclass(frozen=True)
class Chosen:
    """An award with its round."""

    round: Round
    award: Award


def all_of(rounds: Sequence[Round]) -> Iterator[Chosen]:
    """Name all awards, in the order in which they were made in each round."""
    for round_ in rounds:
        for award in round_.awards:
            yield Chosen(round_, award)


def credited(awards: Sequence[Award]) -> Mapping[tuple[str, str], Fraction]:
    """What the casino has of awards, and what it keeps of forfeited ones for its authority: by account and currency."""
    amounts: Counter[tuple[str, str]] = Counter()
    for award in awards:
        if award.state in UNPAID | {"paid"}:
            amounts["casino:c1", award.currency] += award.amount
        elif award.state == "forfeited":
            amounts["casino:c1", award.currency] += award.paid
            amounts["statutory:c1", award.currency] += award.rest if award.forfeited_to == "statutory" else 0
    return {key: Fraction(amount, UNITS[key[1]]) for key, amount in amounts.items() if amount}


def in_sums(awards: Sequence[Award]) -> Mapping[tuple[str, str], tuple[int, Fraction]]:
    """Awards and amounts by currency and state: what was paid is paid, and the rest is what the award is."""
    numbers, amounts = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for award in awards:
        state = "payable" if award.state in {"paid", "part-paid"} else award.state
        for of, is_one, amount in ((state, award.rest > 0, award.rest), ("paid", not award.rest, award.paid)):
            numbers[award.currency, of] += is_one
            amounts[award.currency, of] += amount
    sums = {key: (numbers[key], Fraction(amounts[key], UNITS[key[0]])) for key in numbers}
    return {key: figures for key, figures in sums.items() if any(figures)}
