"""The bounds that a table shows are exactly those that its bets are held against."""

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain import acceptance, table_limits
from jackpot_service.domain.accepted_stakes import accepted_stakes
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.money import Rate, RateSheet
from jackpot_service.domain.rulebooks import published_rules
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.domain.settings import with_settings
from jackpot_service.domain.shapes import LARGEST_MINOR
from jackpot_service.domain.table_limits import TableLimits
from tests.properties import values

LIVE = published_rules("live-caribbean-stud", base="EUR", settings={})


def is_taken(rules: JackpotRules, limits: TableLimits, sheet: RateSheet, currency: str, stake_minor: int) -> bool:
    """Whether a bet of this stake is taken, by what refuses bets."""
    if not 1 <= stake_minor <= LARGEST_MINOR:
        return False
    bets = Bets.of([Bet("b", "p", "1", currency, stake_minor)])
    with suppress(Refused):
        acceptance.require_stakes(bets, rules=rules, sheet=sheet)
        table_limits.require_stakes(bets, limits, sheet=sheet)
        return True
    return False


AMOUNTS = st.one_of(st.none(), st.integers(1, 2_000_000).map(lambda tenths: Decimal(tenths).scaleb(-4)))


@st.composite
def rules(draw: st.DrawFn) -> JackpotRules:
    """Rules by a token in cents, or by bounds, perhaps a least stake and an own bound of some currencies."""
    if draw(st.booleans()):
        return replace(LIVE, token=Decimal(draw(st.integers(1, 1000))).scaleb(-2), largest_stake=None)
    largest = draw(AMOUNTS) or Decimal(100)
    least = draw(AMOUNTS)
    own = draw(st.dictionaries(st.sampled_from(sorted(values.EXPONENTS)), st.integers(1, 500).map(Decimal)))
    return replace(
        LIVE,
        largest_stake=largest,
        least_stake=None if least is None else min(least, largest),
        largest_stakes=own,
    )


@st.composite
def limits(draw: st.DrawFn) -> TableLimits:
    """Limits of a table, none among them; they may have become narrower or looser than the rules."""
    if draw(st.booleans()):
        return TableLimits(token=Decimal(draw(st.integers(1, 1000))).scaleb(-2))
    least, largest = draw(AMOUNTS), draw(AMOUNTS)
    if least is not None and largest is not None and least > largest:
        least, largest = largest, least
    return TableLimits(least_stake=least, largest_stake=largest)


@given(rules=rules(), limits=limits(), sheet=values.sheets(), other=st.integers(1, 10**7))
def test_a_stake_is_taken_if_and_only_if_it_is_within_the_bounds(
    rules: JackpotRules, limits: TableLimits, sheet: RateSheet, other: int
) -> None:
    by_currency = {accepted.rate.currency: accepted for accepted in accepted_stakes(rules, limits, sheet=sheet)}

    assert list(by_currency) == sorted(by_currency)
    for currency in sheet.rates:
        accepted = by_currency.get(currency)
        edges = () if accepted is None else (accepted.least_minor, accepted.largest_minor)
        for stake in {other, *(edge + step for edge in edges for step in (-1, 0, 1))}:
            is_within = accepted is not None and accepted.least_minor <= stake <= accepted.largest_minor
            assert is_taken(rules, limits, sheet, currency, stake) is is_within, (currency, stake)


def test_a_currency_of_which_no_whole_minor_unit_fits_is_left_out() -> None:
    narrow = with_settings(LIVE, {"least_stake": "1", "largest_stake": "1"})
    rates = {"EUR": Rate("EUR", Decimal(1), 2), "GBP": Rate("GBP", Decimal("1.17"), 2)}

    accepted = accepted_stakes(narrow, TableLimits(), sheet=RateSheet("EUR", 1, rates))

    assert [accepted.rate.currency for accepted in accepted] == ["EUR"]
