"""The reports of casinos say the same as JSON, as CSV and as a workbook."""

import csv
import io
import zipfile

import pytest

from jackpot_service.domain.principals import Role
from tests.reports.finance.play import Play
from tests.support.asking import asked, report
from tests.support.bets import bet
from tests.support.house import House

SECTIONS = [
    ("contributions", "contributions"),
    ("contributions", "totals"),
    ("casino-statement", "accounts"),
    ("casino-statement", "days"),
    ("casino-statement", "settled"),
    ("reconciliation", "summary"),
    ("reconciliation", "contributions"),
    ("reconciliation", "accounts"),
    ("fx", "currencies"),
    ("fx", "positions"),
    ("fx", "residue"),
    ("exceptions", "kinds"),
    ("exceptions", "exceptions"),
    ("exceptions", "open_rounds"),
]


@pytest.fixture
def played(house: House) -> House:
    play = Play(house, 40)
    play.open()
    play.go_on(60)
    house.post_bets(bet("too-much", stake_minor=1_000_000), round_id="refused").problem(422, "stake-out-of-range")
    return house


def test_every_section_says_the_same_in_every_format(played: House) -> None:
    then = played.clock()
    for name, section in SECTIONS:
        stated = {"casino_id": "c1"} if name == "casino-statement" else {}
        document = report(played, name, as_of=then, **stated)
        (shown,) = (one for one in document["sections"] if one["name"] == section)

        lines = list(
            csv.reader(io.StringIO(asked(played, name, as_of=then, format="csv", section=section, **stated).text))
        )

        assert lines[0] == [column["name"] for column in shown["columns"]], section
        assert len(lines) - 1 == len(shown["rows"])
        for line, row in zip(lines[1:], shown["rows"], strict=True):
            assert line == ["" if value is None else str(value) for value in row.values()], section


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in SECTIONS))
def test_a_workbook_has_a_sheet_for_each_section(played: House, name: str) -> None:
    casino = "casino_id=c1&" if name == "casino-statement" else ""
    client = played.app.test_client()
    key = played.person("Fay", Role.FINANCE)

    answer = client.get(f"/v1/reports/{name}?{casino}format=xlsx", headers={"Authorization": f"Bearer {key}"})

    assert answer.status_code == 200
    with zipfile.ZipFile(io.BytesIO(answer.data)) as workbook:
        sheets = [one for one in workbook.namelist() if one.startswith("xl/worksheets/sheet")]
    assert len(sheets) == 1 + len(report(played, name, **({"casino_id": "c1"} if casino else {}))["sections"])
