"""The ECB's document on a page: its differences first, then the request, which another person decides."""

import re
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from html import unescape
from urllib.parse import urlsplit

import pytest

from jackpot_service.domain.changes import LIFETIME
from jackpot_service.domain.principals import Role
from jackpot_service.pages import figures
from jackpot_service.pages.rate_import import NONE_CHOSEN
from tests.support.answers import Answer
from tests.support.ecb import answering, document
from tests.support.page_text import content_of
from tests.support.visitor import Visitor, token_in
from tests.support.world import World

pytestmark = pytest.mark.slow

IMPORT = "/rates/EUR/import"


def rita(world: World) -> Visitor:
    return Visitor(world).sign_in(key=world.person("Rita", Role.RATES))


def today(world: World) -> bytes:
    return document(world.clock().date())


def bring(visitor: Visitor, content: bytes, **fields: str) -> Answer:
    """Send a file as a browser does."""
    boundary = secrets.token_hex(8)
    stated = {"csrf_token": token_in(visitor.open(IMPORT).text), **fields}
    parts = [f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode() for name, value in stated.items()]
    head = (
        b'Content-Disposition: form-data; name="file"; filename="eurofxref-daily.xml"\r\nContent-Type: text/xml\r\n\r\n'
    )
    line = f"--{boundary}".encode()
    body = b"".join(line + b"\r\n" + part + b"\r\n" for part in [*parts, head + content]) + line + b"--\r\n"
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return visitor._send("POST", IMPORT, body, headers)


def request_shown(visitor: Visitor, shown: Answer) -> Answer:
    """Press the button below the differences."""
    names = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', shown.text.partition("<main")[2])
    return visitor.post(IMPORT, {**{name: unescape(value) for name, value in names}, "act": "request"})


def test_a_document_shows_its_differences_and_requests_nothing(world: World) -> None:
    shown = bring(rita(world), today(world))

    page = content_of(shown.text)
    assert shown.status == 200
    assert f"The document of {figures.day(world.clock().date())}" in page
    assert "2 currencies change, none beyond the band. Nothing is requested yet." in page
    assert "GBP 1.17 1.1983223487 +2.42 %" in page
    assert "JPY not in the document 0.0061 0.0061" in page
    assert world.get("/v1/change-requests", role=Role.RATES).ok()["items"] == []


def test_what_was_shown_is_requested_of_another_person(world: World) -> None:
    visitor = rita(world)
    answer = request_shown(visitor, bring(visitor, today(world)))

    request_id = f"ecb-EUR-{world.clock().date()}"
    assert (answer.status, answer.headers["Location"]) == (303, f"/changes/{request_id}")
    assert "It waits for somebody else." in content_of(visitor.open(f"/changes/{request_id}").text)
    change = world.get(f"/v1/change-requests/{request_id}", role=Role.RATES).ok()
    assert change["payload"]["rates"] == {"GBP": "1.1983223487", "SEK": "0.0864192196"}


def test_a_document_that_was_brought_before_leads_to_its_request(world: World) -> None:
    visitor = rita(world)
    request_shown(visitor, bring(visitor, today(world)))

    again = bring(Visitor(world).sign_in(key=world.person("Ruth", Role.RATES)), today(world))
    assert (again.status, urlsplit(again.headers["Location"]).path) == (303, f"/changes/ecb-EUR-{world.clock().date()}")


def test_currencies_that_open_to_bets_are_taken_only_where_that_is_said(world: World) -> None:
    visitor = rita(world)
    assert "USD" not in content_of(bring(visitor, today(world)).text)
    shown = bring(visitor, today(world), all_currencies="yes")
    assert "USD none 0.9523809524 new" in content_of(shown.text)
    address = request_shown(visitor, shown).headers["Location"]
    assert world.get(f"/v1{address.replace('/changes', '/change-requests')}", role=Role.RATES).ok()["confirm"] == {
        "USD": "0.9523809524"
    }


def reject(world: World, request_id: str) -> None:
    ruth = Visitor(world).sign_in(key=world.person("Ruth", Role.RATES))
    assert ruth.submit(f"/changes/{request_id}", {"outcome": "rejected", "reason": "wait"}).status == 303


def expire(world: World, _request_id: str) -> None:
    world.clock.advance(LIFETIME)


def overtake(world: World, _request_id: str) -> None:
    world.change("rate-sheet", {"base": "EUR", "rates": {"JPY": "0.0062"}}, role=Role.RATES)


@pytest.mark.parametrize("end", [reject, expire, overtake])
@pytest.mark.parametrize("more", [{}, {"GBP": "0.8346"}])
def test_a_document_whose_request_is_over_is_asked_for_anew(
    world: World, end: Callable[[World, str], None], more: dict[str, str]
) -> None:
    day = world.clock().date()
    first = f"ecb-EUR-{day}"
    visitor = rita(world)
    request_shown(visitor, bring(visitor, document(day)))
    end(world, first)

    visitor = rita(world)
    shown = bring(visitor, document(day, **more))
    assert shown.status == 200, shown.headers
    assert "This asks anew, by another request." in content_of(shown.text)
    answers = [request_shown(visitor, shown) for _ in range(2)]
    (address,) = {answer.headers["Location"] for answer in answers}
    assert address != f"/changes/{first}"
    assert "It waits for somebody else." in content_of(visitor.open(address).text)


def test_more_currencies_than_were_asked_for_before_are_asked_for(world: World) -> None:
    visitor = rita(world)
    request_shown(visitor, bring(visitor, today(world)))
    shown = bring(visitor, today(world), all_currencies="yes")
    assert "USD none 0.9523809524 new" in content_of(shown.text)
    address = request_shown(visitor, shown).headers["Location"]
    rates = world.get(f"/v1{address.replace('/changes', '/change-requests')}", role=Role.RATES).ok()["payload"]["rates"]
    assert rates["USD"] == "0.9523809524"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"<html/>", "not the ECB's"),
        (b"", NONE_CHOSEN),
        (b"GBP=1.17", "It is no XML"),
        (b"<!DOCTYPE x><x/>", "never has"),
    ],
)
def test_what_is_no_document_is_refused_in_the_words_of_the_ledger(world: World, content: bytes, sentence: str) -> None:
    answer = bring(rita(world), content)
    assert answer.status == 422
    assert sentence in content_of(answer.text)
    assert 'aria-invalid="true"' in answer.text


def test_another_document_of_the_same_day_is_refused(world: World) -> None:
    visitor = rita(world)
    request_shown(visitor, bring(visitor, today(world)))

    other = bring(visitor, document(world.clock().date(), GBP="0.8346"))
    assert other.status == 409
    assert "stands for something else" in content_of(other.text)


def with_address(world: World, url: str) -> World:
    """Start the world's service again with the address of a document."""
    world.config = replace(world.config, ecb_url=url)
    world.app = world.start()
    return world


def test_a_document_is_fetched_where_an_address_is_set(world: World) -> None:
    with answering(document(date(2026, 11, 19))) as url:
        visitor = rita(with_address(world, url))
        assert "Fetch it from the ECB" in content_of(visitor.open(IMPORT).text)
        shown = visitor.submit(IMPORT, {"act": "fetch"})
    assert "GBP 1.17 1.1983223487" in content_of(shown.text)
    assert request_shown(visitor, shown).status == 303  # What was shown, without another look.


def test_an_address_that_does_not_answer_says_so(world: World) -> None:
    visitor = rita(with_address(world, "http://127.0.0.1:9/eurofxref-daily.xml"))
    answer = visitor.submit(IMPORT, {"act": "fetch"})
    assert answer.status == 503
    assert "Upload the document yourself." in content_of(answer.text)


def test_without_an_address_nothing_is_fetched(world: World) -> None:
    visitor = rita(world)
    assert "Fetch" not in content_of(visitor.open(IMPORT).text)
    assert visitor.submit(IMPORT, {"act": "fetch"}).status == 422
