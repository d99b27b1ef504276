"""Start-time fair queueing: shares, no starvation, nothing idle while somebody waits, and order within a flow."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.database.fair_queue import MOST_REMEMBERED, FairQueue

pytestmark = pytest.mark.long


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call: who makes it, for which table, and what it costs."""

    casino: str
    table: str
    cost: int

    @property
    def path(self) -> tuple[str, str]:
        return self.casino, self.table


CALLS = st.builds(Call, st.sampled_from("ABC"), st.sampled_from("xy"), st.integers(1, 50))
MANY = st.lists(CALLS, max_size=60)


def waiting(calls: Sequence[Call]) -> FairQueue[Call]:
    queue: FairQueue[Call] = FairQueue()
    for call in calls:
        queue.add(call, path=call.path, cost=call.cost)
    return queue


def anything(_: Call) -> bool:
    return True


def budget(most: int) -> Callable[[Call], bool]:
    """Agree to calls up to a sum of costs, and to the first."""
    spent = [0]

    def takes(call: Call) -> bool:
        if spent[0] and spent[0] + call.cost > most:
            return False
        spent[0] += call.cost
        return True

    return takes


@given(MANY)
def test_every_call_is_taken_once_and_those_of_a_flow_in_their_order(calls: Sequence[Call]) -> None:
    queue = waiting(calls)
    taken = queue.take(anything)
    assert len(queue) == 0
    assert Counter(taken) == Counter(calls)
    for path in {call.path for call in calls}:
        assert [call_ for call_ in taken if call_.path == path] == [call for call in calls if call.path == path]


@given(MANY, st.integers(1, 100))
def test_as_long_as_a_call_waits_a_group_is_not_empty_and_at_the_end_all_were_in_one(
    calls: Sequence[Call], most: int
) -> None:
    queue, taken = waiting(calls), []
    while queue:
        before = len(queue)
        group = queue.take(budget(most))
        assert group
        assert len(queue) == before - len(group)
        taken += group
    assert Counter(taken) == Counter(calls)


@given(st.lists(st.builds(Call, st.sampled_from("AB"), st.just("x"), st.integers(1, 50)), max_size=80))
def test_while_two_casinos_wait_neither_has_more_than_the_other_by_more_than_a_call_of_each(
    calls: Sequence[Call],
) -> None:
    queue = waiting(calls)
    left, served = Counter(call.casino for call in calls), Counter[str]()
    largest = {casino: max((call.cost for call in calls if call.casino == casino), default=0) for casino in "AB"}
    while left["A"] and left["B"]:
        call = queue.take_one()
        left[call.casino] -= 1
        served[call.casino] += call.cost
        assert abs(served["A"] - served["B"]) <= largest["A"] + largest["B"]


@given(st.lists(st.builds(Call, st.just("A"), st.sampled_from("xy"), st.integers(1, 50)), min_size=1, max_size=80))
def test_a_call_of_another_casino_waits_for_no_more_than_one_call_of_a_flood(flood: Sequence[Call]) -> None:
    queue = waiting(flood)
    first = queue.take_one()
    other = Call("B", "z", 1)
    queue.add(other, path=other.path, cost=other.cost)
    served = [first, *(queue.take_one() for _ in range(min(2, len(queue))))]
    assert other in served


@given(MANY, st.data())
def test_a_call_that_waits_no_longer_is_never_taken_and_harms_no_other(
    calls: Sequence[Call], data: st.DataObject
) -> None:
    queue = waiting(calls)
    leaving = [call for call in calls if data.draw(st.booleans())]
    assert all(queue.remove(call, path=call.path) for call in leaving)
    assert not any(queue.remove(call, path=call.path) for call in leaving)
    assert len(queue) == len(calls) - len(leaving)
    assert Counter(queue.take(anything)) == Counter(calls) - Counter(leaving)


@given(MANY, MANY)
def test_what_is_not_agreed_to_keeps_its_place(calls: Sequence[Call], later: Sequence[Call]) -> None:
    queue, untouched = waiting(calls), waiting(calls)
    assert queue.take(lambda _: False) == []
    for call_ in later:
        queue.add(call_, path=call_.path, cost=call_.cost)
        untouched.add(call_, path=call_.path, cost=call_.cost)
    assert queue.take(anything) == untouched.take(anything)


def test_a_large_batch_is_paid_for_by_those_who_sent_it() -> None:
    large, small = Call("A", "x", 1000), [Call("B", "x", 100) for _ in range(10)]
    again = Call("A", "x", 1)
    queue = waiting([large, *small])
    assert queue.take_one() is large
    queue.add(again, path=again.path, cost=again.cost)
    assert queue.take(anything) == [*small, again]


def test_a_casino_that_asks_for_nothing_saves_nothing_up() -> None:
    queue = waiting([Call("A", "x", 10) for _ in range(10)])
    for _ in range(5):
        queue.take_one()
    late = [Call("B", "x", 10) for _ in range(5)]
    for call in late:
        queue.add(call, path=call.path, cost=call.cost)
    assert [queue.take_one().casino for _ in range(6)] in (list("BABABA"), list("ABABAB"))


def test_flows_that_come_and_go_are_forgotten() -> None:
    keeps_waiting = [Call("A", "x", 1) for _ in range(5 * MOST_REMEMBERED)]
    queue = waiting(keeps_waiting)
    for number in range(4 * MOST_REMEMBERED):
        passing = Call(f"c{number}", "x", 10**9)
        queue.add(passing, path=passing.path, cost=passing.cost)
        while queue.take_one() is not passing:
            pass
    assert len(queue._root._left_at) <= MOST_REMEMBERED
    assert list(queue.names) == ["A"]


def test_nobody_can_be_taken_where_nobody_waits() -> None:
    with pytest.raises(LookupError):
        waiting([]).take_one()
