"""The page of a casino: its tables, claims and withholding, and links to where else it is, each for who may open it."""

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.page_text import content_of, links_of, text_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow


def test_a_casino_is_shown_with_its_tables_and_where_else_it_is(world: World) -> None:
    world.open()
    world.add_casino("c2")
    world.add_table("elsewhere", casino_id="c2")
    page = Visitor(world).sign_in(Role.OPERATOR).open("/casinos/c1")
    text = content_of(page.text)
    assert "Casino c1 c1 · gaming days start at 00:00 in UTC" in text
    assert "T1 caribbean stud j1 Rounds of T1" in text
    assert "elsewhere" not in text
    assert "An award can be claimed for ever" in text
    assert "nobody has set a rule" in text
    assert {"/floor/c1", "/exceptions?casino_id=c1", "/set-up/tables?casino_id=c1"} <= links_of(page.text)


def test_claims_and_withholding_are_said_in_words(world: World) -> None:
    world.change("casino-claims", {"casino_id": "c1", "claim_days": 90, "forfeited_to": "meter"}, request_id="q1")
    rule = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 120_000, "withhold_at_minor": 500_000}
    world.change("casino-withholding", rule | {"percent": "24"}, request_id="q2")
    text = content_of(Visitor(world).sign_in(Role.AUDITOR).open("/casinos/c1").text)
    assert "An award that nobody claims within 90 days of its last step is unclaimed." in text
    assert "it then goes to the jackpot" in text
    assert "is reported from EUR 1,200.00 on" in text
    assert "from EUR 5,000.00 on 24 per cent of it is withheld" in text


def test_the_acts_about_a_casino_are_its_history_for_who_reads_the_audit_trail(world: World) -> None:
    world.change("casino-claims", {"casino_id": "c1", "claim_days": 90, "forfeited_to": "meter"}, request_id="q1")
    auditor = Visitor(world).sign_in(Role.AUDITOR)
    assert "/audit?casino_id=c1" in links_of(auditor.open("/casinos/c1").text)
    history = text_of(auditor.open("/audit?casino_id=c1", **{"HX-Request": "true"}).text)
    assert "Change requested claims at casino c1" in history
    assert "Casino added casino c1" in history
    assert "/audit" not in Visitor(world).sign_in(Role.FINANCE).open("/casinos/c1").text


def test_people_of_a_casino_see_their_own(world: World) -> None:
    world.add_casino("c2")
    visitor = Visitor(world).sign_in(key=world.key_of(Principal("Fay", Role.FINANCE, "c1")))
    page = visitor.open("/casinos/c1")
    assert page.status == 200
    assert "/set-up" not in page.text
    assert [visitor.open(f"/casinos/{casino_id}").status for casino_id in ("c2", "nowhere")] == [404, 404]
    assert Visitor(world).sign_in(Role.RATES).open("/casinos/c1").status == 404


def test_forms_of_changes_are_linked_for_those_who_may_ask(world: World) -> None:
    world.open()
    visitor = Visitor(world).sign_in(Role.OPERATOR)
    shown = {*links_of(visitor.open("/set-up/jackpots").text), *links_of(visitor.open("/casinos/c1").text)}
    assert "/changes/new/rules?jackpot_id=j1" in shown
    assert any(link.startswith("/changes/new/casino-claims?") for link in shown)
    auditor = Visitor(world).sign_in(Role.AUDITOR)
    for path in ("/set-up/jackpots", "/casinos/c1"):
        assert "/changes/new" not in auditor.open(path).text
