"""Strategies for the domain's own values: sheets, bets, splits, rules, amounts, hands."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from hypothesis import strategies as st

from jackpot_service.domain.bets import Bet
from jackpot_service.domain.cards import parse_cards
from jackpot_service.domain.money import Rate, RateSheet
from jackpot_service.domain.outcomes import Hand, HandStatus
from jackpot_service.domain.payout_tiers import PayoutTier
from jackpot_service.domain.prizes import FixedAmount, MeterPart, Prize, StakeMultiple, Tier
from jackpot_service.domain.rulebooks import published_rules
from jackpot_service.domain.rules import DeadHand, JackpotRules, Policy, Split
from tests.properties import dealing

EXPONENTS = {"EUR": 2, "GBP": 2, "JPY": 0, "BHD": 3, "UYW": 4}
HANDS = ("1", "2", "3", "4")
OWNED = (Policy.AGGREGATE_PRO_RATA, Policy.MINOR_FIRST, Policy.EQUAL_SHARE)


def amounts(least: int, most: int) -> st.SearchStrategy[Decimal]:
    """Pool amounts from `least` to `most` units, some round, some with all 18 decimals."""
    exact = st.integers(least * 10**18, most * 10**18).map(lambda atoms: Decimal(atoms).scaleb(-18))
    return st.one_of(st.integers(least, most).map(Decimal), exact)


def parts() -> st.SearchStrategy[Decimal]:
    return st.integers(0, 10_000).map(lambda tenths: Decimal(tenths).scaleb(-4))


def splits() -> st.SearchStrategy[Split]:
    """Parts of at most 4 decimals that sum to at most 1."""
    points = st.lists(st.integers(0, 10_000), min_size=3, max_size=3).map(sorted)
    return points.map(
        lambda ends: Split(*(Decimal(high - low).scaleb(-4) for low, high in zip([0, *ends], ends, strict=False)))
    )


@st.composite
def sheets(draw: st.DrawFn) -> RateSheet:
    """A sheet of EUR with a rate of at most 10 decimals for each other currency."""
    tenths = st.one_of(st.integers(1000, 10**12), st.sampled_from([10**10, 11_700_000_000, 61_000_000]))
    rates = {
        currency: Rate(currency, Decimal(draw(tenths)).scaleb(-10), exponent)
        for currency, exponent in EXPONENTS.items()
        if currency != "EUR"
    }
    return RateSheet("EUR", 1, {"EUR": Rate("EUR", Decimal(1), 2), **rates})


def stakes() -> st.SearchStrategy[dict[str, int]]:
    """Stakes summed per currency, in minor units."""
    return st.dictionaries(st.sampled_from(sorted(EXPONENTS)), st.integers(1, 10**12))


@st.composite
def bets(draw: st.DrawFn, *, token_minor: int | None = None, least: int = 0) -> list[Bet]:
    """Bets of players of their own: of any currency, or a token each."""
    count = draw(st.integers(least, 6))
    return [
        Bet(
            f"b{number}",
            f"p{number}",
            draw(st.sampled_from(HANDS)),
            "EUR" if token_minor else draw(st.sampled_from(sorted(EXPONENTS))),
            token_minor or draw(dealing.stakes_minor()),
        )
        for number in range(count)
    ]


@st.composite
def hands(draw: st.DrawFn) -> tuple[Hand, ...]:
    """All hands of a round, of one deck, great ones common; some dead, some forfeited."""
    return tuple(
        Hand(deal.hand, HandStatus(deal.status), parse_cards(sorted(deal.cards))) for deal in draw(dealing.deals(HANDS))
    )


@st.composite
def payout_tiers(draw: st.DrawFn, published: JackpotRules, prizes: Mapping[Tier, Prize]) -> tuple[PayoutTier, ...]:
    """The shipped tiers, none, or some that hold awards of any prize, or of some prizes alone."""
    some = st.lists(st.sampled_from(list(prizes)), unique=True).map(tuple)
    drawn = st.builds(PayoutTier, st.one_of(st.just(Decimal(0)), amounts(1, 5_000)), st.integers(1, 3), some)
    return draw(st.one_of(st.just(published.payout_tiers), st.lists(drawn, max_size=3).map(tuple)))


@st.composite
def rules(draw: st.DrawFn, rulebooks: Sequence[str], policies: Sequence[Policy] = OWNED) -> JackpotRules:
    """A published rulebook with an operator's parameters."""
    published = published_rules(draw(st.sampled_from(rulebooks)), base="EUR", settings={})
    reset_amount = draw(st.one_of(st.just(Decimal(0)), amounts(0, 20_000)))
    limit = draw(st.one_of(st.none(), amounts(1, 5_000).map(lambda margin: reset_amount + margin)))
    split = draw(splits())
    prizes = published.prizes if published.is_shared else draw(_owned_prizes())
    return replace(
        published,
        split=split if published.is_shared else replace(split, prize_fund=Decimal(0)),
        policy=published.policy if published.is_shared else draw(st.sampled_from(policies)),
        prizes=prizes,
        reset_amount=reset_amount,
        limit=limit,
        payout_tiers=draw(payout_tiers(published, prizes)),
        dead_hand=draw(st.sampled_from(DeadHand)),
    )


@st.composite
def _owned_prizes(draw: st.DrawFn) -> dict[Tier, Prize]:
    """Prizes that a hand owns: parts of the meter, multiples of the token, amounts; in the tiers' order."""
    prize: st.SearchStrategy[Prize] = st.one_of(
        parts().filter(bool).map(MeterPart),
        st.sampled_from([1, 50, 500, 20_000]).map(StakeMultiple),
        st.sampled_from(["0.01", "50", "500", "20000"]).map(Decimal).map(FixedAmount),
    )
    lower: dict[Tier, Prize] = {
        tier: draw(prize) for tier in Tier if tier is not Tier.ROYAL_FLUSH and draw(st.booleans())
    }
    return {Tier.ROYAL_FLUSH: MeterPart(Decimal(1)), **lower}
