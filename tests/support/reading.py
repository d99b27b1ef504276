"""Looking into the books past the service: pools, balances, rows."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import sqlalchemy
from sqlalchemy import NullPool, text

from jackpot_service.database import snapshots
from jackpot_service.database.models import Base
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.awards import HitPayment
from jackpot_service.domain.money import ZERO
from jackpot_service.ledger import laws
from jackpot_service.ledger.mismatches import Mismatch
from jackpot_service.proof.proof import verify
from jackpot_service.reports.jackpots import jackpot_state, last_hits
from tests.support.logins import owner_url

TABLES = tuple(sorted(Base.metadata.tables))

_POOLS = text(
    """
    SELECT sum(meter_players), sum(meter_house), sum(reserve), sum(prize_fund) FROM stripes WHERE jackpot_id = :jackpot
    """
)

_BALANCE = text(
    """
    SELECT sum(amount) FROM postings WHERE jackpot_id = :jackpot AND account = :account AND currency = :currency
    """
)

_MOVED = text(
    """
    SELECT sum(amount) FROM postings WHERE jackpot_id = :jackpot AND account = :account AND movement = :movement
    """
)

_COUNTS = text(" UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for table in TABLES))  # noqa: S608 -- the models' own names

_OPEN = text(
    """
    WITH expected AS (
        SELECT r.jackpot_id, r.round_key, r.bet_id, r.tier, r.correction, r.award_id, r.casino_id, r.currency,
               last.state, r.last_step_at AS since, r.amount_minor, r.paid_minor
        FROM award_records r
        CROSS JOIN LATERAL (
            SELECT k.state FROM award_step_states k WHERE k.step = ANY (r.steps) ORDER BY k.place DESC LIMIT 1
        ) AS last
        WHERE last.state IN ('held', 'payable', 'stopped') AND r.paid_minor < r.amount_minor
    ), kept AS (
        SELECT jackpot_id, round_key, bet_id, tier, correction, award_id, casino_id, currency, state, since,
               amount_minor, paid_minor
        FROM open_awards
    )
    (SELECT 'missing' AS what, * FROM (TABLE expected EXCEPT TABLE kept) AS missing)
    UNION ALL
    (SELECT 'wrong', * FROM (TABLE kept EXCEPT TABLE expected) AS wrong)
    """
)
"""The rows of open awards that are not as their awards, steps and payments say."""

Rows = Sequence[Mapping[str, Any]]


class Books:
    """The database of a test, looked at from outside."""

    def __init__(self, engine: sqlalchemy.Engine) -> None:
        self._engine = engine

    def rows(self, statement: str, **parameters: object) -> Rows:
        with self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(text(statement), parameters).mappings()]

    def value(self, statement: sqlalchemy.TextClause | str, **parameters: object) -> Any:
        statement = text(statement) if isinstance(statement, str) else statement
        with self._engine.connect() as connection:
            return connection.execute(statement, parameters).scalar_one()

    def pools(self, jackpot_id: str) -> Pools:
        """What a jackpot's stripes hold together."""
        with self._engine.connect() as connection:
            return Pools(*connection.execute(_POOLS, {"jackpot": jackpot_id}).one())

    def balance(self, jackpot_id: str, account: str, currency: str = "EUR") -> Decimal:
        """What all postings put into an account."""
        amount: Decimal | None = self.value(_BALANCE, jackpot=jackpot_id, account=account, currency=currency)
        return amount or ZERO

    def moved(self, jackpot_id: str, account: str, movement: str) -> Decimal:
        """What the postings of one movement put into an account."""
        amount: Decimal | None = self.value(_MOVED, jackpot=jackpot_id, account=account, movement=movement)
        return amount or ZERO

    def exceptions(self) -> Rows:
        """The refusals that were kept for finance, in the order in which they were noticed."""
        return self.rows("SELECT * FROM exceptions ORDER BY noticed_at, kind")

    def wrong_open_awards(self) -> Rows:
        """Return the rows of open awards that are missing, or are not as steps and payments say."""
        with self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(_OPEN).mappings()]

    def payments_of_last_hits(self) -> Mapping[str, tuple[HitPayment | None, HitPayment | None]]:
        """Where the payment of each last hit stands: as its jackpot's meter says, and as the awards do, one by one."""
        hit_jackpots = [
            row["jackpot_id"] for row in self.rows("SELECT DISTINCT jackpot_id FROM cycles WHERE cycle > 1")
        ]
        payments = {}
        for jackpot_id in hit_jackpots:
            with snapshots.snapshot(self._engine) as session:
                (hit,) = last_hits(session, jackpot_id, limit=1)
                payments[jackpot_id] = jackpot_state(session, jackpot_id, at=datetime.now(UTC)).payment, hit.payment
        return payments

    def counts(self) -> dict[str, int]:
        """How many rows every table holds."""
        with self._engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(_COUNTS)}

    def counts_but_exceptions(self) -> dict[str, int]:
        """How many rows every table holds in which a refusal may leave nothing."""
        return {table: count for table, count in self.counts().items() if not table.startswith("exception")}

    def broken_laws(self) -> tuple[Mismatch, ...]:
        with snapshots.snapshot(self._engine) as session:
            return laws.broken(session)

    def mismatches(self) -> tuple[Mismatch, ...]:
        """What the full verification finds."""
        with snapshots.snapshot(self._engine) as session:
            return verify(session).mismatches


def past_the_service(database_url: str, statement: str) -> None:
    """Change rows as somebody with every right could, whom no trigger refuses anything."""
    with sqlalchemy.create_engine(owner_url(database_url), poolclass=NullPool).begin() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        assert session.execute(text(statement)).rowcount
