"""Each place of a request that is wrong is named: by a JSON pointer (RFC 6901) into the body, or by its parameter."""

from typing import Any, Final

import pytest

from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import hand
from tests.support.world import World

pytestmark = pytest.mark.slow

NAMES: Final = ("a/b", "a~b", "~1", "~01", "/", "~", "", " ", "é", "0", "_schema", "_schema/~")
"""Names of members that a pointer must escape, or may be taken to escape."""


def pointed_at(document: Any, pointer: str) -> Any:
    """What a pointer points at, as RFC 6901 says; written from its text, not from our code."""
    if not pointer:
        return document
    empty, *tokens = pointer.split("/")
    assert empty == "", pointer
    for token in tokens:
        name = token.replace("~1", "/").replace("~0", "~")
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


def errors_of(problem: Body) -> list[Body]:
    field_errors: list[Body] = problem["errors"]
    return field_errors


@pytest.mark.parametrize("name", NAMES)
def test_a_pointer_leads_to_the_member_that_is_wrong_whatever_its_name_is(world: World, name: str) -> None:
    world.open(base_amount="1000")
    wrong = {"this": "is wrong"}
    bodies: list[tuple[str, str, Body]] = [
        ("POST", "r1/bets", {"bets": [bet(), {**bet("b2"), name: wrong}]}),
        ("POST", "r1/voids", {"bet_ids": ["b1"], name: wrong}),
        ("PUT", "r1/result", {"bet_count": 1, "hands": [{**hand("1"), name: wrong}]}),
    ]
    for method, path, body in bodies:
        (error,) = errors_of(world.send(method, "T1", path, body).problem(422, "validation"))

        assert pointed_at(body, error["pointer"]) == wrong
        assert "parameter" not in error


@pytest.mark.parametrize("name", NAMES)
def test_a_pointer_leads_into_a_payload_and_into_the_parameters_of_a_job(world: World, name: str) -> None:
    wrong = {"this": "is wrong"}
    limits = {"jackpot_id": "j1", "table_id": "T1", name: wrong}
    (error,) = errors_of(world.ask("table-limits", limits).problem(422, "payload-invalid"))
    assert pointed_at({"payload": limits}, error["pointer"]) == wrong

    policy = {"requested_by": ["operator"], "decided_by": ["operator"]}
    policies = {"kinds": {name: policy}}
    (error,) = errors_of(world.ask("change-policy", policies).problem(422, "payload-invalid"))
    assert pointed_at({"payload": policies}, error["pointer"]) == policy

    rates = {"base": "EUR", "rates": {name: wrong}}
    (error,) = errors_of(world.ask("rate-sheet", rates).problem(422, "payload-invalid"))
    assert pointed_at({"payload": rates}, error["pointer"]) == wrong

    approval: Body = {"reason": "checked", "confirm": {name: wrong}}
    (error,) = errors_of(world.approve(**approval).problem(422, "validation"))
    assert pointed_at(approval, error["pointer"]) == wrong

    parameters = {"jackpot_id": "j1", "format": "hledger", name: wrong}
    (error,) = errors_of(world.ask_job(parameters).problem(422, "payload-invalid"))
    assert pointed_at({"parameters": parameters}, error["pointer"]) == wrong


def test_an_empty_pointer_is_the_whole_body(world: World) -> None:
    for body in (b"[]", b"1", b"null", b'"text"'):
        (error,) = errors_of(world.send("POST", "T1", "r1/voids", body).problem(422, "validation"))

        assert (error["pointer"], "parameter" in error) == ("", False), body


PARAMETERS: Final = (
    ("limit=0", "limit"),
    ("a/b=1", "a/b"),
    ("a~1b=1", "a~1b"),
    ("~=1", "~"),
    ("limit=1&limit=2", "limit"),
    ("=", ""),
)


@pytest.mark.parametrize(("query", "parameter"), PARAMETERS)
def test_a_parameter_is_named_and_has_no_place_in_the_body(world: World, query: str, parameter: str) -> None:
    problem = world.get(f"/v1/jackpots?{query}").problem(422, "validation")

    assert [(error["pointer"], error["parameter"]) for error in errors_of(problem)] == [("", parameter)]
    assert problem["detail"].startswith(f"{parameter or 'the query'} ")


def test_a_query_where_none_is_taken_is_named(world: World) -> None:
    (error,) = errors_of(world.get("/v1/me?a/b=1").problem(422, "validation"))

    assert (error["pointer"], error["parameter"]) == ("", "a/b")


def test_a_parameter_that_the_rules_refuse_is_named(world: World) -> None:
    world.open(base_amount="1000")
    problem = world.get("/v1/jackpots/j1/rules?stake_minor=1000000000").problem(422, "stake-out-of-range")

    assert [(error["pointer"], error["parameter"]) for error in errors_of(problem)] == [("", "stake_minor")]
