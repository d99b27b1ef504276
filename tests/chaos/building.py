"""Calls and books with legal defaults, so that a test of the checker states only what is wrong."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.chaos.books import BookedAward, BookedRound, Books
from tests.chaos.calls import Attempt, Bet, Call, Content, Hand, Kind, RoundName

NAME = RoundName("north.live-1.0", "r1")
BET = Bet("b1", "p1", "1", "EUR", 100)
OTHER = Bet("b2", "p2", "2", "GBP", 250)
FULL_HOUSE = Hand("1", "dealt", ("4s", "4h", "4d", "5s", "5h"))
NOTHING = Hand("2", "dealt", ("8h", "Qd", "4c", "Jc", "Kc"))
BETS = Content(Kind.BETS, NAME, bets=(BET, OTHER))
VOIDS = Content(Kind.VOIDS, NAME, bet_ids=("b2",))
LATE_VOIDS = Content(Kind.VOIDS, NAME, bet_ids=("b2",), reason="the player was disconnected before")
CLOSING = Content(Kind.CLOSING, NAME, bet_count=2)
RESULT = Content(Kind.RESULT, NAME, bet_count=2, hands=(FULL_HOUSE, NOTHING))
CANCELLATION = Content(Kind.CANCELLATION, NAME, reason="misdeal")

AWARDS = {("b1", "full_house"): BookedAward(5000, "EUR", Decimal(50), "prize_fund", is_held=False)}
SETTLEMENT = {
    "settlement": {
        "awards": [{"bet_id": "b1", "tier": "full_house", "amount_minor": 5000, "currency": "EUR"}],
        "refunds": [],
    }
}
ACCEPTED = {"accepted": 2, "replayed": 0, "void": []}
REPLAYED = {"accepted": 0, "replayed": 2, "void": []}


def answered(
    content: Content, answer: Mapping[str, Any] | None = None, *, status: int = 200, must_refuse: str = ""
) -> Call:
    """Return a call that was answered at once."""
    attempt = Attempt(1.0, 1.1, status, {} if answer is None else answer)
    return Call("c1", "g1-0", content, (attempt,), must_refuse)


def unanswered(content: Content) -> Call:
    """Return a call whose connection broke."""
    return Call("c2", "g1-0", content, (Attempt(1.0, 1.1, why="RemoteDisconnected"),))


def booked(**changed: Any) -> BookedRound:
    """Return an open round with both bets."""
    usual: dict[str, Any] = {"bets": {BET.bet_id: BET, OTHER.bet_id: OTHER}, "state": "open"}
    return BookedRound(NAME, "live-1", "north", **(usual | changed))


def settled(**changed: Any) -> BookedRound:
    """Return the round as its result settled it."""
    usual = {"state": "settled", "bet_count": 2, "hands": RESULT.hands, "awards": AWARDS, "meter_before": Decimal(7)}
    return booked(**(usual | changed))


def books_of(*rounds: BookedRound, **changed: Any) -> Books:
    """Return books of some rounds."""
    return Books({round_.name: round_ for round_ in rounds}, **changed)
