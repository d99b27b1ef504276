"""
Check the names that are bound in code: `python .ci/names.py`; prints file, line and what is wrong.

A name says what it holds: `rows`, `expected`, `stored`, `parameters`, a bet. So a function is not named `of_…`: a noun
stands in front, and one can grep it. Words that name nothing are bound nowhere: no variable, parameter, field or
function. Two underscores or one around a word change nothing. Names of JSON are strings, so nothing here reads them.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]

ROOMS: Final = (".ci", "jackpot_service", "migrations", "clients/python", "demo", "bench", "tests")

INSTEAD: Final[dict[str, str]] = {
    "asked": "query, parameters, requested",
    "borne": "charged",
    "door": "suspension, request context",
    "due": "expected",
    "dues": "expected",
    "estate": "transferred balances",
    "found": "rows, stored, the noun",
    "given": "granted, the noun",
    "heir": "target",
    "kept": "stored, cached",
    "lane": "fast path, connection_no",
    "one": "the noun: bet, award, row",
    "others": "rest, the noun",
    "pins": "terms",
    "said": "stated, message, output",
    "standing": "in force",
    "tallied": "figures",
    "tally": "figures",
    "tell": "notify",
    "telling": "notified",
    "told": "notified, reported, the noun",
    "wanted": "expected, requested",
    "whose": "owner",
}
"""A word that names nothing, or is another word's, and what is written instead."""

ALLOWED: Final[dict[tuple[str, str], str]] = {
    ("jackpot_service/domain/corrections.py", "due"): "money that is due, a `Due`",
    ("jackpot_service/domain/denied_prizes.py", "due"): "money that is due",
    ("jackpot_service/domain/payoffs.py", "due"): "money that is due",
    ("jackpot_service/domain/settlement.py", "due"): "money that is due, a `Due`",
    ("tests/domain/test_corrections.py", "due"): "money that is due",
    ("tests/properties/award_model.py", "due"): "money that is due",
    ("tests/properties/model.py", "due"): "money that is due",
    ("jackpot_service/api/job_parameters.py", "kept"): "a name of the API's JSON",
    ("jackpot_service/pages/wall.py", "others"): "a name of the wall's query",
    ("jackpot_service/proof/decoding.py", "one"): "one and other, compared",
    ("jackpot_service/proof/people.py", "one"): "one and other, compared",
    ("tests/domain/test_months.py", "one"): "one and other, compared",
    ("tests/domain/test_poker.py", "one"): "one and other, compared",
}
"""A file, a word that is right there, and the reason."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A name that says nothing."""

    file: str
    line: int
    name: str
    instead: str

    def __str__(self) -> str:
        """Name the place first, as compilers do."""
        return f"{self.file}:{self.line}: '{self.name}' (write: {self.instead})"


def main() -> int:
    """Check every file."""
    wrong = sorted(findings(), key=lambda finding: (finding.file, finding.line))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"Names: {len(wrong)} to mend")
    return 1 if wrong else 0


def findings() -> Iterator[Finding]:
    """Yield the names of all files that say nothing."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            file = str(path.relative_to(ROOT))
            yield from findings_in(file, path.read_text(encoding="utf-8"))


def findings_in(file: str, source: str) -> Iterator[Finding]:
    """Yield the names that a file binds and that say nothing."""
    for node in ast.walk(ast.parse(source)):
        for line, name in _bound(node):
            word = name.strip("_")
            if word in INSTEAD and (file, word) not in ALLOWED:
                yield Finding(file, line, name, INSTEAD[word])
            elif word.startswith("of_") and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield Finding(file, line, name, "a noun in front of `of`")


def _bound(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the names that a node binds, each with its line."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield node.lineno, name
        case ast.arg(arg=name):
            yield node.lineno, name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield node.lineno, name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield node.lineno, name
        case ast.MatchMapping(rest=str(name)):
            yield node.lineno, name
        case ast.alias(asname=str(name)):
            yield node.lineno, name


if __name__ == "__main__":
    sys.exit(main())
