"""The parameters of a jackpot that its operator may set, at its opening or later, each by its name."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from jackpot_service.domain import currencies
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.money import Rate, plain
from jackpot_service.domain.payout_tiers import PayoutTier
from jackpot_service.domain.prizes import FixedAmount, MeterPart, Prize, StakeMultiple, Tier
from jackpot_service.domain.rules import BadRules, DeadHand, FundedBy, JackpotRules, Policy, require_amount
from jackpot_service.domain.shapes import CURRENCY

_AMOUNTS = ("reset_amount", "limit", "least_stake", "largest_stake", "token")
_FLAGS = ("close_required", "displayed")
_PARTS = ("split.meter", "split.reserve", "split.prize_fund")
_PRIZES = {f"prizes.{tier}": tier for tier in Tier if tier is not Tier.ROYAL_FLUSH}
_OWN_LARGEST_STAKE = "largest_stake.CUR"
PAYOUT_TIERS = "payout_tiers"
"""The only setting that is a list, and no text; an empty one makes every award payable at once."""

Setting = str | None | tuple[PayoutTier, ...]
"""The value of a setting; None takes an optional one away."""

SETTINGS = (
    *_AMOUNTS,
    _OWN_LARGEST_STAKE,
    "policy",
    *_PARTS,
    "hands_per_player",
    *_PRIZES,
    *_FLAGS,
    "dead_hand",
    PAYOUT_TIERS,
)
"""
Parameters to set. A prize is so many times the stake, or a part of the meter where it was one before. Where the meter
pays, a token is the stake and no prize is a multiple, it is an amount. A royal flush takes the jackpot in every
rulebook. CUR stands for any currency's code: the setting is in that currency's own units.
"""

OPTIONAL = frozenset({"limit", "least_stake", "largest_stake", _OWN_LARGEST_STAKE, "token", *_PRIZES})
"""The parameters that a jackpot may also be without."""

MOST_TIMES = 9_000
"""So many times the most minor units that a stake can have is still a number that a column holds."""

LONGEST_NUMBER = 40
"""More than any amount needs; so much of what was sent is also repeated in a refusal."""


class UnknownSetting(Refused, code="setting-unknown", title="Unknown setting"):
    """No parameter of that name can be set."""


def with_settings(rules: JackpotRules, settings: Mapping[str, Setting]) -> JackpotRules:
    """
    Change some parameters of the rules; None takes an optional one away.

    Raises: UnknownSetting for a name not in SETTINGS; BadRules for a value that is no exact amount, no policy of the
    rulebook, or makes rules that cannot run a jackpot.
    """
    texts = _texts(settings)
    split = {name.removeprefix("split."): _amount(name, texts[name]) for name in _PARTS if name in texts}
    changes: dict[str, Any] = {
        name: None if texts[name] is None else _amount(name, texts[name]) for name in _AMOUNTS if name in texts
    }
    if "policy" in texts:
        changes["policy"] = _policy(rules, texts["policy"])
    if "hands_per_player" in texts:
        changes["hands_per_player"] = _whole("hands_per_player", texts["hands_per_player"])
    if PAYOUT_TIERS in settings:
        changes[PAYOUT_TIERS] = settings[PAYOUT_TIERS]
    changes |= {name: _flag(name, texts[name]) for name in _FLAGS if name in texts}
    if "dead_hand" in texts:
        changes["dead_hand"] = _dead_hand(texts["dead_hand"])
    return replace(
        rules,
        split=replace(rules.split, **split),
        prizes=_prizes(rules, texts),
        largest_stakes=_largest_stakes(rules, texts),
        **changes,
    )


def _texts(settings: Mapping[str, Setting]) -> Mapping[str, str | None]:
    """Return the settings that are texts. Raises: UnknownSetting; BadRules for a value that is none of a setting's."""
    texts: dict[str, str | None] = {}
    for name, value in settings.items():
        if _listed(name) not in SETTINGS:
            shown = name[:LONGEST_NUMBER]
            message = f"{shown} cannot be set; one can set {', '.join(SETTINGS)}."
            raise UnknownSetting(message, setting=shown)
        if value is None and _listed(name) not in OPTIONAL:
            message = f"{name} cannot be taken away; one can do without {', '.join(sorted(OPTIONAL))}."
            raise BadRules(message)
        if isinstance(value, tuple) is not (name == PAYOUT_TIERS):
            message = f"{name} must be {'a list' if name == PAYOUT_TIERS else 'a text'}."
            raise BadRules(message)
        if not isinstance(value, tuple):
            texts[name] = value
    return texts


def require_payable_stakes(rules: JackpotRules, *, exponent: int) -> None:
    """
    Refuse a token, a prize or a largest stake of a currency that is no whole number of its currency's minor units.

    Asked of today's currency table whenever parameters are set; what rules stand in the books does not depend on it.

    Raises: BadRules, UnknownCurrency.
    """
    _require_payable_token(rules, exponent=exponent)
    for tier, prize in rules.prizes.items():
        if isinstance(prize, FixedAmount):
            require_amount(f"prizes.{tier}", prize.amount, decimals=exponent)
    for currency, most in rules.largest_stakes.items():
        require_amount(f"largest_stake.{currency}", most, decimals=currencies.known(currency).exponent)


def _require_payable_token(rules: JackpotRules, *, exponent: int) -> None:
    if rules.token is None:
        return
    rate = Rate(rules.base, Decimal(1), exponent)
    if rate.base_value(rate.most_minor_within(rules.token)) != rules.token:
        message = f"A token of {plain(rules.token)} is no whole number of minor units of {rules.base}."
        raise BadRules(message)


def _listed(name: str) -> str:
    """Write the name of a setting as SETTINGS has it."""
    family, _, currency = name.rpartition(".")
    return _OWN_LARGEST_STAKE if family == "largest_stake" and CURRENCY.fullmatch(currency) else name


def _amount(name: str, text: str | None) -> Decimal:
    digits = (text or "").replace(".", "", 1)
    if text is None or not (digits.isascii() and digits.isdigit() and len(text) <= LONGEST_NUMBER):
        message = f"{name} must be a plain decimal number, not {(text or '')[:LONGEST_NUMBER]!r}."
        raise BadRules(message)
    return Decimal(text)


def _whole(name: str, text: str | None) -> int:
    if text is None or not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        message = f"{name} must be a whole number, not {(text or '')[:LONGEST_NUMBER]!r}."
        raise BadRules(message)
    return int(text)


def _flag(name: str, text: str | None) -> bool:
    if text not in {"true", "false"}:
        message = f"{name} must be true or false, not {(text or '')[:LONGEST_NUMBER]!r}."
        raise BadRules(message)
    return text == "true"


def _dead_hand(text: str | None) -> DeadHand:
    if text not in set(DeadHand):
        message = f"dead_hand must be one of {', '.join(DeadHand)}, not {(text or '')[:LONGEST_NUMBER]!r}."
        raise BadRules(message)
    return DeadHand(text)


def _policy(rules: JackpotRules, text: str | None) -> Policy:
    owned = [Policy.AGGREGATE_PRO_RATA, Policy.MINOR_FIRST, Policy.EQUAL_SHARE]
    allowed = [Policy.SHARED_BY_STAKE] if rules.is_shared else owned
    if text not in allowed:
        message = f"policy must be one of {', '.join(allowed)} for {rules.rulebook}, not {text!r}."
        raise BadRules(message)
    return Policy(text)


def _prizes(rules: JackpotRules, settings: Mapping[str, str | None]) -> Mapping[Tier, Prize]:
    prizes = dict(rules.prizes)
    are_multiples = any(isinstance(prize, StakeMultiple) for prize in rules.prizes.values())
    are_amounts = rules.fixed_prizes_from is FundedBy.METER and rules.token is not None and not are_multiples
    for name, tier in _PRIZES.items():
        if name not in settings:
            continue
        before, text = prizes.pop(tier, None), settings[name]
        if text is None:
            continue
        if isinstance(before, MeterPart):
            prizes[tier] = MeterPart(_amount(name, text))
        elif are_amounts:
            prizes[tier] = FixedAmount(_amount(name, text))
        else:
            prizes[tier] = _multiple(name, text)
    return {tier: prizes[tier] for tier in Tier if tier in prizes}


def _multiple(name: str, text: str) -> StakeMultiple:
    times = _whole(name, text)
    if times > MOST_TIMES:
        message = f"{name} may be {MOST_TIMES} times the stake at most."
        raise BadRules(message)
    return StakeMultiple(times)


def _largest_stakes(rules: JackpotRules, settings: Mapping[str, str | None]) -> Mapping[str, Decimal]:
    largest_stakes = dict(rules.largest_stakes)
    for name, text in settings.items():
        if _listed(name) != _OWN_LARGEST_STAKE:
            continue
        currency = name.removeprefix("largest_stake.")
        largest_stakes.pop(currency, None)
        if text is not None:
            largest_stakes[currency] = _amount(name, text)
    return dict(sorted(largest_stakes.items()))
