"""The ECB's document becomes a change request, once, by those who ask for rates; a document fetched is the same."""

import base64
import hashlib
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Answer, Body
from tests.support.ecb import answering, document
from tests.support.world import World

IMPORTS: Final = "/v1/rate-imports"


def today(world: World) -> date:
    return world.clock().date()


def bring(
    world: World,
    content: bytes | None = None,
    *,
    by: str = "Ann",
    role: Role = Role.RATES,
    query: str = "",
    **more: Any,
) -> Answer:
    """Bring a document, that of today if none is stated."""
    content = document(today(world)) if content is None else content
    body: Body = {"document": base64.b64encode(content).decode(), **more}
    return world.post(f"{IMPORTS}{query}", body, key=world.person(by, role))


def test_a_document_becomes_a_change_request_and_no_sheet(world: World) -> None:
    content = document(today(world))
    imported = bring(world, content).ok(201)

    change = imported["change"]
    assert imported["unquoted"] == ["JPY"]
    assert (change["request_id"], change["kind"], change["state"]) == (
        f"ecb-EUR-{today(world)}",
        "rate-sheet",
        "pending",
    )
    assert (change["maker"], change["reason"]) == ("Ann", f"ECB reference rates of {today(world)}")
    assert change["payload"] == {
        "base": "EUR",
        "rates": {"GBP": "1.1983223487", "SEK": "0.0864192196"},
        "source": {"name": "ecb", "date": str(today(world)), "sha256": hashlib.sha256(content).hexdigest()},
    }
    assert change["effect"]["after"]["number"] == 2
    assert world.get("/v1/rates?base=EUR").ok()["number"] == 1


def test_the_same_document_again_is_the_same_request_whoever_brings_it(world: World) -> None:
    first = bring(world).ok(201)["change"]

    for again in (bring(world), bring(world, by="Cleo", all_currencies=True), bring(world, query="?dry_run=true")):
        change = again.ok(200)["change"]
        assert (change["request_id"], change["maker"], change["payload"]) == (
            first["request_id"],
            "Ann",
            first["payload"],
        )
    world.approve(first["request_id"], by="Bob", role=Role.RATES)
    assert bring(world).ok(200)["change"]["state"] == "approved"


def test_another_document_of_the_same_day_is_a_conflict_unless_it_has_an_id_of_its_own(world: World) -> None:
    bring(world).ok(201)

    other = document(today(world), GBP="0.83460")
    bring(world, other).problem(409, "request-conflict")
    # Only its bytes are another's: it is not known to be the same document.
    bring(world, document(today(world), GBP="0.8345")).problem(409, "request-conflict")
    assert bring(world, other, request_id="another", reason="corrected").ok(201)["change"]["reason"] == "corrected"


def test_a_dry_run_shows_what_would_be_requested(world: World) -> None:
    shown = bring(world, query="?dry_run=true").ok(200)["change"]

    assert (shown["dry_run"], shown["effect"]["after"]["number"]) == (True, 2)
    world.get(f"/v1/change-requests/{shown['request_id']}", role=Role.RATES).problem(404, "change-unknown")


def test_currencies_that_players_could_not_bet_in_are_taken_only_where_that_is_said(world: World) -> None:
    change = bring(world, all_currencies=True).ok(201)["change"]

    assert change["payload"]["rates"].keys() == {"GBP", "SEK", "USD"}
    assert change["confirm"] == {"USD": "0.9523809524"}


def test_another_base_is_figured_by_the_cross_of_two_quotes(world: World) -> None:
    world.publish("USD", EUR="1.05", GBP="1.25")

    change = bring(world, base="USD").ok(201)["change"]
    assert change["request_id"] == f"ecb-USD-{today(world)}"
    assert change["payload"]["rates"] == {"EUR": "1.05", "GBP": "1.2582384661"}


def test_a_document_that_is_none_is_refused_at_its_place(world: World) -> None:
    bring(world, b"<html/>").problem(422, "document-invalid", "/document")
    ahead = document(today(world) + timedelta(days=1))
    bring(world, ahead).problem(422, "document-dated-ahead", "/document")
    bring(world, base="CHF").problem(422, "nothing-to-propose", "/document")
    bring(world, base="CHF", all_currencies=True).problem(422, "not-quoted", "/base")
    bring(world, b"").problem(422, "validation", "/document")
    key = world.person("Ann", Role.RATES)
    world.post(IMPORTS, {"document": "%%%"}, key=key).problem(422, "validation", "/document")
    assert world.get("/v1/change-requests", role=Role.RATES).ok()["items"] == []


ALLOWED: Final = frozenset({Role.RATES})
"""The roles that request rates, by the policy that the service is shipped with."""


@pytest.mark.parametrize("role", Role)
def test_only_those_who_request_rates_bring_a_document(world: World, role: Role) -> None:
    key, before = world.key(role), world.books.counts()
    for query in ("?dry_run=true", ""):
        content = b"no document" if role not in ALLOWED else document(today(world))
        body = {"document": base64.b64encode(content).decode()}
        answer = world.post(f"{IMPORTS}{query}", body, key=key)
        if role in ALLOWED:
            answer.ok(200 if query else 201)
        else:
            answer.problem(403, "role-forbidden")
            assert world.books.counts() == before


def test_people_of_a_casino_bring_no_document(world: World) -> None:
    key = world.key_of(Principal("Cara", Role.FINANCE, "c1"))
    body = {"document": base64.b64encode(document(today(world))).decode()}
    world.post(IMPORTS, body, key=key).problem(403, "role-forbidden")


# Fetched by the service.


def fetch(world: World, url: str | None) -> Answer:
    """Have a service that is set so fetch the document of an address."""
    world.config = replace(world.config, ecb_url=url)
    world.app = world.start()
    return world.post(IMPORTS, {}, key=world.person("Ann", Role.RATES))


def test_a_document_is_fetched_from_the_address_that_is_set(world: World) -> None:
    day = date(2026, 11, 19)
    with answering(document(day)) as url:
        change = fetch(world, url).ok(201)["change"]

    assert change["request_id"] == f"ecb-EUR-{day}"
    assert change["payload"]["source"]["sha256"] == hashlib.sha256(document(day)).hexdigest()


def test_an_address_that_answers_with_something_else_says_so(world: World) -> None:
    with answering(b"", status=404) as url:
        fetch(world, url).problem(503, "document-unavailable")
    fetch(world, url).problem(503, "document-unavailable")
    with answering(b"", status=302, headers={"Location": "http://127.0.0.1:9/"}) as url:
        fetch(world, url).problem(503, "document-unavailable")
    with answering(b" " * ((1 << 20) + 1)) as url:
        fetch(world, url).problem(503, "document-unavailable")
    with answering(b"<html/>") as url:
        fetch(world, url).problem(422, "document-invalid", "/document")


def test_without_an_address_people_bring_the_document(world: World) -> None:
    fetch(world, None).problem(422, "document-invalid", "/document")
