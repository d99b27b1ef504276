"""What is an exception in SQL is counted: statements put together from parts, and fences against the planner."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
ROOMS: Final = ("jackpot_service", "migrations")
MOST: Final = 10
"""Of either: more of them would say that a relation belongs into `migrations/`, or that statistics are missing."""

MOST_FILLED_IN: Final = 14
"""Constants of SQL that are filled in by `.format`, which the linter does not see."""

SQL: Final = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|SET|FROM|CAST)\b")


def lines_with(pattern: str) -> Iterator[str]:
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*")):
            if file.suffix in {".py", ".sql"}:
                yield from (line for line in file.read_text(encoding="utf-8").splitlines() if re.search(pattern, line))


def trees() -> list[ast.Module]:
    return [
        ast.parse(file.read_text(encoding="utf-8")) for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))
    ]


def constants_of_sql(modules: Sequence[ast.Module]) -> set[str]:
    """The names of constants that are texts with a word of SQL."""
    return {
        target.id
        for tree in modules
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and SQL.search(ast.unparse(node.value) if node.value else "")
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


def filled_in(names: set[str], modules: Sequence[ast.Module]) -> Iterator[str]:
    """The names of constants that are filled in by `.format`, once for each call."""
    for tree in modules:
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr="format")
                ) if name in names:
                    yield name


def reasons(pattern: str) -> list[str]:
    """What each line says after a mark, without its spaces."""
    return [re.split(pattern, line, maxsplit=1)[1].strip() for line in lines_with(pattern)]


def test_few_statements_are_put_together_from_parts_and_each_says_why_it_may() -> None:
    stated = reasons(r"noqa: S608")

    assert 0 < len(stated) <= MOST
    assert all(len(reason.split()) >= 3 for reason in stated), stated
    assert len(set(stated)) == len(stated), stated


def test_few_constants_of_sql_are_filled_in() -> None:
    modules = trees()
    constants = list(filled_in(constants_of_sql(modules), modules))

    assert "BETWEEN" in constants
    assert len(constants) <= MOST_FILLED_IN, constants


def test_few_fences_stand_against_the_planner_and_each_says_why_it_must() -> None:
    stated = reasons(r"\bOFFSET 0\b")

    assert 0 < len(stated) <= MOST
    assert all(re.fullmatch(r"-- \w.{20,}\.", reason) for reason in stated), stated
