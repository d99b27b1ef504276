"""The reports of pools as they come out of every door, and what they refuse."""

import csv
import io
import re
from zipfile import ZipFile

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.asking import asked, report
from tests.support.chance import Chance
from tests.support.house import House

NAMES = ("meters", "liability", "pool-movements", "rtp", "hits")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_holds_the_figures_of_the_answer(house: House, name: str) -> None:
    Chance(house, 1).go_on(50)
    end = house.clock()
    document = report(house, name, as_of=end)

    for section in document["sections"]:
        answered = asked(house, name, as_of=end, format="csv", section=section["name"])
        read = list(csv.DictReader(io.StringIO(answered.text, newline="")))
        texts = [{key: "" if value is None else str(value) for key, value in row.items()} for row in section["rows"]]
        assert read == texts


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_workbook_with_a_sheet_for_each_section(house: House, name: str) -> None:
    Chance(house, 1).go_on(30)
    sections = [section["name"] for section in report(house, name)["sections"]]

    headers = {"Authorization": f"Bearer {house.person('Fay', Role.FINANCE)}"}
    found = house.app.test_client().get(f"/v1/reports/{name}?format=xlsx", headers=headers)

    assert found.status_code == 200
    with ZipFile(io.BytesIO(found.data)) as workbook:
        described = workbook.read("xl/workbook.xml").decode()
    assert re.findall(r'<sheet name="([^"]+)"', described) == ["head", *sections]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_houses_alone(house: House, name: str) -> None:
    own = house.key_of(Principal("Finn", Role.FINANCE, "c1"))

    house.get(f"/v1/reports/{name}", key=own).problem(403, "role-forbidden")
    assert house.get(f"/v1/reports/{name}", role=Role.AUDITOR).status == 200
    for role in (Role.TABLE, Role.RATES, Role.OPERATOR):
        assert house.get(f"/v1/reports/{name}", role=role).status == 403


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_question_is_a_clear_problem(house: House, name: str) -> None:
    house.open()

    asked(house, name, table_id="T1").problem(422, "question-invalid")
    asked(house, name, jackpot_id="j9").problem(404, "jackpot-unknown")
    asked(house, name, by="week").problem(422, "validation")
    asked(house, name, start="2026-11-02", end="2026-11-01").problem(422, "validation")
    asked(house, name, as_of="2036-01-01T00:00:00Z").problem(422, "instant-ahead")
    asked(house, name, format="csv", section="none").problem(422, "question-invalid")
