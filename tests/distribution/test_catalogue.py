"""The migrated schema is one that could be distributed by jackpot."""

import re
from typing import Any

import psycopg
import pytest

from jackpot_service.database import distribution
from jackpot_service.database.tables import Placement
from tests.distribution.exemptions import FUNCTIONS, PROCEDURES, VIEWS
from tests.support import catalogues
from tests.support.catalogues import PLACEMENTS
from tests.support.distributable import COLUMN, Breach, Catalogue, Node, Rule, breaches, nodes

Owner = psycopg.Connection[Any]


def test_each_table_has_a_placement(owner: Owner) -> None:
    assert set(PLACEMENTS) == catalogues.tables(owner)


def test_each_unique_key_of_a_distributed_table_has_the_jackpot_as_a_plain_column(owner: Owner) -> None:
    assert _keys_without_jackpot(owner) == {}


@pytest.mark.parametrize(
    "index",
    [
        "CREATE UNIQUE INDEX wrong ON awards (award_id)",
        "CREATE UNIQUE INDEX wrong ON awards ((jackpot_id || award_id))",
        "CREATE UNIQUE INDEX wrong ON awards (award_id) INCLUDE (jackpot_id)",
        "CREATE UNIQUE INDEX wrong ON awards (award_id) WHERE jackpot_id = 'j1'",
        "ALTER TABLE awards ADD CONSTRAINT wrong UNIQUE (round_key, award_id)",
    ],
)
def test_a_key_without_it_is_found(owner: Owner, index: str) -> None:
    with owner.transaction(force_rollback=True):
        owner.execute(index)
        assert set(_keys_without_jackpot(owner)) == {"wrong"}


def test_a_foreign_key_leads_only_where_rows_of_both_tables_stand_together(owner: Owner) -> None:
    """From a jackpot's rows to every machine's, and from reference and local tables to their like."""
    assert {
        (table, named)
        for table, named in catalogues.foreign_keys(owner)
        if PLACEMENTS[named] is not Placement.REFERENCE and PLACEMENTS[table] is not PLACEMENTS[named]
    } == set()


def test_a_view_with_a_jackpot_passes_on_that_of_its_only_distributed_table(owner: Owner) -> None:
    """So a condition on the view's column is one on the table's, or on that of a view which is looked at here too."""
    views = catalogues.views_of_jackpots(owner)
    assert views.keys() > VIEWS.keys()
    distributed = {table for table, placement in PLACEMENTS.items() if placement is Placement.DISTRIBUTED}
    distributed |= views.keys() - VIEWS.keys()
    for query in [query for name, query in views.items() if name not in VIEWS]:
        for part in _parts(query):
            (alias,) = [alias_ for alias_, table in _tables(part) if table in distributed]
            (column,) = [target.val.fields for target in part.targetList if _name(target) == COLUMN]
            names = [target.sval for target in column]
            assert names in ([alias, COLUMN], [COLUMN])  # PostgreSQL leaves the alias out where there is one table.


def test_the_functions_that_statements_call_keep_the_rules(owner: Owner, catalogue: Catalogue) -> None:
    expected = {name: {Breach(rule, what) for rule, what in broken.items()} for name, broken in FUNCTIONS.items()}
    assert _breaking(owner, catalogue) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("SELECT count(*) FROM bets WHERE jackpot_id = of_jackpot", set()),
        ("SELECT count(*) FROM bets", {(Rule.UNRESTRICTED, "bets")}),
        ("SELECT count(*) FROM bets WHERE jackpot_id = hand", {(Rule.UNRESTRICTED, "bets")}),
        (
            "SELECT 1::bigint FROM bets b, voids v WHERE b.jackpot_id = of_jackpot AND v.jackpot_id = other",
            {(Rule.ONE_JACKPOT, "2 jackpots")},
        ),
    ],
)
def test_a_function_that_breaks_one_is_found(
    owner: Owner, catalogue: Catalogue, body: str, expected: set[tuple[Rule, str]]
) -> None:
    with owner.transaction(force_rollback=True):
        function = "CREATE FUNCTION wrong(of_jackpot text, other text) RETURNS bigint LANGUAGE sql AS $$ {} $$"
        owner.execute(function.format(body).encode())
        assert _breaking(owner, catalogue).get("wrong", set()) == {Breach(*breach) for breach in expected}


def test_functions_that_the_checker_does_not_read_name_no_more_distributed_tables(owner: Owner) -> None:
    distributed = [name for name, placement in PLACEMENTS.items() if placement is Placement.DISTRIBUTED]
    named = {
        name: " ".join(sorted(table for table in distributed if re.search(rf"(FROM|JOIN|INTO|UPDATE) {table}\b", body)))
        for name, (body, _) in catalogues.functions(owner, "plpgsql").items()
    }
    assert {name: tables for name, tables in named.items() if tables} == PROCEDURES


def test_no_procedure_reads_from_a_function_that_reads_tables(owner: Owner) -> None:
    """Nobody puts a body in place of a call there, and Citus finds no rows."""
    calls = re.compile(rf"(FROM|JOIN|LATERAL) ({'|'.join(distribution._functions(owner))})\(")
    procedures = catalogues.functions(owner, "plpgsql")

    assert {name for name, (body, _) in procedures.items() if calls.search(body)} == set()


def _breaking(owner: Owner, catalogue: Catalogue) -> dict[str, set[Breach]]:
    """The functions in SQL that break a rule; without a body they are one expression."""
    broken = {
        name: set(breaches(body, {}, catalogue, arguments=arguments))
        for name, (body, arguments) in catalogues.functions(owner, "sql").items()
        if body
    }
    return {name: breaches_ for name, breaches_ in broken.items() if breaches_}


def _keys_without_jackpot(owner: Owner) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {
        name: (table, columns)
        for name, (table, columns) in catalogues.unique_keys(owner).items()
        if PLACEMENTS[table] is Placement.DISTRIBUTED and COLUMN not in columns
    }


def _parts(query: Node) -> list[Node]:
    return [query] if query.larg is None else [*_parts(query.larg), *_parts(query.rarg)]


def _tables(source: Any) -> list[tuple[str, str]]:
    """The tables of a level, by their aliases."""
    if isinstance(source, nodes.SelectStmt):
        return [table for item in source.fromClause for table in _tables(item)]
    if isinstance(source, nodes.JoinExpr):
        return [*_tables(source.larg), *_tables(source.rarg)]
    if isinstance(source, nodes.RangeVar):
        return [(source.alias.aliasname if source.alias else source.relname, source.relname)]
    return []


def _name(target: Node) -> str:
    name = target.name or (target.val.fields[-1].sval if isinstance(target.val, nodes.ColumnRef) else "")
    return str(name)
