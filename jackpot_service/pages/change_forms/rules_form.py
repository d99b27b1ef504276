"""The form of new rules of a jackpot: all its settings as they are, of which only those that change are sent."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import plain
from jackpot_service.domain.payout_tiers import MOST_TIERS, Evidence, PayoutTier
from jackpot_service.domain.prizes import FixedAmount, MeterPart, Prize, StakeMultiple, Tier
from jackpot_service.domain.rules import DeadHand, JackpotRules, Policy
from jackpot_service.domain.settings import PAYOUT_TIERS
from jackpot_service.pages.change_forms import subjects
from jackpot_service.pages.change_forms.fields import (
    Choice,
    Control,
    Field,
    Reading,
    Typed,
    choices_of,
    plain_or_empty,
    put,
)
from jackpot_service.pages.change_forms.form import WAS, Asker, ChangeForm, Sheet
from jackpot_service.pages.change_forms.policy_form import GROUP
from jackpot_service.pages.figures import MINUS, label
from jackpot_service.pages.policy_words import POLICY_PHRASES
from jackpot_service.records import immutable
from jackpot_service.usecases.changes.rules import ChangeRules

SETTINGS: Final = "settings"
TIERS: Final = f"{SETTINGS}/{PAYOUT_TIERS}"

_SETTING: Final = re.compile(rf"{WAS}({SETTINGS}/[^/]+)")
_TIER: Final = re.compile(rf"{TIERS}/([0-9]{{1,2}})/(from|approvals|prizes|evidence|notify)")

EMPTY_TIERS: Final = 5
"""So many further payout tiers can be added at once."""

_YES_OR_NO: Final = choices_of({"true": "yes", "false": "no"})

_DEAD_HANDS: Final[Mapping[str, str]] = {
    DeadHand.REFUND: "get their stakes back",
    DeadHand.PLAY_ON: "play on for a share",
}


def _rules(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    state = subjects.jackpot_of(session, asker, subject)
    newest = immutable.rules(session, state.jackpot_id, state.following_version)
    fields = (
        *_amounts(newest),
        *_split(newest),
        *_prizes(newest),
        *_play(newest),
        *_own_largest_stakes(newest, sorted(state.sheet.rates)),
        *_tiers(newest),
    )
    version = str(state.following_version)
    if state.following_version != state.rules_version:
        version += ", which comes into force after the next hit"
    facts = (
        ("Rules in force", f"version {state.rules_version}"),
        ("Newest rules, which this changes", f"version {version}"),
        ("New rules come into force", "after the next hit"),
    )
    subject_, payload = f"jackpot {state.jackpot_id}", {"jackpot_id": state.jackpot_id}
    in_force = ChangeRules(jackpot_id=state.jackpot_id, settings={}).version(session)
    return Sheet(subject_, payload, fields, facts, read=_read, version=in_force)


def _setting(name: str, label_: str, section: str, before: Sequence[str], **more: Any) -> Field:  # noqa: ANN401
    return Field(
        name=f"{SETTINGS}/{name}", label=label_, section=section, default=before, **{"is_required": False, **more}
    )


def _amounts(rules: JackpotRules) -> Iterator[Field]:
    section, more = "Amounts and stakes", {"control": Control.AMOUNT, "unit": rules.base}
    yield _setting("reset_amount", "Reset amount", section, (plain(rules.reset_amount),), is_required=True, **more)
    optional = {
        "limit": ("Limit of the meter", rules.limit),
        "least_stake": ("Least stake", rules.least_stake),
        "largest_stake": ("Largest stake", rules.largest_stake),
        "token": ("Token", rules.token),
    }
    for name, (label_, before) in optional.items():
        yield _setting(name, label_, section, plain_or_empty(before), hint="Empty: none.", **more)


def _split(rules: JackpotRules) -> Iterator[Field]:
    split = rules.split
    for name, before in (("meter", split.meter), ("reserve", split.reserve), ("prize_fund", split.prize_fund)):
        hint = "As a part of 1: 0.45 is 45 %. The house gets the rest." if name == "meter" else ""
        yield _setting(
            f"split.{name}",
            f"Part for the {label(name)}",
            "Split of a stake",
            (plain(before),),
            control=Control.AMOUNT,
            hint=hint,
            is_required=True,
        )


def _prizes(rules: JackpotRules) -> Iterator[Field]:
    for tier in Tier:
        if tier is not Tier.ROYAL_FLUSH:
            prize = rules.prizes.get(tier)
            before, hint = _prize(prize)
            yield _setting(
                f"prizes.{tier}",
                label(tier).capitalize(),
                "Prizes",
                before,
                control=Control.AMOUNT,
                hint=hint,
                unit=rules.base if isinstance(prize, FixedAmount) else "",
            )


def _prize(prize: Prize | None) -> tuple[tuple[str, ...], str]:
    """The text of a prize, and what it counts."""
    match prize:
        case MeterPart(fraction):
            return (plain(fraction),), "A part of the meter: 0.1 is 10 %. Empty: no prize."
        case StakeMultiple(times):
            return (str(times),), "So many times the stake. Empty: no prize."
        case FixedAmount(amount):
            return (plain(amount),), "An amount. Empty: no prize."
        case None:
            return (), "None until now."


def _play(rules: JackpotRules) -> Iterator[Field]:
    section, more = "Play", {"control": Control.CHOICE, "is_required": True}
    policies = [policy for policy in Policy if (policy is Policy.SHARED_BY_STAKE) is rules.is_shared]
    yield _setting(
        "policy",
        "Several winners of a round",
        section,
        (rules.policy,),
        choices=tuple(Choice(policy, f"{label(policy)}: {POLICY_PHRASES[policy]}") for policy in policies),
        **more,
    )
    hands = (str(rules.hands_per_player),)
    yield _setting("hands_per_player", "Hands of a player", section, hands, control=Control.WHOLE, is_required=True)
    yield _setting(
        "dead_hand", "Bets on a dead hand", section, (rules.dead_hand,), choices=choices_of(_DEAD_HANDS), **more
    )
    flags = {
        "close_required": ("Betting is closed before a result", rules.close_required),
        "displayed": ("The meter is shown to all", rules.displayed),
    }
    for name, (label_, before) in flags.items():
        yield _setting(name, label_, section, ("true" if before else "false",), choices=_YES_OR_NO, **more)


def _own_largest_stakes(rules: JackpotRules, currencies: Sequence[str]) -> Iterator[Field]:
    if rules.token is not None:
        return
    for currency in sorted({*currencies, *rules.largest_stakes}):
        yield _setting(
            f"largest_stake.{currency}",
            "Largest stake",
            "Largest stakes of single currencies",
            plain_or_empty(rules.largest_stakes.get(currency)),
            control=Control.AMOUNT,
            unit=currency,
        )


def _tiers(rules: JackpotRules) -> Iterator[Field]:
    added = min(EMPTY_TIERS, MOST_TIERS - len(rules.payout_tiers))
    listed: list[PayoutTier | None] = [*rules.payout_tiers, *[None] * added]
    for place, tier in enumerate(listed):
        section = f"Payout tier {place + 1}"
        members: tuple[tuple[str, str, Control, Sequence[str], Mapping[str, Any]], ...] = (
            (
                "from",
                "Awards are held from",
                Control.AMOUNT,
                plain_or_empty(None if tier is None else tier.from_amount),
                {"unit": rules.base},
            ),
            ("approvals", "People who approve", Control.WHOLE, () if tier is None else (str(tier.approvals),), {}),
            (
                "prizes",
                "Of these prizes",
                Control.MANY,
                tier.prizes if tier else (),
                {
                    "choices": tuple(Choice(each, label(each)) for each in rules.prizes),
                    "hint": "None chosen: all.",
                },
            ),
            (
                "evidence",
                "Evidence",
                Control.MANY,
                tier.evidence if tier else (),
                {"choices": tuple(Choice(each, label(each)) for each in Evidence)},
            ),
            (
                "notify",
                "To notify",
                Control.TEXT,
                (", ".join(tier.notify),) if tier and tier.notify else (),
                {"hint": "Names, separated by commas."},
            ),
        )
        for name, label_, control, before, more in members:
            name_ = f"{PAYOUT_TIERS}/{place}/{name}"
            yield _setting(name_, label_, section, before, control=control, is_spare=tier is None, **more)


def _read(_fields: Sequence[Field], typed: Typed) -> Reading:
    """
    Read the settings that differ from those that the form has shown; an optional one that is empty is taken away.

    The text alone says what it has shown, so that the same form asks for the same also once that has come into force.
    """
    reading = Reading({SETTINGS: {}})
    for shown in filter(None, map(_SETTING.fullmatch, typed)):
        text = typed.get(shown[1], "").strip().replace(MINUS, "-")
        if text != typed[shown[0]]:
            put(reading.payload, shown[1], text or None)
    before, after = _documents(typed, WAS), _documents(typed, "")
    if list(after.values()) != list(before.values()):
        reading.payload[SETTINGS][PAYOUT_TIERS] = list(after.values())
        for index, place in enumerate(after):
            reading.places[f"/payload/{TIERS}/{index}"] = f"/payload/{TIERS}/{place}"
    return reading


def _documents(typed: Typed, prefix: str) -> Mapping[int, Mapping[str, Any]]:
    """Write the payout tiers of a form as the payload has them, by place; those of fields with a prefix."""
    tiers: dict[int, dict[str, Any]] = {}
    for field in typed:
        named = _TIER.fullmatch(field.removeprefix(prefix)) if field.startswith(prefix) else None
        value = None if named is None else _member(named[2], typed.getlist(field))
        if named is not None and value:
            tiers.setdefault(int(named[1]), {})[named[2]] = value
    return dict(sorted(tiers.items()))


def _member(name: str, values: list[str]) -> object:
    if name in {"prizes", "evidence"}:
        return sorted(filter(None, values))
    text = "".join(values).strip()
    if name == "notify":
        return [each for each in (part.strip() for part in text.split(",")) if each]
    if name == "approvals":
        return int(text) if text.isascii() and text.isdigit() and len(text) == 1 else text
    return text


FORMS: Final = (
    ChangeForm(
        kind=ChangeRules.name,
        group=GROUP,
        title="Change the rules of a jackpot",
        about="New rules wait until the running jackpot is won. They come into force after the next hit.",
        subject=subjects.JACKPOT,
        subject_fields=subjects.jackpot_fields,
        sheet=_rules,
    ),
)
