"""Reading a workbook back as a spreadsheet would, from the parts of the file itself."""

import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Final
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring

MAIN: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")


@dataclass(frozen=True)
class Cell:
    """A cell: its text as it is shown or, of a number, as it is stored; the format of a number; its formula."""

    text: str
    number_format: str | None
    formula: str | None

    @property
    def is_number(self) -> bool:
        return self.number_format is not None


Sheet = list[list[Cell | None]]


def read(content: bytes) -> dict[str, Sheet]:
    """The sheets of a workbook by their names, in its order, row by row without gaps."""
    with zipfile.ZipFile(BytesIO(content)) as parts:
        names = [sheet.attrib["name"] for sheet in fromstring(parts.read("xl/workbook.xml")).iter(f"{MAIN}sheet")]
        formats = list(_formats(fromstring(parts.read("xl/styles.xml"))))
        shared = _shared(parts)
        return {
            name: [_row(row, formats, shared) for row in fromstring(parts.read(_path(number))).iter(f"{MAIN}row")]
            for number, name in enumerate(names, 1)
        }


def texts(sheet: Sheet) -> list[list[str]]:
    """The cells of a sheet as texts, an empty one for none."""
    return [["" if cell is None else cell.text for cell in row] for row in sheet]


def _path(number: int) -> str:
    return f"xl/worksheets/sheet{number}.xml"


def _formats(styles: Element) -> Iterator[str]:
    """The number format of each style; those that Excel knows by heart are named by their number."""
    own: Mapping[str, str] = {
        style.attrib["numFmtId"]: style.attrib["formatCode"] for style in styles.iter(f"{MAIN}numFmt")
    }
    for style in styles.find(f"{MAIN}cellXfs") or ():
        yield own.get(style.attrib["numFmtId"], style.attrib["numFmtId"])


def _shared(parts: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in parts.namelist():
        return []
    return [_text(item) for item in fromstring(parts.read("xl/sharedStrings.xml")).iter(f"{MAIN}si")]


def _row(row: Element, formats: list[str], shared: list[str]) -> list[Cell | None]:
    cells: list[Cell | None] = []
    for cell in row:
        place = _column(cell.attrib["r"])
        cells += [None] * (place - len(cells))
        cells.append(_cell(cell, formats, shared))
    return cells


def _cell(cell: Element, formats: list[str], shared: list[str]) -> Cell:
    formula, kind = cell.findtext(f"{MAIN}f"), cell.attrib.get("t", "n")
    if kind == "n":
        return Cell(cell.findtext(f"{MAIN}v") or "", formats[int(cell.attrib.get("s", "0"))], formula)
    if kind == "s":
        return Cell(shared[int(cell.findtext(f"{MAIN}v") or "")], None, formula)
    return Cell(_text(cell), None, formula)


def _text(element: Element) -> str:
    written = "".join(node.text or "" for node in element.iter(f"{MAIN}t"))
    return ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), written)


def _column(reference: str) -> int:
    place = 0
    for letter in reference.rstrip("0123456789"):
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1
