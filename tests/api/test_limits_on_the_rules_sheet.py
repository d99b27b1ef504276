"""Tables with limits of their own are on the rules sheet of their jackpot, as data and on the page."""

from html import unescape

import pytest

from jackpot_service.domain.languages import Language
from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Body
from tests.support.world import World

LIMITS = {
    "T1": {"least_stake": "1.5", "largest_stake": "20"},
    "T2": {"token": "2.50"},
    "T3": {"largest_stake": "10.0001"},
}


@pytest.fixture
def limited(world: World) -> World:
    """Three tables of c1 have limits, and one of c2; T5 has none."""
    world.open(base_amount="1000", tables=("T1", "T2", "T3", "T5"))
    world.add_casino("c2")
    world.add_table("T4", jackpot_id="j1", casino_id="c2")
    for table_id, limits in [*LIMITS.items(), ("T4", {"least_stake": "3"})]:
        limit(world, table_id, **limits)
    return world


def limit(world: World, table_id: str, **limits: str) -> None:
    payload = {"jackpot_id": "j1", "table_id": table_id, **limits}
    world.change("table-limits", payload, request_id=f"{table_id}-{'-'.join(limits) or 'none'}")


def tables(world: World, query: str = "", *, key: str | None = None) -> dict[str, Body]:
    path = f"/v1/jackpots/j1/rules?{query}"
    sheet = world.get(path).ok() if key is None else world.get(path, key=key).ok()
    return {table["table_id"]: table for table in sheet["tables"]}


def page(world: World, query: str = "") -> str:
    return unescape(world.get(f"/v1/jackpots/j1/rules.html?{query}").text)


def test_each_table_with_limits_has_them_in_the_base_currency_and_in_that_of_the_sheet(limited: World) -> None:
    by_table = tables(limited, "currency=GBP")

    assert list(by_table) == ["T1", "T2", "T3", "T4"]
    assert by_table["T1"] == {
        "table_id": "T1",
        "version": 1,
        "limits": {"token": None, "least_stake": "1.5", "largest_stake": "20"},
        "amounts": {"token": None, "least_stake": 129, "largest_stake": 1709},
        "text": "Table T1: a bet is worth at least 1.5 EUR, and at most 20 EUR.",
    }
    assert by_table["T2"]["text"] == "Table T2: a bet is one token of 2.5 EUR; no other currency is accepted."
    assert by_table["T3"]["text"] == "Table T3: a bet is worth at most 10.0001 EUR."
    assert by_table["T4"]["text"] == "Table T4: a bet is worth at least 3 EUR."
    assert tables(limited)["T3"]["amounts"] == {"token": None, "least_stake": None, "largest_stake": 1000}


@pytest.mark.parametrize("lang", Language)
def test_the_page_says_what_the_data_say(limited: World, lang: Language) -> None:
    texts = [value["text"] for value in tables(limited, f"lang={lang}").values()]

    text = page(limited, f"lang={lang}&currency=GBP")

    assert len(texts) == 4
    assert [sentence for sentence in texts if sentence not in text] == []
    title, amount = {
        Language.ENGLISH: ("<h2>Limits of single tables</h2>", "17.09 GBP"),
        Language.GERMAN: ("<h2>Grenzen einzelner Tische</h2>", "17,09 GBP"),
    }[lang]
    assert title in text
    assert f'<td class="figure">{amount}</td>' in text


def test_a_jackpot_without_limited_tables_says_nothing_of_them(limited: World) -> None:
    for table_id in [*LIMITS, "T4"]:
        limit(limited, table_id)

    assert tables(limited) == {}
    assert "Limits of single tables" not in page(limited)


def test_limits_change_no_version_of_the_rules(limited: World) -> None:
    before = limited.get("/v1/jackpots/j1/rules").ok()

    limit(limited, "T5", least_stake="5")

    after = limited.get("/v1/jackpots/j1/rules").ok()
    assert (after["version"], after["sha256"], after["text"]) == (before["version"], before["sha256"], before["text"])
    assert [table["table_id"] for table in after["tables"]] == ["T1", "T2", "T3", "T4", "T5"]


def test_a_key_with_a_casino_sees_the_tables_of_that_one(limited: World) -> None:
    assert list(tables(limited, key=limited.key(Role.TABLE))) == ["T1", "T2", "T3"]
    assert list(tables(limited, key=limited.key_of(Principal("Cora", Role.FINANCE, "c2")))) == ["T4"]
    of_one_table = limited.key(Role.TABLE, casino_id="c1", table_ids=("T2",))
    assert list(tables(limited, key=of_one_table)) == ["T2"]
