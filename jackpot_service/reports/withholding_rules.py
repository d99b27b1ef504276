"""The withholding rules of a casino, in every version."""

from collections.abc import Sequence
from dataclasses import dataclass

from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.withholding import VersionedRule
from jackpot_service.records import references, withholding_rules
from jackpot_service.records.references import UnknownCasino


@dataclass(frozen=True, slots=True)
class RulesOfCasino:
    """Every version of a casino's withholding rules, by currency and version, and which casino it is."""

    casino_id: str
    rules: Sequence[VersionedRule]


def rules_of_casino(session: Session, principal: Principal, casino_id: str) -> RulesOfCasino:
    """Read the withholding rules of a casino. Raises: UnknownCasino, also for one that the principal does not see."""
    if not principal.sees_casino(casino_id):
        message = f"There is no casino {casino_id}."
        raise UnknownCasino(message, casino_id=casino_id)
    references.require_casino(session, casino_id)
    return RulesOfCasino(casino_id, withholding_rules.rules_of_casino(session, casino_id))
