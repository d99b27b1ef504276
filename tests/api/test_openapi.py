"""The service does what openapi.yaml says: requests made from it, wrong ones too, and every answer held against it."""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import count
from typing import Any, Final

import pytest
import schemathesis
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
from jackpot_service.reports.finance.registry import REPORTS
from tests.properties.profile import CASES
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, ROYAL_FLUSH, STRAIGHT_FLUSH, dead, hand
from tests.support.operations import DOCUMENT, make_objects
from tests.support.payouts import held_from
from tests.support.world import CYBER, RATES, World

pytestmark = pytest.mark.long


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """A world that names an issuer of tokens, which nobody asks for anything."""
    world = World(database_url, oidc_issuer="https://issuer.invalid", oidc_audience="jackpot")
    yield world
    world.engine.dispose()


NEW_RATE: Final[Body] = {"base": "EUR", "rates": {"GBP": "1.18"}}
OTHER_RATE: Final[Body] = {"base": "EUR", "rates": {"GBP": "1.19"}}

CURRENCIES: Final = ("EUR", *RATES)

OTHER_BASES: Final = ("USD", "CHF", "NOK", "DKK", "PLN", "AUD", "CAD", "NZD")
"""Base currencies that have no rate sheet."""

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
    if "to" in body:
        body["to"] = f"2026-01-01T00:00:{number % 60:02}Z"
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
    if "base" in body:
        body |= {"base": OTHER_BASES[number % len(OTHER_BASES)], "rates": {"EUR": "0.9"}}


CLOSING: Final = "PUT /v1/tables/{table_id}/rounds/{round_id}/closing"
EVIDENCE: Final = "POST /v1/tables/{table_id}/rounds/{round_id}/evidence"

NAMES: Final = {Role.RATES: "Bob", Role.OPERATOR: "Olga", Role.FINANCE: "Fay"}


def key_for(world: World, operation: Operation) -> str:
    """A key of a role that may call an operation; Bob's, where it is for a person."""
    roles = operation.definition.raw.get("x-roles", [Role.AUDITOR])
    if Role.TABLE in roles and operation.method.upper() != "GET":
        return world.key(Role.TABLE)
    role = next(role for role in (Role.AUDITOR, *NAMES) if role in roles)
    return world.key(role) if role is Role.AUDITOR else world.person(NAMES[role], role)


AWARD: Final = "aw_" + hashlib.sha256(b"j1/T1/won/b1/flush").hexdigest()[:32]
"""The award of bet b1's flush in round `won`."""

OTHER_AWARD: Final = "aw_" + hashlib.sha256(b"j1/T1/won/b2/flush").hexdigest()[:32]
"""That of bet b2 on the same hand."""


def exercise(
    world: World, objects: Mapping[str, str], label: str, mode: GenerationMode, checks: list[Any], *, examples: int
) -> set[int]:
    """
    Call an operation with generated requests, writes each for a round of its own, and hold the answers against checks.

    Every other request by the description is made sensible. Returns the statuses that were seen.
    """
    operation = OPERATIONS[label]
    headers = {"Authorization": f"Bearer {key_for(world, operation)}"}
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
            if label in {CLOSING, EVIDENCE}:  # The only writes that open no round.
                world.bet(bet(), **case.path_parameters)
            if label == CLOSING:
                case.body = {"bet_count": 1}
            if label == EVIDENCE:
                world.settle(hand("1", FLUSH), **case.path_parameters)
                case.body = {"request_id": f"e{number}", "kind": "witness", "statement": "seen"}
        response = case.call(app=world.app)
        seen.add(response.status_code)
        case.validate_response(response, checks=checks)

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


def play(world: World) -> None:
    """Bring about an answer of every shape: shared and owned hits, held and partial awards, refunds, refusals."""
    world.open(base_amount="5432.68065", settings={"payout_tiers": held_from("1000"), "limit": "5434"})
    world.open(CYBER, jackpot_id="j2", tables=("C1",))
    world.bet(bet("a"), bet("b", hand="2", currency="GBP"), bet("c", hand="3", occurred_at="2026-11-20T09:00:00Z"))
    world.void("b", "unknown")
    world.settle(hand("1", ROYAL_FLUSH), hand("2"), dead("3", ("2c",)))
    world.bet(bet(), table_id="C1")
    world.settle(hand("1", STRAIGHT_FLUSH), table_id="C1")
    limits = {"jackpot_id": "j1", "table_id": "T1", "least_stake": "0.5", "largest_stake": "90"}
    world.ask("table-limits", limits, request_id="limits", by="Olaf").ok(201)
    world.approve("limits", by="Oona").ok()
    world.post_bets(bet(), round_id="open", game_number="21:10:10").ok(201)
    rule = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 100, "withhold_at_minor": 200, "percent": "24.5"}
    world.ask("casino-withholding", rule, request_id="withholding").ok(201)
    world.approve("withholding", by="Fred", role=Role.FINANCE).ok()
    world.bet(bet(), bet("b2"), round_id="won")
    world.settle(hand("1", FLUSH), round_id="won")
    world.put_cancellation(round_id="cancelled", hands=[hand("1", FLUSH)], occurred_at="2026-11-20T09:00:00Z").ok(201)
    source = {"name": "ecb", "date": "2026-11-19", "sha256": "0" * 64}
    proposal = {"base": "EUR", "rates": {"GBP": "1.18"}, "source": source}
    world.change("rate-sheet", proposal, request_id="from-the-ecb", role=Role.RATES)
    rules = {"jackpot_id": "j2", "settings": {"limit": "20000"}}
    world.ask("rules", rules, request_id="pending-rules", by="Olaf").ok(201)
    world.approve("pending-rules", by="Oona").ok()


ROUNDS: Final = "/v1/tables/T1/rounds"
CHANGES: Final = "/v1/change-requests"

WRITES: Final[Mapping[str, tuple[int, str, Body]]] = {
    "POST /v1/tables/{table_id}/rounds/{round_id}/bets": (
        201,
        f"{ROUNDS}/new/bets",
        {"bets": [bet(), bet("b2", hand="2")]},
    ),
    "POST /v1/tables/{table_id}/rounds/{round_id}/voids": (200, f"{ROUNDS}/new/voids", {"bet_ids": ["b2", "b3"]}),
    CLOSING: (201, f"{ROUNDS}/new/closing", {"bet_count": 1}),
    "PUT /v1/tables/{table_id}/rounds/{round_id}/result": (
        201,
        f"{ROUNDS}/new/result",
        {"bet_count": 1, "hands": [hand("1", ROYAL_FLUSH), dead("2")]},
    ),
    "PUT /v1/tables/{table_id}/rounds/{round_id}/cancellation": (
        201,
        f"{ROUNDS}/newer/cancellation",
        {"reason": "misdeal"},
    ),
    "PUT /v1/jackpots/{jackpot_id}/suspension": (
        201,
        "/v1/jackpots/j1/suspension",
        {"request_id": "s1", "reason": "the display shows another meter"},
    ),
    "PUT /v1/jackpots/{jackpot_id}/resumption": (
        201,
        "/v1/jackpots/j1/resumption",
        {"request_id": "s2", "reason": "it shows the right one"},
    ),
    "POST /v1/change-requests": (
        201,
        CHANGES,
        {"request_id": "q2", "kind": "rate-sheet", "payload": OTHER_RATE, "reason": "as agreed"},
    ),
    "POST /v1/exceptions/{exception_id}/acknowledgement": (
        201,
        "/v1/exceptions/{exception_id}/acknowledgement",
        {"request_id": "a1", "reason": "looked into"},
    ),
    "PUT /v1/awards/{award_id}/payment": (
        201,
        f"/v1/awards/{AWARD}/payment",
        {
            "request_id": "p1",
            "reference": "slip",
            "amount_minor": 1,
            "currency": "EUR",
            "paid_at": "2026-11-20T09:30:00Z",
            "channel": "cage",
            "payer": "Cleo",
        },
    ),
    "POST /v1/tables/{table_id}/rounds/{round_id}/evidence": (
        201,
        f"{ROUNDS}/r1/evidence",
        {"request_id": "e1", "kind": "witness", "statement": "seen", "sha256": "ab" * 32},
    ),
    "POST /v1/awards/{award_id}/slip": (201, f"/v1/awards/{AWARD}/slip", {"request_id": "slip1"}),
    "PUT /v1/awards/{award_id}/stop": (
        201,
        f"/v1/awards/{OTHER_AWARD}/stop",
        {"request_id": "stop", "reason": "in doubt"},
    ),
    "POST /v1/casinos": (
        201,
        "/v1/casinos",
        {"request_id": "new-casino", "reason": "contract", "casino_id": "riga", "name": "Casino Riga"},
    ),
    "POST /v1/rate-sheets": (
        201,
        "/v1/rate-sheets",
        {"request_id": "new-sheet", "reason": "opening", "base": "GBP", "rates": {"EUR": "0.85"}},
    ),
    "POST /v1/jackpots": (
        201,
        "/v1/jackpots",
        {
            "request_id": "new-jackpot",
            "reason": "opening",
            "jackpot_id": "new",
            "rulebook": CYBER,
            "currency": "GBP",
            "base_amount": "12000.5",
            "settings": {"limit": "20000", "payout_tiers": [{"from": "1000"}]},
        },
    ),
    "PUT /v1/jackpots/{jackpot_id}/stripes": (
        201,
        "/v1/jackpots/new/stripes",
        {"request_id": "new-stripes", "reason": "more tables", "stripes": 20},
    ),
    "POST /v1/tables": (
        201,
        "/v1/tables",
        {
            "request_id": "new-table",
            "reason": "opening",
            "table_id": "N1",
            "casino_id": "riga",
            "game": "caribbean-stud",
            "jackpot_id": "new",
        },
    ),
    "POST /v1/users": (
        201,
        "/v1/users",
        {"request_id": "new-user", "reason": "hired", "principal": "Ivy", "role": "auditor", "subject": "sub-ivy"},
    ),
    "POST /v1/unclaimed-awards": (200, "/v1/unclaimed-awards", {}),
    "POST /v1/keys": (201, "/v1/keys", {"request_id": "k1", "principal": "Cleo", "role": "auditor", "reason": "new"}),
    "POST /v1/keys/{key_id}/revocation": (
        201,
        "/v1/keys/{key_id}/revocation",
        {"request_id": "k2", "reason": "it was lost"},
    ),
    "POST /v1/closed-periods": (
        201,
        "/v1/closed-periods",
        {"request_id": "c1", "reason": "month end", "to": "2026-11-20"},
    ),
    "POST /v1/jobs": (
        201,
        "/v1/jobs",
        {"request_id": "x1", "kind": "journal", "parameters": {"jackpot_id": "j1", "format": "hledger"}},
    ),
    "POST /v1/jobs/{job_id}/cancellation": (200, "/v1/jobs/{job_id}/cancellation", {}),
    "POST /v1/change-requests/{request_id}/rejection": (200, f"{CHANGES}/q0/rejection", {"reason": "not agreed"}),
    "POST /v1/change-requests/{request_id}/approval": (200, f"{CHANGES}/q1/approval", {"reason": "checked"}),
}
"""A body for each write, in the order in which they are sent, and the status when it comes for the first time."""

READS: Final = {
    "GET /v1/tables/{table_id}/rounds/{round_id}": (
        "/v1/tables/T1/rounds/r1",
        "/v1/tables/C1/rounds/r1",
        "/v1/tables/T1/rounds/open",
        "/v1/tables/T1/rounds/cancelled",
        "/v1/tables/T1/rounds/r1?player_id=player-of-a",
        "/v1/tables/T1/rounds/none",
    ),
    "GET /v1/me": ("/v1/me",),
    "GET /v1/casinos": ("/v1/casinos", "/v1/casinos?limit=1"),
    "GET /v1/casinos/{casino_id}": ("/v1/casinos/c1", "/v1/casinos/riga", "/v1/casinos/none"),
    "GET /v1/tables": ("/v1/tables", "/v1/tables?limit=1&casino_id=c1&jackpot_id=j1"),
    "GET /v1/tables/{table_id}": ("/v1/tables/T1", "/v1/tables/C1", "/v1/tables/N1", "/v1/tables/none"),
    "GET /v1/entries/{book}/{stripe}/{seq}": (
        "/v1/entries/{book}/{stripe}/{seq}",
        "/v1/entries/j1/0/1",
        "/v1/entries/-/0/1",
        "/v1/entries/none/0/1",
    ),
    "GET /v1/checkpoints": ("/v1/checkpoints",),
    "GET /v1/verifications": ("/v1/verifications", "/v1/verifications?limit=1"),
    "GET /v1/seals": ("/v1/seals", "/v1/seals?limit=1"),
    "GET /v1/seals/{number}": ("/v1/seals/{number}", "/v1/seals/999"),
    "GET /v1/exception-counts": ("/v1/exception-counts", "/v1/exception-counts?acknowledged=true"),
    "GET /v1/change-request-counts": ("/v1/change-request-counts", "/v1/change-request-counts?kind=rules"),
    "GET /v1/tables/{table_id}/rounds/{round_id}/evidence": (
        "/v1/tables/T1/rounds/r1/evidence",
        "/v1/tables/T1/rounds/none/evidence",
    ),
    "GET /v1/tables/{table_id}/rounds/{round_id}/payout-per-unit": (
        "/v1/tables/T1/rounds/open/payout-per-unit",
        "/v1/tables/T1/rounds/r1/payout-per-unit",
        "/v1/tables/C1/rounds/r1/payout-per-unit",
        "/v1/tables/T1/rounds/none/payout-per-unit",
    ),
    "GET /v1/tables/{table_id}/rounds": ("/v1/tables/T1/rounds", "/v1/tables/T1/rounds?limit=1"),
    "GET /v1/jackpots": ("/v1/jackpots", "/v1/jackpots?limit=1"),
    "GET /v1/jackpots/{jackpot_id}": ("/v1/jackpots/j1", "/v1/jackpots/j2", "/v1/jackpots/none"),
    "GET /v1/jackpots/{jackpot_id}/feed": ("/v1/jackpots/j1/feed", "/v1/jackpots/j1/feed?currency=EUR,JPY"),
    "GET /v1/jackpots/{jackpot_id}/meter": ("/v1/jackpots/j1/meter", "/v1/jackpots/j1/meter?currency=JPY"),
    "GET /v1/jackpots/{jackpot_id}/paytable": ("/v1/jackpots/j1/paytable", "/v1/jackpots/j2/paytable?currency=SEK"),
    "GET /v1/jackpots/{jackpot_id}/rules": (
        "/v1/jackpots/j1/rules",
        "/v1/jackpots/j2/rules",
        "/v1/jackpots/j1/rules?currency=JPY&lang=de&stake_minor=100",
    ),
    "GET /v1/jackpots/{jackpot_id}/table-limits": (
        "/v1/jackpots/j1/table-limits",
        "/v1/jackpots/none/table-limits",
    ),
    "GET /v1/casinos/{casino_id}/claims": ("/v1/casinos/c1/claims", "/v1/casinos/none/claims"),
    "GET /v1/jackpots/{jackpot_id}/rules.html": ("/v1/jackpots/j1/rules.html", "/v1/jackpots/j2/rules.html?lang=de"),
    "GET /v1/jackpots/{jackpot_id}/hits": ("/v1/jackpots/j1/hits?limit=1", "/v1/jackpots/j2/hits"),
    "GET /v1/casinos/{casino_id}/withholding-rules": (
        "/v1/casinos/c1/withholding-rules",
        "/v1/casinos/none/withholding-rules",
    ),
    "GET /v1/change-policy": ("/v1/change-policy", "/v1/change-policy?version=1", "/v1/change-policy?version=9"),
    "GET /v1/change-requests": (CHANGES, f"{CHANGES}?state=approved", f"{CHANGES}?limit=1"),
    "GET /v1/change-requests/{request_id}": (f"{CHANGES}/q1", f"{CHANGES}/q2", f"{CHANGES}/none"),
    "GET /v1/awards": ("/v1/awards", "/v1/awards?state=held&limit=1"),
    "GET /v1/awards/{award_id}/slip": (f"/v1/awards/{AWARD}/slip", f"/v1/awards/{AWARD}/slip?lang=de"),
    "GET /v1/awards/{award_id}": (f"/v1/awards/{AWARD}", "/v1/awards/none"),
    "GET /v1/players/{player_id}/bets": ("/v1/players/player-of-b1/bets", "/v1/players/player-of-b1/bets?limit=1"),
    "GET /v1/rounds": (
        "/v1/rounds?game_number=21:10:10",
        "/v1/rounds?ended=false&limit=1",
        "/v1/rounds?state=cancelled&older_than=1",
        "/v1/rounds?bet_id=b1&table_id=T1",
        "/v1/rounds?player_id=player-of-b1",
        "/v1/rounds",
    ),
    "GET /v1/keys": ("/v1/keys", "/v1/keys?limit=1"),
    "GET /v1/jobs": ("/v1/jobs", "/v1/jobs?state=queued&limit=1"),
    "GET /v1/jobs/{job_id}": ("/v1/jobs/{job_id}", "/v1/jobs/none"),
    "GET /v1/jobs/{job_id}/file": ("/v1/jobs/{job_id}/file", "/v1/jobs/none/file"),
    "GET /v1/closed-periods": ("/v1/closed-periods", "/v1/closed-periods?limit=1"),
    "GET /v1/audit": ("/v1/audit?limit=200", "/v1/audit?kind=rates_published"),
    "GET /v1/events": ("/v1/events?limit=1000", "/v1/events?limit=3", "/v1/events?after=now&wait=1"),
    "GET /v1/exceptions": ("/v1/exceptions", "/v1/exceptions?limit=1"),
    "GET /v1/rates": (
        "/v1/rates?base=EUR",
        "/v1/rates?base=USD",
        "/v1/rates?base=EUR&number=2",
        "/v1/rates?base=EUR&number=9",
    ),
    "GET /v1/rates/history": ("/v1/rates/history?base=EUR&currency=SEK", "/v1/rates/history?base=USD&currency=SEK"),
    "GET /v1/rate-sheets": ("/v1/rate-sheets?base=EUR&limit=1", "/v1/rate-sheets?base=USD"),
    "GET /v1/reports": ("/v1/reports",),
    "GET /v1/reports/{name}": (
        *(f"/v1/reports/{name}" for name in REPORTS),
        "/v1/reports/casino-statement?casino_id=c1",
        "/v1/reports/rounds?format=csv&section=bets",
        "/v1/reports/awards?format=xlsx&to=2026-11-20",
        "/v1/reports/rounds?to=2126-01-01",
        "/v1/reports/none",
    ),
    "GET /metrics": ("/metrics",),
    "GET /problems": ("/problems",),
    "GET /problems/{code}": ("/problems/bet-conflict", "/problems/nothing"),
    "GET /healthz": ("/healthz",),
    "GET /readyz": ("/readyz",),
}

MISSING: Final = {
    "/v1/tables/T1/rounds/none": 404,
    "/v1/tables/T1/rounds/none/evidence": 404,
    "/v1/tables/T1/rounds/none/payout-per-unit": 404,
    "/v1/jackpots/none": 404,
    "/v1/change-policy?version=9": 404,
    "/v1/casinos/none/withholding-rules": 404,
    "/v1/jackpots/none/table-limits": 404,
    "/v1/casinos/none/claims": 404,
    "/v1/casinos/none": 404,
    "/v1/tables/none": 404,
    "/v1/entries/none/0/1": 404,
    "/v1/seals/999": 404,
    "/v1/change-requests/none": 404,
    "/v1/awards/none": 404,
    "/v1/jobs/none": 404,
    "/v1/jobs/none/file": 404,
    "/v1/reports/casino-statement": 422,
    "/v1/reports/rounds?to=2126-01-01": 422,
    "/v1/reports/none": 404,
    "/v1/rates?base=USD": 422,
    "/v1/rates?base=EUR&number=9": 404,
    "/problems/nothing": 404,
}
"""Of these, what is not there to be read."""


def test_every_operation_is_held_against_its_description_below() -> None:
    assert OPERATIONS.keys() == WRITES.keys() | READS.keys()


def test_answers_with_something_in_them_conform_to_the_description(world: World) -> None:
    objects = make_objects(world)
    play(world)
    world.clock.advance(timedelta(hours=1))
    world.add_casino("c2")
    for request_id in ("q0", "q1"):
        world.ask("rate-sheet", OTHER_RATE, request_id=request_id, role=Role.RATES).ok(201)
    client = world.app.test_client()
    stranger = world.key(Role.FINANCE, casino_id="c2")

    for label, (first_status, path, body) in WRITES.items():
        for sent, status in ((body, first_status), (body, 200), ({**body, "zzz": 1}, 422)):
            method = label.partition(" ")[0]
            headers = {"Authorization": f"Bearer {key_for(world, OPERATIONS[label])}"}
            response = client.open(path.format(**objects), method=method, json=sent, headers=headers)
            assert response.status_code == status, response.get_data(as_text=True)
            OPERATIONS[label].validate_response(response)
    for label, paths in READS.items():
        for path in paths:
            for key in (world.key(Role.AUDITOR), stranger, "none"):
                response = client.get(path.format(**objects), headers={"Authorization": f"Bearer {key}"})
                if key == world.key(Role.AUDITOR):
                    assert response.status_code == MISSING.get(path, 200), path
                OPERATIONS[label].validate_response(response)


def test_every_call_that_needs_a_key_says_that_it_may_be_limited_and_when_to_come_again() -> None:
    limited = DOCUMENT["components"]["responses"]["TOO_MANY_REQUESTS"]
    assert limited["headers"]["Retry-After"]["schema"] == {"type": "integer", "minimum": 1}
    for operations in DOCUMENT["paths"].values():
        for operation in (operations[method] for method in ("get", "post", "put") if method in operations):
            is_open = operation.get("security") == []
            assert ("429" in operation["responses"]) is not is_open
