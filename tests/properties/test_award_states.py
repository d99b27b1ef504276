"""The states of awards beside a plain model of them, through runs of random acts of everybody who acts on awards."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.properties import profile
from tests.properties.award_machine import AwardMachine
from tests.properties.conftest import Databases
from tests.support.hands import FOUR_OF_A_KIND

pytestmark = pytest.mark.deep

SETTINGS = settings(
    profile.SETTINGS,
    max_examples=profile.CASES or 6,
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)

NOTHING, FLUSH, FLUSH_TOO = "2c 3d 4h 7s 9c", "Ad Kd Jd Td 3d", "Ah Kh Jh Th 3h"
FOUR, STRAIGHT_FLUSH = " ".join(FOUR_OF_A_KIND), "9h 8h 7h 6h 5h"

ALL: Final = Fraction(1)
HALF: Final = Fraction(1, 2)


@pytest.mark.long
@pytest.mark.timeout(900 + 4 * profile.CASES)
def test_awards_stand_where_a_plain_model_has_them_whatever_is_done(databases: Databases) -> None:
    run_state_machine_as_test(lambda: AwardMachine(databases()), settings=SETTINGS)  # type: ignore[arg-type]


def nth(award: int) -> int:
    """The number by which the machine chooses just this award."""
    return 5 * award


class Played:
    """A machine whose acts a test calls; after each of them everything holds that holds after a random one."""

    def __init__(self, machine: AwardMachine) -> None:
        self.machine = machine
        machine.open()

    def __call__(self, act: str, *args: object, **kwargs: object) -> "Played":
        getattr(self.machine, act)(*args, **kwargs)
        self.machine.every_award_stands_where_the_model_has_it()
        self.machine.the_books_hold_what_is_held_and_what_casinos_were_credited_with()
        return self

    def stands(self, award: int) -> str:
        return self.machine.awards[award].award.shown(self.machine.claims, self.machine.at)


@pytest.fixture
def played(databases: Databases) -> Iterator[Played]:
    machine = AwardMachine(databases())
    try:
        yield Played(machine)
    finally:
        machine.teardown()


def test_the_machine_forfeits_what_nobody_claims_and_nothing_is_done_with_it_any_more(played: Played) -> None:
    played("play", "GBP", FLUSH)("pay", nth(0), HALF)("forfeit", nth(0))
    assert "refused award-claimable" in played.machine.reached
    played("let_pass", 72)("note_unclaimed")
    assert played.stands(0) == "unclaimed"

    played("forfeit", nth(0))

    assert played.stands(0) == "forfeited"
    for act in ("pay", "stop", "forfeit", "print_slip"):
        played(act, nth(0), *([ALL] if act == "pay" else []))
    played("reverse_a_payment", nth(0), 0)("correct", 0, NOTHING)("note_unclaimed")
    assert {"refused award-state", "refused award-forfeited"} <= played.machine.reached
    assert played.stands(0) == "forfeited"


def test_the_machine_reinstates_stops_and_releases_before_it_forfeits_to_the_jackpot(played: Played) -> None:
    played("set_claims", 1, "meter")("play", "SEK", FOUR)
    stood = [played.stands(0)]
    for decision in ("reject", "reinstate"):
        played("decide", nth(0), decision)
        stood.append(played.stands(0))
    played("let_pass", 36)("pay", nth(0), HALF)("stop", nth(0))("forfeit", nth(0))
    stood.append(played.stands(0))
    played("let_pass", 72)("decide", nth(0), "release")("forfeit", nth(0))
    stood.append(played.stands(0))

    played("let_pass", 36)("forfeit", nth(0))

    assert stood == ["held", "rejected", "payable", "stopped", "part-paid"]
    assert played.stands(0) == "forfeited"


def test_the_machine_pays_anew_by_a_correction_and_by_another(played: Played) -> None:
    played("play", "JPY", FLUSH)("pay", nth(0), ALL)
    played("correct", 0, FOUR)
    assert played.stands(1) == "payable"
    played("stop", nth(1))("correct", 0, FLUSH_TOO)("correct", 0, STRAIGHT_FLUSH)
    assert [played.stands(award) for award in range(3)] == ["paid", "reversed", "payable"]
    played("stop", nth(2))("decide", nth(2), "release")("pay", nth(2), HALF)("correct", 0, NOTHING)
    assert "refused award-part-paid" in played.machine.reached
    played("reverse_a_payment", nth(2), 0)("reverse_a_payment", nth(0), 0)("correct", 0, FOUR)
    assert "refused round-corrected" in played.machine.reached
    assert played.machine.rounds[0].corrections == 4

    played("let_pass", 72)("forfeit", nth(3))

    assert [played.stands(award) for award in range(4)] == ["paid", "reversed", "reversed", "forfeited"]


def test_the_machine_makes_no_award_again_that_is_stopped_or_was_rejected(played: Played) -> None:
    played("play", "EUR", FLUSH)("stop", nth(0))("correct", 0, FLUSH_TOO)
    assert "refused award-stopped" in played.machine.reached
    played("play", "EUR", FOUR)("decide", nth(1), "reject")("correct", 1, NOTHING)("correct", 1, FOUR)
    played("decide", nth(1), "reinstate")

    assert "refused round-corrected" in played.machine.reached
    assert [played.stands(award) for award in range(2)] == ["stopped", "rejected"]
