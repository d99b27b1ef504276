"""
Holds pools and balances against the rounds: every sum is figured anew from bets, awards and the rulebooks' rates.

A hit moves reserve to the meter, and a late refund is charged to the house where the cycle is over; so meter, reserve,
the house's seeds and its adjustments are known exactly only together. Prize fund, margin and casinos are known alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tests.chaos import paytable
from tests.chaos.books import POOLS, BookedRound, Books
from tests.chaos.calls import Bet
from tests.chaos.outcomes import JACKPOTS
from tests.chaos.violations import Fact, Violation

METER = ("pool:meter:players", "pool:meter:house", "pool:reserve", "house:seed", "house:adjustments")
"""Accounts among which money moves by the order of hits; what they hold together does not depend on it."""


@dataclass
class _Expected:
    """What a jackpot's accounts must hold; casinos by account and currency."""

    meter: Fraction = Fraction()
    prize_fund: Fraction = Fraction()
    margin: Fraction = Fraction()
    held: Fraction = Fraction()
    casinos: dict[tuple[str, str], Fraction] = field(default_factory=lambda: defaultdict(Fraction))


def sums(books: Books) -> tuple[Violation, ...]:
    """Compare what the accounts hold with what the rounds come to."""
    expected: dict[str, _Expected] = {jackpot_id: _Expected() for jackpot_id in JACKPOTS}
    for booked in books.rounds.values():
        _add(expected[booked.jackpot_id], booked)
    violations: list[Violation] = []
    for jackpot_id, sought in expected.items():
        balances = {
            (account, currency): Fraction(amount)
            for (jackpot, account, currency), amount in books.balances.items()
            if jackpot == jackpot_id
        }
        violations += _compare(jackpot_id, sought, balances)
        violations += _stripes(jackpot_id, books, balances)
    return tuple(violations)


def bets_in_force(booked: BookedRound) -> tuple[Bet, ...]:
    """Return the bets of a round that were not given back."""
    if booked.state == "cancelled":
        return ()
    dead = {hand.hand for hand in booked.hands if hand.status == paytable.DEAD}
    return tuple(bet for bet in booked.live if bet.hand not in dead)


def _add(sought: _Expected, booked: BookedRound) -> None:
    book = JACKPOTS[booked.jackpot_id]
    casino = f"casino:{booked.casino_id}"
    bets = bets_in_force(booked)
    worth = paytable.value(bets)
    sought.meter += worth * (book.meter + book.reserve)
    sought.prize_fund += worth * book.prize_fund
    sought.margin += worth * book.house
    for bet in bets:
        sought.casinos[casino, bet.currency] -= paytable.in_units(bet.currency, bet.stake_minor)
    for award in booked.awards.values():
        cost = paytable.base_value(award.currency, award.amount_minor)
        if award.funded_by == "meter":
            sought.meter -= cost
        else:
            sought.prize_fund -= cost
        if award.is_held:
            sought.held += cost
        else:
            sought.casinos[casino, award.currency] += paytable.in_units(award.currency, award.amount_minor)


def _compare(jackpot_id: str, sought: _Expected, balances: Mapping[tuple[str, str], Fraction]) -> Iterator[Violation]:
    base = paytable.BASE
    singles = {
        "meter, reserve, seeds and adjustments": (sought.meter, _total(balances, METER)),
        "pool:prize_fund": (sought.prize_fund, _total(balances, ("pool:prize_fund",))),
        "house:margin": (sought.margin, _total(balances, ("house:margin",))),
        "awards:held": (sought.held, _total(balances, ("awards:held",))),
    }
    for name, (expected, there) in singles.items():
        if expected != there:
            yield Violation(Fact.POOL_DIFFERS, f"{jackpot_id} {name}", f"{_text(there)} {base}, not {_text(expected)}")
    casinos = {key for key in balances if key[0].startswith("casino:")} | sought.casinos.keys()
    for account, currency in sorted(casinos):
        expected, there = sought.casinos[account, currency], balances.get((account, currency), Fraction())
        if expected != there:
            detail = f"{_text(there)} {currency}, not {_text(expected)}"
            yield Violation(Fact.CASINO_DIFFERS, f"{jackpot_id} {account}", detail)
    for currency in sorted({currency for _, currency in balances}):
        rest = sum((amount for (_, other), amount in balances.items() if other == currency), Fraction())
        if rest:
            yield Violation(Fact.UNBALANCED, f"{jackpot_id} {currency}", _text(rest))


def _stripes(jackpot_id: str, books: Books, balances: Mapping[tuple[str, str], Fraction]) -> Iterator[Violation]:
    for pool in POOLS:
        striped, posted = Fraction(books.stripes.get((jackpot_id, pool), 0)), _total(balances, (pool,))
        if striped != posted:
            detail = f"its stripes hold {_text(striped)}, its postings {_text(posted)}"
            yield Violation(Fact.POOL_DIFFERS, f"{jackpot_id} {pool}", detail)


def _total(balances: Mapping[tuple[str, str], Fraction], accounts: Iterable[str]) -> Fraction:
    return sum((balances.get((account, paytable.BASE), Fraction()) for account in accounts), Fraction())


def _text(amount: Fraction) -> str:
    """Write an exact amount; all of them have a finite decimal form."""
    return str(amount) if amount.denominator == 1 else f"{amount.numerator}/{amount.denominator}"
