"""The life of an award: which steps can follow which, and the one state that they add up to."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

import pytest

from jackpot_service.domain.awards import (
    FIRST_STEPS,
    FOLLOWING,
    STATE_AFTER,
    AwardState,
    AwardStateConflict,
    AwardStep,
    HitPayment,
    first_step,
    is_a_life,
    last_step,
    payment_of,
    require_stoppable,
    require_to_pay,
    state_by_steps,
    state_of,
    steps_after,
    steps_into,
)

Life = tuple[AwardStep, ...]


def lives(so_far: Life = ()) -> Iterator[Life]:
    """Every way in which an award can have lived until now, step by step."""
    for step in FOLLOWING[so_far[-1]] if so_far else FIRST_STEPS:
        yield (*so_far, step)
        yield from lives((*so_far, step))


LIVES = sorted(lives())

AS_PAYABLE = {
    "": "payable",
    "-reversed": "reversed",
    "-stopped": "stopped",
    "-stopped-reversed": "reversed",
    "-stopped-released": "payable",
    "-stopped-released-reversed": "reversed",
    "-stopped-released-forfeited": "forfeited",
    "-forfeited": "forfeited",
}
"""The ways in which an award can go on that is payable, and where each leads to."""


def test_an_award_is_in_one_state_at_a_time_and_these_are_all_its_lives() -> None:
    assert {"-".join(life): state_by_steps(life).value for life in LIVES} == {
        "held": "held",
        "held-rejected": "rejected",
        "held-reversed": "reversed",
        **{
            f"{payable}{then}": state
            for payable in ("payable", "held-approved", "held-rejected-reinstated")
            for then, state in AS_PAYABLE.items()
        },
    }


@pytest.mark.parametrize("life", LIVES, ids="-".join)
def test_the_order_in_which_steps_are_read_does_not_matter(life: Life) -> None:
    assert (first_step(life[::-1]), last_step(frozenset(life))) == (life[0], life[-1])


def test_only_these_sets_of_steps_are_a_life() -> None:
    possible = {frozenset(life) for life in LIVES}
    for size in range(len(AwardStep) + 1):
        for steps in combinations(AwardStep, size):
            assert is_a_life(steps) is (frozenset(steps) in possible)
    assert not is_a_life([AwardStep.PAYABLE, AwardStep.PAYABLE])


@pytest.mark.parametrize("state", sorted(STATE_AFTER.values()))
def test_an_award_is_in_a_state_that_a_step_led_into_and_no_later_one_out_of(state: AwardState) -> None:
    for life in LIVES:
        is_there = any(step in life and not steps_after(step) & set(life) for step in steps_into(state))
        assert is_there is (state_by_steps(life) is state)


@pytest.mark.parametrize("life", LIVES, ids="-".join)
@pytest.mark.parametrize("paid_minor", [0, 1, 6, 7])
def test_payments_say_where_an_award_stands_that_is_payable_by_its_steps(life: Life, paid_minor: int) -> None:
    by_steps = state_by_steps(life)
    of_payable = {0: AwardState.PAYABLE, 7: AwardState.PAID}.get(paid_minor, AwardState.PART_PAID)
    expected = of_payable if by_steps is AwardState.PAYABLE else by_steps
    assert state_of(life, amount_minor=7, paid_minor=paid_minor) is expected


@pytest.mark.parametrize("life", LIVES, ids="-".join)
@pytest.mark.parametrize("paid_minor", [0, 6, 7])
def test_an_award_is_stopped_while_something_of_it_is_to_be_paid_and_once(life: Life, paid_minor: int) -> None:
    state = state_of(life, amount_minor=7, paid_minor=paid_minor)
    if (*life, AwardStep.STOPPED) in LIVES and paid_minor < 7:
        require_stoppable(state, taken=life, award_id="aw")
        return
    with pytest.raises(AwardStateConflict) as caught:
        require_stoppable(state, taken=life, award_id="aw")
    assert caught.value.facts == {"award_id": "aw", "state": state.value}


@pytest.mark.parametrize("state", AwardState)
def test_nothing_is_paid_of_an_award_unless_it_is_payable_or_paid_in_part(state: AwardState) -> None:
    if state in {AwardState.PAYABLE, AwardState.PART_PAID}:
        require_to_pay(state, award_id="aw")
        return
    with pytest.raises(AwardStateConflict) as caught:
        require_to_pay(state, award_id="aw")
    assert caught.value.facts == {"award_id": "aw", "state": state.value}


PAYMENTS: Final[tuple[tuple[set[AwardState], HitPayment | None], ...]] = (
    ({AwardState.HELD, AwardState.PAID}, HitPayment.PENDING),
    ({AwardState.STOPPED, AwardState.PAYABLE}, HitPayment.PENDING),
    ({AwardState.PAYABLE, AwardState.PAID}, HitPayment.RELEASED),
    ({AwardState.PART_PAID, AwardState.PAID}, HitPayment.RELEASED),
    ({AwardState.PAID, AwardState.REVERSED}, HitPayment.PAID),
    ({AwardState.REJECTED, AwardState.FORFEITED}, None),
    (set(), None),
)


@pytest.mark.parametrize(("states", "payment"), PAYMENTS)
def test_the_payment_of_a_hit_waits_for_its_last_award(states: set[AwardState], payment: HitPayment | None) -> None:
    assert payment_of(states) is payment
