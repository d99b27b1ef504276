"""The cursor of a list is of this list and its filters, as it was given: any other is refused, and nothing skipped."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import flask
import pytest
from marshmallow import ValidationError

from jackpot_service.api import lists
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.fields import CurrencyCodes, Flag, Identifier
from tests.support.bets import bet
from tests.support.contract import DOCUMENT
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.world import World

EVENTS: Final = "/v1/events"
"""Their cursors are positions in every stripe, with a checksum of their own."""

FILLED: Final[Mapping[str, Sequence[str]]] = {
    "/v1/audit": ["principal=cli", "from=2026-01-01T00:00:00Z"],
    "/v1/awards": ["jackpot_id=j1", "casino_id=c1", "player_id=ann"],
    "/v1/casinos": [],
    "/v1/change-requests": ["state=pending"],
    "/v1/exceptions": ["kind=late-bet", "table_id=T1"],
    "/v1/jackpots": [],
    "/v1/jackpots/j1/hits": [],
    "/v1/jobs": ["state=queued"],
    "/v1/keys": [],
    "/v1/players/ann/bets": ["jackpot_id=j1", "casino_id=c1"],
    "/v1/rate-sheets?base=EUR": [],
    "/v1/rates/histories?base=EUR&currency=GBP": [],
    "/v1/rates/history?base=EUR&currency=GBP": [],
    "/v1/reconciliations": [],
    "/v1/rounds": ["table_id=T1", "ended=true", "state=settled"],
    "/v1/stripe-heads": [],
    "/v1/tables": ["casino_id=c1", "jackpot_id=j1"],
    "/v1/tables/T1/rounds": ["from=2026-01-01T00:00:00Z"],
}
"""Lists of several items in the world of these tests, and filters that some of them have."""

EMPTY: Final = ["/v1/closed-periods", "/v1/passkeys", "/v1/seals", "/v1/verification-runs", "/v1/verifications"]
"""Lists of which it has none: they refuse the cursors of all others."""

WHOLE: Final = {"jackpot_id": "j1", "format": "hledger"}
ADJUSTMENT: Final = {"jackpot_id": "j1", "account": "meter", "amount": "1", "document": "d", "cause": "count-error"}


@pytest.fixture
def filled(world: World) -> World:
    world.add_casino("c2")
    world.publish(GBP="1.18")
    world.publish(GBP="1.19")
    world.open(base_amount="1000", tables=("T1", "T2"))
    world.open(jackpot_id="j2", tables=())
    for number in range(3):
        round_id = f"r{number}"
        world.bet(bet(f"b{number}", player_id="ann"), round_id=round_id)
        world.settle(hand("1", ROYAL_FLUSH), round_id=round_id)
        world.post_bets(bet("late"), round_id=round_id).problem(409, "round-settled")
        world.ask("adjustment", ADJUSTMENT, request_id=f"q{number}").ok(201)
        world.ask_job(WHOLE, request_id=f"job{number}").ok(201)
        world.key_of(Principal(f"person {number}", Role.AUDITOR))
    return world


def read(world: World, path: str, query: str) -> Any:
    joined = f"{path}{'&' if '?' in path else '?'}{query}"
    return world.get(joined)


def refuse(world: World, path: str, query: str) -> None:
    read(world, path, query).problem(422, "validation", "?after")


def test_every_list_of_the_contract_is_tried() -> None:
    lists = {
        path
        for path, methods in DOCUMENT["paths"].items()
        if "after" in {parameter.get("name") for parameter in methods.get("get", {}).get("parameters", ())}
    }
    tried = {path.partition("?")[0] for path in (*FILLED, *EMPTY)}
    names = {"/players/ann/": "/players/{player_id}/", "/T1/": "/{table_id}/", "/j1/": "/{jackpot_id}/"}
    for id_, name in names.items():
        tried = {path.replace(id_, name) for path in tried}
    assert tried == lists - {EVENTS}


def test_a_cursor_that_was_changed_or_cut_is_refused(filled: World, subtests: pytest.Subtests) -> None:
    for path in FILLED:
        with subtests.test(path):
            first = read(filled, path, "limit=1").ok()
            cursor = first["next"]
            assert cursor is not None, path
            for at, sign in enumerate(cursor):
                refuse(filled, path, f"after={cursor[:at]}{'1' if sign == '0' else '0'}{cursor[at + 1 :]}")
                refuse(filled, path, f"after={cursor[:at]}")
                refuse(filled, path, f"after={cursor[:at]}{cursor[at + 1 :]}")
            second = read(filled, path, f"limit=1&after={cursor}").ok()
            assert second["items"] not in ([], first["items"])


def test_a_cursor_of_another_list_is_refused(filled: World, subtests: pytest.Subtests) -> None:
    cursors = {path: read(filled, path, "limit=1").ok()["next"] for path in FILLED}
    filled.open(jackpot_id="j3", tables=())
    addresses = [*FILLED, *EMPTY, "/v1/jackpots/j3/hits", "/v1/tables/T2/rounds", "/v1/players/bob/bets"]
    for path, cursor in cursors.items():
        with subtests.test(path):
            for other in addresses:
                if other != path:
                    refuse(filled, other, f"after={cursor}")


def test_a_cursor_under_other_filters_is_refused(filled: World, subtests: pytest.Subtests) -> None:
    for path, filters in FILLED.items():
        for query in filters:
            with subtests.test(f"{path} {query}"):
                refuse(filled, path, f"{query}&after={read(filled, path, 'limit=1').ok()['next']}")
                cursor = read(filled, path, f"{query}&limit=1").ok()["next"]
                assert cursor is not None, query
                refuse(filled, path, f"after={cursor}")
                assert read(filled, path, f"{query}&limit=200&after={cursor}").ok()["items"]


class Filtered(lists.ListQuerySchema):
    """A list with a filter."""

    list_name = "filtered"

    table_id = Identifier(load_default=None)


class FilteredLater(Filtered):
    """The same list in a later version, with further filters that a call may leave out."""

    jackpot_id = Identifier(load_default=None)
    is_open = Flag(load_default=False)
    kinds = CurrencyCodes(load_default=tuple)


@pytest.mark.parametrize("filters", [{}, {"table_id": "T1"}])
def test_a_cursor_outlives_an_upgrade_that_adds_filters(filters: Mapping[str, str]) -> None:
    with flask.Flask(__name__).test_request_context():
        query = Filtered().load({**filters, "limit": "1"})
        after = lists.page(query, lambda *_: [], lists.cursor, read=lambda _: [1, 2])["next"]
        assert FilteredLater().load({**filters, "after": after})["after"] == 1
        assert FilteredLater().load({**filters, "is_open": "false", "after": after})["after"] == 1
        for other in ({"is_open": "true"}, {"jackpot_id": "j1"}, {"kinds": "EUR"}):
            with pytest.raises(ValidationError, match="of this list"):
                FilteredLater().load({**filters, **other, "after": after})
