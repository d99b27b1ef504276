"""The audit trail on pages: who did what, when and why, found by filters in the address, and one act a page."""

import re
from html import unescape
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.correcting import correct
from tests.support.hands import FLUSH, STRAIGHT, hand
from tests.support.page_text import content_of, links_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

HOSTILE: Final = "<script>alert(1)</script> \N{RIGHT-TO-LEFT OVERRIDE}x\"'"
ADJUSTMENT: Final[Body] = {
    "jackpot_id": "j1",
    "account": "reserve",
    "amount": "1.5",
    "document": "memo",
    "cause": "count-error",
}


@pytest.fixture
def busy(world: World) -> World:
    """Changes that two people made, an act of each of two operators, and a corrected round."""
    world.open(base_amount="1000")
    world.change("adjustment", ADJUSTMENT, request_id="adjusted")
    for name, path in (("Olga", "suspension"), ("Otto", "resumption")):
        body = {"request_id": f"by-{name}", "reason": "the camera was out"}
        world.put(f"/v1/jackpots/j1/{path}", body, key=world.person(name, Role.OPERATOR)).ok(201)
    world.bet(bet("a"))
    world.settle(hand("1", STRAIGHT))
    correct(world, hand("1", FLUSH))
    return world


def listed(world: World, query: str = "") -> list[Body]:
    items: list[Body] = world.get(f"/v1/audit{query}").ok()["items"]
    return items


def acts_in(page: str) -> list[int]:
    return [int(seq) for seq in re.findall(r'href="/audit/(\d+)"><strong>', page)]


def auditor(world: World) -> Visitor:
    return Visitor(world).sign_in(Role.AUDITOR)


def olga(world: World) -> Visitor:
    return Visitor(world).sign_in(key=world.person("Olga", Role.OPERATOR))


def test_an_auditor_sees_every_act_of_the_api(busy: World) -> None:
    answer = auditor(busy).open("/audit")
    page = content_of(answer.text)
    items = listed(busy)
    assert acts_in(answer.text) == [act["seq"] for act in items]
    for act in items:
        assert f"{act['kind'].replace('_', ' ').capitalize()} {act['subject']}" in page
        assert f"by {act['principal']}" in page
    assert "What you did yourself" not in page


def test_an_operator_sees_their_own_acts_only(busy: World) -> None:
    visitor = olga(busy)
    answer = visitor.open("/audit")
    own = [act["seq"] for act in listed(busy, "?principal=Olga")]
    assert acts_in(answer.text) == own
    assert "What you did yourself" in content_of(answer.text)
    assert 'name="principal"' not in answer.text
    assert acts_in(visitor.open("/audit?principal=Otto").text) == []
    assert visitor.open(f"/audit/{own[0]}").status == 200
    other = listed(busy, "?principal=Otto")[0]["seq"]
    answer = visitor.open(f"/audit/{other}")
    assert (answer.status, answer.media_type) == (404, "text/html")


@pytest.mark.parametrize("role", [Role.FINANCE, Role.RATES])
def test_other_people_see_no_trail(busy: World, role: Role) -> None:
    visitor = Visitor(busy).sign_in(role)
    for path in ("/audit", "/audit/1"):
        assert visitor.open(path).status == 404
    assert "/audit" not in links_of(visitor.open("/account").text)


@pytest.mark.parametrize(
    "query",
    [
        "?principal=Olga",
        "?kind=table_added",
        "?jackpot_id=j1",
        "?subject=casino%20c1",
        "?subject=round%20T1/r1",
        "?request_id=q1",
        "?principal=Olga&kind=jackpot_suspended",
        "?principal=nobody",
    ],
)
def test_filters_in_the_address_find_what_the_api_finds(busy: World, query: str) -> None:
    answer = auditor(busy).open(f"/audit{query}")
    assert acts_in(answer.text) == [act["seq"] for act in listed(busy, query)]
    assert listed(busy, query) or "No act fits." in content_of(answer.text)


def test_days_are_whole_ones(busy: World) -> None:
    visitor, every = auditor(busy), [act["seq"] for act in listed(busy)]
    assert acts_in(visitor.open("/audit?from=2026-11-20&to=2026-11-20").text) == every
    assert acts_in(visitor.open("/audit?to=2026-11-19").text) == []
    assert acts_in(visitor.open("/audit?from=2026-11-21").text) == []


@pytest.mark.parametrize(
    "query",
    [
        "?kind=nothing",
        "?from=yesterday",
        "?jackpot_id=%22%3E",
        "?after=x",
        "?principal=%00",
        "?from=2026-11-21&to=2026-11-01",
    ],
)
def test_a_wrong_filter_is_said_at_its_field(busy: World, query: str) -> None:
    answer = auditor(busy).open(f"/audit{query}")
    assert answer.status == 422
    assert '-error"' in answer.text or "This place in the list is none." in answer.text


def test_a_long_trail_goes_on_where_the_page_before_ended_also_while_it_grows(busy: World) -> None:
    for number in range(60):
        busy.add_casino(f"c-{number}")
    every = [act["seq"] for act in listed(busy, "?limit=200")]
    visitor, path, seen = auditor(busy), "/audit?kind=casino_added", list[int]()
    while path:
        page = visitor.open(path).text
        seen += acts_in(page)
        busy.add_casino(f"later-{len(seen)}")
        match = re.search(r'href="([^"]+)" rel="next"', page)
        path = unescape(match[1]) if match else ""
        assert not path or "kind=casino_added" in path
    assert seen == [seq for seq in every if seq in set(seen)]
    assert len(seen) == 61


def test_an_act_shows_before_and_after_and_what_it_booked(busy: World) -> None:
    (act,) = listed(busy, "?kind=adjustment")
    answer = auditor(busy).open(f"/audit/{act['seq']}")
    page = content_of(answer.text)
    (effect,) = act["effects"]
    entry = busy.get(f"/v1/entries/{effect['book']}/0/{effect['seq']}").ok()
    own = busy.get(f"/v1/entries/-/0/{act['seq']}").ok()

    assert f"stripe 0, seq {effect['seq']}" in page
    for posting in entry["postings"]:
        assert posting["account"] in page
    for hash_ in (entry["digest"], entry["head"], own["digest"], own["head"], own["head_before"]):
        assert hash_ in page
    rows = busy.books.rows(
        "SELECT encode(digest, 'hex') AS digest, encode(head, 'hex') AS head FROM entries "
        "WHERE (jackpot_id, stripe_no, seq) IN (('j1', 0, :effect), ('-', 0, :act))",
        effect=effect["seq"],
        act=act["seq"],
    )
    assert len(rows) == 2
    assert all(row[name] in page for row in rows for name in ("digest", "head"))
    assert "EUR 1.50" in page
    assert {"/changes/adjusted", "/jackpots/j1", "/audit?request_id=adjusted"} <= links_of(answer.text)


def test_an_operator_is_shown_the_effect_and_not_the_chain_of_acts(busy: World) -> None:
    (act,) = listed(busy, "?principal=Olga")
    page = content_of(olga(busy).open(f"/audit/{act['seq']}").text)
    assert "the camera was out" in page
    assert "In the chain of acts" not in page
    own = busy.get(f"/v1/entries/-/0/{act['seq']}").ok()
    assert own["digest"] not in page


def test_every_act_has_a_page_whose_links_lead_somewhere(busy: World) -> None:
    visitor = auditor(busy)
    for act in listed(busy, "?limit=200"):
        answer = visitor.open(f"/audit/{act['seq']}")
        assert answer.status == 200
        assert "secret_hash" not in answer.text
        for link in links_of(answer.text):
            assert visitor.open(link).status in {200, 303}, link


@pytest.mark.parametrize("seq", ["0", "99999", "999999999999999999", "x"])
def test_an_act_that_is_not_there_is_answered_by_a_page(busy: World, seq: str) -> None:
    answer = auditor(busy).open(f"/audit/{seq}")
    assert (answer.status, answer.media_type) == (404, "text/html")


def test_hostile_reasons_are_written_as_they_are(busy: World) -> None:
    body = {"request_id": "hostile", "reason": "<script>alert(1)</script>\"'"}
    busy.put("/v1/jackpots/j1/suspension", body, key=busy.person("Olga", Role.OPERATOR)).ok(201)
    visitor = auditor(busy)
    for path in ("/audit", f"/audit/{listed(busy)[0]['seq']}", f"/audit?subject={HOSTILE[:25]}"):
        page = visitor.open(path).text
        assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in visitor.open("/audit").text


def test_the_history_of_an_object_is_a_part_for_its_page(busy: World) -> None:
    visitor = auditor(busy)
    path = "/audit?subject=round%20T1/r1"
    part = visitor.open(path, **{"HX-Request": "true"})
    assert "<main" not in part.text
    assert acts_in(part.text) == [act["seq"] for act in listed(busy, path.removeprefix("/audit"))]
    assert len(acts_in(part.text)) == 3
    for reader in (visitor, olga(busy)):
        assert 'hx-get="/audit?subject=round' in reader.open("/tables/T1/rounds/r1").text
    assert "hx-get" not in Visitor(busy).sign_in(Role.FINANCE).open("/tables/T1/rounds/r1").text
    history = visitor.open("/jackpots/j1/history").text
    assert acts_in(history) == [act["seq"] for act in listed(busy, "?jackpot_id=j1")]


def test_what_one_person_did_alone_stands_out(world: World) -> None:
    world.switch_emergency()
    world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.18"}}, role=Role.RATES).ok(201)
    world.approve(by="Ann", role=Role.RATES, emergency=True).ok()
    page = content_of(auditor(world).open("/audit").text)
    assert page.count("one person alone") == 2
