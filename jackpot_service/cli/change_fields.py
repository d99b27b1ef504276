"""
The fields of each kind of change, as options of `jackpot changes request KIND`.

A light table, so that the command needs nothing of the service; a test compares it with the payloads that the service
reads. A field is an option of its name; `jackpot_id` is `--jackpot`, as in lists. One that holds several is an option
that may be repeated.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import click

from jackpot_service.cli import words
from jackpot_service.cli.options import (
    CurrencyCode,
    Identifier,
    Instant,
    JsonObject,
    JsonValue,
    SignedAmount,
    pairs,
)


class Many(StrEnum):
    """How an option that may be repeated makes a field."""

    LIST = "list"
    RATES = "rates"
    SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a payload: its option's type and help; `option` is that of a field of several, in the singular."""

    type: Callable[[], click.ParamType[Any]] = Identifier
    help: str = ""
    is_required: bool = True
    is_flag: bool = False
    many: Many | None = None
    option: str = ""


def _optional(type_: Callable[[], click.ParamType[Any]], help_: str = "") -> Field:
    return Field(type_, help_, is_required=False)


def _choice(*words: str) -> Callable[[], click.ParamType[Any]]:
    return lambda: click.Choice(words)


def _text() -> click.ParamType[Any]:
    return click.STRING


def _whole() -> click.ParamType[Any]:
    return click.INT


_JACKPOT: Final = Field(help="The jackpot.")
_ROUND: Final = {"jackpot_id": _JACKPOT, "table_id": Field(), "round_id": Field()}
_DOCUMENT: Final = Field(_text, "The document that says why, such as a memo's number.")
_CAUSES: Final = (
    "equipment-malfunction",
    "count-error",
    "promotional-contribution",
    "regulator-order",
    "reversed-adjustment",
    "other-documented",
)

FIELDS: Final[Mapping[str, Mapping[str, Field]]] = {
    "rate-sheet": {
        "base": Field(CurrencyCode, "The base currency."),
        "rates": Field(
            _text, "Base units per one unit of a currency.", is_required=False, many=Many.RATES, option="rate"
        ),
        "removed_currencies": Field(
            CurrencyCode,
            "A currency that leaves the sheet.",
            is_required=False,
            many=Many.LIST,
            option="removed-currency",
        ),
        "replace_all": Field(help="Remove every currency that is not stated.", is_required=False, is_flag=True),
        "effective_at": _optional(Instant, "Default: from the approval on."),
        "source": _optional(JsonObject, "The document as JSON: name, date, sha256."),
    },
    "rules": {
        "jackpot_id": _JACKPOT,
        "settings": Field(
            _text, f"One of {', '.join(words.SETTINGS)} (CUR is any currency).", many=Many.SETTINGS, option="set"
        ),
    },
    "table-limits": {
        "jackpot_id": _JACKPOT,
        "table_id": Field(),
        "token": _optional(SignedAmount, "In the base currency."),
        "least_stake": _optional(SignedAmount, "In the base currency."),
        "largest_stake": _optional(SignedAmount, "In the base currency."),
    },
    "adjustment": {
        "jackpot_id": _JACKPOT,
        "account": Field(_choice("meter", "reserve", "prize_fund")),
        "amount": Field(SignedAmount, "The difference, in the base currency."),
        "document": _DOCUMENT,
        "cause": Field(_choice(*_CAUSES)),
    },
    "seed-recovery": {
        "jackpot_id": _JACKPOT,
        "amount": Field(SignedAmount, "What the house gets; negative: pays in."),
    },
    "prize-fund-true-up": {
        "jackpot_id": _JACKPOT,
        "amount": _optional(SignedAmount, "What the fund gets; default: exactly to zero."),
    },
    "retirement": {"jackpot_id": _JACKPOT, "to": Field(help="The jackpot that receives.")},
    "held-awards": {
        **_ROUND,
        "decision": Field(_choice("approve", "reject", "reinstate", "release")),
        "bets": Field(Identifier, "Only the awards of this bet.", is_required=False, many=Many.LIST, option="bet"),
    },
    "compensation": {
        **_ROUND,
        "bet_id": Field(),
        "player_id": _optional(Identifier, "If stated, that of the bet."),
        "amount_minor": Field(_whole, "In minor units; negative: taken back."),
        "currency": Field(CurrencyCode),
        "document": _DOCUMENT,
    },
    "declined-compensation": {**_ROUND, "bet_id": Field()},
    "round-correction": {**_ROUND, "result": Field(JsonObject, "The right result as JSON, or @FILE.")},
    "payment-reversal": {"jackpot_id": _JACKPOT, "award_id": Field(), "reference": Field(_text, "Of the payment.")},
    "casino-claims": {
        "casino_id": Field(),
        "claim_days": _optional(_whole, "Days of 24 hours; default: no award becomes unclaimed."),
        "forfeited_to": _optional(_choice("meter", "statutory")),
    },
    "award-forfeiture": {"jackpot_id": _JACKPOT, "award_id": Field()},
    "statement-settlement": {
        "jackpot_id": _JACKPOT,
        "casino_id": Field(),
        "currency": Field(CurrencyCode),
        "from": Field(Instant),
        "to": Field(Instant),
        "amount": Field(SignedAmount, "In units of the currency; negative: paid to the casino."),
        "reference": Field(_text, "Of the payment."),
    },
    "casino-withholding": {
        "casino_id": Field(),
        "currency": Field(CurrencyCode),
        "report_at_minor": Field(_whole, "From here on an award is reported."),
        "withhold_at_minor": _optional(_whole, "From here on a part of an award is withheld."),
        "percent": _optional(SignedAmount, "Of all of such an award."),
        "least_multiple": _optional(_whole, "Only awards of at least so many times their stake."),
        "from": _optional(Instant, "Default: from the approval on."),
    },
    "change-policy": {"kinds": Field(JsonObject, "Who requests and decides each kind, as JSON or @FILE.")},
}
"""The fields of each kind, by the names that the API gives them."""

EXAMPLES: Final[Mapping[str, str]] = {
    "rate-sheet": "--base EUR --rate GBP=1.18 --removed-currency SEK",
    "rules": "--jackpot live --set split.meter=0.40 --set limit=null",
    "table-limits": "--jackpot live --table T1 --least-stake 2 --largest-stake 20",
    "adjustment": '--jackpot live --account meter --amount -100 --document "memo 12" --cause count-error',
    "seed-recovery": "--jackpot live --amount 5000",
    "prize-fund-true-up": "--jackpot live",
    "retirement": "--jackpot live --to live-2",
    "held-awards": "--jackpot live --table T1 --round R1 --decision approve",
    "compensation": "--jackpot live --table T1 --round R1 --bet b1 --amount-minor 5000 --currency GBP "
    '--document "minutes 7"',
    "declined-compensation": "--jackpot live --table T1 --round R1 --bet b2",
    "round-correction": "--jackpot live --table T1 --round R1 --result @result.json",
    "payment-reversal": '--jackpot live --award aw_3ec109e5f5d233bbed8118c8c5ede2f1 --reference "slip 7"',
    "casino-claims": "--casino riga --claim-days 180 --forfeited-to statutory",
    "award-forfeiture": "--jackpot live --award aw_3ec109e5f5d233bbed8118c8c5ede2f1",
    "statement-settlement": "--jackpot live --casino riga --currency EUR --from 2026-11-01T00:00:00Z "
    "--to 2026-12-01T00:00:00Z --amount 1250.00 --reference 2026-11",
    "casino-withholding": "--casino riga --currency EUR --report-at-minor 60000 "
    "--withhold-at-minor 500000 --percent 24",
    "change-policy": "--kinds @kinds.json",
}
"""An example of each kind; a test runs them all."""


def option_of(name: str, field: Field) -> click.Option:
    """Return the option of a field; whether it was needed is seen when all are known."""
    shown = f"--{field.option or name.removesuffix('_id').replace('_', '-')}"  # As lists name it.
    note = " May be repeated." if field.many else ""
    needed = " Needed." if field.is_required else ""
    text = f"{field.help}{note}{needed}".strip() or None
    if field.is_flag:
        return click.Option([shown, name], is_flag=True, default=None, help=text)
    metavar = {Many.RATES: "CUR=RATE", Many.SETTINGS: "KEY=VALUE"}.get(field.many) if field.many else None
    return click.Option([shown, name], type=field.type(), multiple=field.many is not None, help=text, metavar=metavar)


def payload_of(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Make the payload of a kind of the options that were given. Raises: click.UsageError if one is missing."""
    payload: dict[str, Any] = {}
    missing = []
    for name, field in FIELDS[kind].items():
        value = options.get(name)
        if value in (None, ()):
            missing += [option_of(name, field).opts[0]] if field.is_required else []
        else:
            payload[name] = _value(value, field)
    if missing:
        message = f"a change of kind {kind} needs {', '.join(missing)}, or all of it by --payload"
        raise click.UsageError(message)
    return payload


def _value(value: Any, field: Field) -> Any:  # noqa: ANN401  as click read it
    if field.many is Many.LIST:
        return list(value)
    if field.many is Many.RATES:
        return pairs(value, option=f"--{field.option}")
    return setting_values(value, option=f"--{field.option}") if field.many is Many.SETTINGS else value


def setting_values(texts: tuple[str, ...], *, option: str = "--set") -> dict[str, Any]:
    """Read settings as `name=value`; `null` takes one away, payout tiers are JSON. Raises: click.BadParameter."""
    stated = pairs(texts, option=option)
    payload: dict[str, Any] = {name: None if value == "null" else value for name, value in stated.items()}
    if payload.get(words.PAYOUT_TIERS) is not None:
        payload[words.PAYOUT_TIERS] = JsonValue().convert(payload[words.PAYOUT_TIERS], None, None)
    return payload
