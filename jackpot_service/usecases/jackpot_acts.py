"""Acts about a jackpot that holds still: its stripes locked, its books read, what is done booked as one entry."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session, is_snapshot, pipelined
from jackpot_service.domain.lives import Life, require_not_retired
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger import books, stripes
from jackpot_service.ledger.books import Books
from jackpot_service.records import immutable, lives, references
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, Done, Effect


@dataclass(frozen=True, slots=True)
class StillJackpot:
    """A jackpot whose stripes are all locked: what it holds, the rules of its running cycle, where it stands."""

    jackpot_id: str
    books: Books
    rules: JackpotRules
    life: Life

    @property
    def base(self) -> str:
        """Its base currency."""
        return self.rules.base


def hold(session: Session, jackpot_id: str) -> StillJackpot:
    """
    Lock all stripes of a jackpot until the commit and read what it holds, after the lock of the acts.

    No order is needed among several jackpots: an act that holds more than one holds the lock of the acts as well.

    Raises: UnknownJackpot.
    """
    references.require_base(session, jackpot_id)
    held = hold_books(session, jackpot_id)
    return StillJackpot(
        jackpot_id,
        held,
        immutable.rules(session, jackpot_id, held.cycle.rules_version),
        lives.life_of(session, jackpot_id, is_accepting=held.is_accepting),
    )


def hold_books(session: Session, jackpot_id: str) -> Books:
    """Lock all stripes of a jackpot until the commit and read them; in a snapshot they stand still without a lock."""
    with pipelined(session) as pipe:
        if not is_snapshot(session):
            stripes.lock_all(pipe, jackpot_id)
        cursor = books.send_read(pipe, jackpot_id)
    return books.books_of(cursor)


def hold_unretired(session: Session, jackpot_id: str) -> StillJackpot:
    """As `hold`. Raises: UnknownJackpot, JackpotRetired."""
    jackpot = hold(session, jackpot_id)
    require_not_retired(jackpot_id, jackpot.life)
    return jackpot


def booking_time(session: Session, act: Act, jackpots: Iterable[StillJackpot]) -> datetime:
    """When an act that does something in several jackpots is booked in each: after all that was booked in any."""
    return max([acts.booking_time(session, act), *(jackpot.books.booked_at for jackpot in jackpots)])


def book(
    session: Session,
    act: Act,
    jackpot: StillJackpot,
    done: Done,
    *,
    act_seq: int,
    not_before: datetime,
    accepting: bool | None = None,
) -> Effect:
    """Book what an act does in a jackpot's book, see `booking_time`; `accepting` suspends or resumes its bets."""
    with pipelined(session) as pipe:
        if accepting is not None:
            stripes.set_accepting(pipe, jackpot.jackpot_id, accepting=accepting)
        cursor = acts.book_effect(pipe, act, done, book=jackpot.jackpot_id, act_seq=act_seq, not_before=not_before)
    return acts.effect_of(cursor, done, book=jackpot.jackpot_id)
