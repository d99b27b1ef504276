"""Answers with something in them, one of every shape, are what openapi.yaml says."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.reports.finance.registry import REPORTS
from tests.support import ecb
from tests.support.answers import Body
from tests.support.authenticator import Authenticator, body_of_credential
from tests.support.bets import bet
from tests.support.conforming import CLOSING, OPERATIONS, key_for, world_with_issuer
from tests.support.hands import FLUSH, ROYAL_FLUSH, STRAIGHT_FLUSH, dead, hand
from tests.support.operations import make_objects
from tests.support.payouts import held_from
from tests.support.world import CYBER, World

pytestmark = pytest.mark.long


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    with world_with_issuer(database_url) as world:
        yield world


OTHER_RATE: Final[Body] = {"base": "EUR", "rates": {"GBP": "1.19"}}

AWARD: Final = "aw_" + hashlib.sha256(b"j1/T1/won/b1/flush").hexdigest()[:32]
"""The award of bet b1's flush in round `won`."""

OTHER_AWARD: Final = "aw_" + hashlib.sha256(b"j1/T1/won/b2/flush").hexdigest()[:32]
"""That of bet b2 on the same hand."""


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
    "POST /v1/rate-imports": (
        201,
        "/v1/rate-imports",
        {"document": base64.b64encode(ecb.document(date(2026, 11, 20))).decode()},
    ),
    "POST /v1/keys/{key_id}/sign-out": (200, "/v1/keys/{key_id}/sign-out", {"reason": "a notebook was lost"}),
    "POST /v1/keys/{key_id}/revocation": (
        201,
        "/v1/keys/{key_id}/revocation",
        {"request_id": "k2", "reason": "it was lost"},
    ),
    "POST /v1/closed-periods": (
        201,
        "/v1/closed-periods",
        {"request_id": "c1", "reason": "month end", "to": "2026-11-20T09:30:00Z"},
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
    "GET /v1/service": ("/v1/service",),
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
    "GET /v1/reconciliations": ("/v1/reconciliations", "/v1/reconciliations?limit=1"),
    "GET /v1/verifications": ("/v1/verifications", "/v1/verifications?limit=1"),
    "GET /v1/stripe-heads": ("/v1/stripe-heads", "/v1/stripe-heads?limit=1"),
    "GET /v1/verification-runs": ("/v1/verification-runs", "/v1/verification-runs?limit=1"),
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
    "GET /v1/award-totals": ("/v1/award-totals", "/v1/award-totals?casino_id=c1"),
    "GET /v1/awards": ("/v1/awards", "/v1/awards?state=held&limit=1", "/v1/awards?open=true&oldest_first=true"),
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
    "GET /v1/closed-periods/{act}/comparison": (
        "/v1/closed-periods/{act}/comparison",
        "/v1/closed-periods/999/comparison",
    ),
    "GET /v1/audit": ("/v1/audit?limit=200", "/v1/audit?kind=rates_published"),
    "GET /v1/audit/{seq}": ("/v1/audit/1", "/v1/audit/99999"),
    "GET /v1/events": ("/v1/events?limit=1000", "/v1/events?limit=3", "/v1/events?after=now&wait=1"),
    "GET /v1/exceptions": ("/v1/exceptions", "/v1/exceptions?limit=1"),
    "GET /v1/rates": (
        "/v1/rates?base=EUR",
        "/v1/rates?base=USD",
        "/v1/rates?base=EUR&number=2",
        "/v1/rates?base=EUR&number=9",
    ),
    "GET /v1/rates/histories": (
        "/v1/rates/histories?base=EUR",
        "/v1/rates/histories?base=EUR&currency=SEK,GBP&limit=1",
        "/v1/rates/histories?base=USD",
    ),
    "GET /v1/rates/in-force": ("/v1/rates/in-force",),
    "GET /v1/rates/use": ("/v1/rates/use?base=EUR", "/v1/rates/use?base=USD"),
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
    "/v1/closed-periods/999/comparison": 404,
    "/v1/audit/99999": 404,
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


PASSKEYS: Final = frozenset(
    {
        "GET /v1/passkeys",
        "POST /v1/passkeys",
        "POST /v1/passkeys/options",
        "POST /v1/passkeys/{passkey_id}/revocation",
        "POST /v1/change-requests/{request_id}/approval/options",
    }
)
"""Those that follow from another: see the last test."""


def test_every_operation_is_held_against_its_description_below() -> None:
    assert OPERATIONS.keys() == WRITES.keys() | READS.keys() | PASSKEYS


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


def test_answers_about_passkeys_conform_to_the_description(world: World) -> None:
    make_objects(world)
    client, key, held = world.app.test_client(), world.person("Bob", Role.RATES), set[str]()

    def call(label: str, status: int, body: Body | None = None, *, by: str = key, **objects: str) -> Body:
        method, _, path = label.partition(" ")
        headers = {"Authorization": f"Bearer {by}"}
        response = client.open(path.format(**objects), method=method, json=body, headers=headers)
        assert response.status_code == status, response.get_data(as_text=True)
        OPERATIONS[label].validate_response(response)
        held.add(label)
        answer: Body = response.get_json()
        return answer

    blue = Authenticator()
    options = call("POST /v1/passkeys/options", 200)["publicKey"]
    body = {"request_id": "p1", "name": "blue", "reason": "mine", "credential": body_of_credential(blue.make(options))}
    made = call("POST /v1/passkeys", 201, body)
    call("POST /v1/passkeys", 200, body)
    call("POST /v1/passkeys", 422, {**body, "zzz": 1})
    assert call("GET /v1/passkeys", 200)["items"] == [made]
    call("POST /v1/change-requests/{request_id}/approval/options", 200, request_id="own-change")
    lost, operator = {"request_id": "p2", "reason": "lost"}, world.key(Role.OPERATOR)
    for by, status in ((key, 403), (operator, 201), (operator, 200)):
        call("POST /v1/passkeys/{passkey_id}/revocation", status, lost, by=by, passkey_id=made["passkey_id"])
    assert held == PASSKEYS
