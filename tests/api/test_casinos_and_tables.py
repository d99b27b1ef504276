"""Casinos and tables over HTTP: to each key its own, added once under an id of the request, by operators alone."""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

import pytest
from marshmallow import Schema

from jackpot_service.api.casinos import CasinosQuerySchema
from jackpot_service.api.tables import TablesQuerySchema
from jackpot_service.domain.principals import Role
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.cursors import forged
from tests.support.fixtures import books_verify
from tests.support.hands import NOTHING, hand
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

CASINO: Final[Body] = {
    "request_id": "a1",
    "reason": "contract",
    "casino_id": "riga",
    "name": "Casino Riga",
    "zone": "Europe/Riga",
    "day_starts": "06:00",
}
TABLE: Final[Body] = {
    "request_id": "a2",
    "reason": "a new table",
    "table_id": "R1",
    "casino_id": "c1",
    "game": "caribbean-stud",
    "jackpot_id": "j1",
}


@pytest.fixture
def opened(world: World) -> World:
    """A jackpot with tables of two casinos, and a table without one."""
    world.open(base_amount="1000", tables=("T1", "T2"))
    world.add_casino("c2")
    world.add_table("T3", jackpot_id="j1", casino_id="c2")
    world.add_table("T4", casino_id="c2")
    return world


def post(world: World, path: str, body: Body, *, by: str = "Ann") -> Answer:
    return world.post(path, body, key=world.person(by, Role.OPERATOR))


def listed(world: World, path: str, **more: Any) -> list[str]:
    return [next(iter(item.values())) for item in world.get(path, **more).ok()["items"]]


# Reading.


def test_casinos_are_listed_by_id_each_key_of_a_casino_seeing_its_own(opened: World) -> None:
    post(opened, "/v1/casinos", CASINO).ok(201)

    assert listed(opened, "/v1/casinos") == ["c1", "c2", "riga"]
    assert listed(opened, "/v1/casinos", key=opened.key(Role.FINANCE, casino_id="c2")) == ["c2"]
    assert listed(opened, "/v1/casinos", key=opened.key(Role.TABLE, table_ids=("T1",))) == ["c1"]
    shown = {"casino_id": "riga", "name": "Casino Riga", "zone": "Europe/Riga", "day_starts": "06:00"}
    assert opened.get("/v1/casinos/riga").ok() == shown
    first = opened.get("/v1/casinos?limit=2").ok()["next"]
    assert opened.get(f"/v1/casinos?after={first}").ok() == {"items": [shown], "next": None}


def test_tables_are_listed_by_id_each_key_seeing_its_own(opened: World) -> None:
    assert listed(opened, "/v1/tables") == ["T1", "T2", "T3", "T4"]
    assert listed(opened, "/v1/tables?casino_id=c2") == ["T3", "T4"]
    after = opened.get("/v1/tables?jackpot_id=j1&limit=1").ok()["next"]
    assert listed(opened, f"/v1/tables?jackpot_id=j1&after={after}") == ["T2", "T3"]
    assert listed(opened, "/v1/tables", key=opened.key(Role.TABLE, table_ids=("T2",))) == ["T2"]
    of_casino = opened.key(Role.FINANCE, casino_id="c2")
    assert listed(opened, "/v1/tables", key=of_casino) == ["T3", "T4"]
    assert listed(opened, "/v1/tables?casino_id=c1", key=of_casino) == []
    assert opened.get("/v1/tables?limit=1").ok()["items"] == [
        {"table_id": "T1", "casino_id": "c1", "game": "caribbean-stud", "jackpot_id": "j1"}
    ]


@pytest.mark.parametrize(("path", "schema"), [("/v1/casinos", CasinosQuerySchema), ("/v1/tables", TablesQuerySchema)])
def test_pages_together_are_the_list_and_no_cursor_but_an_id_is_taken(
    opened: World, path: str, schema: type[Schema]
) -> None:
    whole, pages, after = listed(opened, path), [], ""
    while True:
        page = opened.get(f"{path}?limit=1{after}").ok()
        pages += [next(iter(item.values())) for item in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"

    assert pages == whole
    for place in ("", "a b", "x" * 65):
        opened.get(f"{path}?after={quote(forged(opened, path, schema, place))}").problem(422, "validation", "?after")
    assert opened.get(f"{path}?after={forged(opened, path, schema, 'zzz')}").ok() == {"items": [], "next": None}


def test_a_table_shows_the_stakes_that_it_takes_by_rules_rates_and_its_own_limits(opened: World) -> None:
    limits = {"jackpot_id": "j1", "table_id": "T1", "least_stake": "0.50", "largest_stake": "20"}
    opened.change("table-limits", limits)

    shown = opened.get("/v1/tables/T1").ok()
    terms = shown.pop("terms")

    assert shown == {
        "table_id": "T1",
        "casino_id": "c1",
        "game": "caribbean-stud",
        "jackpot_id": "j1",
        "open_rounds": {"items": [], "next": None},
    }
    sheet = terms.pop("rate_sheet")
    assert (sheet["base"], sheet["number"]) == ("EUR", 1)
    assert terms == {
        "state": "open",
        "is_accepting": True,
        "rules_version": 1,
        "hands_per_player": 1,
        "close_required": False,
        "limits_version": 1,
        "stakes": [
            {"currency": "EUR", "exponent": 2, "least_minor": 50, "largest_minor": 2000},
            {"currency": "GBP", "exponent": 2, "least_minor": 43, "largest_minor": 1709},
            {"currency": "JPY", "exponent": 0, "least_minor": 82, "largest_minor": 3278},
            {"currency": "SEK", "exponent": 2, "least_minor": 573, "largest_minor": 22909},
        ],
    }
    assert [stake["largest_minor"] for stake in opened.get("/v1/tables/T2").ok()["terms"]["stakes"]] == [
        10000,
        8547,
        16393,
        114547,
    ]


def test_the_bounds_that_a_table_shows_are_those_of_its_bets(opened: World) -> None:
    opened.change("table-limits", {"jackpot_id": "j1", "table_id": "T1", "least_stake": "0.50", "largest_stake": "20"})

    for number, terms in enumerate(opened.get("/v1/tables/T1").ok()["terms"]["stakes"]):
        least, largest, currency = terms["least_minor"], terms["largest_minor"], terms["currency"]
        for place, stake in enumerate((least, largest)):
            opened.post_bets(bet(currency=currency, stake_minor=stake), round_id=f"in-{number}-{place}").ok(201)
        for place, stake in enumerate((least - 1, largest + 1)):
            refused = opened.post_bets(bet(currency=currency, stake_minor=stake), round_id=f"out-{number}-{place}")
            refused.problem(422, "stake-out-of-range")


def test_where_a_token_is_the_stake_it_is_the_only_one(opened: World) -> None:
    opened.open(CYBER, jackpot_id="j2", tables=("C1",))

    assert opened.get("/v1/tables/C1").ok()["terms"]["stakes"] == [
        {"currency": "EUR", "exponent": 2, "least_minor": 100, "largest_minor": 100}
    ]


def test_without_a_rate_sheet_a_table_takes_no_stake_and_without_a_jackpot_it_has_no_terms(opened: World) -> None:
    opened.open(jackpot_id="j3", base="USD", tables=("U1",))

    terms = opened.get("/v1/tables/U1").ok()["terms"]
    assert (terms["rate_sheet"], terms["stakes"]) == (None, [])
    assert opened.get("/v1/tables/T4").ok()["terms"] is None
    assert opened.get("/v1/tables/T4").ok()["open_rounds"] == {"items": [], "next": None}


def test_a_suspended_jackpot_is_seen_at_its_tables(opened: World) -> None:
    body = {"request_id": "s1", "reason": "the display is wrong"}
    opened.put("/v1/jackpots/j1/suspension", body, key=opened.person("Ann", Role.OPERATOR)).ok(201)

    terms = opened.get("/v1/tables/T1").ok()["terms"]
    assert (terms["state"], terms["is_accepting"]) == ("suspended", False)


def test_the_open_rounds_of_a_table_are_those_that_wait_for_their_end(opened: World) -> None:
    for round_id in ("r1", "r2", "r3", "r4"):
        opened.bet(bet(), round_id=round_id)
    opened.bet(bet(), round_id="r9", table_id="T2")
    opened.settle(hand("1", NOTHING), round_id="r2")
    opened.cancel(round_id="r3")
    opened.put_closing(round_id="r1").ok(201)

    waiting = opened.get("/v1/tables/T1", key=opened.key(Role.TABLE)).ok()["open_rounds"]

    assert [(item["round_id"], item["state"], item["bet_count"]) for item in waiting["items"]] == [
        ("r4", "open", 1),
        ("r1", "closed", 1),
    ]
    assert waiting["next"] is None


def test_more_open_rounds_than_a_table_shows_are_listed_from_there_on(opened: World) -> None:
    for number in range(52):
        opened.bet(bet(), round_id=f"r{number}")

    shown = opened.get("/v1/tables/T1").ok()["open_rounds"]
    rest = opened.get(f"/v1/rounds?ended=false&table_id=T1&after={shown['next']}").ok()

    round_ids = [item["round_id"] for item in (*shown["items"], *rest["items"])]
    assert round_ids == [f"r{number}" for number in reversed(range(52))]
    assert (len(shown["items"]), rest["next"]) == (50, None)


def test_what_is_not_there_or_is_anothers_is_unknown(opened: World) -> None:
    stranger = opened.key(Role.FINANCE, casino_id="c2")
    for key in (None, stranger):
        opened.get("/v1/casinos/c9", key=key).problem(404, "casino-unknown")
        opened.get("/v1/tables/T9", key=key).problem(404, "table-unknown")
    opened.get("/v1/casinos/c1", key=stranger).problem(404, "casino-unknown")
    opened.get("/v1/tables/T1", key=stranger).problem(404, "table-unknown")
    opened.get("/v1/tables/T2", key=opened.key(Role.TABLE, table_ids=("T1",))).problem(404, "table-unknown")


# Adding.


def test_a_casino_is_added_once_under_its_request_id(opened: World) -> None:
    first = post(opened, "/v1/casinos", CASINO)
    before = opened.books.counts()

    assert first.ok(201) == post(opened, "/v1/casinos", CASINO).ok(200)
    assert post(opened, "/v1/casinos", CASINO | {"request_id": "other"}).ok(200) == first.body
    assert opened.books.counts() == before
    (act,) = opened.get("/v1/audit?request_id=a1").ok()["items"]
    assert (act["kind"], act["principal"], act["reason"], act["subject"]) == (
        "casino_added",
        "Ann",
        "contract",
        "casino riga",
    )


def test_a_table_is_added_once_under_its_request_id_and_takes_bets(opened: World) -> None:
    first = post(opened, "/v1/tables", TABLE)
    before = opened.books.counts()

    assert first.ok(201) == {name: TABLE[name] for name in ("table_id", "casino_id", "game", "jackpot_id")}
    assert post(opened, "/v1/tables", TABLE).ok(200) == first.body
    assert opened.books.counts() == before
    opened.bet(bet(), table_id="R1")
    (act,) = opened.get("/v1/audit?request_id=a2").ok()["items"]
    assert (act["kind"], act["principal"], act["jackpot_id"]) == ("table_added", "Ann", "j1")


CONFLICTS: Final = (
    ("/v1/casinos", CASINO, {"name": "Another"}, "request-conflict"),
    ("/v1/casinos", CASINO, {"reason": "another"}, "request-conflict"),
    ("/v1/casinos", CASINO, {"name": "Another", "request_id": "b1"}, "already-exists"),
    ("/v1/casinos", CASINO, {"day_starts": "00:00", "request_id": "b1"}, "already-exists"),
    ("/v1/tables", TABLE, {"table_id": "R2"}, "request-conflict"),
    ("/v1/tables", TABLE, {"casino_id": "c2"}, "request-conflict"),
    ("/v1/tables", TABLE, {"casino_id": "c2", "request_id": "b1"}, "already-exists"),
    ("/v1/tables", TABLE, {"jackpot_id": None, "request_id": "b1"}, "already-exists"),
)


@pytest.mark.parametrize(("path", "body", "changed", "code"), CONFLICTS)
def test_another_content_is_a_conflict_and_so_is_another_caller(
    opened: World, path: str, body: Body, changed: Body, code: str
) -> None:
    post(opened, path, body).ok(201)
    opened.person("Bob", Role.OPERATOR)
    before = opened.books.counts()

    post(opened, path, body | changed).problem(409, code)
    post(opened, path, body, by="Bob").problem(409, "request-conflict")
    assert opened.books.counts() == before


def test_a_request_id_belongs_to_one_act_of_any_kind(opened: World) -> None:
    post(opened, "/v1/casinos", CASINO).ok(201)

    post(opened, "/v1/tables", TABLE | {"request_id": "a1"}).problem(409, "request-conflict")


def test_a_zone_and_a_game_are_ones_that_there_are(opened: World) -> None:
    post(opened, "/v1/casinos", CASINO | {"zone": "Mars/Olympus"}).problem(422, "zone-unknown")
    post(opened, "/v1/tables", TABLE | {"game": "casino-holdem-2-hand"}).problem(422, "game-invalid")


WRONG: Final = (
    ("/v1/casinos", {"casino_id": "no id"}, 422, "validation"),
    ("/v1/casinos", {"name": " "}, 422, "validation"),
    ("/v1/casinos", {"name": "a\nb"}, 422, "validation"),
    ("/v1/casinos", {"name": None}, 422, "validation"),
    ("/v1/casinos", {"zone": "Riga"}, 422, "zone-unknown"),
    ("/v1/casinos", {"zone": "localtime"}, 422, "zone-unknown"),
    ("/v1/casinos", {"day_starts": "6:00"}, 422, "validation"),
    ("/v1/casinos", {"day_starts": "24:00"}, 422, "validation"),
    ("/v1/casinos", {"day_starts": 6}, 422, "validation"),
    ("/v1/casinos", {"reason": ""}, 422, "validation"),
    ("/v1/casinos", {"request_id": None}, 422, "validation"),
    ("/v1/casinos", {"more": 1}, 422, "validation"),
    ("/v1/tables", {"table_id": ""}, 422, "validation"),
    ("/v1/tables", {"game": "baccarat"}, 422, "validation"),
    ("/v1/tables", {"game": "casino-holdem-2-hand"}, 422, "game-invalid"),
    ("/v1/tables", {"casino_id": "c9"}, 404, "casino-unknown"),
    ("/v1/tables", {"jackpot_id": "j9"}, 404, "jackpot-unknown"),
)


def test_what_cannot_be_is_refused_and_nothing_is_written(opened: World, subtests: pytest.Subtests) -> None:
    opened.person("Ann", Role.OPERATOR)
    for path, changed, status, code in WRONG:
        with subtests.test(f"{path} {changed}"):
            before = opened.books.counts()

            post(opened, path, (CASINO if path == "/v1/casinos" else TABLE) | changed).problem(status, code)

            assert opened.books.counts() == before


@pytest.mark.parametrize(("path", "body"), [("/v1/casinos", CASINO), ("/v1/tables", TABLE)])
def test_nobody_but_an_operator_adds_anything(opened: World, path: str, body: Body) -> None:
    keys: Callable[[Role], str] = opened.key
    for role in set(Role) - {Role.OPERATOR}:
        opened.post(path, body, key=keys(role)).problem(403, "role-forbidden")
