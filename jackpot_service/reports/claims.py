"""The claims in force at a casino."""

from dataclasses import dataclass

from jackpot_service.database.transactions import Session
from jackpot_service.domain.claims import CasinoClaims
from jackpot_service.domain.principals import Principal
from jackpot_service.records import claims, references
from jackpot_service.records.references import UnknownCasino


@dataclass(frozen=True, slots=True)
class ClaimsOfCasino:
    """The claims of a casino, and which casino it is."""

    casino_id: str
    claims: CasinoClaims


def claims_of_casino(session: Session, principal: Principal, casino_id: str) -> ClaimsOfCasino:
    """Read the claims in force at a casino. Raises: UnknownCasino, also for one that the principal is not of."""
    if principal.casino_id not in {None, casino_id}:
        message = f"There is no casino {casino_id}."
        raise UnknownCasino(message, casino_id=casino_id)
    references.require_casino(session, casino_id)
    return ClaimsOfCasino(casino_id, claims.in_force(session, casino_id))
