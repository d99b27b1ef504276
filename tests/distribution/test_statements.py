"""What the service sends could be sent to tables that are distributed by jackpot."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import psycopg
import pytest
from pglast import parse_sql

from jackpot_service.database import distribution
from jackpot_service.database.distribution import Inliner
from jackpot_service.database.tables import TABLES
from tests.distribution.exemptions import EXEMPTIONS, Exemption, flat
from tests.distribution.story import PARTS, WRITE_PATH
from tests.support.catalogues import PLACEMENTS
from tests.support.distributable import Breach, Catalogue, Rule, breaches
from tests.support.recording import Sent, statements

pytestmark = pytest.mark.long

Broken = Sequence[tuple[Sent, Breach]]

OWNERS: Final = {"alembic_version", "emergency_switches", "open_awards", "schema_versions"}
"""Tables that the owner alone writes to, some of them by triggers."""


@pytest.fixture(scope="session")
def broken(sent: Sequence[Sent], catalogue: Catalogue) -> Broken:
    """Each rule that a statement of the story breaks."""
    return [
        (statement, breach)
        for statement in sent
        for breach in sorted(breaches(statement.text, statement.values, catalogue))
    ]


def test_each_part_of_the_story_sends_something(sent: Sequence[Sent]) -> None:
    assert {statement.part for statement in sent} == set(PARTS)


def test_the_story_writes_to_every_table_that_the_service_writes_to(sent: Sequence[Sent]) -> None:
    """Statements about a table that it left out would be looked at by nobody."""
    texts = [flat(statement.text) for statement in sent]
    words = {table: "INSERT INTO" if TABLES[table].insert else "UPDATE" for table in PLACEMENTS}
    written = {table for table, word in words.items() if any(f"{word} {table} " in text for text in texts)}

    assert PLACEMENTS.keys() - written == OWNERS


def test_what_pipelines_send_is_recorded_with_its_values(sent: Sequence[Sent]) -> None:
    jackpots = {statement.values["$1"] for statement in sent if flat(statement.text).startswith("INSERT INTO bets ")}
    assert jackpots == {"j1", "j2"}


def test_no_statement_breaks_a_rule_without_a_reason(broken: Broken) -> None:
    assert _without_reason(broken, EXEMPTIONS) == {}


def test_each_statement_can_be_written_for_several_machines(
    sent: Sequence[Sent], owner: psycopg.Connection[Any]
) -> None:
    """With bodies in place of calls each is a statement still; a name that means two things would raise."""
    inliner = Inliner(distribution._functions(owner))
    written = {statement.text: inliner.written(statement.text) for statement in sent}

    for text in written.values():
        parse_sql(text)
    assert any(text != as_sent for as_sent, text in written.items())


def test_no_statement_of_the_write_path_breaks_a_rule(broken: Broken) -> None:
    assert _without_reason([statement for statement in broken if statement[0].part in WRITE_PATH], ()) == {}


def test_no_exemption_is_out_of_date(broken: Broken) -> None:
    assert _unused(broken, EXEMPTIONS) == {}


def test_each_exemption_has_its_own_words_and_a_reason() -> None:
    assert len({exemption.words for exemption in EXEMPTIONS}) == len(EXEMPTIONS)
    assert all(
        flat(exemption.words) == exemption.words and len(exemption.words) > len("FROM stripes")
        for exemption in EXEMPTIONS
    )
    assert all(exemption.why.endswith(".") for exemption in EXEMPTIONS)


def test_what_an_exemption_does_not_name_is_no_exception(broken: Broken) -> None:
    """Neither another statement, nor another table, nor another rule."""
    (first, *rest) = EXEMPTIONS
    (breach,) = first.breaches

    assert set(_without_reason(broken, rest).values()) == {frozenset({breach})}
    assert _without_reason(broken, [*rest, replace(first, words="SELECT 1")])
    assert _without_reason(broken, [*rest, replace(first, breaks={Rule.UNRESTRICTED: "bets"})])
    assert _without_reason(broken, [*rest, replace(first, breaks={Rule.LOCKED: breach.what})])


def test_an_exemption_that_nothing_needs_is_found(broken: Broken) -> None:
    first = EXEMPTIONS[0]
    wide = replace(first, breaks={Rule.UNRESTRICTED: "bets stripes", Rule.LOCKED: "tables"})

    assert _unused(broken, [wide]) == {
        first.words: frozenset({Breach(Rule.UNRESTRICTED, "bets"), Breach(Rule.LOCKED, "tables")})
    }
    assert _unused([], [first]) == {first.words: first.breaches}


LOG: Final = """\
2026-11-24 11:00:00.001 UTC [7] mine LOG:  statement: BEGIN
2026-11-24 11:00:00.002 UTC [7] mine LOG:  execute jackpot_0: SELECT $1,
\t       'a: b' AS "DETAIL:  Parameters"
2026-11-24 11:00:00.002 UTC [8] other LOG:  execute <unnamed>: SELECT 'of another database'
2026-11-24 11:00:00.003 UTC [9] mine LOG:  execute <unnamed>: SELECT $1
2026-11-24 11:00:00.003 UTC [7] mine DETAIL:  Parameters: $1 = 'it''s, $2 = ''x''', $2 = NULL, $10 = 'two
\tlines'
2026-11-24 11:00:00.004 UTC [9] mine DETAIL:  Parameters: $1 = '9'
2026-11-24 11:00:00.005 UTC [7] mine ERROR:  no
2026-11-24 11:00:00.005 UTC [7] mine STATEMENT:  SELECT 'not again'
"""


def test_a_log_is_read_statement_by_statement() -> None:
    assert statements(LOG, "mine", part="p") == [
        Sent("p", "BEGIN"),
        Sent(
            "p",
            "SELECT $1,\n       'a: b' AS \"DETAIL:  Parameters\"",
            {"$1": "it's, $2 = 'x'", "$2": None, "$10": "two\nlines"},
        ),
        Sent("p", "SELECT $1", {"$1": "9"}),
    ]


def _without_reason(broken: Broken, exemptions: Sequence[Exemption]) -> Mapping[str, frozenset[Breach]]:
    """What statements break that no exemption covers, by their texts."""
    by_text: dict[str, frozenset[Breach]] = {}
    for statement, breach in broken:
        text = flat(statement.text)
        if not any(exemption.covers(text, breach) for exemption in exemptions):
            by_text[text] = by_text.get(text, frozenset()) | {breach}
    return by_text


def _unused(broken: Broken, exemptions: Sequence[Exemption]) -> Mapping[str, frozenset[Breach]]:
    """What exemptions allow that no statement breaks, by their words."""
    unused = {
        exemption.words: exemption.breaches - {breach for sent, breach in broken if exemption.covers(sent.text, breach)}
        for exemption in exemptions
    }
    return {words: breaches for words, breaches in unused.items() if breaches}
