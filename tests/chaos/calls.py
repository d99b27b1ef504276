"""What table servers sent and what they were answered: the facts that the books are held against."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from sys import intern
from typing import Any, NamedTuple

BROKEN = 0
"""The status of an attempt that ended without an answer: the connection broke, or nothing came for too long."""

WITHOUT_EFFECT = frozenset({"busy", "clock-skew"})
"""The problems under 503 that say that nothing was written."""

OK, CREATED = 200, 201
TOO_MANY_REQUESTS, UNAVAILABLE = 429, 503


class Bet(NamedTuple):
    """A bet as a table server sends it, and as the books keep it."""

    bet_id: str
    player_id: str
    hand: str
    currency: str
    stake_minor: int


def bet_of(bet_id: str, player_id: str, hand: str, currency: str, stake_minor: int) -> Bet:
    """Return a bet that shares its texts with others: a campaign has a million bets, twice, and few texts."""
    return Bet(intern(bet_id), intern(player_id), intern(hand), intern(currency), stake_minor)


class Hand(NamedTuple):
    """A hand of a result; the order of its cards is not content."""

    hand: str
    status: str
    cards: tuple[str, ...]


class RoundName(NamedTuple):
    """The caller's name of a round."""

    table_id: str
    round_id: str


class Kind(StrEnum):
    """The calls that write."""

    BETS = "bets"
    VOIDS = "voids"
    CLOSING = "closing"
    RESULT = "result"
    CANCELLATION = "cancellation"


METHODS: Mapping[Kind, str] = {
    Kind.BETS: "POST",
    Kind.VOIDS: "POST",
    Kind.CLOSING: "PUT",
    Kind.RESULT: "PUT",
    Kind.CANCELLATION: "PUT",
}


@dataclass(frozen=True, slots=True)
class Content:
    """What a call says; two calls with the same content are the same call, made twice."""

    kind: Kind
    round: RoundName
    bets: tuple[Bet, ...] = ()
    bet_ids: tuple[str, ...] = ()
    bet_count: int = 0
    hands: tuple[Hand, ...] = ()
    reason: str = ""

    @property
    def path(self) -> str:
        return f"/v1/tables/{self.round.table_id}/rounds/{self.round.round_id}/{self.kind}"

    def body(self) -> dict[str, Any]:
        """Return the body as the service takes it."""
        match self.kind:
            case Kind.BETS:
                return {"bets": [bet._asdict() for bet in self.bets]}
            case Kind.VOIDS:
                return {"bet_ids": list(self.bet_ids), **({"reason": self.reason} if self.reason else {})}
            case Kind.CLOSING:
                return {"bet_count": self.bet_count}
            case Kind.RESULT:
                return {"bet_count": self.bet_count, "hands": [hand._asdict() for hand in self.hands]}
            case Kind.CANCELLATION:
                return {"reason": self.reason}


def content_of(kind: Kind, name: RoundName, body: Mapping[str, Any]) -> Content:
    """Read a content back from its body."""
    return Content(
        kind,
        name,
        bets=tuple(bet_of(*(bet[field] for field in Bet._fields)) for bet in body.get("bets", ())),
        bet_ids=tuple(body.get("bet_ids", ())),
        bet_count=body.get("bet_count", 0),
        hands=tuple(Hand(hand["hand"], hand["status"], tuple(hand["cards"])) for hand in body.get("hands", ())),
        reason=body.get("reason", ""),
    )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One sending of a call. Times are of the machine's monotonic clock, which all processes share."""

    sent_s: float
    ended_s: float | None = None
    status: int = BROKEN
    answer: Mapping[str, Any] | None = None
    why: str = ""
    """Of a broken attempt: what broke."""
    is_sent: bool = True
    """Whether any of it may have reached the service; not if nobody listened."""

    @property
    def is_acknowledged(self) -> bool:
        return self.status in {OK, CREATED}

    @property
    def is_refused(self) -> bool:
        """Whether the service refused for good: the same call would be refused again."""
        return not self.is_acknowledged and self.status not in {BROKEN, TOO_MANY_REQUESTS} and self.status < 500

    @property
    def has_written_nothing(self) -> bool:
        """Whether the service never had it, or answered that nothing was written and that it may come again."""
        code = self.answer.get("code") if isinstance(self.answer, Mapping) else None
        is_definite = self.status == UNAVAILABLE and code in WITHOUT_EFFECT
        return not self.is_sent or self.status == TOO_MANY_REQUESTS or is_definite

    @property
    def took_s(self) -> float:
        """Return how long it was waited for; 0 if the table server was killed meanwhile."""
        return 0.0 if self.ended_s is None else self.ended_s - self.sent_s


@dataclass(frozen=True, slots=True)
class Call:
    """A call with all its attempts. `must_refuse` is the code of the problem that has to be its answer, if any."""

    call_id: str
    server: str
    content: Content
    attempts: tuple[Attempt, ...]
    must_refuse: str = ""

    @property
    def acknowledgements(self) -> tuple[Attempt, ...]:
        return tuple(attempt for attempt in self.attempts if attempt.is_acknowledged)

    @property
    def is_acknowledged(self) -> bool:
        return bool(self.acknowledgements)

    @property
    def is_refused(self) -> bool:
        """Whether the service refused it, and never said anything else."""
        return not self.is_acknowledged and any(attempt.is_refused for attempt in self.attempts)

    @property
    def is_unknown(self) -> bool:
        """Whether it may have had its effect without an acknowledgement."""
        sent = any(attempt.is_sent and attempt.status != TOO_MANY_REQUESTS for attempt in self.attempts)
        return sent and not self.is_acknowledged and not self.is_refused

    @property
    def began_s(self) -> float:
        return self.attempts[0].sent_s
