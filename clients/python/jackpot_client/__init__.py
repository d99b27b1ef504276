"""
A table server imports `from jackpot_client import JackpotClient, Bet, Hand`.

The one package whose `__init__` is not empty: other people's programs import these names, so where they live inside
is ours to change.
"""

from jackpot_client.errors import ClientError, FieldError, NoAnswer, OutcomeUnknown, ProtocolError, Refusal
from jackpot_client.ids import new_bet_id, new_round_id
from jackpot_client.jackpot_client import JackpotClient
from jackpot_client.retrying import Retry
from jackpot_client.values import (
    Award,
    AwardState,
    Bet,
    CancelledRound,
    ClosedRound,
    Hand,
    HandStatus,
    JackpotView,
    Meter,
    PlacedBets,
    Refund,
    RoundRecord,
    RoundState,
    RoundView,
    SettledRound,
    Settlement,
    VoidedBets,
)

__all__ = [
    "Award",
    "AwardState",
    "Bet",
    "CancelledRound",
    "ClientError",
    "ClosedRound",
    "FieldError",
    "Hand",
    "HandStatus",
    "JackpotClient",
    "JackpotView",
    "Meter",
    "NoAnswer",
    "OutcomeUnknown",
    "PlacedBets",
    "ProtocolError",
    "Refund",
    "Refusal",
    "Retry",
    "RoundRecord",
    "RoundState",
    "RoundView",
    "SettledRound",
    "Settlement",
    "VoidedBets",
    "new_bet_id",
    "new_round_id",
]
