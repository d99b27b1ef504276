"""
Reports on awards at an instant, twice: as the books say it, and figured from the model of awards alone.

The model knows only what was done, when, and of what amounts. So ages are counted from its dates, and rests are what is
left of its amounts after its payments.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Final

import sqlalchemy

from tests.properties.award_model import UNITS, UNPAID, Award, Chosen, credited
from tests.support.shown_reports import by_books

Figures = Mapping[str, Any]
"""Figures by their names; those of both sides are equal."""

AGES: Final = ((30, "0-30"), (60, "31-60"), (90, "61-90"))
"""Up to so many whole days an award has such an age."""

CREDITS: Final = ("awards", "releases", "corrections", "forfeitures")
"""The columns of a casino's statement that awards move, besides what was withheld of their payments."""


def figured(chosen: Sequence[Chosen], at: datetime) -> Figures:
    """What the reports are to say of the awards as they stand, when they are asked for at an instant."""
    awards = [award.award for award in chosen]
    unpaid = [award for award in awards if award.state in UNPAID]
    held = [award for award in awards if award.state == "held"]
    return {
        "payables": {award.award.award_id: _line(award, at) for award in chosen if award.award.state in UNPAID},
        "ageing": _summed(((award.currency, _age(_days(award, at))), award, award.rest) for award in unpaid),
        "unpaid": _summed((("prize fund", award.currency), award, award.rest) for award in unpaid),
        "held cost": sum((award.cost(award.amount) for award in held), Fraction()),
        "held": {key: of[:2] for key, of in _summed((award.currency, award, award.amount) for award in held).items()},
        "credited": {
            currency: amount for (account, currency), amount in credited(awards).items() if account == "casino:c1"
        },
        "withheld": {
            currency: of[1]
            for currency, of in _summed((award.currency, award, award.withheld) for award in awards).items()
            if of[1]
        },
    }


def reported(engine: sqlalchemy.Engine, at: datetime, *, now: datetime) -> Figures:
    """What the reports say as of an instant, when they are asked for at another that is not before it."""
    payables = by_books(engine, "payables", end=at, now=now).rows
    liability = by_books(engine, "liability", end=at, now=now).rows
    accounts = by_books(engine, "casino-statement", end=at, now=now).rows["accounts"]
    (held_cost,) = (Fraction(row["total"]) for row in liability["liability"] if row["item"] == "held awards")
    return {
        "payables": {row["award_id"]: _reported_line(row) for row in payables["payables"]},
        "ageing": {
            (row["currency"], row["age"]): (
                int(row["awards"]),
                Fraction(row["unpaid_amount"]),
                Fraction(row["unpaid_cost_base"]),
            )
            for row in payables["ageing"]
        },
        "unpaid": {
            (row["paid_from"], row["currency"]): (
                int(row["awards"]),
                Fraction(row["amount"]),
                Fraction(row["cost_base"]),
            )
            for row in liability["unpaid"]
        },
        "held cost": held_cost,
        "held": {
            row["currency"]: (int(row["held_awards"]), -Fraction(row["held"]))
            for row in accounts
            if row["held_awards"] != "0" or Fraction(row["held"])
        },
        "credited": {
            row["currency"]: amount for row in accounts if (amount := -sum(Fraction(row[name]) for name in CREDITS))
        },
        "withheld": {row["currency"]: amount for row in accounts if (amount := Fraction(row["withheld"]))},
    }


def _line(chosen: Chosen, at: datetime) -> tuple[Any, ...]:
    award = chosen.award
    days = _days(award, at)
    in_force = [reference for reference in award.payments if reference not in award.reversed]
    return (
        chosen.round.round_id,
        award.currency,
        award.state,
        *(_in_units(award, amount) for amount in (award.amount, award.paid, award.rest)),
        award.cost(award.rest),
        award.payable_since,
        days,
        _age(days),
        ", ".join(in_force),
    )


def _reported_line(row: Mapping[str, str]) -> tuple[Any, ...]:
    return (
        *(row[name] for name in ("round_id", "currency", "state")),
        *(Fraction(row[name]) for name in ("amount", "paid_amount", "unpaid_amount", "unpaid_cost_base")),
        datetime.fromisoformat(row["payable_at"]),
        int(row["age_days"]),
        row["age"],
        row["payment_reference"],
    )


def _days(award: Award, at: datetime) -> int:
    return (at - award.payable_since) // timedelta(days=1)


def _age(days: int) -> str:
    return next((age for most, age in AGES if days <= most), "over 90")


def _in_units(award: Award, minor: int) -> Fraction:
    return Fraction(minor, UNITS[award.currency])


def _summed(parts: Iterable[tuple[Any, Award, int]]) -> Mapping[Any, tuple[int, Fraction, Fraction]]:
    """Add up parts of awards by a key: how many, their amounts, and what they cost in euros."""
    sums: dict[Any, tuple[int, Fraction, Fraction]] = {}
    for key, award, minor in parts:
        number, amount, cost = sums.get(key, (0, Fraction(), Fraction()))
        sums[key] = number + 1, amount + _in_units(award, minor), cost + award.cost(minor)
    return sums
