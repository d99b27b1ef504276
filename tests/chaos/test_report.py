"""What the table says, and with what the command ends."""

import pytest

from tests.chaos.blindness import Sight
from tests.chaos.campaign import Phase
from tests.chaos.report import COLUMNS, Outcome, as_markdown, rows
from tests.chaos.timing import Figures
from tests.chaos.violations import Fact, Violation

FIGURES = Figures(calls=10, acknowledged=8, unknown=1, refused=1, refused_for_now=3, broken=2, longest_s=1.25, hung=0)


def phase(name: str, *facts: Fact, recovery_s: float | None = 0.5) -> Phase:
    return Phase(name, 1.0, 2.0, recovery_s, tuple(Violation(fact, "somewhere") for fact in facts), FIGURES)


def outcome(*phases: Phase) -> Outcome:
    return Outcome(
        "abc1234", 7, 90.0, Sight(585, {"a bet that is taken out": 5}), phases, {"the disk full": "of no mount"}
    )


def test_a_fault_that_came_twice_has_one_row_with_its_worst_recovery() -> None:
    [row] = rows(outcome(phase("a worker killed"), phase("a worker killed", Fact.LOST, recovery_s=2.0)))

    assert dict(zip(COLUMNS, row, strict=True)) == {
        "fault": "a worker killed",
        "times": "2",
        "calls": "20",
        "acknowledged": "16",
        "lost": "1",
        "unknown": "2",
        "refused": "2",
        "503 and 429": "6",
        "broken": "4",
        "hung": "0",
        "longest answer": "1.2 s",
        "recovery": "2.0 s",
    }


@pytest.mark.parametrize(
    ("facts", "code"),
    [((), 0), ((Fact.HUNG,), 2), ((Fact.UNKNOWN_STATUS, Fact.LOST), 1), ((Fact.POOL_DIFFERS,), 1)],
)
def test_wrong_books_are_another_end_than_late_answers(facts: tuple[Fact, ...], code: int) -> None:
    assert outcome(phase("a worker killed", *facts)).exit_code == code


def test_the_page_says_what_was_left_out_and_what_was_found() -> None:
    page = as_markdown(outcome(phase("a worker killed", Fact.LOST)))

    assert page.startswith("Commit abc1234, seed 7, 1.5 minutes.")
    assert "585 acknowledgements were reported as lost" in page
    assert "Left out: the disk full, since of no mount." in page
    assert f"1 times: {Fact.LOST}; first: somewhere" in page
