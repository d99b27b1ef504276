"""The check of names finds those that say nothing, wherever they are bound. `make check` runs it over the checkout."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def names() -> Any:
    spec = spec_from_file_location("names", ROOT / ".ci" / "names.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["names"] = module
    spec.loader.exec_module(module)
    return module


def names_found(names: Any, source: str, *, file: str = "planted.py") -> list[str]:
    return [finding.name for finding in names.findings_in(file, source)]


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "found: int",
        "found += 1",
        "(first, *found), more = values",
        "rows = [found for found in rows]",
        "while (found := next(rows)): pass",
        "for found in rows: pass",
        "async def read(*, found): pass",
        "read = lambda found: found",
        "def read(*found): pass",
        "def found(): pass",
        "class Read:\n    found: int",
        "with opened() as found: pass",
        "try: pass\nexcept ValueError as found: pass",
        "match value:\n    case [found, *_]: pass",
        "match value:\n    case {'a': 1, **found}: pass",
        "import rows as found",
        "self.found = 1",
    ],
)
def test_a_name_that_says_nothing_is_found_wherever_it_is_bound(names: Any, source: str) -> None:
    assert names_found(names, source) == ["found"]


@pytest.mark.parametrize("word", ["asked", "one", "kept", "told", "said", "_due", "__others", "given_"])
def test_each_word_is_found_with_underscores_around_it_too(names: Any, word: str) -> None:
    assert names_found(names, f"{word} = 1") == [word]


def test_a_function_has_a_noun_in_front_of_its_of(names: Any) -> None:
    source = "def of_round(): pass\nclass Awards:\n    async def _of_casino(self): pass\ndef awards_of_round(): pass\n"
    assert names_found(names, source) == ["of_round", "_of_casino"]


@pytest.mark.parametrize(
    "source",
    [
        "found_alive = rows_found = 1",
        "from hypothesis import given\n@given(1)\ndef test(): pass",
        "print(found)",
        "row = {'found': 1}\nread(found=row)",
        "of_round = 1",
    ],
)
def test_names_that_say_more_and_names_that_are_only_used_are_left_alone(names: Any, source: str) -> None:
    assert names_found(names, source) == []


def test_a_word_is_allowed_in_the_files_that_have_a_reason_alone(names: Any) -> None:
    assert names_found(names, "due = 1", file="jackpot_service/domain/payoffs.py") == []
    assert names_found(names, "due = 1\nfound = 1", file="jackpot_service/domain/settings.py") == ["due", "found"]


def test_every_allowance_is_needed(names: Any) -> None:
    for file, word in names.ALLOWED:
        bound = {
            name.strip("_")
            for node in names.ast.walk(names.ast.parse((ROOT / file).read_text()))
            for _, name in names._bound(node)
        }
        assert word in bound, file
