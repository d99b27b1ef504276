"""What the mechanism of change requests has to know of a kind of change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, TypeVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.rate_changes import DEFAULT_BAND
from jackpot_service.domain.rounds import Round
from jackpot_service.usecases.acts import Act, Effect

C = TypeVar("C")


class BadPayload(Refused):
    """The payload does not say what such a change needs."""

    code = "payload-invalid"
    title = "Invalid payload"


@dataclass(frozen=True, slots=True)
class Conditions:
    """
    What a change depends on that is neither in its payload nor in the books.

    `booked_at` is the instant at which it would be booked now; `rate_band` how far the installation lets rates move
    without asking again, which matters only when a change is asked for: what must be confirmed stays what it was.
    """

    booked_at: datetime
    rate_band: Decimal = DEFAULT_BAND


@dataclass(frozen=True, slots=True)
class Subject:
    """What a change is about, in words, and whose jackpot it is, if it is one's."""

    name: str
    jackpot_id: str | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """What a change did, or would do: the state before and after, and the entries booked in jackpots' books."""

    before: Facts | None
    after: Facts
    effects: tuple[Effect, ...] = ()


def _as_read(change: C, _conditions: Conditions) -> C:
    return change


def _no_round(_session: Session, _change: object) -> Round | None:
    return None


def _nothing_to_confirm(_session: Session, _change: object) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Kind(Generic[C]):
    """
    A kind of change, as functions of the mechanism's steps.

    `read` turns the payload into a value and raises BadPayload (or another refusal) for what cannot be. `complete` puts
    in what the payload leaves to the moment, when it is asked for and again when it is approved. `version` names the
    state of the subject that the change is made against. `to_confirm` finds the figures that an approver must repeat.
    `releases` finds the round whose players get money by it, or None: nobody who made a key of that round approves it.
    `apply` does the change by an act of its own, and raises what it is refused by: under the lock of the reference
    book, in the transaction that approves it, and for a dry run in one that is rolled back.
    """

    name: ChangeKind
    read: Callable[[Mapping[str, Any]], C]
    subject: Callable[[C], Subject]
    version: Callable[[Session, C], str]
    apply: Callable[[Session, Act, C], Applied]
    to_confirm: Callable[[Session, C], Mapping[str, str]] = field(default=_nothing_to_confirm)
    complete: Callable[[C, Conditions], C] = field(default=_as_read)
    releases: Callable[[Session, C], Round | None] = field(default=_no_round)
