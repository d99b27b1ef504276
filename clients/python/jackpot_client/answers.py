"""Turns the contract's objects into values. Every function raises ProtocolError for what is not the contract's."""

from enum import StrEnum
from http import HTTPStatus
from typing import Final, TypeVar

from jackpot_client.errors import FieldError, ProtocolError, Refusal
from jackpot_client.reading import Fields, read
from jackpot_client.retrying import Answer
from jackpot_client.values import (
    Award,
    AwardState,
    CancelledRound,
    Meter,
    PlacedBets,
    Refund,
    RoundState,
    RoundView,
    SettledRound,
    Settlement,
    VoidedBets,
)

_PROBLEM_MEMBERS: Final = {"type", "title", "status", "detail", "instance", "code", "retryable", "errors"}

Word = TypeVar("Word", bound=StrEnum)


def content(answer: Answer) -> Fields:
    """Return what a success says. Raises: Refusal for a problem, ProtocolError."""
    if answer.status in {HTTPStatus.OK, HTTPStatus.CREATED}:
        return read(answer.body)
    media_type = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if answer.status < HTTPStatus.BAD_REQUEST or media_type != "application/problem+json":
        raise ProtocolError(f"status {answer.status} with {media_type or 'no type'}: {answer.body[:100]!r}")
    problem = read(answer.body)
    raise Refusal(
        status=answer.status,
        code=problem.text("code"),
        detail=problem.text("detail"),
        errors=tuple(map(error, problem.sections("errors"))) if "errors" in problem.content else (),
        facts={name: value for name, value in problem.content.items() if name not in _PROBLEM_MEMBERS},
        request_id=answer.headers.get("X-Request-Id"),
        earlier_attempts_unknown=answer.earlier_attempts_unknown,
    )


def placed_bets(fields: Fields) -> PlacedBets:
    """Read the answer to a batch of bets."""
    return PlacedBets(
        round=round_view(fields.section("round")),
        accepted=fields.whole("accepted"),
        replayed=fields.whole("replayed"),
        void=fields.texts("void"),
        meter=meter(fields.section("meter")),
        payout_per_unit=fields.decimal_or_none("payout_per_unit"),
    )


def voided_bets(fields: Fields) -> VoidedBets:
    """Read the answer to voids."""
    return VoidedBets(
        round=round_view(fields.section("round")), voided=fields.texts("voided"), unknown=fields.texts("unknown")
    )


def settled_round(fields: Fields) -> SettledRound:
    """Read the answer to a result."""
    return SettledRound(round=round_view(fields.section("round")), settlement=settlement(fields.section("settlement")))


def cancelled_round(fields: Fields) -> CancelledRound:
    """Read the answer to a cancellation."""
    return CancelledRound(
        round=round_view(fields.section("round")), refunds=tuple(map(refund, fields.sections("refunds")))
    )


def round_view(fields: Fields) -> RoundView:
    """Read a round."""
    return RoundView(
        jackpot_id=fields.text("jackpot_id"),
        table_id=fields.text("table_id"),
        round_id=fields.text("round_id"),
        state=_word(fields, "state", RoundState),
        cycle=fields.whole("cycle"),
        rules_version=fields.label("rules_version"),
        rate_sheet=fields.label("rate_sheet"),
        bet_count=fields.whole("bet_count"),
        total_stake_base=fields.decimal("total_stake_base"),
    )


def meter(fields: Fields) -> Meter:
    """Read a meter."""
    return Meter(
        jackpot_id=fields.text("jackpot_id"),
        cycle=fields.whole("cycle"),
        currency=fields.text("currency"),
        amount_minor=fields.whole("amount_minor"),
        amount=fields.text("amount"),
        amount_exact=fields.decimal("amount_exact"),
        last_movement_at=fields.instant("last_movement_at"),
        version=fields.label("version"),
    )


def settlement(fields: Fields) -> Settlement:
    """Read a settlement."""
    return Settlement(
        policy=fields.text_or_none("policy"),
        meter_before=fields.decimal_or_none("meter_before"),
        total_stake_base=fields.decimal_or_none("total_stake_base"),
        awards=tuple(map(award, fields.sections("awards"))),
        refunds=tuple(map(refund, fields.sections("refunds"))),
        meter_after=fields.decimal_or_none("meter_after"),
        reserve_after=fields.decimal_or_none("reserve_after"),
        prize_fund_after=fields.decimal_or_none("prize_fund_after"),
        carried=fields.decimal_or_none("carried"),
        house_seed=fields.decimal_or_none("house_seed"),
        cycle_after=fields.whole_or_none("cycle_after"),
    )


def award(fields: Fields) -> Award:
    """Read an award."""
    return Award(
        award_id=fields.text("award_id"),
        bet_id=fields.text("bet_id"),
        player_id=fields.text("player_id"),
        hand=fields.text("hand"),
        tier=fields.text("tier"),
        amount_minor=fields.whole("amount_minor"),
        currency=fields.text("currency"),
        cost_base=fields.decimal("cost_base"),
        state=_word(fields, "state", AwardState),
    )


def refund(fields: Fields) -> Refund:
    """Read a refund."""
    return Refund(
        bet_id=fields.text("bet_id"),
        player_id=fields.text("player_id"),
        amount_minor=fields.whole("amount_minor"),
        currency=fields.text("currency"),
    )


def error(fields: Fields) -> FieldError:
    """Read one of a problem's errors."""
    return FieldError(pointer=fields.text("pointer"), code=fields.text("code"), detail=fields.text("detail"))


def _word(fields: Fields, name: str, words: type[Word]) -> Word:
    try:
        return words(fields.text(name))
    except ValueError as error:
        raise ProtocolError(f"{fields.where}/{name} is a word this client does not know: {error}") from None
