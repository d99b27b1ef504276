"""Which worker should have a connection: one takes all until it is full, and nothing goes to and fro."""

from jackpot_service.server.board import State
from jackpot_service.server.choice import FEW, FULL, MANY, Move, next_move, part_of

IDLE = State(0, 0.0)
SMALL = State(40, FULL / 10)
LARGE = State(40, FULL * 2)


def test_a_full_worker_passes_on_half_of_what_it_has_more_and_no_other_passes_on_anything() -> None:
    assert next_move(0, {0: LARGE, 1: IDLE}) == Move(1, 20)
    assert next_move(0, {0: LARGE, 1: State(10, LARGE.in_hand / 4), 2: IDLE}) == Move(2, 20)
    assert next_move(0, {0: SMALL, 1: IDLE}) is None
    assert next_move(0, {0: LARGE}) is None
    assert next_move(0, {0: State(1, FULL * 2), 1: IDLE}) is None  # One connection is nothing to share.


def test_nothing_passes_to_a_worker_that_would_have_to_cut_others_for_it() -> None:
    assert next_move(0, {0: LARGE, 1: State(MANY, 0.0)}) is None
    assert next_move(0, {0: LARGE, 1: State(MANY, 0.0), 2: SMALL}) == next_move(0, {0: LARGE, 2: SMALL})
    assert next_move(0, {0: State(MANY, FULL * 2.0), 1: State(MANY, 0.0)}) is None


def test_between_workers_that_have_about_as_much_nothing_passes() -> None:
    assert next_move(0, {0: LARGE, 1: State(30, LARGE.in_hand * 0.8)}) is None
    assert next_move(1, {0: LARGE, 1: State(30, LARGE.in_hand * 0.8)}) is None


def test_what_little_the_last_worker_has_comes_back_if_both_together_are_far_from_full() -> None:
    assert next_move(1, {0: SMALL, 1: SMALL}) == Move(0, FEW - SMALL.connections)
    assert next_move(1, {0: State(40, FULL * 0.4), 1: SMALL}) is None
    assert next_move(1, {0: State(FEW, 0.0), 1: SMALL}) is None
    assert next_move(0, {0: SMALL, 1: SMALL}) is None
    assert next_move(1, {0: SMALL, 1: IDLE}) is None


def test_shares_that_were_passed_on_settle_in_the_middle() -> None:
    first, second = State(32, FULL * 3), State(0, 0.0)
    for _ in range(100):
        move = next_move(0, {0: first, 1: second})
        if move is None:
            break
        part = part_of(first)
        first = State(first.connections - 1, first.in_hand - part)
        second = State(second.connections + 1, second.in_hand + part)
    assert next_move(1, {0: first, 1: second}) is None
    assert abs(first.connections - second.connections) <= 32 / 4
