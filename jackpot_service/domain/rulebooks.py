"""
The published rulebooks that have a jackpot bet, as rules a jackpot can be opened with.

Figures marked as the rulebook's are facts of the source named with them. The split and the reset amount of Cyber and
Seneca are not published; what stands here are the operator's parameters (docs/decisions/prizes.md).
"""

from collections.abc import Mapping
from decimal import Decimal

from jackpot_service.domain.errors import Refused
from jackpot_service.domain.payout_tiers import Evidence, PayoutTier
from jackpot_service.domain.prizes import FixedAmount, MeterPart, Prize, StakeMultiple, Tier
from jackpot_service.domain.rules import BadRules, FundedBy, JackpotRules, Policy, Split
from jackpot_service.domain.settings import Setting, with_settings

GAME = "caribbean-stud"
"""All published jackpot bets are on Caribbean Stud; a table of another game carries none of them."""

DEFAULT_LARGEST_STAKE = Decimal("100.00")
BASES_WITH_DEFAULT_STAKE = ("EUR", "USD", "GBP")

LIVE_PRIZES: Mapping[Tier, Prize] = {
    Tier.ROYAL_FLUSH: MeterPart(Decimal(1)),
    Tier.STRAIGHT_FLUSH: StakeMultiple(2500),
    Tier.FOUR_OF_A_KIND: StakeMultiple(250),
    Tier.FULL_HOUSE: StakeMultiple(50),
    Tier.FLUSH: StakeMultiple(25),
    Tier.STRAIGHT: StakeMultiple(10),
    Tier.THREE_OF_A_KIND: StakeMultiple(3),
}

COIN_DROP_PRIZES: Mapping[Tier, Prize] = {
    Tier.ROYAL_FLUSH: MeterPart(Decimal(1)),
    Tier.STRAIGHT_FLUSH: MeterPart(Decimal("0.1")),
    Tier.FOUR_OF_A_KIND: FixedAmount(Decimal(500)),
    Tier.FULL_HOUSE: FixedAmount(Decimal(100)),
    Tier.FLUSH: FixedAmount(Decimal(50)),
}


PAYOUT_TIERS = (
    PayoutTier(
        Decimal(0),
        approvals=1,
        prizes=(Tier.ROYAL_FLUSH,),
        evidence=(Evidence.SURVEILLANCE, Evidence.CARDS_CHECKED),
        notify=("operator", "finance"),
    ),
)
"""As shipped, no royal flush is payable at once. The published rulebooks do not say who approves it."""


def _live(base: str) -> JackpotRules:
    return JackpotRules(
        rulebook="live-caribbean-stud",
        source='000_6cc300954b9713ce, "How the Jackpot bet is used to fund the jackpot prizes" and "JACKPOT"',
        base=base,
        split=Split(meter=Decimal("0.45"), reserve=Decimal("0.05"), prize_fund=Decimal("0.3184")),
        prizes=LIVE_PRIZES,
        policy=Policy.SHARED_BY_STAKE,
        fixed_prizes_from=FundedBy.PRIZE_FUND,
        hands_per_player=1,
        largest_stake=DEFAULT_LARGEST_STAKE,
        token=None,
        reset_amount=Decimal(0),
        payout_tiers=PAYOUT_TIERS,
    )


def _coin_drop(*, rulebook: str, source: str, base: str, hands_per_player: int) -> JackpotRules:
    return JackpotRules(
        rulebook=rulebook,
        source=source,
        base=base,
        split=Split(meter=Decimal("0.7"), reserve=Decimal(0), prize_fund=Decimal(0)),
        prizes=COIN_DROP_PRIZES,
        policy=Policy.AGGREGATE_PRO_RATA,
        fixed_prizes_from=FundedBy.METER,
        hands_per_player=hands_per_player,
        largest_stake=None,
        token=Decimal("1.00"),
        reset_amount=Decimal(10000),
        payout_tiers=PAYOUT_TIERS,
    )


def _cyber(base: str) -> JackpotRules:
    return _coin_drop(
        rulebook="cyber-caribbean-stud",
        source='001_4d218428529c6aed, "Progressive Jackpot"',
        base=base,
        hands_per_player=3,
    )


def _seneca(base: str) -> JackpotRules:
    return _coin_drop(
        rulebook="seneca-caribbean-stud",
        source='004_20e4af0af0951b19, "PROGRESSIVE JACKPOT"',
        base=base,
        hands_per_player=1,
    )


_RULEBOOKS = {
    "live-caribbean-stud": _live,
    "cyber-caribbean-stud": _cyber,
    "seneca-caribbean-stud": _seneca,
}

RULEBOOK_IDS = tuple(_RULEBOOKS)


class UnknownRulebook(Refused, code="rulebook-unknown", title="Unknown rulebook"):
    """No rulebook of that name has a jackpot bet."""


def published_rules(rulebook: str, *, base: str, settings: Mapping[str, Setting]) -> JackpotRules:
    """
    Make the first rules version of a jackpot: a published rulebook in a base currency, with the operator's settings.

    Raises: UnknownRulebook; UnknownSetting; BadRules, also where a rulebook needs a setting that is not stated (the
    largest stake in a base other than EUR, USD and GBP).
    """
    if rulebook not in _RULEBOOKS:
        message = f"{rulebook} has no jackpot bet; the rulebooks that have one are {', '.join(RULEBOOK_IDS)}."
        raise UnknownRulebook(message, rulebook=rulebook)
    rules = _RULEBOOKS[rulebook](base)
    if rules.largest_stake and base not in BASES_WITH_DEFAULT_STAKE and "largest_stake" not in settings:
        message = f"{rulebook} opened in {base} must state largest_stake, in {base}."
        raise BadRules(message)
    return with_settings(rules, settings)
