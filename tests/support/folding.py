"""Adding to their days' sums what is noted of recent bets, as bookings do now and then."""

import sqlalchemy
from sqlalchemy import text

from jackpot_service.db import committed
from jackpot_service.ledger import recent_bets, stripes


def fold(engine: sqlalchemy.Engine) -> None:
    """Fold what is noted of every stripe."""
    with engine.connect() as session:
        places = session.execute(text("SELECT DISTINCT jackpot_id, stripe_no FROM recent_bets ORDER BY 1, 2")).all()
        session.rollback()
    for book, stripe_no in places:
        with engine.connect() as session, committed(session) as pipe:
            stripes.lock_one(pipe, book, stripe_no)
            recent_bets.fold(pipe, book, stripe_no=stripe_no)
