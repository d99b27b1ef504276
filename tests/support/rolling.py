"""What the daily rollups add up to, written out as the postings that they stand for; and rolling recent bets up."""

from decimal import Decimal

import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.transactions import committed
from jackpot_service.ledger import recent_bets, stripes

Accounts = dict[tuple[str, int, str, str], Decimal]
"""Sums by jackpot, cycle, account and currency, those of zero left out."""

_ROLLED_UP = text(
    """
    WITH bets AS (
        SELECT d.*, j.base, d.stakes_minor * CAST('1e-' || x.exponent AS numeric) AS stakes,
               d.value * CAST(v.document #>> '{split,meter}' AS numeric) AS meter,
               d.value * CAST(v.document #>> '{split,reserve}' AS numeric) AS reserve,
               d.value * CAST(v.document #>> '{split,prize_fund}' AS numeric) AS prize_fund
        FROM bets_by_day d
        JOIN jackpots j ON j.jackpot_id = d.jackpot_id
        JOIN rules_versions v ON v.jackpot_id = d.jackpot_id AND v.version = d.rules_version
        JOIN (SELECT DISTINCT currency, exponent FROM rates) AS x ON x.currency = d.currency
    ),
    lines AS (
        SELECT jackpot_id, cycle, account, currency, amount FROM daily_postings
        UNION ALL SELECT jackpot_id, cycle, 'casino:' || casino_id, currency, -stakes FROM bets
        UNION ALL SELECT jackpot_id, cycle, 'fx:' || currency, currency, stakes FROM bets WHERE currency <> base
        UNION ALL SELECT jackpot_id, cycle, 'fx:' || base, base, -value FROM bets WHERE currency <> base
        UNION ALL SELECT jackpot_id, cycle, 'pool:meter:players', base, meter FROM bets
        UNION ALL SELECT jackpot_id, cycle, 'pool:reserve', base, reserve FROM bets
        UNION ALL SELECT jackpot_id, cycle, 'pool:prize_fund', base, prize_fund FROM bets
        UNION ALL SELECT jackpot_id, cycle, 'house:margin', base, value - meter - reserve - prize_fund FROM bets
    )
    SELECT jackpot_id, cycle, account, currency, sum(amount) FROM lines GROUP BY 1, 2, 3, 4 HAVING sum(amount) <> 0
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
    """Roll up what is set aside of every stripe, as bookings do now and then."""
    with engine.connect() as session:
        places = session.execute(text("SELECT DISTINCT jackpot_id, stripe_no FROM recent_bets ORDER BY 1, 2")).all()
        session.rollback()
    for book, stripe_no in places:
        with engine.connect() as session, committed(session) as pipe:
            stripes.lock_one(pipe, book, stripe_no)
            recent_bets.roll_up(pipe, book, stripe_no=stripe_no)


def rolled_up(connection: sqlalchemy.Connection) -> Accounts:
    """The accounts as the daily rollups make them."""
    return _accounts(connection, _ROLLED_UP)


def posted(connection: sqlalchemy.Connection) -> Accounts:
    """The accounts as the postings make them."""
    return _accounts(connection, _POSTED)


def _accounts(connection: sqlalchemy.Connection, question: sqlalchemy.TextClause) -> Accounts:
    return {tuple(key): amount for *key, amount in connection.execute(question)}
