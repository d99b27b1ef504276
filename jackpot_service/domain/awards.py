"""
The life of an award: the steps it takes, which may follow which, and the state that they add up to.

Steps are rows, each taken at most once, and they only ever follow one another in the order of `AwardStep`. So the last
of those taken shows the state, whatever the clocks say.
"""

from collections.abc import Collection, Mapping
from enum import StrEnum
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from jackpot_service.domain.errors import Conflict


class AwardStep(StrEnum):
    """The steps of an award, in the order in which they can happen."""

    PAYABLE = "payable"
    HELD = "held"
    APPROVED = "approved"
    REJECTED = "rejected"
    REINSTATED = "reinstated"
    STOPPED = "stopped"
    RELEASED = "released"
    PAID = "paid"
    REVERSED = "reversed"


class AwardState(StrEnum):
    """Where an award stands, as everybody outside sees it: whether two people had to agree first is in its steps."""

    PAYABLE = "payable"
    HELD = "held"
    REJECTED = "rejected"
    STOPPED = "stopped"
    PAID = "paid"
    REVERSED = "reversed"


class HitPayment(StrEnum):
    """Where the payment of a hit stands: awards wait for people, all may be paid, or all were."""

    PENDING = "pending"
    RELEASED = "released"
    PAID = "paid"


CREDITED: Final = frozenset({AwardState.PAYABLE, AwardState.STOPPED})
"""The states of an unpaid award that its casino was credited with."""

UNPAID: Final = CREDITED | {AwardState.HELD}
"""The states of an award that cost the pools something, and that a correction takes back."""

ORDER: Final = tuple(AwardStep)

FIRST_STEPS: Final = frozenset({AwardStep.PAYABLE, AwardStep.HELD})
"""How a settlement makes an award."""

_FROM_PAYABLE: Final = frozenset({AwardStep.PAID, AwardStep.REVERSED})

FOLLOWING: Final[Mapping[AwardStep, frozenset[AwardStep]]] = MappingProxyType(
    {
        AwardStep.PAYABLE: _FROM_PAYABLE | {AwardStep.STOPPED},
        AwardStep.HELD: frozenset({AwardStep.APPROVED, AwardStep.REJECTED, AwardStep.REVERSED}),
        AwardStep.APPROVED: _FROM_PAYABLE | {AwardStep.STOPPED},
        AwardStep.REJECTED: frozenset({AwardStep.REINSTATED}),
        AwardStep.REINSTATED: _FROM_PAYABLE | {AwardStep.STOPPED},
        AwardStep.STOPPED: frozenset({AwardStep.RELEASED, AwardStep.REVERSED}),
        AwardStep.RELEASED: _FROM_PAYABLE,
        AwardStep.PAID: frozenset(),
        AwardStep.REVERSED: frozenset(),
    }
)
"""Which steps an award may take after each. A released award is not stopped again, but by a correction."""

STATE_AFTER: Final[Mapping[AwardStep, AwardState]] = MappingProxyType(
    {
        AwardStep.PAYABLE: AwardState.PAYABLE,
        AwardStep.HELD: AwardState.HELD,
        AwardStep.APPROVED: AwardState.PAYABLE,
        AwardStep.REJECTED: AwardState.REJECTED,
        AwardStep.REINSTATED: AwardState.PAYABLE,
        AwardStep.STOPPED: AwardState.STOPPED,
        AwardStep.RELEASED: AwardState.PAYABLE,
        AwardStep.PAID: AwardState.PAID,
        AwardStep.REVERSED: AwardState.REVERSED,
    }
)
"""The state in which each step leaves an award."""


class AwardStateConflict(Conflict, code="award-state", title="The award's state does not allow this"):
    """The award stands where it cannot take that step."""


def last_step(taken: Collection[AwardStep]) -> AwardStep:
    """The step that an award took last."""
    return max(taken, key=ORDER.index)


def first_step(taken: Collection[AwardStep]) -> AwardStep:
    """The step that an award's settlement took."""
    return min(taken, key=ORDER.index)


def state_of(taken: Collection[AwardStep]) -> AwardState:
    """Where an award stands after its steps."""
    return STATE_AFTER[last_step(taken)]


def payment_of(states: Collection[AwardState]) -> HitPayment | None:
    """Where the payment of a hit stands by its awards' states; None where none of them is to be paid."""
    if AwardState.HELD in states or AwardState.STOPPED in states:
        return HitPayment.PENDING
    if AwardState.PAYABLE in states:
        return HitPayment.RELEASED
    return HitPayment.PAID if AwardState.PAID in states else None


def require_step(step: AwardStep, *, taken: Collection[AwardStep], award_id: str) -> None:
    """Raises: AwardStateConflict unless the step may follow those that the award took."""
    if step not in FOLLOWING[last_step(taken)]:
        state = state_of(taken)
        message = f"Award {award_id} is {state}: it cannot become {STATE_AFTER[step]}."
        raise AwardStateConflict(message, award_id=award_id, state=str(state))


def is_a_life(taken: Collection[AwardStep]) -> bool:
    """Return whether an award can have taken these steps, no more and no less."""
    ordered = sorted(taken, key=ORDER.index)
    begun = bool(ordered) and ordered[0] in FIRST_STEPS
    return begun and all(after in FOLLOWING[before] for before, after in pairwise(ordered))


def steps_into(state: AwardState) -> frozenset[AwardStep]:
    """The steps that lead into a state."""
    return frozenset(step for step, after in STATE_AFTER.items() if after is state)


def steps_after(step: AwardStep) -> frozenset[AwardStep]:
    """The steps that come later: an award stands where a step left it if it took that one, and none of these."""
    return frozenset(ORDER[ORDER.index(step) + 1 :])
