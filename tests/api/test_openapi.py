"""The service does what openapi.yaml says: requests made from it, wrong ones too, and every answer held against it."""

import hashlib
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, ROYAL_FLUSH, STRAIGHT_FLUSH, dead, hand
from tests.support.house import CYBER, RATES, House

OPENAPI: Final = Path(__file__).resolve().parents[2] / "openapi.yaml"
DOCUMENT: Final[dict[str, Any]] = yaml.safe_load(OPENAPI.read_text(encoding="utf-8"))

CURRENCIES: Final = ("EUR", *RATES)

Operation = APIOperation[Any, Any, Any, Any]

CONFORMANCE: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def operations() -> Mapping[str, Operation]:
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    return {result.ok().label: result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)}


OPERATIONS: Final = operations()


def made_sensible(case: Case[Any]) -> None:
    """Give a generated request ids, currencies and a count that a house takes; the rest stays as it was drawn."""
    for name in ("currency", "base"):
        if name in case.query:
            case.query[name] = "EUR"
    body: Any = case.body
    if not isinstance(body, dict):
        return
    for number, sent in enumerate(body.get("bets", ())):
        sent.update(bet(f"b{number}", currency=CURRENCIES[number % len(CURRENCIES)], stake_minor=number + 1))
    if "hands" in body:
        body["hands"] = [hand("1"), dead("2")]
    if "bet_count" in body:
        body |= {"bet_count": 0, "dealer": []}


AWARD: Final = "aw_" + hashlib.sha256(b"j1/T1/won/b1/flush").hexdigest()[:32]
"""The award of bet b1's flush in round `won`."""


def exercise(house: House, label: str, mode: GenerationMode, checks: list[Any], *, examples: int) -> set[int]:
    """
    Call an operation with generated requests, each for a round of its own, and hold the answers against checks.

    Every other request by the description is made sensible. Returns the statuses that were seen.
    """
    operation = OPERATIONS[label]
    role = Role.TABLE if operation.method.upper() != "GET" else Role.AUDITOR
    headers = {"Authorization": f"Bearer {house.key(role)}"}
    paths = {"table_id": "T1", "round_id": "r1", "jackpot_id": "j1", "award_id": AWARD}
    fixed = {parameter.name: paths[parameter.name] for parameter in operation.path_parameters}
    numbers = count()
    seen = set()

    @settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(mode, path_parameters=fixed, headers=headers))
    def send(case: Case[Any]) -> None:
        number = next(numbers)
        if "round_id" in case.path_parameters:
            case.path_parameters["round_id"] = f"r{number}"
        if mode is GenerationMode.POSITIVE and number % 2 == 0:
            made_sensible(case)
        response = case.call(app=house.app)
        seen.add(response.status_code)
        case.validate_response(response, checks=checks)

    send()
    return seen


@pytest.mark.parametrize("label", OPERATIONS)
def test_requests_by_the_description_are_answered_by_it(house: House, label: str) -> None:
    house.open(base_amount="1000")
    house.bet(bet(), round_id="r0")
    house.bet(bet(), round_id="won")
    house.settle(hand("1", FLUSH), round_id="won")

    seen = exercise(house, label, GenerationMode.POSITIVE, CONFORMANCE, examples=15)

    assert any(200 <= status < 300 for status in seen), seen


@pytest.mark.parametrize("label", [label for label, operation in OPERATIONS.items() if operation.body])
def test_requests_against_the_description_are_refused_by_it(house: House, label: str) -> None:
    house.open(base_amount="1000")

    exercise(house, label, GenerationMode.NEGATIVE, [*CONFORMANCE, negative_data_rejection], examples=40)


def play(house: House) -> None:
    """Bring about an answer of every shape: shared and owned hits, held and partial awards, refunds, refusals."""
    house.open(base_amount="5432.68065", settings={"held_threshold": "1000", "limit": "5434"})
    house.open(CYBER, jackpot_id="j2", tables=("C1",))
    house.bet(bet("a"), bet("b", hand="2", currency="GBP"), bet("c", hand="3", occurred_at="2026-11-20T09:00:00Z"))
    house.void("b", "unknown")
    house.settle(hand("1", ROYAL_FLUSH), hand("2"), dead("3", ("2c",)))
    house.bet(bet(), table_id="C1")
    house.settle(hand("1", STRAIGHT_FLUSH), table_id="C1")
    house.bet(bet(), round_id="open")
    house.bet(bet(), round_id="won")
    house.settle(hand("1", FLUSH), round_id="won")
    house.put_cancellation(round_id="cancelled", hands=[hand("1", FLUSH)], occurred_at="2026-11-20T09:00:00Z").ok(201)


WRITES: Final[Mapping[str, tuple[int, str, Body]]] = {
    "POST /v1/tables/{table_id}/rounds/{round_id}/bets": (201, "new/bets", {"bets": [bet(), bet("b2", hand="2")]}),
    "POST /v1/tables/{table_id}/rounds/{round_id}/voids": (200, "new/voids", {"bet_ids": ["b2", "b3"]}),
    "PUT /v1/tables/{table_id}/rounds/{round_id}/result": (
        201,
        "new/result",
        {"bet_count": 1, "hands": [hand("1", ROYAL_FLUSH), dead("2")]},
    ),
    "PUT /v1/tables/{table_id}/rounds/{round_id}/cancellation": (201, "newer/cancellation", {"reason": "misdeal"}),
    "PUT /v1/awards/{award_id}/payment": (
        201,
        f"/v1/awards/{AWARD}/payment",
        {"request_id": "p1", "reference": "slip", "paid_at": "2026-11-20T09:00:00Z"},
    ),
}
"""A body for each write, in the order in which they are sent, and the status when it comes for the first time."""

READS: Final = {
    "GET /v1/tables/{table_id}/rounds/{round_id}": (
        "/v1/tables/T1/rounds/r1",
        "/v1/tables/C1/rounds/r1",
        "/v1/tables/T1/rounds/open",
        "/v1/tables/T1/rounds/cancelled",
        "/v1/tables/T1/rounds/none",
    ),
    "GET /v1/tables/{table_id}/rounds": ("/v1/tables/T1/rounds", "/v1/tables/T1/rounds?limit=1"),
    "GET /v1/jackpots": ("/v1/jackpots",),
    "GET /v1/jackpots/{jackpot_id}": ("/v1/jackpots/j1", "/v1/jackpots/j2", "/v1/jackpots/none"),
    "GET /v1/jackpots/{jackpot_id}/meter": ("/v1/jackpots/j1/meter", "/v1/jackpots/j1/meter?currency=JPY"),
    "GET /v1/jackpots/{jackpot_id}/paytable": ("/v1/jackpots/j1/paytable", "/v1/jackpots/j2/paytable?currency=SEK"),
    "GET /v1/jackpots/{jackpot_id}/rules": ("/v1/jackpots/j1/rules", "/v1/jackpots/j2/rules"),
    "GET /v1/jackpots/{jackpot_id}/hits": ("/v1/jackpots/j1/hits", "/v1/jackpots/j2/hits"),
    "GET /v1/awards": ("/v1/awards", "/v1/awards?state=held&limit=1"),
    "GET /v1/awards/{award_id}": (f"/v1/awards/{AWARD}", "/v1/awards/none"),
    "GET /v1/rates": ("/v1/rates?base=EUR", "/v1/rates?base=USD"),
    "GET /healthz": ("/healthz",),
    "GET /readyz": ("/readyz",),
}

MISSING: Final = {
    "/v1/tables/T1/rounds/none": 404,
    "/v1/jackpots/none": 404,
    "/v1/awards/none": 404,
    "/v1/rates?base=USD": 422,
}
"""Of these, what is not there to be read."""


def test_every_operation_is_held_against_its_description_below() -> None:
    assert OPERATIONS.keys() == WRITES.keys() | READS.keys()


def test_answers_with_something_in_them_conform_to_the_description(house: House) -> None:
    play(house)
    house.add_casino("c2")
    client = house.app.test_client()
    server, stranger = house.key(Role.TABLE), house.key(Role.FINANCE, casino_id="c2")

    for label, (first_status, path, body) in WRITES.items():
        for sent, status in ((body, first_status), (body, 200), ({**body, "zzz": 1}, 422)):
            method = label.partition(" ")[0]
            headers = {"Authorization": f"Bearer {server}"}
            whole = path if path.startswith("/") else f"/v1/tables/T1/rounds/{path}"
            response = client.open(whole, method=method, json=sent, headers=headers)
            assert response.status_code == status, response.get_data(as_text=True)
            OPERATIONS[label].validate_response(response)
    for label, paths in READS.items():
        for path in paths:
            for key in (house.key(Role.AUDITOR), stranger, "none"):
                response = client.get(path, headers={"Authorization": f"Bearer {key}"})
                if key == house.key(Role.AUDITOR):
                    assert response.status_code == MISSING.get(path, 200), path
                OPERATIONS[label].validate_response(response)
