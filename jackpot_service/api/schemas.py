"""
The shapes that several answers share.

A schema describes an answer and dumps it, so that the two cannot differ. Only what bets, voids, closings, results,
cancellations and meters answer is written by hand, which takes a fraction of the time; elsewhere the same functions
feed the schemas. Pool amounts and rates are decimal texts, players' money is minor units.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from marshmallow import Schema, fields, pre_dump, validate

from jackpot_service.domain.accounts import Meter
from jackpot_service.domain.awards import AwardState, HitPayment
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.facts import Facts, instant
from jackpot_service.domain.money import Rate, RateSheet, from_minor, plain
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rounds import RoundState, RoundView
from jackpot_service.domain.rules import Policy
from jackpot_service.records.verdicts import BookedAward
from jackpot_service.usecases.fields import Identifier, StrictSchema, Text

DECIMAL = r"^-?\d+(\.\d+)?$"


class Moment(fields.DateTime):
    """A time in UTC, always with six decimals of a second; a text is one that was written so before."""

    def _serialize(self, value: Any, *_: Any, **__: Any) -> str | None:  # noqa: ANN401  as the base
        return instant(value) if isinstance(value, datetime) else value


class Exact(fields.String):
    """An exact amount or rate as a decimal text; a text is one that was written so before."""

    def _serialize(self, value: Any, *_: Any, **__: Any) -> str | None:  # noqa: ANN401  as the base
        return plain(value) if isinstance(value, Decimal) else value


class SortedTexts(fields.List[str]):
    """Texts of no order of their own."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401  as the base
        super().__init__(fields.String(), **kwargs)

    def _serialize(self, value: Any, *_: Any, **__: Any) -> list[str]:  # noqa: ANN401  as the base
        return sorted(value)


def decimal(description: str, **kwargs: Any) -> Exact:  # noqa: ANN401  a field's own options
    """Return a required field of an exact amount or rate."""
    metadata = {"description": description, "format": "decimal"}
    return Exact(required=True, validate=validate.Regexp(DECIMAL), metadata=metadata, **kwargs)


def described(field: type[fields.Field[Any]], description: str, **kwargs: Any) -> fields.Field[Any]:  # noqa: ANN401
    """Return a required field with its description."""
    return field(required=True, metadata={"description": description}, **kwargs)


def word(words: type[StrEnum], description: str | None = None, **kwargs: Any) -> fields.String:  # noqa: ANN401
    """Return a required field that holds one of some words; the description of the API knows these by their name."""
    metadata = {"x-words": words.__name__} | ({} if description is None else {"description": description})
    return fields.String(
        required=True, validate=validate.OneOf([member.value for member in words]), metadata=metadata, **kwargs
    )


def listed(item: type[Schema], description: str | None = None, **kwargs: Any) -> fields.List[Any]:  # noqa: ANN401
    """Return a required field that holds a list of objects."""
    metadata = {} if description is None else {"description": description}
    return fields.List(fields.Nested(item()), required=True, metadata=metadata, **kwargs)


class RequestSchema(StrictSchema):
    """A body or a query."""


class IdentifiedSchema(RequestSchema):
    """A request for an act, under an id of the caller's."""

    request_id = Identifier(required=True, metadata={"description": "The caller's id of this request, kept for ever."})


class ReasonedSchema(IdentifiedSchema):
    """A request for an act that has its reason in the audit trail."""

    reason = Text(required=True)


class AnswerSchema(Schema):
    """An answer, or a part of one, dumped from a value or a mapping that has all of its fields."""

    def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:  # noqa: ANN401, ARG002  as the base
        """Follow a dotted name; nothing of None is None. A value that lacks a field is a bug, and raised as one."""
        for name in attr.split("."):
            if obj is None:
                return None
            obj = obj[name] if isinstance(obj, Mapping) else getattr(obj, name)
        return obj


class WrittenSchema(AnswerSchema):
    """An answer that a function writes; it is dumped from what the function takes, or from what it wrote."""

    @staticmethod
    def write(value: Any, /) -> dict[str, Any]:  # noqa: ANN401  each writes its own
        """Write a value as a mapping of what the schema describes."""
        raise NotImplementedError

    @pre_dump
    def _write(self, value: Any, **_: Any) -> Mapping[str, Any]:  # noqa: ANN401  as the base
        return value if isinstance(value, Mapping) else self.write(value)


def body_of_round(view: RoundView) -> dict[str, Any]:
    """Write a round with the cycle that it belongs to."""
    round_ = view.round
    return {
        "jackpot_id": round_.jackpot_id,
        "table_id": round_.table_id,
        "round_id": round_.round_id,
        "state": round_.state.value,
        "cycle": view.cycle,
        "rules_version": round_.rules_version,
        "rate_sheet": round_.rate_sheet,
        "bet_count": round_.bet_count,
        "total_stake_base": plain(round_.weight),
        "game_number": round_.game_number,
    }


@lru_cache(maxsize=8)
def body_of_meter(meter: Meter, rate: Rate) -> Mapping[str, Any]:
    """Write a meter in a currency of the sheet. Bets that were booked together show one, which nobody may change."""
    amount_minor = meter.amount_minor(rate)
    return {
        "jackpot_id": meter.jackpot_id,
        "cycle": meter.cycle,
        "currency": rate.currency,
        "amount_minor": amount_minor,
        "amount": format(from_minor(amount_minor, rate.exponent), "f"),
        "amount_exact": plain(meter.exact),
        "overflow": plain(meter.overflow),
        "last_movement_at": instant(meter.as_of),
        "version": meter.version,
    }


def body_of_paid_meter(meter: Meter, currency: str, sheet: RateSheet, payment: HitPayment | None) -> dict[str, Any]:
    """
    Write a meter in a currency of the sheet, with its rate, and where the payment of the last hit stands.

    Raises: NoRate.
    """
    rate = sheet.rate(currency)
    return {**body_of_meter(meter, rate), **body_of_rate(rate, sheet), "payment": payment}


def body_of_rate(rate: Rate, sheet: RateSheet) -> dict[str, Any]:
    """Write the rate by which amounts are shown, and its sheet; number 0 is the sheet where none is in force."""
    return {"rate": plain(rate.base_per_unit), "rate_sheet": sheet.number or None}


def body_of_settlement(settlement: Facts, awards: Iterable[BookedAward], refunds: Iterable[Bet]) -> dict[str, Any]:
    """Write what a settlement recorded, with its awards and refunds."""
    return {
        **{name: settlement[name] for name in _SETTLED},
        "total_stake_base": settlement["weight"],
        "awards": [body_of_award(award) for award in awards],
        "refunds": [body_of_refund(bet) for bet in refunds],
    }


_SETTLED: Final = (
    "policy",
    "meter_before",
    "meter_after",
    "reserve_after",
    "prize_fund_after",
    "carried",
    "house_seed",
    "cycle_after",
)


def body_of_award(award: BookedAward) -> dict[str, Any]:
    """Write an award."""
    return {
        "award_id": award.award_id,
        "bet_id": award.bet_id,
        "player_id": award.player_id,
        "hand": award.hand,
        "tier": award.tier,
        "amount_minor": award.amount_minor,
        "currency": award.currency,
        "cost_base": plain(award.cost),
        "state": award.state.value,
    }


def body_of_refund(bet: Bet) -> dict[str, Any]:
    """Write a stake given back."""
    return {
        "bet_id": bet.bet_id,
        "player_id": bet.player_id,
        "amount_minor": bet.stake_minor,
        "currency": bet.currency,
    }


class RoundSchema(WrittenSchema):
    """A round as it is now; of a replayed void, as it was then."""

    write = staticmethod(body_of_round)

    jackpot_id = described(fields.String, "The jackpot that the round's bets play for.")
    table_id = described(fields.String, "The table's id.")
    round_id = described(fields.String, "The table server's id of the round.")
    state = word(RoundState)
    cycle = described(fields.Integer, "The running cycle; of a round that is over, the one it ended in.")
    rules_version = described(fields.Integer, "The rules version, fixed when the round was first seen.")
    rate_sheet = described(fields.Integer, "The rate sheet, fixed when the round was first seen.")
    bet_count = described(fields.Integer, "Bets accepted and not void.")
    total_stake_base = decimal("Their stakes' value in the base currency.")
    game_number = described(fields.String, "The number that players see, if it was said.", allow_none=True)


class MeterSchema(AnswerSchema):
    """A jackpot's meter: what is on offer."""

    jackpot_id = fields.String(required=True)
    cycle = described(fields.Integer, "The running cycle.")
    currency = described(fields.String, "The currency of `amount` and `amount_minor`.")
    amount_minor = described(fields.Integer, "On offer, in whole minor units, rounded down; for display.")
    amount = decimal("The same as a text with the currency's decimals.")
    amount_exact = decimal("On offer, exact, in the base currency.")
    overflow = decimal("The part of the meter that a limit keeps off the offer, in the base currency.")
    last_movement_at = described(Moment, "Nothing has moved since.")
    version = described(fields.String, "Changes with every entry of the jackpot.")


class RatedSchema(AnswerSchema):
    """The rate by which amounts are shown."""

    rate = decimal("Base units per one unit of `currency`; 1 of the base currency.")
    rate_sheet = described(
        fields.Integer,
        "The sheet in force; null if there is none, and only the base currency is shown.",
        allow_none=True,
    )


class PaidMeterSchema(MeterSchema, RatedSchema):
    """A jackpot's meter, by which rate it is shown, and whether its last winners were paid."""

    payment = word(
        HitPayment,
        "Of the last hit: `pending` while awards are held or stopped, `released` while all may be paid, `paid` once "
        "all were. Null if nothing of it is to be paid, or the jackpot was never hit.",
        allow_none=True,
    )


class AwardSchema(WrittenSchema):
    """One bet's prize."""

    write = staticmethod(body_of_award)

    award_id = fields.String(required=True)
    bet_id = fields.String(required=True)
    player_id = described(fields.String, "A pseudonym; null for a bet of another casino.", allow_none=True)
    hand = fields.String(required=True)
    tier = word(Tier)
    amount_minor = described(fields.Integer, "Whole minor units of `currency`, rounded down.")
    currency = described(fields.String, "The player's own currency.")
    cost_base = decimal("The cost of the award in the base currency, exact.")
    state = word(
        AwardState,
        "How it stands; in the answer to a result, how it began. An award that was held and approved, or rejected and "
        "reinstated, is payable. A stopped one must not be paid until two people release it; it is payable again then. "
        "Only `/v1/awards` shows that one is unclaimed.",
    )


class RefundSchema(WrittenSchema):
    """A stake given back."""

    write = staticmethod(body_of_refund)

    bet_id = fields.String(required=True)
    player_id = fields.String(required=True)
    amount_minor = fields.Integer(required=True)
    currency = fields.String(required=True)


class SettlementSchema(AnswerSchema):
    """The verdict on a round, in the base currency unless said otherwise."""

    policy = word(Policy, "How several winners are paid.")
    meter_before = decimal("M: on offer after refunds, the round's own contributions included.")
    total_stake_base = decimal("W: the value of the bets on dealt hands.")
    awards = listed(AwardSchema, "By bet id, then tier.")
    refunds = listed(RefundSchema, "The bets on dead hands, unless the rules have them play on.")
    meter_after = decimal("On offer after the settlement.")
    reserve_after = decimal("The reserve, which starts the next jackpot.")
    prize_fund_after = decimal("The fund that pays the fixed prizes; may be negative.")
    carried = decimal("On a hit, what is left of M; otherwise null.", allow_none=True)
    house_seed = decimal("The amount that the house paid in to reach the reset amount.")
    cycle_after = described(fields.Integer, "The running cycle after it: one more on a hit.")
