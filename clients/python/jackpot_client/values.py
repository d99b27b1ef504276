"""Values that a table server sends and gets. Payable money is whole minor units; pool amounts are exact."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from jackpot_client.ids import checked_id, new_bet_id


class HandStatus(StrEnum):
    """How a hand of a round ended: dealt, dead (its bets are refunded) or forfeited (neither award nor refund)."""

    DEALT = "dealt"
    DEAD = "dead"
    FORFEITED = "forfeited"


class RoundState(StrEnum):
    """Where a round is in its life; the last two are for ever."""

    OPEN = "open"
    CLOSED = "closed"
    SETTLED = "settled"
    CANCELLED = "cancelled"


class AwardState(StrEnum):
    """Whether an award may be paid out to its player now, or was; the answer to a result says how it began."""

    PAYABLE = "payable"
    HELD = "held"
    REJECTED = "rejected"
    STOPPED = "stopped"
    PART_PAID = "part-paid"
    PAID = "paid"
    UNCLAIMED = "unclaimed"
    FORFEITED = "forfeited"
    REVERSED = "reversed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bet:
    """One player's stake on one hand; its id is made with it, so the same object sent again is the same bet."""

    player_id: str
    currency: str
    stake_minor: int
    hand: str = "1"
    bet_id: str = field(default_factory=new_bet_id)

    def __post_init__(self) -> None:
        """Refuse a bet that could not be sent as it is meant. Raises: ValueError, TypeError."""
        if type(self.stake_minor) is not int:
            raise TypeError(f"stake_minor must be an int of minor units, not {self.stake_minor!r}")
        checked_id(self.bet_id, name="bet_id")

    def as_json(self) -> dict[str, object]:
        """Return the bet as the contract spells it."""
        return {
            "bet_id": self.bet_id,
            "player_id": self.player_id,
            "hand": self.hand,
            "currency": self.currency,
            "stake_minor": self.stake_minor,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """One hand of a round as it was dealt: cards like `As`; a dead or forfeited hand needs none."""

    hand: str = "1"
    cards: tuple[str, ...] = ()
    status: HandStatus = HandStatus.DEALT

    def as_json(self) -> dict[str, object]:
        """Return the hand as the contract spells it."""
        cards = {"cards": list(self.cards)} if self.cards else {}
        return {"hand": self.hand, "status": self.status.value, **cards}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundView:
    """A round as the ledger sees it; `bet_count` are its live bets, `total_stake_base` what they are worth."""

    jackpot_id: str
    table_id: str
    round_id: str
    state: RoundState
    cycle: int
    rules_version: int | str
    rate_sheet: int | str
    bet_count: int
    total_stake_base: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """The progressive amount on offer: `amount` to show, `amount_exact` in the jackpot's base currency."""

    jackpot_id: str
    cycle: int
    currency: str
    amount_minor: int
    amount: str
    amount_exact: Decimal
    last_movement_at: datetime
    version: int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedBets:
    """The answer to a batch; `void` are its bets that are void, `payout_per_unit` is None where none is shared."""

    round: RoundView
    accepted: int
    replayed: int
    void: tuple[str, ...]
    meter: Meter
    payout_per_unit: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedRound:
    """The answer to a closing."""

    round: RoundView


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidedBets:
    """The answer to voids; an `unknown` bet is void too, whenever it should still come."""

    round: RoundView
    voided: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Award:
    """One bet's prize in its player's currency; `cost_base` is its cost to the pools, in the base currency."""

    award_id: str
    bet_id: str
    player_id: str
    hand: str
    tier: str
    amount_minor: int
    currency: str
    cost_base: Decimal
    state: AwardState


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """A stake that goes back to its player."""

    bet_id: str
    player_id: str
    amount_minor: int
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The verdict on a round; what is None was not touched by it (`carried` and `cycle_after` speak of a hit)."""

    policy: str | None
    meter_before: Decimal | None
    total_stake_base: Decimal | None
    awards: tuple[Award, ...]
    refunds: tuple[Refund, ...]
    meter_after: Decimal | None
    reserve_after: Decimal | None
    prize_fund_after: Decimal | None
    carried: Decimal | None
    house_seed: Decimal | None
    cycle_after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledRound:
    """The answer to a result."""

    round: RoundView
    settlement: Settlement


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelledRound:
    """The answer to a cancellation."""

    round: RoundView
    refunds: tuple[Refund, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """The whole record of a round: `content` is all of it as answered, pool amounts as decimal strings."""

    round: RoundView
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class JackpotView:
    """One jackpot of the list: `content` is all that was answered of it."""

    jackpot_id: str
    content: Mapping[str, Any]
