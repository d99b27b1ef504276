"""A report as lines of text for a terminal: figures at the right of their columns, exact."""

from collections.abc import Iterator

from jackpot_service.reports.cells import as_text, head_of
from jackpot_service.reports.documents import Document, Section, Sort

AT_THE_LEFT = frozenset({Sort.TEXT, Sort.INSTANT, Sort.DAY})


def lines(document: Document) -> Iterator[str]:
    """Write the head, then every section; the rows of a section are held in memory, to know how wide they are."""
    names = head_of(document)
    width = max(len(name) for name, _ in names)
    for name, text in names:
        yield f"{name:<{width}}  {text}"
    for section in document.sections:
        yield ""
        yield section.title
        yield from _table(section)


def _printable(text: str) -> str:
    """Let no text break its line, or tell the terminal what to do."""
    return text if text.isprintable() else "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _table(section: Section) -> Iterator[str]:
    titles = [f"{one.title}, {one.currency}" if one.currency else one.title for one in section.columns]
    rows = [titles, *([_printable(as_text(value)) for value in row] for row in section.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(titles))]
    for row in rows:
        cells = (
            f"{text:<{width}}" if column.sort in AT_THE_LEFT else f"{text:>{width}}"
            for column, text, width in zip(section.columns, row, widths, strict=True)
        )
        yield ("  " + "  ".join(cells)).rstrip()
