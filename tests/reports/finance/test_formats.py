"""Every report says the same through every way and in every format, of a world in which everything happened."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.exports import files
from jackpot_service.reports.finance.registry import REPORTS
from tests.reports.finance.play import play_everything
from tests.support import equations, formats, workbooks
from tests.support.answers import Body
from tests.support.asking import report, report_answer, stated
from tests.support.command_line import Jackpot, calling, program
from tests.support.world import World

pytestmark = pytest.mark.slow

GROUPED: Final = {"contributions": ("table", "day"), "pool-movements": ("cycle",)}
"""What reports are summed by besides what is usual, those that can be."""


@pytest.fixture
def jackpot(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Iterator[Jackpot]:
    """Give the test the program, calling the world's service as finance of the house."""
    monkeypatch.setenv("JACKPOT_KEY", world.person("Fay", Role.FINANCE))
    with calling(monkeypatch, world.app):
        yield program(monkeypatch, capsys, database_url)


def questions() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every report, and what it is to be summed by: as usual, and otherwise."""
    for name in REPORTS:
        yield name, ()
    yield from GROUPED.items()


def workbook(world: World, name: str, **query: str) -> dict[str, workbooks.Sheet]:
    headers = {"Authorization": f"Bearer {world.person('Fay', Role.FINANCE)}"}
    path = f"/v1/reports/{name}?{urlencode({'format': 'xlsx', **query})}"
    with world.app.test_client().get(path, headers=headers) as response:
        assert response.status_code == 200
        return workbooks.read(response.get_data())


@pytest.mark.long
def test_every_door_and_format_has_the_same_figures_and_they_add_up(
    world: World, jackpot: Jackpot, tmp_path: Path
) -> None:
    play_everything(world)
    end = world.clock()
    at = f"{end:%Y-%m-%dT%H:%M:%SZ}"
    assert GROUPED.keys() == {name for name, report_ in REPORTS.items() if report_.by}
    documents: dict[str, Body] = {}
    for name, by in questions():
        needed = stated(REPORTS[name])
        query = {"as_of": at, **needed, **({"by": ",".join(by)} if by else {})}
        # The first to ask fixes the instant, so that the clock of the command line does not matter.
        document = report(world, name, **query)
        documents.setdefault(name, document)
        for section in document["sections"]:
            assert section["rows"], f"{section['name']} of {name} shows nothing by which formats could differ"
        equations.require(name, sections(document))

        formats.require_workbook(workbook(world, name, **query), document)
        options = [f"--casino={casino_id}" for casino_id in needed.values()] + [f"--by={grouping}" for grouping in by]
        show = ("reports", "show", name, "--as-of", at, *options)
        formats.require_terminal(jackpot(*show).ok(), document)
        path = tmp_path / "report.xlsx"
        assert jackpot(*show, "--format", "xlsx", "--output", str(path)).ok() == ""
        formats.require_workbook(workbooks.read(path.read_bytes()), document)
        for section in document["sections"]:
            over_http = report_answer(world, name, format="csv", section=section["name"], **query)
            assert over_http.headers["Content-Type"] == files.CSV_TYPE
            formats.require_csv(over_http.text, section)
            formats.require_csv(jackpot(*show, "--format", "csv", "--section", section["name"]).ok(), section)
    held = [row["held_awards"] for row in sections(documents["casino-statement"])["accounts"]]
    assert any(held), "no award is held at the end"
    assert {row["currency"] for row in sections(documents["fx"])["currencies"]} == formats.DECIMALS.keys() - {"EUR"}
    equations.require_one_balance({name: sections(document) for name, document in documents.items()})


def sections(document: Body) -> equations.Sections:
    return {section["name"]: section["rows"] for section in document["sections"]}
