"""What days add up to, written out as the postings that they stand for; and adding to them what is behind."""

from decimal import Decimal

import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.transactions import committed
from jackpot_service.ledger import days, stripes

Accounts = dict[tuple[str, int, str, str], Decimal]
"""Sums by jackpot, cycle, account and currency, those of zero left out."""

_ADDED_UP = text(
    """
    WITH told AS (SELECT * FROM days_with_recent(:book, ARRAY['bets', 'postings'])),
    bets AS (
        SELECT d.*, j.base, d.minor * CAST('1e-' || x.exponent AS numeric) AS stakes,
               d.value * CAST(v.document #>> '{split,meter}' AS numeric) AS meter,
               d.value * CAST(v.document #>> '{split,reserve}' AS numeric) AS reserve,
               d.value * CAST(v.document #>> '{split,prize_fund}' AS numeric) AS prize_fund
        FROM told d
        JOIN jackpots j ON j.jackpot_id = :book
        JOIN rules_versions v ON v.jackpot_id = :book AND v.version = d.rules_version
        JOIN (SELECT DISTINCT currency, exponent FROM rates) AS x ON x.currency = d.currency
        WHERE d.kind = 'bets'
    ),
    lines AS (
        SELECT cycle, account, currency, value AS amount FROM told WHERE kind = 'postings'
        UNION ALL SELECT cycle, 'casino:' || casino_id, currency, -stakes FROM bets
        UNION ALL SELECT cycle, 'fx:' || currency, currency, stakes FROM bets WHERE currency <> base
        UNION ALL SELECT cycle, 'fx:' || base, base, -value FROM bets WHERE currency <> base
        UNION ALL SELECT cycle, 'pool:meter:players', base, meter FROM bets
        UNION ALL SELECT cycle, 'pool:reserve', base, reserve FROM bets
        UNION ALL SELECT cycle, 'pool:prize_fund', base, prize_fund FROM bets
        UNION ALL SELECT cycle, 'house:margin', base, value - meter - reserve - prize_fund FROM bets
    )
    SELECT cycle, account, currency, sum(amount) FROM lines GROUP BY 1, 2, 3 HAVING sum(amount) <> 0
    """
)

_POSTED = text(
    """
    SELECT jackpot_id,
           (SELECT max(c.cycle) FROM cycles c
            WHERE c.jackpot_id = p.jackpot_id AND (c.cycle = 1 OR coalesce(c.cut[p.stripe_no + 1], 0) < p.seq)),
           account, currency, sum(amount)
    FROM postings p
    GROUP BY 1, 2, 3, 4
    HAVING sum(amount) <> 0
    """
)


def roll_up(engine: sqlalchemy.Engine) -> None:
    """Add to days what is behind on every stripe, as bookings do now and then."""
    with engine.connect() as session:
        behind = "SELECT jackpot_id, stripe_no FROM stripes WHERE summed_to < seq ORDER BY 1, 2"
        places = session.execute(text(behind)).all()
        session.rollback()
    for book, stripe_no in places:
        with engine.connect() as session, committed(session) as pipe:
            stripes.lock_one(pipe, book, stripe_no)
            days.add(pipe, book, stripe_no=stripe_no)


def rolled_up(connection: sqlalchemy.Connection) -> Accounts:
    """The accounts as days make them, with what is behind."""
    return {
        (book, *key): amount
        for book in connection.scalars(text("SELECT jackpot_id FROM jackpots")).all()
        for *key, amount in connection.execute(_ADDED_UP, {"book": book})
    }


def posted(connection: sqlalchemy.Connection) -> Accounts:
    """The accounts as the postings make them."""
    return {tuple(key): amount for *key, amount in connection.execute(_POSTED)}
