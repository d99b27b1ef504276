"""The service does what openapi.yaml says: requests made from it, wrong ones too, and every answer held against it."""

import base64
from collections.abc import Iterator, Mapping
from datetime import date
from functools import partial
from http import HTTPStatus
from itertools import count
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal, Role
from tests.properties.profile import CASES
from tests.support import ecb, signing_people
from tests.support.answers import Body
from tests.support.authenticator import Authenticator, body_of_credential
from tests.support.bets import bet
from tests.support.conforming import (
    CLOSING,
    EVIDENCE,
    OPERATIONS,
    PASSKEYS,
    PERIODS,
    SIGNING,
    key_for,
    world_with_issuer,
)
from tests.support.hands import FLUSH, dead, hand
from tests.support.operations import make_objects
from tests.support.world import RATES, World

pytestmark = pytest.mark.long


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    with world_with_issuer(database_url) as world:
        yield world


NEW_RATE: Final[Body] = {"base": "EUR", "rates": {"GBP": "1.18"}}
CURRENCIES: Final = ("EUR", *RATES)

OTHER_BASES: Final = ("USD", "CHF", "NOK", "DKK", "PLN", "AUD", "CAD", "NZD")
"""Base currencies that have no rate sheet."""

CONFORMANCE: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def made_sensible(case: Case[Any], number: int) -> None:
    """Give a generated request ids, currencies and a count that a world takes; the rest stays as it was drawn."""
    for name in ("currency", "base"):
        if name in case.query:
            case.query[name] = "EUR"
    if isinstance(case.body, dict):
        make_body_sensible(case.body, number)


def make_body_sensible(body: Body, number: int) -> None:
    if "payload" in body:
        body |= {"request_id": f"q{number}", "kind": "rate-sheet", "payload": NEW_RATE, "base_version": "1"}
    make_new_things_sensible(body, number)
    if body.get("kind") == "journal":
        body["parameters"] = {"jackpot_id": "own-jackpot", "format": "hledger"}
    if body.get("kind") == "verification":
        body["parameters"] = {"from": "zero"}
    body |= dict.fromkeys(body.keys() & {"occurred_at", "paid_at"})
    if "emergency" in body:
        body |= {"emergency": False, "confirm": {}}
    for place, sent in enumerate(body.get("bets", ())):
        sent.update(bet(f"b{place}", currency=CURRENCIES[place % len(CURRENCIES)], stake_minor=place + 1))
    if "hands" in body:
        body["hands"] = [hand("1"), dead("2")]
    if "bet_count" in body:
        body |= {"bet_count": 0, "dealer": []}


def make_new_things_sensible(body: Body, number: int) -> None:
    """The same for users, keys, tables, jackpots and first rate sheets."""
    if "subject" in body:
        body |= {"principal": f"user {number}", "role": "auditor", "casino_id": None, "subject": f"sub-{number}"}
    elif "principal" in body:
        body |= {"principal": f"server {body['request_id']}", "role": "table", "casino_id": "c1", "table_ids": []}
    if "game" in body:
        body |= {"table_id": f"new-{number}", "casino_id": "c1", "game": "caribbean-stud", "jackpot_id": None}
    if "rulebook" in body:
        body |= {"jackpot_id": f"new-{number}", "currency": "EUR", "base_amount": "20000"}
        body.pop("settings", None)
    if "document" in body:
        body |= {"base": "EUR", "document": base64.b64encode(ecb.document(date(2026, 11, 20))).decode()}
    elif "base" in body:
        body |= {"base": OTHER_BASES[number % len(OTHER_BASES)], "rates": {"EUR": "0.9"}}


def make_write_sensible(world: World, case: "Case[Any]", label: str, *, key: str | None, number: int) -> None:
    """The same for writes that need more than a body: a round with bets, the options of a passkey, or the time."""
    if label in {CLOSING, EVIDENCE}:  # The only writes that open no round.
        world.bet(bet(), **case.path_parameters)
    if label == CLOSING:
        case.body = {"bet_count": 1}
    if label == PERIODS:
        case.body = {"request_id": f"c{number}", "reason": "month end", "to": instant(world.clock())}
    if label == PASSKEYS:
        options = world.call("POST", f"{case.path}/options", key=key).ok()["publicKey"]
        credential = body_of_credential(Authenticator().make(options))
        case.body = {"request_id": f"p{number}", "name": "blue", "reason": "mine", "credential": credential}
    if label == EVIDENCE:
        world.settle(hand("1", FLUSH), **case.path_parameters)
        case.body = {"request_id": f"e{number}", "kind": "witness", "statement": "seen"}


def exercise(
    world: World, objects: Mapping[str, str], label: str, mode: GenerationMode, checks: list[Any], *, examples: int
) -> set[int]:
    """
    Call an operation with generated requests, writes each for a round of its own, and hold the answers against checks.

    Every other request by the description is made sensible. Returns the statuses that were seen.
    """
    operation = OPERATIONS[label]
    key = key_for(world, operation)
    headers = {"Authorization": f"Bearer {key}"}
    if label == SIGNING:
        bob = Principal("Bob", Role.RATES)
        world.transact(partial(signing_people.register, person=bob, authenticator=Authenticator(), now=world.clock()))
    fixed = {parameter.name: objects[parameter.name] for parameter in operation.path_parameters}
    numbers = count()
    seen = set()

    @settings(
        max_examples=examples,
        derandomize=not CASES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(mode, path_parameters=fixed, headers=headers))
    def send(case: Case[Any]) -> None:
        number = next(numbers)
        if "round_id" in case.path_parameters and operation.method.upper() != "GET":
            case.path_parameters["round_id"] = f"r{number}"
        if mode is GenerationMode.POSITIVE and number % 2 == 0:
            made_sensible(case, number)
            make_write_sensible(world, case, label, key=key, number=number)
        response = case.call(app=world.app)
        seen.add(response.status_code)
        case.validate_response(response, checks=checks)
        if label == PASSKEYS and response.status_code == HTTPStatus.CREATED:  # A key adds no second one.
            revocation = f"{case.path}/{response.json()['passkey_id']}/revocation"
            body = {"request_id": f"gone{number}", "reason": "tried"}
            world.post(revocation, body, key=world.key(Role.OPERATOR)).ok(201)

    send()
    return seen


READING: Final = [label for label in OPERATIONS if label.startswith("GET ")]


@pytest.mark.deep
@pytest.mark.parametrize(
    "labels",
    [READING, *([label] for label in OPERATIONS if label not in READING)],
    ids=lambda labels: labels[0] if len(labels) == 1 else "reading",
)
def test_requests_by_the_description_are_answered_by_it(
    world: World, labels: list[str], subtests: pytest.Subtests
) -> None:
    """All that read do so in one world; each that writes does so in a world of its own."""
    objects = make_objects(world)
    for label in labels:
        with subtests.test(label):
            seen = exercise(world, objects, label, GenerationMode.POSITIVE, CONFORMANCE, examples=max(8, CASES // 4))

            assert any(200 <= status < 300 for status in seen), seen


@pytest.mark.deep
def test_requests_against_the_description_are_refused_by_it(world: World, subtests: pytest.Subtests) -> None:
    objects, checks = make_objects(world), [*CONFORMANCE, negative_data_rejection]
    for label, operation in OPERATIONS.items():
        if operation.body:
            with subtests.test(label):
                exercise(world, objects, label, GenerationMode.NEGATIVE, checks, examples=max(15, CASES // 2))
