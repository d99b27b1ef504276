"""The ledger beside a plain model of it, through runs of random acts of table servers."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.properties import profile
from tests.properties.conftest import Databases
from tests.properties.machine import LedgerMachine, openings

pytestmark = [pytest.mark.long, pytest.mark.deep]

SETTINGS = settings(
    profile.SETTINGS,
    max_examples=profile.CASES or 6,
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)

LONGEST_S = 900 + 4 * profile.CASES
"""A run takes a second or two; one that fails is made small first, for at most five minutes."""


class LiveMachine(LedgerMachine):
    """Live Caribbean Stud: a shared meter, four currencies, fixed prizes from the prize fund."""

    opening = openings(["live-caribbean-stud"], [])


class CoinDropMachine(LedgerMachine):
    """Cyber and Seneca: a hand owns its prize, under one of three policies, and the meter pays all of it."""

    opening = openings(
        ["cyber-caribbean-stud", "cyber-caribbean-stud", "seneca-caribbean-stud"],
        ["aggregate_pro_rata", "minor_first", "equal_share"],
    )


@pytest.mark.timeout(LONGEST_S)
def test_a_shared_jackpot_is_kept_as_the_model_keeps_it(databases: Databases) -> None:
    _run(LiveMachine, databases)


@pytest.mark.timeout(LONGEST_S)
def test_a_jackpot_owned_by_hands_is_kept_as_the_model_keeps_it(databases: Databases) -> None:
    _run(CoinDropMachine, databases)


def _run(machine: type[LedgerMachine], databases: Databases) -> None:
    def begin() -> LedgerMachine:
        return machine(databases())

    run_state_machine_as_test(begin, settings=SETTINGS)  # type: ignore[arg-type]  # any maker of machines will do
