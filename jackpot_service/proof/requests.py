"""
What a change request says that the act which carries it out shows as well, under the same names.

Of rates, of rules and of pools the act shows what the payload makes of them: see `rate_changes` and `dues` for that.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain import facts
from jackpot_service.domain.cards import Card
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.held_awards import Decision
from jackpot_service.domain.money import plain
from jackpot_service.domain.outcomes import Result
from jackpot_service.domain.verdict import Hand, HandStatus

_UNREADABLE = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
"""What reading a payload raises that is not one of its kind."""


def not_as_asked(request: Row[Any], act: Row[Any]) -> Iterator[str]:
    """Say in what an act does not show what its change request asked for."""
    try:
        asked = {"jackpot_id": request.payload.get("jackpot_id"), **_asked(request)}
        shown = {**act.after, **act.after.get("round", {}), "jackpot_id": act.jackpot_id}
    except _UNREADABLE as error:
        yield f"cannot be compared: {type(error).__name__}: {error}"
        return
    for name, due in asked.items():
        if shown.get(name) != due:
            yield f"shows {name} {shown.get(name)}, asked for was {due}"


def _asked(request: Row[Any]) -> Facts:
    read = ASKED.get(request.kind)
    return {} if read is None else read(request.payload)


def _compensation(payload: Facts) -> Facts:
    return payload


def _statement(payload: Facts) -> Facts:
    period = {name: facts.instant(datetime.fromisoformat(payload[name])) for name in ("from", "to")}
    return {**payload, **period, "amount": plain(Decimal(payload["amount"]))}


def _decision(payload: Facts) -> Facts:
    """Not which awards: see `awards`."""
    return {**_round(payload), "step": Decision(payload["decision"]).step.value}


def _correction(payload: Facts) -> Facts:
    told = payload["result"]
    hands = tuple(
        Hand(one["hand"], HandStatus(one.get("status", HandStatus.DEALT)), tuple(map(Card, one.get("cards", ()))))
        for one in told["hands"]
    )
    result = Result(told["bet_count"], hands, tuple(map(Card, told.get("dealer", ()))))
    return {**_round(payload), "result": facts.of_result(result)}


def _round(payload: Facts) -> Facts:
    return {name: payload[name] for name in ("table_id", "round_id")}


ASKED: Mapping[str, Callable[[Facts], Facts]] = {
    ChangeKind.COMPENSATION: _compensation,
    ChangeKind.STATEMENT_SETTLEMENT: _statement,
    ChangeKind.HELD_AWARDS: _decision,
    ChangeKind.ROUND_CORRECTION: _correction,
}
"""What the act of each kind of change shows of its payload, besides the jackpot."""
