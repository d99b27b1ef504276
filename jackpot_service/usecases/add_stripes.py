"""Spreading a running jackpot over more stripes, so that more of its entries can be committed at once."""

from dataclasses import dataclass

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import facts
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import require_not_retired
from jackpot_service.ledger import books, stripes
from jackpot_service.ledger.stripes import MOST_STRIPES
from jackpot_service.records import lives, references
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act


class TooManyStripes(Refused):
    """A jackpot's stripes can become more, up to a bound, and never fewer."""

    code = "stripes-out-of-range"
    title = "The number of stripes is out of range"


@dataclass(frozen=True, slots=True)
class AddStripes:
    """Which jackpot shall have how many stripes."""

    act: Act
    jackpot_id: str
    stripes: int


def add_stripes(session: Session, command: AddStripes) -> int:
    """
    Add the stripes that a jackpot lacks; returns how many it had. The same again changes nothing.

    Bets go on meanwhile: of the jackpot it holds stripe 0 alone, which a hit takes first, so no hit misses a stripe.

    Raises: UnknownJackpot, JackpotRetired, TooManyStripes.
    """
    references.require_base(session, command.jackpot_id)
    acts.lock(session)
    with pipelined(session) as pipe:
        stripes.lock_one(pipe, command.jackpot_id, 0)
        cursor = books.send_read(pipe, command.jackpot_id)
    held = books.books_of(cursor)
    count = len(held.positions)
    if command.stripes == count:
        return count
    require_not_retired(command.jackpot_id, lives.life_of(session, command.jackpot_id, is_accepting=held.is_accepting))
    if not count < command.stripes <= MOST_STRIPES:
        message = f"Jackpot {command.jackpot_id} has {count} stripes; it may get more, up to {MOST_STRIPES}."
        raise TooManyStripes(message, stripes=count)
    added = range(count, command.stripes)
    recorded = facts.of_stripes(added)
    act_seq, not_before = acts.next_seq(session), max(held.booked_at, acts.booking_time(session, command.act))
    with pipelined(session) as pipe:
        stripes.add(
            pipe,
            command.jackpot_id,
            stripe_nos=added,
            now=not_before,
            added_by=held.positions[0] + 1,
            accepting=held.is_accepting,
        )
        cursor = acts.book_effect(
            pipe,
            command.act,
            act_seq=act_seq,
            not_before=not_before,
            book=command.jackpot_id,
            kind=EntryKind.STRIPES_ADDED,
            recorded=recorded,
        )
    acts.post(
        session,
        command.act,
        EntryKind.STRIPES_ADDED,
        subject=f"jackpot {command.jackpot_id}",
        before={"stripes": count},
        after=recorded,
        jackpot_id=command.jackpot_id,
        effects=[acts.effect_of(cursor, book=command.jackpot_id, kind=EntryKind.STRIPES_ADDED, recorded=recorded)],
    )
    return count
