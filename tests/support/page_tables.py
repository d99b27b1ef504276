"""The tables of a page: each cell as a person reads it, its exact value as the mark-up has it, and where it leads."""

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Cell:
    """A cell: its text, its exact value, and the addresses in it."""

    text: str = ""
    value: str | None = None
    links: list[str] = field(default_factory=list)

    @property
    def exact(self) -> str:
        return self.text.strip() if self.value is None else self.value


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.sections: dict[str, list[list[Cell]]] = {}
        self._rows: list[list[Cell]] | None = None
        self._in_body = False
        self._cell: Cell | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "table" and named.get("data-section"):
            self._rows = self.sections.setdefault(named["data-section"] or "", [])
        elif tag == "tbody":
            self._in_body = True
        elif self._rows is None or not self._in_body:
            return
        elif tag == "tr":
            self._rows.append([])
        elif tag in {"td", "th"}:
            self._cell = Cell()
            self._rows[-1].append(self._cell)
        elif self._cell is not None:
            if tag == "data":
                self._cell.value = named["value"]
            elif tag == "time":
                self._cell.value = named["datetime"]
            elif tag == "a":
                self._cell.links.append(named["href"] or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._rows = None
        elif tag == "tbody":
            self._in_body = False
        elif tag in {"td", "th"}:
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.text += data


def tables_of(page: str) -> dict[str, list[list[Cell]]]:
    """Read the rows of the tables of a page, by the section that they show."""
    parser = _Tables()
    parser.feed(page)
    return parser.sections
