"""A casino, a jackpot or a currency is chosen from a list: casinos by name, and only those that one may see."""

import re
from html import unescape

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.pages import choices
from tests.support.awarded import casino_finance
from tests.support.visitor import Visitor
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow


@pytest.fixture
def house(world: World) -> World:
    """Two casinos, each with a table of its own jackpot."""
    world.open(base_amount="1000")
    world.add_casino("c2")
    world.open(CYBER, jackpot_id="j2", base_amount="1000", tables=())
    world.add_table("T2", jackpot_id="j2", casino_id="c2", game="caribbean-stud")
    return world


def options_of(page: str, name: str) -> dict[str, str]:
    """What a list of the page offers: the words of each option by its value; nothing where the field is no list."""
    lists = re.findall(rf'<select id="{name}" name="{name}".*?</select>', page, re.DOTALL)
    assert len(lists) < 2
    options = re.findall(r'<option(?: value="([^"]*)")?([^>]*)>([^<]*)', "".join(lists))
    return {unescape(value or words): unescape(words) for value, _, words in options if value or words == value}


@pytest.mark.parametrize(
    ("role", "path"),
    [
        (Role.FINANCE, "/awards"),
        (Role.FINANCE, "/rounds"),
        (Role.FINANCE, "/exceptions"),
        (Role.FINANCE, "/reports/casino-statement"),
        (Role.AUDITOR, "/audit"),
        (Role.OPERATOR, "/set-up/tables"),
        (Role.OPERATOR, "/set-up/tables/new"),
        (Role.OPERATOR, "/set-up/keys/new"),
    ],
)
def test_a_casino_is_chosen_by_its_name_and_id(house: World, role: Role, path: str) -> None:
    page = Visitor(house).sign_in(role).open(path).text
    assert options_of(page, "casino_id") == {"c1": "c1: Casino c1", "c2": "c2: Casino c2"}


@pytest.mark.parametrize(
    ("role", "path"),
    [
        (Role.FINANCE, "/awards"),
        (Role.FINANCE, "/rounds"),
        (Role.FINANCE, "/exceptions"),
        (Role.FINANCE, "/reports/liability"),
        (Role.FINANCE, "/statements/c1"),
        (Role.AUDITOR, "/audit"),
        (Role.OPERATOR, "/set-up/tables"),
        (Role.OPERATOR, "/set-up/tables/new"),
    ],
)
def test_a_jackpot_is_chosen(house: World, role: Role, path: str) -> None:
    assert options_of(Visitor(house).sign_in(role).open(path).text, "jackpot_id") == {"j1": "j1", "j2": "j2"}


@pytest.mark.parametrize(
    ("role", "path"), [(Role.FINANCE, "/reports/postings"), (Role.OPERATOR, "/set-up/jackpots/new")]
)
def test_a_currency_is_chosen(house: World, role: Role, path: str) -> None:
    assert {"EUR", "JPY"} <= options_of(Visitor(house).sign_in(role).open(path).text, "currency").keys()


def test_somebody_of_a_casino_is_offered_their_own_alone(house: World) -> None:
    page = casino_finance(house, "c2").open("/rounds").text
    assert options_of(page, "casino_id") == {"c2": "c2: Casino c2"}
    assert options_of(page, "jackpot_id") == {"j2": "j2"}
    main = page.partition("<main")[2]  # The token in the frame is drawn: now and then it has such letters.
    assert "csrf_token" not in main
    assert "c1" not in main
    assert "j1" not in main


@pytest.mark.parametrize("path", ["/awards", "/rounds", "/reports/casino-statement"])
def test_a_casino_of_the_address_that_is_not_offered_stays_chosen(house: World, path: str) -> None:
    page = Visitor(house).sign_in().open(f"{path}?casino_id=elsewhere").text
    assert options_of(page, "casino_id")["elsewhere"] == "elsewhere"
    assert '<option value="elsewhere" selected>' in page


@pytest.mark.parametrize("path", ["/awards", "/reports/casino-statement", "/set-up/tables/new"])
def test_ids_are_typed_where_there_are_too_many_for_a_list(
    house: World, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(choices, "MOST_LISTED", 1)
    role = Role.OPERATOR if path.startswith("/set-up") else Role.FINANCE
    page = Visitor(house).sign_in(role).open(path).text
    assert not options_of(page, "casino_id")
    assert '<input id="casino_id" name="casino_id"' in page
