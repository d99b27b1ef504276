"""The versions of each casino's claims: for how long awards can be claimed, and where forfeited ones go."""

from typing import Any

from sqlalchemy import Row, insert, select

from jackpot_service.database.models import CasinoClaimsRow, TableRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.claims import NEVER_SET, CasinoClaims, ClaimPeriods, ForfeitedTo


def in_force(session: Session, casino_id: str) -> CasinoClaims:
    """Return what is in force at a casino: its latest version; of a casino that has none, `NEVER_SET`."""
    table = CasinoClaimsRow.__table__
    latest = select(table).where(table.c.casino_id == casino_id).order_by(table.c.version.desc()).limit(1)
    row = session.execute(latest).one_or_none()
    return NEVER_SET if row is None else claims_of(row)


def periods_of(session: Session, jackpot_id: str, *, casino_id: str | None) -> ClaimPeriods:
    """Return the claim periods in force at the casinos of a jackpot's tables, by id; or at one of these alone."""
    casinos = select(TableRow.casino_id).where(TableRow.jackpot_id == jackpot_id).distinct()
    if casino_id is not None:
        casinos = casinos.where(TableRow.casino_id == casino_id)
    query = casinos.order_by(TableRow.casino_id)
    return {casino_id: in_force(session, casino_id).claim_days for casino_id in session.scalars(query).all()}


def claims_of(row: Row[Any]) -> CasinoClaims:
    """Read a row. Raises: ValueError for a place that there is not."""
    return CasinoClaims(row.version, row.claim_days, ForfeitedTo(row.forfeited_to))


def add(session: Session, casino_id: str, claims: CasinoClaims, *, entry_seq: int) -> None:
    """Write a version."""
    session.execute(
        insert(CasinoClaimsRow).values(
            casino_id=casino_id,
            version=claims.version,
            claim_days=claims.claim_days,
            forfeited_to=claims.forfeited_to.value,
            entry_seq=entry_seq,
        )
    )
