"""
Change requests: what one person asks for and another approves or rejects.

One mechanism for everything that needs two people: rates, rules, money moved by hand, held awards, corrections.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from jackpot_service.domain.errors import Conflict, FieldError, Forbidden, NotFound, Refused, in_order
from jackpot_service.domain.facts import instant
from jackpot_service.domain.passkeys import SignedApproval
from jackpot_service.domain.principals import Principal

RETIREMENT = "retirement"
"""The name of the kind of change that concerns two jackpots: the one that ends, and its target."""

LIFETIME = timedelta(days=7)
"""How long a change request can be approved."""


MOST_ERRORS = 100
"""How many figures a refusal points at."""


class Outcome(StrEnum):
    """The outcome of a checker's decision on a change request."""

    APPROVED = "approved"
    REJECTED = "rejected"


class ChangeState(StrEnum):
    """Where a change request stands."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Decision:
    """
    A checker's decision on a change request; `confirmed` are the figures that the checker repeated to approve it.

    `is_emergency` marks an approval by the maker alone. One that is not final waits for another approval. `assertion`
    is what the checker's passkey signed it with, if they have one.
    """

    outcome: Outcome
    checker: str
    reason: str
    confirmed: Mapping[str, str]
    is_emergency: bool
    decided_at: datetime
    is_final: bool = True
    assertion: SignedApproval | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """
    A change request. `payload` is what the maker sent, `base_version` names the state on which it is based.

    `to_confirm` are figures so unlikely that an approver has to repeat them: why, by what. So many people as
    `approvals_due` approve it; `decisions` are theirs so far, or of one who rejected it.
    """

    request_id: str
    kind: str
    subject: str
    jackpot_id: str | None
    payload: Mapping[str, Any]
    reason: str
    base_version: str
    to_confirm: Mapping[str, str]
    maker: str
    made_at: datetime
    expires_at: datetime
    approvals_due: int = 1
    decisions: tuple[Decision, ...] = ()

    @property
    def figures_due(self) -> Mapping[str, Decimal]:
        """The figures to confirm, as numbers."""
        return {name: Decimal(figure) for name, figure in self.to_confirm.items()}

    @property
    def decision(self) -> Decision | None:
        """The decision that ended it, if any did."""
        return next((decision for decision in self.decisions if decision.is_final), None)

    @property
    def is_last_approval(self) -> bool:
        """Whether one more approval is all that it waits for."""
        return len(self.decisions) + 1 >= self.approvals_due

    def state(self, *, at: datetime) -> ChangeState:
        """Where it stands at an instant."""
        if self.decision is not None:
            return ChangeState(self.decision.outcome.value)
        return ChangeState.EXPIRED if at >= self.expires_at else ChangeState.PENDING


class UnknownChange(NotFound, code="change-unknown", title="Unknown change request"):
    """No change request of this id."""


class ChangeDecided(Conflict, code="change-decided", title="The change request was decided"):
    """Somebody approved or rejected the request before."""


class ChangeExpired(Conflict, code="change-expired", title="The change request has expired"):
    """The request's time has passed; the change has to be requested again."""


class ChangeStale(Conflict, code="change-stale", title="The subject has changed since the request"):
    """The subject has changed since the request was made."""


class SameUser(Forbidden, code="same-user", title="Another user must approve"):
    """The maker of a change request does not approve it."""


class UserApprovalRequired(Forbidden, code="user-approval-required", title="A user must approve"):
    """A service account decides nothing."""


class ConfirmationRequired(Refused, code="confirmation-required", title="The unusual figures must be confirmed"):
    """The approver did not repeat the figures that have to be."""


def require_base_version(stated: str, current: str) -> None:
    """Raises: ChangeStale."""
    if stated != current:
        message = (
            f"The request is based on version {stated} of its subject, which has version {current} now. "
            "Look at it again, and make a new request."
        )
        raise ChangeStale(message, base_version=stated, version=current)


def require_decidable(change: Change, *, at: datetime) -> None:
    """Raises: ChangeDecided, ChangeExpired."""
    match change.state(at=at):
        case ChangeState.APPROVED | ChangeState.REJECTED as state:
            message = f"Change request {change.request_id} was {state} before."
            raise ChangeDecided(message, request_id=change.request_id, state=str(state))
        case ChangeState.EXPIRED:
            message = f"Change request {change.request_id} expired at {instant(change.expires_at)}."
            raise ChangeExpired(message, request_id=change.request_id)
        case ChangeState.PENDING:
            return


def require_checker(change: Change, checker: Principal, *, is_emergency: bool) -> None:
    """
    Raises: UserApprovalRequired; SameUser for the maker, unless an emergency lets one user act.

    An emergency is for the maker alone: anybody else approves as usual.
    """
    if checker.is_service_account:
        message = f"{checker.name} is a service account."
        raise UserApprovalRequired(message)
    if (checker.name == change.maker) is not is_emergency:
        message = (
            f"{change.maker} requested it: another user must decide."
            if checker.name == change.maker
            else "An emergency approval is for the maker alone; approve it as usual."
        )
        raise SameUser(message, maker=change.maker)


def require_first_approval(change: Change, checker: Principal) -> None:
    """Raises: SameUser for who approved it before, and may still reject it."""
    if any(checker.name == decision.checker for decision in change.decisions):
        message = f"{checker.name} approved it before: another user must approve it as well."
        raise SameUser(message, maker=change.maker)


def require_approvals(change: Change, *, approvals_due: int) -> None:
    """Raises: ChangeStale unless as many people are to approve it as are due now."""
    if change.approvals_due != approvals_due:
        message = f"{change.approvals_due} were to approve it; now it is {approvals_due}. Look again, and ask anew."
        raise ChangeStale(message, approvals_due=change.approvals_due, due=approvals_due)


def require_confirmed(change: Change, confirmed: Mapping[str, Decimal]) -> None:
    """
    Raises: ConfirmationRequired unless the approver repeated exactly the figures that have to be, as numbers.

    It points at those that are wrong, at most `MOST_ERRORS`, and says no figure: to repeat what an error says is to
    look at nothing.
    """
    expected = change.figures_due
    wrong = [*_wrong_figures(expected, confirmed)]
    if wrong:
        message = f"Figures that the approver has to repeat: {', '.join(sorted(expected)) or 'none'}."
        raise ConfirmationRequired(message, field_errors=in_order(wrong)[:MOST_ERRORS])


def _wrong_figures(expected: Mapping[str, Decimal], confirmed: Mapping[str, Decimal]) -> Iterator[FieldError]:
    for name in expected.keys() | confirmed.keys():
        escaped = name.replace("~", "~0").replace("/", "~1")
        if name not in expected:
            problem = "is no figure that has to be repeated"
        elif name not in confirmed:
            problem = "has to be repeated"
        elif confirmed[name] != expected[name]:
            problem = "is another figure than the request's"
        else:
            continue
        yield FieldError(f"/confirm/{escaped}", ConfirmationRequired.code, problem)
