"""Values that a table server sends: bets and hands. Their ids are made with them, before anything is sent."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from jackpot_client.ids import checked_id, checked_texts, new_bet_id
from jackpot_client.values.words import HandStatus

_CURRENCY: Final = re.compile(r"[A-Z]{3}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bet:
    """
    One player's stake on one hand, in whole minor units; the same object sent again is the same bet.

    `occurred_at` is the table's own time of the bet, if it is to be kept; it has an offset.
    """

    player_id: str
    currency: str
    stake_minor: int
    hand: str = "1"
    bet_id: str = field(default_factory=new_bet_id)
    occurred_at: datetime | None = None

    def __post_init__(self) -> None:
        """Refuse a bet that could not be sent as it is meant. Raises: ValueError, TypeError."""
        if type(self.stake_minor) is not int:
            raise TypeError(f"stake_minor must be an int of minor units, not {self.stake_minor!r}")
        if self.stake_minor < 1:
            raise ValueError(f"stake_minor must be above 0, not {self.stake_minor}")
        if not _CURRENCY.fullmatch(self.currency):
            raise ValueError(f"currency must be three capital letters, not {self.currency!r}")
        for name in ("bet_id", "player_id", "hand"):
            checked_id(getattr(self, name), name=name)
        time_as_json(self.occurred_at)

    def as_json(self) -> dict[str, object]:
        """Return the bet as the contract spells it."""
        return {
            "bet_id": self.bet_id,
            "player_id": self.player_id,
            "hand": self.hand,
            "currency": self.currency,
            "stake_minor": self.stake_minor,
            **time_as_json(self.occurred_at),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """One hand of a round as it was dealt: cards like `As`; a dead or forfeited hand needs none."""

    hand: str = "1"
    cards: tuple[str, ...] = ()
    status: HandStatus = HandStatus.DEALT

    def __post_init__(self) -> None:
        """Refuse a hand that could not be sent as it is meant. Raises: ValueError, TypeError."""
        checked_id(self.hand, name="hand")
        checked_texts(self.cards, name="cards")

    def as_json(self) -> dict[str, object]:
        """Return the hand as the contract spells it."""
        cards = {"cards": list(self.cards)} if self.cards else {}
        return {"hand": self.hand, "status": self.status.value, **cards}


def time_as_json(occurred_at: datetime | None) -> dict[str, object]:
    """Return the member that states when something occurred; without a time there is none. Raises: ValueError."""
    return {} if occurred_at is None else {"occurred_at": time_text(occurred_at, name="occurred_at")}


def time_text(value: datetime, *, name: str) -> str:
    """Return a time as it is sent. Raises: ValueError for one without an offset, which could mean any hour."""
    if value.utcoffset() is None:
        raise ValueError(f"{name} must have an offset, such as datetime.now(UTC) has: {value!r}")
    return value.isoformat()
