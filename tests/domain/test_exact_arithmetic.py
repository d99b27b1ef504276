"""The arithmetic of decimals is exact in every thread of the process, or raises."""

import contextvars
import decimal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from jackpot_service.domain.money import PRECISION, ZERO, plain

Run = Callable[[Callable[[], Decimal]], Decimal]


def in_a_thread(act: Callable[[], Decimal]) -> Decimal:
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(act).result()


@pytest.fixture(params=["here", "in a thread", "in an empty context"])
def run(request: pytest.FixtureRequest) -> Run:
    runs: dict[str, Run] = {
        "here": lambda act: act(),
        "in a thread": in_a_thread,
        "in an empty context": lambda act: contextvars.Context().run(act),
    }
    return runs[request.param]


def test_a_sum_of_more_digits_than_python_keeps_by_default_is_exact(run: Run) -> None:
    large, small = Decimal(10) ** 25, Decimal("0.000000000000000001")

    assert plain(run(lambda: large + small)) == "10000000000000000000000000.000000000000000001"
    assert run(lambda: -(large + small) + large + small) == ZERO
    assert run(lambda: sum([large, small, -large], ZERO)) == small


@pytest.mark.parametrize(
    "act",
    [
        lambda: Decimal(1) / 3,
        lambda: Decimal("1.005").quantize(Decimal("0.01")),
        lambda: Decimal(10) ** PRECISION + 1,
        lambda: Decimal(2).sqrt(),
    ],
    ids=["a third", "a rounding", "more digits than are kept", "a root"],
)
def test_what_would_be_rounded_raises(run: Run, act: Callable[[], Decimal]) -> None:
    with pytest.raises(decimal.Inexact):
        run(act)


def test_a_float_is_no_amount(run: Run) -> None:
    number = float("0.5")
    with pytest.raises(decimal.FloatOperation):
        run(lambda: Decimal(number))
    with pytest.raises(decimal.FloatOperation):
        run(lambda: max(Decimal(1), Decimal(number > Decimal(1))))
