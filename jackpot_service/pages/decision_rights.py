"""Where somebody stands to a change request: what of it they may decide, or in the ledger's words why they may not."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session
from jackpot_service.domain.change_policy import KindPolicy
from jackpot_service.domain.changes import Change, Outcome
from jackpot_service.domain.errors import Conflict, Forbidden
from jackpot_service.domain.principals import Principal
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import DecideChange, policy_of, require_may_decide


@dataclass(frozen=True, slots=True)
class DecisionRights:
    """
    Where somebody stands to a change request: why they may not approve or reject it, each empty if they may.

    `may_alone` says that they may approve it alone, in an emergency.
    """

    policy: KindPolicy
    is_maker: bool
    not_approve: str
    not_reject: str
    may_alone: bool

    @property
    def deciders(self) -> str:
        """Say who decides such a change, by the policy in force."""
        roles = " or ".join(sorted(self.policy.decided_by))
        named = (("department", self.policy.needs_other_department), ("role", self.policy.needs_other_role))
        apart = [name for name, is_needed in named if is_needed]
        if apart:
            return (
                f"A person of {roles} decides. It must be of another {' and '.join(apart)} than the person who asked."
            )
        return f"A person of {roles} decides. The person who asked cannot."


def rights_of(session: Session, change: Change, person: Principal, *, at: datetime) -> DecisionRights:
    """Return where somebody stands to a change request at an instant."""

    def refusal(outcome: Outcome, *, is_emergency: bool = False) -> str:
        command = DecideChange(Act(person, at), change.request_id, outcome, is_emergency=is_emergency)
        try:
            require_may_decide(session, change, command)
        except (Forbidden, Conflict) as error:
            return error.detail
        return ""

    is_maker = person.name == change.maker
    return DecisionRights(
        policy_of(session, change.kind),
        is_maker,
        refusal(Outcome.APPROVED),
        refusal(Outcome.REJECTED),
        is_maker and not refusal(Outcome.APPROVED, is_emergency=True),
    )
