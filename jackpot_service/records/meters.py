"""The meter that the books show."""

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import Meter
from jackpot_service.ledger.books import Books
from jackpot_service.records import pinned


def meter_of(session: Session, jackpot_id: str, books: Books) -> Meter:
    """Read a jackpot's books as its meter, under the rules of the running cycle."""
    rules = pinned.rules(session, jackpot_id, books.cycle.rules_version)
    return Meter(
        jackpot_id=jackpot_id,
        cycle=books.cycle.cycle,
        base=rules.base,
        exact=books.pools.on_offer(rules.limit),
        overflow=books.pools.overflow(rules.limit),
        as_of=books.booked_at,
        positions=books.positions,
    )
