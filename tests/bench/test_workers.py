"""The model of workers and processors, with figures by hand."""

from dataclasses import replace

import pytest

from bench.workers import Cost, predicted

COST = Cost(workers=0.0005, database=0.0002, load=0.0001)


@pytest.mark.parametrize(
    ("workers", "processors", "bets"),
    [
        (1, 2, 2000),  # The worker uses its one processor.
        (2, 2, 2500),  # Two processors do 0.8 ms of work a bet.
        (4, 2, 2500),
        (4, 16, 8000),
        (16, 16, 20000),
    ],
)
def test_a_worker_takes_what_one_processor_can_and_all_take_what_the_machine_can(
    workers: int, processors: int, bets: float
) -> None:
    assert predicted(COST, workers=workers, processors=processors) == pytest.approx(bets)


def test_a_machine_whose_load_is_elsewhere_takes_more() -> None:
    assert predicted(replace(COST, load=0), workers=14, processors=14) == pytest.approx(20_000)
