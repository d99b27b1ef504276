"""Every code that the service answers with is in the catalogue, and every one in it is brought about by a test."""

import ast
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

import pytest
from werkzeug.exceptions import HTTPException

import jackpot_service
from jackpot_service.api.problem_catalogue import http, text
from jackpot_service.api.problem_catalogue.catalogue import ROWS, SECTIONS
from jackpot_service.api.problem_catalogue.rows import STATUS_OF_KIND, Row, Section, row
from jackpot_service.cli import problem_rows
from jackpot_service.domain.cards import BadCard
from jackpot_service.domain.errors import BooksBroken, Conflict, LedgerError
from jackpot_service.records.jobs import LeaseLost

T = TypeVar("T")

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = ROOT / "jackpot_service"
FOLDERS: Final = (ROOT / "tests", ROOT / "clients", ROOT / "demo")

KINDS: Final[frozenset[type[LedgerError]]] = frozenset({LedgerError, *STATUS_OF_KIND})

NEVER_ANSWERED: Final[Mapping[type[LedgerError], str]] = {
    BadCard: "A card is read as a field of a body, which is invalid.",
    LeaseLost: "The runner of jobs drops a job that another has.",
}

COMMAND_LINE: Final[Mapping[str, Row]] = {row.code: row for row in problem_rows.ROWS}


def classes_below(base: type[T]) -> Sequence[type[T]]:
    """The package's own classes below one, when all of its modules are imported."""
    for module in pkgutil.walk_packages(jackpot_service.__path__, "jackpot_service."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    classes: list[type[T]] = [base]
    for class_ in classes:  # It grows meanwhile.
        classes += class_.__subclasses__()
    return [class_ for class_ in classes[1:] if class_.__module__.startswith("jackpot_service.")]


@cache
def errors() -> Sequence[type[LedgerError]]:
    return [class_ for class_ in classes_below(LedgerError) if class_ not in KINDS]


def test_every_error_is_in_the_catalogue_as_what_it_is(subtests: pytest.Subtests) -> None:
    for error in errors():
        with subtests.test(error.__qualname__):
            row_ = ROWS.get(error.code) or COMMAND_LINE.get(error.code)

            assert (row_ is None) is (error in NEVER_ANSWERED), error.code
            if row_ is not None:
                expected = row(error, "")
                assert (row_.title, row_.status, row_.retryable) == (
                    expected.title,
                    expected.status,
                    expected.retryable,
                )
    assert len(errors()) > 140


def test_every_error_of_http_is_in_the_catalogue() -> None:
    """Those of the API: a page that is refused is answered to a person."""
    of_api = [class_ for class_ in classes_below(HTTPException) if class_.__module__.startswith("jackpot_service.api.")]
    stated = {vars(class_)["problem"].code for class_ in of_api}

    assert stated == {http.NOT_JSON.code, http.DUPLICATE_MEMBER.code, http.VALIDATION.code}
    assert all(ROWS[value.code] is value for value in vars(http).values() if isinstance(value, Row))


def test_a_kind_of_error_is_never_raised_itself() -> None:
    names = {kind.__name__ for kind in KINDS - {BooksBroken}}
    raised = {name for name, _ in calls_of_the_package() if name in names}

    assert raised == set()


def test_a_code_has_one_row() -> None:
    codes = [row.code for section in SECTIONS for row in section.rows] + list(COMMAND_LINE)

    assert len(codes) == len(set(codes))
    assert all(re.fullmatch("[a-z]+(-[a-z]+)*", code) for code in codes)


@pytest.mark.parametrize("entry", [*ROWS.values(), *COMMAND_LINE.values()], ids=lambda entry: entry.code)
def test_a_row_says_what_it_means_and_what_to_do_in_sentences(entry: Row) -> None:
    texts = (entry.meaning, entry.remedy, *(member.description for member in entry.members.values()))

    assert all(re.fullmatch(r"[A-Z`0-9].*[.]", sentence) for sentence in texts), texts
    assert not entry.title.endswith(".")
    assert entry.status < 500 or entry.status in {500, 501, 503}


# Every code is brought about.


@cache
def asserted() -> Mapping[str, set[int]]:
    """The statuses with which tests require each code: `.problem(409, "bet-conflict")`, wherever that stands."""
    statuses: defaultdict[str, set[int]] = defaultdict(set)
    for call in (call for folder in FOLDERS for path in folder.rglob("*.py") for call in calls_in(path)):
        match call:
            case ast.Call(
                func=ast.Attribute(attr="problem"), args=[ast.Constant(int(status)), ast.Constant(str(code)), *_]
            ):
                statuses[code].add(status)
            case _:
                pass
    return statuses


@pytest.mark.parametrize("entry", ROWS.values(), ids=lambda entry: entry.code)
def test_a_test_brings_about_every_code_with_its_status(entry: Row) -> None:
    assert asserted().get(entry.code) == {entry.status}


def test_no_test_requires_a_code_that_the_catalogue_does_not_have() -> None:
    assert asserted().keys() - ROWS.keys() == set()


@pytest.mark.parametrize("entry", COMMAND_LINE.values(), ids=lambda entry: entry.code)
def test_a_test_brings_about_every_error_of_the_command_line(entry: Row) -> None:
    (name,) = {error.__name__ for error in errors() if error.code == entry.code}
    raised = re.compile(rf"raises\((\w+\.)?{name}\b|[^ ]+.*, {name}\),|jackpot: {entry.code}: ")

    assert any(raised.search(text) for text in texts_of_tests())


@cache
def texts_of_tests() -> Sequence[str]:
    return [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]


# The members of a problem.


def calls_in(path: Path) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))


def calls_of_the_package() -> Iterator[tuple[str, ast.Call]]:
    """The calls of the package by the name of what is called."""
    for call in (call for path in PACKAGE.rglob("*.py") for call in calls_in(path)):
        match call.func:
            case ast.Name(name) | ast.Attribute(attr=name):
                yield name, call


@cache
def facts_stated() -> Mapping[str, list[set[str]]]:
    """The facts of each place where an error is made, by its code; of one, `**broken` stands for what it may hold."""
    code_of = {error.__name__: error.code for error in errors()} | {"BooksBroken": BooksBroken.code}
    members: defaultdict[str, list[set[str]]] = defaultdict(list)
    for name, call in calls_of_the_package():
        if name in code_of:
            stated = {keyword.arg or "" for keyword in call.keywords} - {"field_errors", "retry_after_s"}
            members[code_of[name]].append(stated)
    return members


THROUGH_A_NAME: Final = {"nothing-held", "nothing-rejected", "nothing-stopped"}
"""They are made by whichever class a table has for a state."""

IN_A_MAPPING: Final = {"stake-out-of-range": {"largest_stake", "largest_stakes"}}


@pytest.mark.parametrize("entry", [*ROWS.values(), *COMMAND_LINE.values()], ids=lambda entry: entry.code)
def test_the_members_of_a_row_are_the_facts_that_the_code_states(entry: Row) -> None:
    if entry.code in THROUGH_A_NAME or entry in http.ROWS:
        return
    places = [
        (stated | IN_A_MAPPING[entry.code]) - {""} if "" in stated else stated
        for stated in facts_stated().get(entry.code, [])
    ]

    assert places, entry.code
    assert set.union(*places) == entry.members.keys()
    always = {name for name, member in entry.members.items() if member.is_always}
    assert always == set.intersection(*places)


# The documentation.


def test_the_page_of_errors_is_what_the_catalogue_says() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")

    assert page == text.page(problem_rows.ROWS)
    assert re.findall(r"^### (.+)$", page, re.MULTILINE) == [*ROWS, *sorted(COMMAND_LINE)]
    assert all(len(line) <= 120 for line in page.splitlines())


def test_every_code_that_a_command_states_itself_is_in_the_catalogue() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (PACKAGE / "cli").rglob("*.py")]
    stated = {code for source in sources for code in re.findall(r'Error\(f?"([a-z]+(?:-[^ :"]+)+): ', source)}

    assert {"job-not-done", "key-unknown"} <= stated
    assert stated <= ROWS.keys() | COMMAND_LINE.keys()


def test_rows_stand_in_the_order_of_their_codes() -> None:
    later, earlier = (Row(code, 409, "No", "It is so.", "Wait.") for code in ("b", "a"))

    assert Section.of("Letters", later, earlier).rows == (earlier, later)


def test_a_docstring_is_the_meaning_up_to_its_first_empty_line() -> None:
    class Made(Conflict, code="made-up", title="Made up"):
        """
        It was made
        up.

        For this test.
        """

    made = row(Made, "Nothing is to be done.")
    assert (made.code, made.status, made.title, made.meaning) == ("made-up", 409, "Made up", "It was made up.")
