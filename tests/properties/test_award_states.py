"""The states of awards beside a plain model of them, through runs of random acts of everybody who acts on awards."""

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.properties import profile
from tests.properties.award_machine import AwardMachine
from tests.properties.award_model import RATES
from tests.properties.award_reports import Figures
from tests.properties.conftest import Databases
from tests.support.hands import FOUR_OF_A_KIND

pytestmark = [pytest.mark.deep, pytest.mark.long]

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
        self.machine.the_reports_say_what_the_model_figures()
        return self

    def stands(self, award: int) -> str:
        return self.machine.awards[award].award.shown(self.machine.claims, self.machine.at)

    @property
    def stated(self) -> Figures:
        """The figures of the reports after the last act."""
        return self.machine.stated[max(self.machine.stated)]

    def ages(self) -> dict[str, str]:
        return dict(self.stated["ageing"].keys())

    def require_that_nothing_said_before_changed(self) -> None:
        for number in range(len(self.machine.stated)):
            self.machine.look_back(number)


@pytest.fixture
def played(databases: Databases) -> Iterator[Played]:
    machine = AwardMachine(databases())
    try:
        yield Played(machine)
    finally:
        machine.teardown()


LONG: Final = 150
MOST_PLAYED: Final = 12
"""How many acts a long history has, and how many rounds."""

REACHED: Final = {
    *("held", "payable", "part-paid", "paid", "stopped", "rejected", "unclaimed", "forfeited", "reversed"),
    *("correction 1: payable", "approve", "reject", "reinstate", "release"),
    *("age 0-30", "age 31-60", "age 61-90", "age over 90", "refused withholding-too-large"),
}
"""What a long history comes to: states, decisions, ages, and a refusal."""


def acts_of(chance: random.Random) -> Sequence[tuple[str, int, Callable[[], tuple[object, ...]]]]:
    """The acts of a long history: how often each comes, and its arguments by chance."""

    def which() -> int:
        return chance.randrange(600)

    def cards() -> str:
        return chance.choice([FLUSH, FOUR, STRAIGHT_FLUSH, NOTHING])

    return [
        ("play", 3, lambda: (chance.choice(sorted(RATES)), cards())),
        ("let_pass", 4, lambda: (chance.choice([1, 30, 10 * 24, 31 * 24]),)),
        ("set_claims", 1, lambda: (chance.choice([None, None, 2, 60]), chance.choice(["meter", "statutory"]))),
        ("decide_what_waits", 5, lambda: (which(), chance.random() < 0.7)),
        ("stop", 2, lambda: (which(),)),
        ("pay", 5, lambda: (which(), chance.choice([HALF, HALF, ALL]), False, chance.choice([0 * ALL, ALL, 2 * ALL]))),
        ("reverse_a_payment", 2, lambda: (which(), chance.randrange(5))),
        ("forfeit", 2, lambda: (which(),)),
        ("correct", 1, lambda: (which(), cards())),
        ("look_back", 2, lambda: (which(),)),
    ]


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", profile.seeds())
def test_reports_say_what_the_model_figures_through_a_long_history(played: Played, seed: int) -> None:
    chance = random.Random(seed)
    acts = acts_of(chance)
    played("play", "EUR", FLUSH)
    for _ in range(LONG):
        [(act, _, arguments)] = chance.choices(acts, [often for _, often, _ in acts])
        if act != "play" or len(played.machine.rounds) < MOST_PLAYED:
            played(act, *arguments())

    played.require_that_nothing_said_before_changed()
    assert profile.CASES or REACHED - played.machine.reached == set()


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


def test_the_machine_sees_awards_grow_old_from_when_they_were_payable_first(played: Played) -> None:
    """One is payable at once, one approved, one reinstated: each ten days later. Stops and releases change no age."""
    for currency, cards in (("EUR", FLUSH), ("GBP", FOUR), ("SEK", FOUR)):
        played("play", currency, cards)
    played("let_pass", 10 * 24)("decide", nth(1), "approve")("decide", nth(2), "reject")
    played("let_pass", 10 * 24)("decide", nth(2), "reinstate")
    played("pay", nth(1), HALF, withheld=HALF)("pay", nth(2), HALF)
    shown = []
    for days in (10, 1, 29, 1, 29, 1):
        played("let_pass", days * 24)
        shown.append(played.ages())
        if days == 1:
            played("stop", nth(len(shown) // 2 - 1))("decide", nth(len(shown) // 2 - 1), "release")
    played("reverse_a_payment", nth(1), 0)("pay", nth(0), ALL)("pay", nth(1), ALL, withheld=ALL)

    assert [(ages["EUR"], ages["GBP"], ages["SEK"]) for ages in shown] == [
        ("0-30", "0-30", "0-30"),
        ("31-60", "0-30", "0-30"),
        ("31-60", "31-60", "31-60"),
        ("61-90", "31-60", "31-60"),
        ("61-90", "61-90", "61-90"),
        ("over 90", "61-90", "61-90"),
    ]
    assert played.ages() == {"SEK": "61-90"}
    played.require_that_nothing_said_before_changed()


def test_the_machine_withholds_in_parts_and_gives_back_what_a_wrong_payment_withheld(played: Played) -> None:
    played("play", "EUR", FOUR)("decide", nth(0), "approve")
    played("pay", nth(0), HALF, withheld=Fraction(2))
    assert "refused withholding-too-large" in played.machine.reached
    played("pay", nth(0), HALF, withheld=HALF)("pay", nth(0), HALF, withheld=ALL)
    withheld = [dict(played.stated["withheld"])]
    played("reverse_a_payment", nth(0), 0)
    withheld.append(dict(played.stated["withheld"]))
    played("correct", 0, STRAIGHT_FLUSH)
    assert "refused award-part-paid" in played.machine.reached
    played("let_pass", 72)("forfeit", nth(0))

    assert withheld == [{"EUR": Fraction(60)}, {"EUR": Fraction(30)}]
    assert (played.stands(0), played.stated["payables"]) == ("forfeited", {})
    played.require_that_nothing_said_before_changed()


def test_the_machine_holds_no_more_what_a_correction_took_back(played: Played) -> None:
    played("play", "GBP", FOUR)("play", "JPY", FOUR)
    assert played.stated["held"] == {"GBP": (1, Fraction(625)), "JPY": (1, Fraction(75_000))}
    played("correct", 0, NOTHING)("decide", nth(1), "reject")

    assert (played.stated["held"], played.stated["held cost"], played.stated["unpaid"]) == ({}, 0, {})
    played.require_that_nothing_said_before_changed()
