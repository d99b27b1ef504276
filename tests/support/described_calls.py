"""The calls that the client describes, and the operations of the contract that they make."""

import re
from collections.abc import Callable
from typing import Any, Final, get_type_hints

from jackpot_client.calls import events, jackpots, rounds, tables
from jackpot_client.steps import Request
from tests.support.contract import DOCUMENT

Describe = Callable[..., Any]

SAMPLES: Final = {
    **dict.fromkeys(["table_id", "round_id", "award_id", "jackpot_id", "request_id", "reference", "reason"], "x"),
    "bets": [],
    "bet_ids": ["b"],
    "bet_count": 1,
    "hands": [],
    "book": "x",
    "stripe": 0,
    "seq": 1,
}

CALLS: Final = [
    rounds.place_bets,
    rounds.void_bets,
    rounds.close_betting,
    rounds.put_result,
    rounds.cancel_round,
    rounds.round_record,
    rounds.payout_per_unit,
    rounds.entry,
    tables.me,
    tables.table,
    tables.award,
    tables.pay_award,
    jackpots.jackpot,
    jackpots.meter,
    jackpots.paytable,
    jackpots.rules,
    jackpots.table_limits,
    jackpots.feed_frame,
    events.event_page,
]
LISTS: Final = [
    rounds.rounds,
    rounds.table_rounds,
    tables.casinos,
    tables.tables,
    tables.awards,
    jackpots.jackpots,
    jackpots.hits,
]


def parameters(describe: Describe) -> list[str]:
    return [name for name in get_type_hints(describe) if name != "return"]


def request_of(describe: Describe) -> Request:
    """The request of a call with nothing but what it requires."""
    optional = getattr(describe, "__kwdefaults__", None) or {}
    made: Any = describe(**{name: SAMPLES[name] for name in parameters(describe) if name not in optional})
    request: Request = getattr(made, "first", made).request
    return request


def operation_of(describe: Describe) -> tuple[str, dict[str, Any]]:
    """The path and the operation of the contract that a call makes; there is exactly that."""
    request = request_of(describe)
    (path,) = (
        template for template in DOCUMENT["paths"] if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), request.path)
    )
    operation: dict[str, Any] = DOCUMENT["paths"][path][request.method.lower()]
    return path, operation
