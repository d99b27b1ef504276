"""The finance page: who sees it, its head, its instant, and its parts when something is amiss."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import event

from jackpot_service.domain.principals import Principal, Role
from tests.support import formats, workbooks
from tests.support.asking import report
from tests.support.bets import bet
from tests.support.finance_pages import AS_OF, PANELS, at, part, play, read_days, shown
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.page_text import content_of, links_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

PAGES = ("/finance", *(f"/finance/{panel}" for panel in PANELS))
WORKBOOK = "/finance/workbook"
READERS = (Role.FINANCE, Role.AUDITOR)


@pytest.fixture
def played(world: World) -> World:
    """A jackpot of five days; it is the noon of the last."""
    play(world)
    return world


@pytest.mark.parametrize("role", READERS)
@pytest.mark.parametrize("path", PAGES)
def test_finance_and_auditors_of_the_house_see_it(played: World, role: Role, path: str) -> None:
    assert Visitor(played).sign_in(role).open(path).status == 200


@pytest.mark.parametrize("path", [*PAGES, WORKBOOK])
def test_nobody_else_sees_it(played: World, path: str) -> None:
    for_casino = Visitor(played).sign_in(key=played.key_of(Principal("Cora", Role.FINANCE, "c1")))
    for visitor in (for_casino, Visitor(played).sign_in(Role.RATES), Visitor(played).sign_in(Role.OPERATOR)):
        assert visitor.open(path).status == 404
        assert "/finance" not in visitor.open("/account").text
    assert Visitor(played).open(path).status == 303


@contextmanager
def statements_of(world: World) -> Iterator[list[str]]:
    """Note each statement of the block."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(world.engine, "before_cursor_execute", note)
    yield statements
    event.remove(world.engine, "before_cursor_execute", note)


def test_the_head_names_the_panels_in_their_order_and_reads_no_book(played: World) -> None:
    visitor = Visitor(played).sign_in()
    with statements_of(played) as statements:
        page = shown(visitor, "").text

    places = [page.index(f'hx-get="/finance/{panel}?') for panel in PANELS]
    assert places == sorted(places)
    assert "EUR" not in content_of(page)
    assert 0 < len(statements) < 12
    for statement in statements:
        assert not re.search(r"\b(bets|days|entries|figures|past_days|postings|reconciled_days|rounds)\b", statement)


def test_every_address_of_the_page_has_its_instant(played: World) -> None:
    visitor = Visitor(played).sign_in()
    for panel in ("", *PANELS):
        page = shown(visitor, panel)
        own = {link for link in links_of(page.text) if link.startswith(("/finance?", "/finance/"))}
        pinned = {link for link in own if query_of(link).get("as_of") == [AS_OF]}
        assert own - pinned == {"/finance?jackpot=j1"}, "only the way to now has none"
        assert len(pinned) >= 1


def test_all_who_look_in_ten_seconds_have_one_instant(played: World) -> None:
    """Noting a new instant on each stripe makes bets wait."""
    visitor, pinned = Visitor(played).sign_in(), set[str]()
    for later in (timedelta(0), timedelta(microseconds=1), timedelta(seconds=1), timedelta(seconds=6)):
        played.clock.at = datetime(2026, 12, 5, 12, 30, tzinfo=UTC) + later
        links = links_of(visitor.open("/finance").text)
        pinned.update(instant for link in links for instant in query_of(link).get("as_of", []))

    assert len(pinned) == 1


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_is_read_once_for_all_who_look_as_of_one_instant(played: World, panel: str) -> None:
    """The books say the same for ever as of an instant, so nobody of the same role reads them again."""
    fay, fred = Visitor(played).sign_in(), Visitor(played).sign_in(key=played.person("Fred", Role.FINANCE))
    with statements_of(played) as first:
        read = part(fay, panel).text
    with statements_of(played) as second:
        assert part(fred, panel).text == read

    assert book_statements(first)
    assert bool(book_statements(second)) is (panel == "books")


def book_statements(statements: list[str]) -> list[str]:
    return [statement for statement in statements if re.search(r"\b(entries|days|reconciled_days)\b", statement)]


def test_as_of_twice_gives_the_same_whatever_comes_later(played: World) -> None:
    visitor = Visitor(played).sign_in()
    read_days(played)
    played.clock.at = at(5, 13)
    visitor.sign_in()
    as_of = "2026-12-05T12:30:00.000000Z"
    before = [content_of(shown(visitor, panel, as_of=as_of).text) for panel in ("", *PANELS)]
    parts = [part(visitor, panel, as_of=as_of).text for panel in PANELS]
    played.clock.at = at(7)
    played.bet(bet("a", stake_minor=5000), round_id="later")
    played.settle(hand("1", ROYAL_FLUSH), round_id="later")
    played.publish(GBP="1.30", SEK="0.09", JPY="0.007")
    read_days(played)
    played.start()  # A process that has cached nothing.

    visitor.sign_in()
    after = [content_of(shown(visitor, panel, as_of=as_of).text) for panel in ("", *PANELS)]

    made_at = re.compile(r"made at [^ ]+ [^ ]+ [^ ]+ [^ ]+ UTC")
    assert [made_at.sub("", page) for page in after] == [made_at.sub("", page) for page in before]
    assert [part(visitor, panel, as_of=as_of).text for panel in PANELS] == parts


def test_the_workbook_is_the_same_question_as_a_file(played: World) -> None:
    visitor = Visitor(played).sign_in()
    client = played.app.test_client()
    for name, value in visitor.cookies.items():
        client.set_cookie(name, value)
    path = f"{WORKBOOK}?jackpot=j1&days=30&as_of={AS_OF}"
    with client.get(path) as response:
        assert response.headers["Content-Disposition"].startswith('attachment; filename="finance-summary')
        sheets = workbooks.read(response.get_data())

    formats.require_workbook(
        sheets, report(played, "finance-summary", jackpot_id="j1", start="2026-11-06", as_of=AS_OF)
    )


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("days=0", "must be a whole number from 1 to 366"),
        ("days=%3Cscript%3E", "must be a whole number from 1 to 366"),
        ("as_of=yesterday", "as_of"),
        ("as_of=2027-01-01T00:00:00Z", "has not come yet"),
    ],
)
def test_a_query_that_is_wrong_is_said_at_its_field(played: World, query: str, message: str) -> None:
    visitor = Visitor(played).sign_in()
    for path in ("/finance", "/finance/held"):
        answer = visitor.open(f"{path}?{query}")
        assert answer.status == 422
        assert message in unescape(answer.text)
        assert "hx-get" not in answer.text
        assert "<script>" not in content_of(answer.text)
    assert visitor.open(f"/finance/workbook?{query}").status == 404


@pytest.mark.parametrize("path", ["/finance", "/finance/held"])
def test_after_an_error_the_form_is_as_it_was_typed(played: World, path: str) -> None:
    played.open(jackpot_id="j2", base_amount="1000", tables=())
    query = "jackpot=j2&days=7&as_of=yesterday"
    page = Visitor(played).sign_in().open(f"{path}?{query}").text
    assert "<option selected>j2</option>" in page
    assert "<option>j1</option>" in page
    assert re.search(r'name="days"[^>]* value="7"', page)
    assert re.search(r'name="as_of"[^>]* value="yesterday"', page)


@pytest.mark.parametrize("path", ["/finance?jackpot=none", "/finance/held?jackpot=none", "/finance/none"])
def test_a_jackpot_or_a_panel_that_is_not_there_is_answered_by_a_page(played: World, path: str) -> None:
    assert Visitor(played).sign_in().open(path).status == 404


@pytest.mark.parametrize("as_of", ["0001-01-01T00:00:00Z", "2026-11-30T00:00:00Z"])
def test_before_the_jackpot_was_opened_each_panel_says_that_nothing_is_there(played: World, as_of: str) -> None:
    visitor = Visitor(played).sign_in()
    for panel in PANELS:
        assert part(visitor, panel, as_of=as_of).status == 200
    assert "was not open at that instant" in content_of(shown(visitor, "figures", as_of=as_of).text)
    assert "Nothing to draw yet." in content_of(shown(visitor, "held", as_of=as_of).text)


def test_without_jackpots_the_page_says_what_will_be_here(world: World) -> None:
    page = content_of(Visitor(world).sign_in().open("/finance").text)
    assert "No jackpots yet." in page


def test_a_panel_that_cannot_be_read_says_why_and_can_be_asked_for_again(
    played: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = Visitor(played).sign_in()
    places = played.app.test_client().application.extensions["jackpot"].reports
    monkeypatch.setattr(places, "most", 0)
    monkeypatch.setattr(places, "at_most", 0)

    answer = part(visitor, "held")

    assert answer.status == 503
    assert answer.headers["Retry-After"]
    assert "As many reports as can be taken are in progress." in answer.text
    assert "data-again" in answer.text
    assert visitor.open("/finance").status == 200
    page = visitor.open(f"/finance/held?as_of={AS_OF}")
    assert (page.status, page.media_type) == (503, "text/html")
    assert "Try again" in page.text


def test_a_question_that_cannot_be_read_stands_in_the_place_of_its_panel(played: World) -> None:
    answer = part(Visitor(played).sign_in(), "held", jackpot="none")
    assert (answer.status, answer.headers["Jackpot-Part"]) == (404, "held")
    assert "data-again" in answer.text
    assert "<main" not in answer.text


def test_partial_reading_of_parts_needs_no_frame(played: World) -> None:
    for panel in PANELS:
        answer = part(Visitor(played).sign_in(), panel)
        assert answer.status == 200
        assert "<html" not in answer.text
        assert answer.headers["Vary"] == "HX-Request"


def query_of(link: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(link).query)


def test_days_may_be_any_number_and_an_instant_any_that_is_over(played: World) -> None:
    visitor = Visitor(played).sign_in()
    page = shown(visitor, "", days=4, as_of="2026-12-05T13:00:00%2B01:00")
    assert "2 Dec 2026 to 5 Dec 2026, as of 5 Dec 2026, 12:00:00 UTC" in content_of(page.text)
    links = {link for link in links_of(page.text) if link.startswith("/finance/held")}
    assert {tuple(query_of(link)["as_of"]) for link in links} == {(AS_OF,)}
