"""
The life of an award: the steps it takes, which may follow which, and the state that they and its payments add up to.

Steps are rows, each taken at most once, and they only ever follow one another in the order of `AwardStep`. So the last
of those taken shows the state, whatever the clocks say; of a payable award, its payments show it.
"""

import hashlib
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
    FORFEITED = "forfeited"
    REVERSED = "reversed"


class AwardState(StrEnum):
    """
    Where an award stands, as everybody outside sees it: whether two people had to agree first is in its steps.

    Unclaimed is no state of the books: an award that is to be paid is shown so once its casino's claim period is over.
    """

    PAYABLE = "payable"
    HELD = "held"
    REJECTED = "rejected"
    STOPPED = "stopped"
    PART_PAID = "part-paid"
    PAID = "paid"
    UNCLAIMED = "unclaimed"
    FORFEITED = "forfeited"
    REVERSED = "reversed"


class HitPayment(StrEnum):
    """Where the payment of a hit stands: awards wait for people, all may be paid, or all were."""

    PENDING = "pending"
    RELEASED = "released"
    PAID = "paid"


TO_PAY: Final = frozenset({AwardState.PAYABLE, AwardState.PART_PAID})
"""The states of an award that may be paid, or the rest of it."""

CREDITED: Final = frozenset({AwardState.PAYABLE, AwardState.STOPPED})
"""The states by steps of an award that its casino was credited with, whatever was paid of it."""

UNPAID: Final = CREDITED | {AwardState.HELD}
"""The states of an award that cost the pools something and that a correction takes back, unless a part was paid."""

ORDER: Final = tuple(AwardStep)

FIRST_STEPS: Final = frozenset({AwardStep.PAYABLE, AwardStep.HELD})
"""How a settlement makes an award."""

FOLLOWING: Final[Mapping[AwardStep, frozenset[AwardStep]]] = MappingProxyType(
    {
        AwardStep.PAYABLE: frozenset({AwardStep.STOPPED, AwardStep.FORFEITED, AwardStep.REVERSED}),
        AwardStep.HELD: frozenset({AwardStep.APPROVED, AwardStep.REJECTED, AwardStep.REVERSED}),
        AwardStep.APPROVED: frozenset({AwardStep.STOPPED, AwardStep.FORFEITED, AwardStep.REVERSED}),
        AwardStep.REJECTED: frozenset({AwardStep.REINSTATED}),
        AwardStep.REINSTATED: frozenset({AwardStep.STOPPED, AwardStep.FORFEITED, AwardStep.REVERSED}),
        AwardStep.STOPPED: frozenset({AwardStep.RELEASED, AwardStep.REVERSED}),
        AwardStep.RELEASED: frozenset({AwardStep.FORFEITED, AwardStep.REVERSED}),
        AwardStep.FORFEITED: frozenset(),
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
        AwardStep.FORFEITED: AwardState.FORFEITED,
        AwardStep.REVERSED: AwardState.REVERSED,
    }
)
"""The state in which each step leaves an award of which nothing is paid."""


def id_of(jackpot_id: str, table_id: str, round_id: str, *, bet_id: str, tier: str, correction: int = 0) -> str:
    """
    Name an award by what it is for, so that it has the same id wherever and whenever it is derived.

    `correction` numbers the verdict that made it; 0 is the settlement.
    """
    natural = f"{jackpot_id}/{table_id}/{round_id}/{bet_id}/{tier}"
    if correction:
        natural += f"/{correction}"
    return "aw_" + hashlib.sha256(natural.encode()).hexdigest()[:32]


class AwardStateConflict(Conflict, code="award-state", title="The award's state does not allow this"):
    """The award's state does not allow that step."""


def last_step(taken: Collection[AwardStep]) -> AwardStep:
    """The step that an award took last."""
    return max(taken, key=ORDER.index)


def first_step(taken: Collection[AwardStep]) -> AwardStep:
    """The step that an award's settlement took."""
    return min(taken, key=ORDER.index)


def state_by_steps(taken: Collection[AwardStep]) -> AwardState:
    """Where an award stands after its steps, whatever was paid of it."""
    return STATE_AFTER[last_step(taken)]


def state_of(taken: Collection[AwardStep], *, amount_minor: int, paid_minor: int) -> AwardState:
    """Where an award stands after its steps and payments. The rest of a part-paid one may be stopped."""
    state = state_by_steps(taken)
    if state is not AwardState.PAYABLE or paid_minor == 0:
        return state
    return AwardState.PAID if paid_minor == amount_minor else AwardState.PART_PAID


def payment_of(states: Collection[AwardState]) -> HitPayment | None:
    """Where the payment of a hit stands by its awards' states; None where none of them is to be paid."""
    if AwardState.HELD in states or AwardState.STOPPED in states:
        return HitPayment.PENDING
    if TO_PAY & set(states):
        return HitPayment.RELEASED
    return HitPayment.PAID if AwardState.PAID in states else None


def require_stoppable(state: AwardState, *, taken: Collection[AwardStep], award_id: str) -> None:
    """Raises: AwardStateConflict unless something of the award may be paid, and it was not released before."""
    if state not in TO_PAY or AwardStep.STOPPED not in FOLLOWING[last_step(taken)]:
        message = f"Award {award_id} is {state}: it cannot become {AwardState.STOPPED}."
        raise AwardStateConflict(message, award_id=award_id, state=str(state))


def require_to_pay(state: AwardState, *, award_id: str) -> None:
    """Raises: AwardStateConflict unless the award may be paid, or the rest of it."""
    if state not in TO_PAY:
        message = f"Award {award_id} is {state}: nothing of it is to be paid."
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
