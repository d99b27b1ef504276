"""
Check the English of pages, of the package and of the API: `python .ci/words.py`; prints file, line and what is wrong.

A sentence has at most 30 words, does not begin with a relative clause, and uses no word that has a plainer one. Code
blocks and code in backquotes are passed over; a cell of a table is read like a line of its own. Of the package, the
client, the demo and the migrations the docstrings, the titles of problems, the help texts and the comments are read,
those in files of SQL too. Of openapi.yaml they are its titles and descriptions.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "clients/python/README.md", "demo/README.md"),
    "docs/**/*.md",
)
MODULES: Final = ("jackpot_service", "clients/python/jackpot_client", "demo/jackpot_demo", "migrations")
API: Final = "openapi.yaml"

MOST_WORDS: Final = 30

ALLOWED: Final[tuple[tuple[str, str, str], ...]] = ()
"""A file, words of a sentence that is allowed there, and the reason."""

INSTEAD: Final[tuple[tuple[str, str], ...]] = (
    (r"who(so)?ever|whomever", "a noun"),
    (r"beside", "next to, with, compared with"),
    (r"told|tells?|telling", "notified, states, shows"),
    (r"what is\b[^.;]{1,60}\bof it", "a noun"),
    (r"doors?", "the API, suspension, request context"),
    (r"lanes?", "fast path"),
    (r"he|his|him|himself", "they"),
    (r"expectations", "settings check"),
    (r"standing", "settings in force"),
    (r"pins?|pinned|first sight", "terms fixed at opening"),
    (r"tally|tallied|tallies", "figures"),
    (r"sets? aside|setting aside", "pending figures"),
    (r"rolled up|rolls? up|rolling up", "summed; watermark"),
    (r"dues", "expected acts"),
    (r"heir|estate", "target jackpot, transferred balances"),
    (r"borne", "charged to"),
    (r"editions?", "report version"),
    (r"taken out|put in", "debit, credit"),
    (r"owed by nobody", "contingent"),
)
"""What is not written, as a pattern of whole words, and what is written instead."""

_WRONG: Final = tuple((re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in INSTEAD)
_RELATIVE: Final = re.compile(r"(What|Who|Whose|Whom|Whatever|Whoever|Whichever|That which)\b(?!.*\?$)", re.DOTALL)
_CODE: Final = re.compile(r"(`+)(?:(?!\1).|\n)+?\1")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ITEM: Final = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_COMMENT: Final = re.compile(r"<!--.*?-->")
_MARK: Final = re.compile(r"(?:noqa|type|pragma|fmt|mypy)\b:?.*?(?:  |$)")


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of prose that begins at a line of a file; of a heading or a cell, its length is not counted."""

    file: str
    line: int
    words: str
    is_prose: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a sentence."""

    file: str
    line: int
    wrong: str
    sentence: str

    def __str__(self) -> str:
        """Name the place first, as compilers do."""
        return f"{self.file}:{self.line}: {self.wrong}: {self.sentence[:110]}"


def main() -> int:
    """Check every text."""
    wrong = [finding for text in texts() for finding in findings(text) if not _is_allowed(finding)]
    wrong.sort(key=lambda finding: (finding.file, finding.line))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"Words: {len(wrong)} to mend")
    return 1 if wrong else 0


def texts() -> Iterator[Text]:
    """Yield the texts of all pages, of the package and of the API."""
    for page in _pages():
        yield from texts_of_page(page)
    for module in _modules():
        yield from texts_of_module(module)
        yield from texts_of_comments(module)
    for statements in sorted(ROOT.glob("migrations/**/*.sql")):
        yield from texts_of_sql(statements)
    yield from texts_of_api(ROOT / API)


def findings(text: Text) -> Iterator[Finding]:
    """Yield what is wrong with each sentence of a text."""
    for line, sentence in sentences(text):
        for pattern, instead in _WRONG:
            if match := pattern.search(sentence):
                yield Finding(text.file, line, f"'{match[0]}' (write: {instead})", sentence)
        if text.is_prose and _RELATIVE.match(sentence):
            yield Finding(text.file, line, "begins with a relative clause", sentence)
        count = sum(1 for word in sentence.split() if re.search(r"\w", word))
        if text.is_prose and count > MOST_WORDS:
            yield Finding(text.file, line, f"{count} words", sentence)


def sentences(text: Text) -> Iterator[tuple[int, str]]:
    """Divide a text into sentences, each with the line on which it begins."""
    plain = _LINK.sub(r"\1", _CODE.sub(lambda code: "`code`" + "\n" * code[0].count("\n"), text.words))
    words = [(text.line + number, word) for number, line in enumerate(plain.split("\n")) for word in line.split()]
    sentence: list[tuple[int, str]] = []
    for at, (line, word) in enumerate(words):
        sentence.append((line, word))
        following = words[at + 1][1].lstrip("*_(«\"'") if at + 1 < len(words) else ""
        if word.rstrip("*_)»\"'").endswith((".", "!", "?")) and not following[:1].islower():
            yield sentence[0][0], " ".join(word for _, word in sentence)
            sentence = []
    if sentence:
        yield sentence[0][0], " ".join(word for _, word in sentence)


def texts_of_page(path: Path) -> Iterator[Text]:
    """Yield the prose of a Markdown page: paragraphs, items, headings and cells, without blocks of code."""
    file = str(path.relative_to(ROOT))
    is_fenced, is_code, begun, lines = False, False, 0, list[str]()
    for number, line in enumerate([*path.read_text(encoding="utf-8").split("\n"), ""], start=1):
        stripped = _COMMENT.sub("", line).strip()
        is_code = not lines and line.startswith("    ") and not is_fenced
        ends = _FENCE.match(line) or is_fenced or is_code or not stripped or stripped[0] in "|#" or _ITEM.match(line)
        if ends and lines:
            yield Text(file, begun, "\n".join(lines))
            lines = []
        if _FENCE.match(line):
            is_fenced = not is_fenced
        elif is_fenced or is_code or not stripped:
            continue
        elif stripped.startswith("|"):
            yield from (Text(file, number, cell) for cell in stripped.strip("|").split("|"))
        elif stripped.startswith("#"):
            yield Text(file, number, stripped.lstrip("# "), is_prose=False)
        else:
            begun = begun if lines else number
            lines.append(_ITEM.sub("", line, count=1) if not lines else line)


def texts_of_module(path: Path) -> Iterator[Text]:
    """Yield the docstrings of a module, the titles of its problems and the help of its commands."""
    file = str(path.relative_to(ROOT))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr | ast.Assign | ast.keyword) and isinstance(node.value, ast.Constant):
            value = node.value.value
            named = isinstance(node, ast.Expr) or _name(node) in {"title", "help", "description", "epilog"}
            if named and isinstance(value, str):
                yield from _paragraphs(file, node.value.lineno, value)


def texts_of_comments(path: Path) -> Iterator[Text]:
    """Yield the comments of a module; those that stand alone on lines one after another are one text."""
    file, source = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    lines = source.splitlines()
    comments = [
        (token.start[0], token.string.lstrip("#! "), lines[token.start[0] - 1].lstrip().startswith("#"))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    yield from _joined(file, comments)


def texts_of_sql(path: Path) -> Iterator[Text]:
    """Yield the comments of a file of SQL, as of a module."""
    file, comments = str(path.relative_to(ROOT)), list[tuple[int, str, bool]]()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        before, mark, comment = line.partition("--")
        if mark:
            comments.append((number, comment.strip(), not before.strip()))
    yield from _joined(file, comments)


def _joined(file: str, comments: Iterable[tuple[int, str, bool]]) -> Iterator[Text]:
    """Join the comments of lines that follow each other, where nothing else stands on them."""
    begun, words, last = 0, list[str](), 0
    for number, comment, is_alone in comments:
        if words and not (is_alone and number == last + 1):
            yield Text(file, begun, "\n".join(words))
            words = []
        begun, last = begun if words else number, number if is_alone else 0
        words.append(_MARK.sub("", comment))
    if words:
        yield Text(file, begun, "\n".join(words))


def texts_of_api(path: Path) -> Iterator[Text]:
    """Yield the titles, summaries and descriptions of an OpenAPI document."""
    file = str(path.relative_to(ROOT))
    nodes = [yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.SequenceNode):
            nodes.extend(node.value)
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if isinstance(value, yaml.ScalarNode) and key.value in {"title", "summary", "description"}:
                    yield from _paragraphs(file, value.start_mark.line + 1, value.value)
                nodes.append(value)


def _name(node: ast.Assign | ast.keyword) -> str | None:
    if isinstance(node, ast.keyword):
        return node.arg
    return next((target.id for target in node.targets if isinstance(target, ast.Name)), None)


def _paragraphs(file: str, line: int, text: str) -> Iterator[Text]:
    """Divide a text at its empty lines."""
    for part in re.finditer(r"\S(?:[^\n]|\n(?!\s*\n))*", text):
        yield Text(file, line + text.count("\n", 0, part.start()), part[0])


def _pages() -> list[Path]:
    return sorted({path for pattern in PAGES for path in ROOT.glob(pattern)})


def _modules() -> list[Path]:
    return sorted(path for room in MODULES for path in ROOT.glob(f"{room}/**/*.py"))


def _is_allowed(finding: Finding) -> bool:
    return any(finding.file == file and words in finding.sentence for file, words, _ in ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
