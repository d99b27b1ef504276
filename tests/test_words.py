"""The check of words finds what is too long or not plain, says where, and passes over code."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def words() -> Any:
    spec = spec_from_file_location("words", ROOT / ".ci" / "words.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["words"] = module
    spec.loader.exec_module(module)
    return module


def findings_in(words: Any, text: str) -> list[tuple[int, str]]:
    return [(finding.line, finding.wrong) for finding in words.findings(words.Text("page.md", 1, text))]


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        ("The caller is told.", "'told' (write: notified, states, shows)"),
        ("It stands beside the other.", "'beside' (write: next to, with, compared with)"),
        ("The key of whoever asks.", "'whoever' (write: a noun)"),
        ("It is what is left of it.", "'what is left of it' (write: a noun)"),
        ("What came later is kept.", "begins with a relative clause"),
        (" ".join(["word"] * 31) + ".", "31 words"),
    ],
)
def test_a_sentence_that_is_not_plain_is_found(words: Any, sentence: str, wrong: str) -> None:
    assert findings_in(words, sentence) == [(1, wrong)]


@pytest.mark.parametrize(
    "text",
    [
        "What is a stripe?",
        "The code `told beside whoever` is code.",
        "Besides, a telltale outdoors.",
        " ".join(["word"] * 30) + ".",
        " ".join(["word"] * 20) + ". Then " + " ".join(["word"] * 20) + ".",
        "A rate is 1.17, e.g. for GBP, and [a link](told/beside.md) is its text.",
    ],
)
def test_plain_sentences_are_left_alone(words: Any, text: str) -> None:
    assert findings_in(words, text) == []


def test_a_finding_names_the_line_on_which_its_sentence_begins(words: Any) -> None:
    assert findings_in(words, "One line.\nThe second\nis told.") == [(2, "'told' (write: notified, states, shows)")]


def test_a_page_is_read_without_its_code_and_cell_by_cell(words: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(words, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# What is told\n\nProse\nof two lines.\n\n    told as code\n\n```\ntold\n```\n\n| a | b |\n|---|---|\n"
        "| one | two |\n\n- an item\n  of two lines\n- another\n<!-- told -->\n"
    )

    read = [(text.line, text.words, text.is_prose) for text in words.texts_of_page(page)]

    assert read == [
        (1, "What is told", False),
        (3, "Prose\nof two lines.", True),
        *((12, cell, True) for cell in (" a ", " b ")),
        *((13, cell, True) for cell in ("---", "---")),
        *((14, cell, True) for cell in (" one ", " two ")),
        (16, "an item\n  of two lines", True),
        (18, "another", True),
    ]


def test_docstrings_titles_and_help_texts_of_a_module_are_read(words: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(words, "ROOT", tmp_path)
    module = tmp_path / "module.py"
    module.write_text(
        '"""First.\n\nSecond."""\n\nclass Refused:\n    title = "Third"\n\noption(help="Fourth")\nname = "no prose"\n'
    )

    read = {(text.line, text.words) for text in words.texts_of_module(module)}

    assert read == {(1, "First."), (3, "Second."), (6, "Third"), (8, "Fourth")}


def test_comments_of_a_module_are_read_those_of_following_lines_together(
    words: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(words, "ROOT", tmp_path)
    module = tmp_path / "module.py"
    module.write_text(
        '# First,\n# of two lines.\none = "# no comment"  # Second.\n# Third.\n\n# Fourth.\n'
        "two = 2  # noqa: S608  fifth\nthree = 3  # type: ignore[misc]  # sixth\n"
    )

    read = [(text.line, text.words) for text in words.texts_of_comments(module)]

    assert read == [
        (1, "First,\nof two lines."),
        (3, "Second."),
        (4, "Third."),
        (6, "Fourth."),
        (7, "fifth"),
        (8, "# sixth"),
    ]


def test_comments_of_a_file_of_sql_are_read(words: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(words, "ROOT", tmp_path)
    page = tmp_path / "tables.sql"
    page.write_text("-- First,\n-- of two lines.\nSELECT 1  -- Second.\n-- Third.\n")

    read = [(text.line, text.words) for text in words.texts_of_sql(page)]

    assert read == [(1, "First,\nof two lines."), (3, "Second."), (4, "Third.")]


def test_titles_and_descriptions_of_the_api_are_read(words: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(words, "ROOT", tmp_path)
    page = tmp_path / "openapi.yaml"
    page.write_text(
        "info:\n  title: First\npaths:\n- summary: Second\n  description: |-\n    Third.\n\n    Fourth.\n  name: no\n"
    )

    read = {(text.line, text.words) for text in words.texts_of_api(page)}

    assert read == {(2, "First"), (4, "Second"), (5, "Third."), (7, "Fourth.")}
