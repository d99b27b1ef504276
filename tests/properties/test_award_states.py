"""The states of awards beside a plain model of them, through runs of random acts of everybody who acts on awards."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.properties import profile
from tests.properties.award_machine import AwardMachine
from tests.properties.conftest import Databases

pytestmark = pytest.mark.deep

SETTINGS = settings(
    profile.SETTINGS,
    max_examples=profile.CASES or 6,
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@pytest.mark.timeout(900 + 4 * profile.CASES)
def test_awards_stand_where_a_plain_model_has_them_whatever_is_done(databases: Databases) -> None:
    run_state_machine_as_test(lambda: AwardMachine(databases()), settings=SETTINGS)  # type: ignore[arg-type]
