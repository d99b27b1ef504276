"""Relations that are functions: they are planned as a part of the question, and read what the service writes."""

from collections.abc import Iterator
from decimal import Decimal

import psycopg
import pytest

from jackpot_service.domain.awards import ORDER, STATE_AFTER
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.rules import SPLIT_DECIMALS
from tests.support.logins import owner_url


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection[tuple[Decimal, ...]]]:
    with psycopg.connect(owner_url(database_url).replace("+psycopg", "")) as connection:
        yield connection


@pytest.mark.parametrize(
    "relation",
    [
        "rules_split('j', 1)",
        "days_with_recent('j', ARRAY['bets'])",
        "cuts_of_stripes('j', 9)",
        "entries_between('j', ARRAY[0], ARRAY[0], ARRAY[9])",
        "award_entries_between('j', ARRAY[0], ARRAY[0], ARRAY[9])",
        "effects_of_acts('j', 0, 9)",
        "verdicts_between('j', NULL, NULL, ARRAY[0], ARRAY[0], ARRAY[9])",
        "acts_with_effects('j')",
        "currency_units('jEUR')",
        "round_of_key('j', 1)",
        "entry_of_step('j', 1, 1)",
        "live_bets('j', 1)",
        "bets_with_refunds('j', 1, 'EUR', 1)",
    ],
)
def test_no_function_hides_its_tables_from_the_planner(owner: psycopg.Connection[tuple[str]], relation: str) -> None:
    plan = "\n".join(line for (line,) in owner.execute(f"EXPLAIN SELECT * FROM {relation}"))  # noqa: S608  a constant

    assert f"Function Scan on {relation.split('(', maxsplit=1)[0]}" not in plan
    assert "'j" in plan


def test_only_a_question_about_postings_takes_the_postings_of_entries_apart(
    owner: psycopg.Connection[tuple[str]],
) -> None:
    scans = {}
    for kind in FigureKind:
        plan = owner.execute("EXPLAIN SELECT * FROM days_with_recent('j', ARRAY[%s])", [kind.value])
        scans[kind] = sum(" on entries " in line for (line,) in plan)

    assert scans == dict.fromkeys(FigureKind, 1) | {FigureKind.POSTINGS: 2}


def test_the_steps_of_awards_and_their_states_are_those_of_the_domain(
    owner: psycopg.Connection[tuple[str, str]],
) -> None:
    states = owner.execute("SELECT step, state FROM award_step_states ORDER BY place").fetchall()

    assert states == [(step, STATE_AFTER[step]) for step in ORDER]


@pytest.mark.parametrize(
    ("document", "meter", "rest"),
    [
        ('{"split": {"meter": "0.7", "reserve": "0.1", "prize_fund": "0.05"}}', "0.7", "0.15"),
        ('{"split": {"meter": "0.1234", "reserve": "0", "prize_fund": "0"}}', "0.1234", "0.8766"),
        ('{"split": {"meter": "1", "reserve": "0", "prize_fund": "0"}}', "1", "0"),
        ('{"split": {"meter": "0.12345", "reserve": "0", "prize_fund": "0"}}', "NaN", "NaN"),
        ('{"split": {"meter": ".5", "reserve": "0", "prize_fund": "0"}}', "NaN", "NaN"),
        ('{"split": {"meter": "2", "reserve": "0", "prize_fund": "0"}}', "NaN", "NaN"),
        ('{"split": {"meter": "0.5", "reserve": "x", "prize_fund": "0"}}', "0.5", "NaN"),
        ('{"split": ["0.5"]}', "NaN", "NaN"),
        ("{}", "NaN", "NaN"),
        ("[]", "NaN", "NaN"),
    ],
)
def test_a_split_is_read_as_documents_write_it_or_not_a_number(
    owner: psycopg.Connection[tuple[Decimal, ...]], document: str, meter: str, rest: str
) -> None:
    owner.execute("INSERT INTO rules_versions VALUES ('j', 1, %s, 1)", [document])
    ((to_meter, _, _, to_house),) = owner.execute("SELECT * FROM rules_split('j', 1)").fetchall()

    assert (str(to_meter), str(to_house)) == (meter, rest)


def test_a_version_that_is_missing_splits_into_what_is_not_a_number(
    owner: psycopg.Connection[tuple[Decimal, ...]],
) -> None:
    (parts,) = owner.execute("SELECT * FROM rules_split('j', 99)").fetchall()

    assert [str(part) for part in parts] == ["NaN"] * 4


def test_a_split_is_read_with_as_many_decimals_as_rules_may_have(
    owner: psycopg.Connection[tuple[Decimal, ...]],
) -> None:
    for decimals, is_read in ((SPLIT_DECIMALS, True), (SPLIT_DECIMALS + 1, False)):
        part = "0." + "1" * decimals
        document = f'{{"split": {{"meter": "{part}", "reserve": "0", "prize_fund": "0"}}}}'
        owner.execute("INSERT INTO rules_versions VALUES ('j', %s, %s, 1)", [decimals, document])
        ((to_meter, *_),) = owner.execute("SELECT * FROM rules_split('j', %s)", [decimals]).fetchall()

        assert str(to_meter) == (part if is_read else "NaN")
