"""Every report says the same as JSON, as CSV and as a workbook, of a house in which everything happened."""

import csv
from datetime import timedelta
from io import StringIO
from urllib.parse import urlencode

from jackpot_service.domain.principals import Role
from jackpot_service.reports.files import csv_file
from jackpot_service.reports.finance.registry import REPORTS
from tests.reports.finance.play import Play
from tests.support import story, workbooks
from tests.support.asking import asked, report, stated
from tests.support.bets import bet
from tests.support.house import House


def play(house: House) -> None:
    history = Play(house, 40)
    history.open()
    history.go_on(60)
    story.require_whole(house)
    for _ in range(4):
        history.settle_statement()
    house.post_bets(bet("too-much", stake_minor=1_000_000), round_id="refused").problem(422, "stake-out-of-range")
    house.clock.advance(timedelta(hours=1))


def workbook(house: House, name: str, **query: str) -> dict[str, workbooks.Sheet]:
    headers = {"Authorization": f"Bearer {house.person('Fay', Role.FINANCE)}"}
    path = f"/v1/reports/{name}?{urlencode({'format': 'xlsx', **query})}"
    with house.app.test_client().get(path, headers=headers) as response:
        assert response.status_code == 200
        return workbooks.read(response.get_data())


def test_every_format_has_the_same_figures(house: House) -> None:
    play(house)
    end = house.clock()
    for name, one in REPORTS.items():
        needed = stated(one)
        document = report(house, name, as_of=end, **needed)
        sheets = workbook(house, name, as_of=f"{end:%Y-%m-%dT%H:%M:%SZ}", **needed)
        assert [*sheets] == ["head", *(section["name"] for section in document["sections"])]
        for section in document["sections"]:
            columns = [column["name"] for column in section["columns"]]
            shown = [["" if row[one] is None else str(row[one]) for one in columns] for row in section["rows"]]
            assert shown, f"{section['name']} of {name} shows nothing by which formats could differ"

            answer = asked(house, name, as_of=end, format="csv", section=section["name"], **needed)
            assert answer.headers["Content-Type"] == csv_file.MEDIA_TYPE
            assert list(csv.reader(StringIO(answer.text, newline=""))) == [columns, *shown]

            titles, *found = workbooks.texts(sheets[section["name"]])
            exact = [place for place, title in enumerate(titles) if f"{title} (exact)" not in titles]
            padded = [row + [""] * (len(titles) - len(row)) for row in found]
            assert [[row[place] for place in exact] for row in padded] == shown
