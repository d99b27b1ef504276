"""Reports on pages: each says what the report says, to the digit, to those who may read it; files are the API's."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape
from math import floor
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from jackpot_service.database import long_lists
from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.principals import Role
from jackpot_service.pages import reports as screen
from jackpot_service.pages.report_words import ABOUT
from jackpot_service.reports.finance.registry import REPORTS
from tests.reports.finance.play import play_everything
from tests.support.answers import Body
from tests.support.asking import stated
from tests.support.bets import bet
from tests.support.clock import Clock
from tests.support.hands import FLUSH, hand
from tests.support.page_tables import Cell, tables_of
from tests.support.page_text import content_of, links_of
from tests.support.visitor import COOKIE, Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

READERS: Final = (Role.FINANCE, Role.AUDITOR)
BALANCE: Final = "/reports/trial-balance"
NEVER: Final = "2126-01-01"


@pytest.fixture
def played(world: World) -> World:
    """A round that was won at c1, and a casino c2 that has a table and has played nothing."""
    world.open(base_amount="1000")
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    world.bet(bet("a", currency="GBP"), bet("b", hand="2"))
    world.settle(hand("1", FLUSH), hand("2"))
    return world


def carl(world: World, casino_id: str = "c1") -> Visitor:
    """Somebody of a casino's finance."""
    return Visitor(world).sign_in(key=world.key(Role.FINANCE, casino_id=casino_id))


def question(name: str, **more: str) -> str:
    return urlencode({**stated(REPORTS[name]), **more})


def bytes_of(world: World, path: str, visitor: Visitor | None = None) -> bytes:
    """A file as it comes, from a page or from the API."""
    headers = (
        {"Authorization": f"Bearer {world.key(Role.AUDITOR)}"}
        if visitor is None
        else {"Cookie": f"{COOKIE}={visitor.cookies[COOKIE]}"}
    )
    with world.app.test_client(use_cookies=False).get(path, headers=headers) as response:
        assert response.status_code == 200, response.get_data(as_text=True)
        content: bytes = response.get_data()
        return content


def text_of_value(value: Any) -> str:
    return "" if value is None else str(value)


def require_alike(shown: list[list[Cell]], section: Body) -> None:
    """The rows of a page are those of the API, every value of them; amounts are cut to their currency's decimals."""
    assert [[cell.exact for cell in row] for row in shown] == [
        [text_of_value(row[column["name"]]) for column in section["columns"]] for row in section["rows"]
    ]
    for row, cells in zip(section["rows"], shown, strict=True):
        for column, cell in zip(section["columns"], cells, strict=True):
            if column["type"] == "amount" and row[column["name"]] is not None:
                currency = column["currency"] or row[column["currency_in"]]
                exponent = CURRENCIES[currency].exponent
                written = cell.text.strip().removeprefix(f"{currency}\N{NO-BREAK SPACE}")
                number = Decimal(written.replace(",", "").replace("\N{MINUS SIGN}", "-"))
                assert number.scaleb(exponent) == floor(Decimal(row[column["name"]]).scaleb(exponent))


# What they say.


@pytest.mark.long
def test_each_report_is_on_its_page_to_the_digit(world: World) -> None:
    play_everything(world)
    visitor = Visitor(world).sign_in(Role.AUDITOR)
    at = f"{world.clock():%Y-%m-%dT%H:%M:%SZ}"
    for name in REPORTS:
        document = world.get(f"/v1/reports/{name}?{question(name, as_of=at)}").ok()
        first = tables_of(visitor.open(f"/reports/{name}?{question(name, as_of=at)}").text)
        assert list(first) == [section["name"] for section in document["sections"]]
        for section in document["sections"]:
            require_alike(first[section["name"]], {**section, "rows": section["rows"][: screen.ROWS_OF_EACH]})
            shown: list[list[Cell]] = []
            path: str | None = f"/reports/{name}?{question(name, as_of=at, section=section['name'])}"
            while path is not None:
                page = visitor.open(path).text
                shown += tables_of(page)[section["name"]]
                following = re.search(r'href="([^"]+)" rel="next"', page)
                path = None if following is None else unescape(following[1])
            require_alike(shown, section)
        page = content_of(visitor.open(f"/reports/{name}?{question(name, as_of=at)}").text)
        for words in (document["title"], document["signs"] or "", f"version {document['report_version']}"):
            assert words in page


@pytest.mark.parametrize("name", ["rounds", "awards", "payables"])
def test_a_page_shows_the_beginning_of_a_long_list_and_the_sections_after_it(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A long list is read a page ahead: what is left of it must not stand between the books and the next section."""
    monkeypatch.setattr(long_lists, "PAGE", 2)
    monkeypatch.setattr(screen, "ROWS_OF_EACH", 3)
    world.open(base_amount="1000")
    for number in range(9):
        world.bet(bet(f"b{number}"), round_id=f"r{number}")
        world.settle(hand("1", FLUSH), round_id=f"r{number}")

    answer = Visitor(world).sign_in().open(f"/reports/{name}?{question(name)}")

    assert answer.status == 200
    sections = tables_of(answer.text)
    answered = world.get(f"/v1/reports/{name}").ok()["sections"]
    assert list(sections) == [section["name"] for section in answered if section["rows"]]
    assert max(map(len, sections.values())) == 3


@pytest.mark.parametrize("role", READERS)
def test_reports_are_listed_as_the_api_lists_them(played: World, role: Role) -> None:
    visitor = Visitor(played).sign_in(role)
    listed = {item["name"]: item["title"] for item in played.get("/v1/reports", role=role).ok()["items"]}
    page = visitor.open("/reports")
    assert {f"/reports/{name}" for name in listed} <= links_of(page.text)
    assert all(ABOUT[name] in content_of(page.text) for name in listed)
    assert all(title in content_of(page.text) for title in listed.values())


def test_amounts_can_be_shown_exact(played: World) -> None:
    visitor = Visitor(played).sign_in()
    path = "/reports/liability?section=totals"
    (row,) = tables_of(visitor.open(path).text)["totals"]
    (exact,) = tables_of(visitor.open(f"{path}&exact=true").text)["totals"]
    assert [cell.exact for cell in row] == [cell.exact for cell in exact]
    assert [cell.text for cell in row] != [cell.text for cell in exact]
    assert exact[-1].text.replace(",", "") == exact[-1].exact


def test_a_page_as_of_an_instant_says_the_same_whatever_comes_later(played: World) -> None:
    visitor = Visitor(played).sign_in()
    played.clock.advance(timedelta(seconds=1))
    at = f"{played.clock():%Y-%m-%dT%H:%M:%S.%fZ}"
    before = tables_of(visitor.open(f"{BALANCE}?as_of={at}").text)
    played.bet(bet("later"), round_id="later")
    assert tables_of(visitor.open(f"{BALANCE}?as_of={at}").text) == before
    assert "As of 20 Nov 2026" in content_of(visitor.open(f"{BALANCE}?as_of={at}").text)


def test_a_page_leads_to_itself_as_of_the_instant_at_which_it_was_made(played: World) -> None:
    visitor = Visitor(played).sign_in()
    (as_of,) = (link for link in links_of(visitor.open(BALANCE).text) if "as_of=" in link)
    assert "as of this instant" not in visitor.open(as_of).text


def test_a_report_of_a_closed_period_shows_its_hash(played: World) -> None:
    played.clock.advance(timedelta(days=2))
    body = {"request_id": "p", "reason": "r", "to": "2026-11-21"}
    closed = played.post("/v1/closed-periods", body, key=played.person("Fay", Role.FINANCE)).ok(201)
    page = content_of(Visitor(played).sign_in().open(f"{BALANCE}?to=2026-11-21").text)
    assert closed["reports"]["trial-balance"]["sha256"] in page


# The form.


def test_a_form_takes_what_the_report_takes(played: World) -> None:
    visitor = Visitor(played).sign_in()
    for name, report in REPORTS.items():
        page = visitor.open(f"/reports/{name}").text
        fields = set(re.findall(r'<(?:input|select) id="(\w+)"', page)) | ({"by"} if 'name="by"' in page else set())
        taken = {str(parameter) for parameter in report.optional | report.required}
        assert fields == {"from", "to", "as_of", "jackpot_id"} | taken, name


def test_a_report_that_needs_something_asks_for_it(played: World) -> None:
    page = Visitor(played).sign_in().open("/reports/casino-statement")
    assert page.status == 200
    assert "Fill in the form above." in content_of(page.text)
    assert "required" in page.text


def test_a_form_that_states_several_groupings_leads_to_the_address_of_the_api(played: World) -> None:
    answer = Visitor(played).sign_in().open("/reports/contributions?from=&by=jackpot&by=day&casino_id=")
    assert (answer.status, answer.headers["Location"]) == (303, "/reports/contributions?by=jackpot%2Cday")


BY_LISTS: Final = ("casino", "casino,day", "casino,table", "jackpot")


@pytest.mark.parametrize("by", [*BY_LISTS, "currency", "casino,currency", "month", "table,day"])
def test_a_count_of_bets_leads_to_so_many_bets_or_nowhere(played: World, by: str) -> None:
    visitor = Visitor(played).sign_in()
    head, *rows = tables_of(visitor.open(f"/reports/contributions?by={by}").text)["contributions"]
    counts = [row[len(by.split(",")) + 1] for row in (head, *rows)]
    assert all(len(cell.links) == (by in BY_LISTS) for cell in counts), counts
    for cell in counts:
        for link in cell.links:
            assert len(tables_of(visitor.open(unescape(link)).text)["bets"]) == int(cell.exact)


@pytest.mark.parametrize(
    ("query", "status", "code", "field"),
    [
        ("from=2026-11-20&to=2026-11-19", 422, "question-invalid", "to"),
        ("from=2026-11-20T10:00:00Z&as_of=2026-11-20T09:00:00Z", 422, "question-invalid", "as_of"),
        (f"to={NEVER}", 422, "instant-ahead", "to"),
        (f"as_of={NEVER}T00:00:00Z", 422, "instant-ahead", "as_of"),
        (f"from={NEVER}", 422, "instant-ahead", "from"),
        ("jackpot_id=j9", 404, "jackpot-unknown", "jackpot_id"),
        ("from=yesterday", 422, "validation", "from"),
        ("as_of=2026-11-20", 422, "validation", "as_of"),
        ("jackpot_id=%22%3E%3Cscript%3E", 422, "validation", "jackpot_id"),
        ("section=none", 422, "question-invalid", ""),
        ("casino_id=c1", 422, "question-invalid", ""),
    ],
)
def test_a_refusal_stands_at_its_field_in_the_words_of_the_api(
    played: World, query: str, status: int, code: str, field: str
) -> None:
    problem = played.get(f"/v1/reports/trial-balance?{query}").problem(status, code)
    answer = Visitor(played).sign_in(Role.AUDITOR).open(f"{BALANCE}?{query}")
    assert answer.status == status
    message = problem["errors"][0]["detail"] if "errors" in problem else problem["detail"]
    if field:
        shown = re.search(rf'<span class="error" id="{field}-error" role="alert">([^<]*)</span>', answer.text)
        assert shown is not None
        assert unescape(shown[1]) == message
        assert f'aria-describedby="{field}-error"' in answer.text
    else:
        assert f'<p class="wrong" role="alert">{message}</p>' in unescape(answer.text)
    assert "<script>" not in answer.text.partition("<main")[2]
    assert tables_of(answer.text) == {}


def test_refusals_of_other_reports_stand_at_their_fields(played: World) -> None:
    visitor = Visitor(played).sign_in()
    for path, field in (
        ("/reports/contributions?casino_id=c9", "casino_id"),
        ("/reports/contributions?table_id=T9", "table_id"),
        ("/reports/rounds?round_id=r9", "round_id"),
        ("/reports/contributions?by=cycle", "by"),
        ("/reports/postings?currency=XXX", "currency"),
        ("/reports/postings?movement=theft", "movement"),
    ):
        answer = visitor.open(path)
        assert answer.status in {404, 422}, path
        assert f'id="{field}-error"' in answer.text, path


# Who sees them.


def test_only_finance_and_auditors_read_reports(played: World) -> None:
    for role in (Role.OPERATOR, Role.RATES):
        visitor = Visitor(played).sign_in(role)
        for path in ("/reports", BALANCE, f"{BALANCE}/file?format=csv", "/statements", "/exports", "/closed-periods"):
            assert visitor.open(path).status == 404, path
    assert Visitor(played).open(BALANCE).status == 303


def test_finance_of_a_casino_sees_reports_for_casinos_and_its_own_figures_only(played: World) -> None:
    visitor = carl(played, "c2")
    listed = {path for path in links_of(visitor.open("/reports").text) if path.startswith("/reports/")}
    assert listed == {f"/reports/{name}" for name, report in REPORTS.items() if report.is_for_casinos}
    for name, report in REPORTS.items():
        for path in (f"/reports/{name}", f"/reports/{name}/file?format=csv"):
            answer = visitor.open(path)
            assert answer.status == (200 if report.is_for_casinos else 404), path
            assert "player-of" not in answer.text
    other = visitor.open("/reports/rounds?casino_id=c1")
    assert (other.status, tables_of(other.text)) == (404, {})
    assert "There is no casino c1." in content_of(other.text)
    assert visitor.open("/reports/rounds/file?casino_id=c1&format=csv").status == 404


def test_a_report_that_is_none_is_not_there(played: World) -> None:
    assert Visitor(played).sign_in().open("/reports/profit").status == 404


# Files.


@pytest.mark.parametrize("name", REPORTS)
def test_files_are_those_of_the_api_byte_by_byte(played: World, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    visitor = Visitor(played).sign_in(Role.AUDITOR)
    page = visitor.open(f"/reports/{name}?{question(name)}").text
    monkeypatch.setattr(Clock, "__call__", lambda clock: clock.at)  # Both say when they were made.
    files = {link for link in links_of(page) if link.startswith(f"/reports/{name}/file")}
    formats = {re.search(r"format=(\w+)", link)[1] for link in files}  # type: ignore[index]
    assert formats == {"csv", "xlsx", "json"}
    for link in files:
        query = link.partition("?")[2]
        assert bytes_of(played, link, visitor) == bytes_of(played, f"/v1/reports/{name}?{query}"), link


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_file_has_the_headers_of_a_page_and_its_name(played: World, form: str) -> None:
    answer = Visitor(played).sign_in().open(f"{BALANCE}/file?format={form}")
    named = rf'attachment; filename="trial-balance-20261120T\d{{6}}Z\.{form}"'
    assert re.fullmatch(named, answer.headers["Content-Disposition"])
    assert answer.headers["Cache-Control"] == "private, no-store"


def test_a_file_that_cannot_be_is_a_problem_in_the_frame(played: World) -> None:
    visitor = Visitor(played).sign_in()
    for query, status in (("format=pdf", 422), ("format=csv&from=never", 422), (f"format=csv&to={NEVER}", 422)):
        answer = visitor.open(f"{BALANCE}/file?{query}")
        assert (answer.status, answer.media_type) == (status, "text/html")


# Long ones.


@pytest.fixture
def shorter(played: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Pages that show two rows of all sections, and three of one; the API holds eight."""
    for number in range(9):
        played.bet(bet(f"b{number}"), round_id=f"r{number}-more")
    monkeypatch.setattr(screen, "ROWS_OF_EACH", 2)
    monkeypatch.setattr(screen, "ROWS_A_PAGE", 3)
    monkeypatch.setattr(screen, "MOST_ROWS", 8)
    return played


def test_a_long_section_is_shown_from_its_beginning_and_leads_to_the_rest(shorter: World) -> None:
    visitor = Visitor(shorter).sign_in()
    page = visitor.open("/reports/rounds").text
    assert len(tables_of(page)["rounds"]) == 2
    assert "/reports/rounds?section=rounds" in links_of(page)
    rows = []
    path = "/reports/rounds?section=rounds"
    for _ in range(3):
        page = visitor.open(path).text
        rows += [(row[4].exact, row[10].exact) for row in tables_of(page)["rounds"]]
        following = re.search(r'href="([^"]+)" rel="next"', page)
        path = "" if following is None else unescape(following[1])
    assert path == ""
    assert len(rows) == len(set(rows)) == 9
    assert "A page shows the first 8 rows." in content_of(page)
    assert "/reports/rounds/file?section=rounds&format=csv" in links_of(page)


@pytest.mark.parametrize("place", ["x", "-1", "99999", "8", "1e3", "\N{ARABIC-INDIC DIGIT THREE}"])
def test_a_place_that_is_none_is_the_beginning(shorter: World, place: str) -> None:
    page = Visitor(shorter).sign_in().open(f"/reports/rounds?section=rounds&first={place}").text
    assert "rows 1 to 3" in content_of(page)


def test_hostile_names_are_only_text(world: World) -> None:
    name = "w" * 64
    world.open(base_amount="1000", jackpot_id=name, tables=(name,))
    world.bet(bet(name, player_id=name, hand=name), round_id=name, table_id=name)
    page = Visitor(world).sign_in().open("/reports/rounds").text
    assert tables_of(page)["bets"][0][6].text == name
