"""Forms of changes that are sent after the books have moved: nothing is changed back, and a form again is a replay."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import pytest

from jackpot_service.pages.new_change import STALE
from jackpot_service.usecases.changes.registry import KINDS
from tests.pages.test_change_forms import requests
from tests.support import every_kind
from tests.support.answers import Body
from tests.support.filled_forms import FILLED, Values, asker, opened, sent
from tests.support.hands import FLUSH, STRAIGHT, hand
from tests.support.page_forms import form_to
from tests.support.page_text import content_of
from tests.support.people import asker_of, checker_of
from tests.support.world import World

pytestmark = pytest.mark.slow


class Meanwhile(NamedTuple):
    """
    A change that came while a form was open: its payload, and what the form shows of it then.

    `values` are typed into the form, and `requested` is what it asks for over the newer books.
    """

    payload: Body
    shown: Values
    values: Values
    requested: Body


IN_ORDER: Final = ["8s", "6s", "9h", "7h", "Tc"]
"""`STRAIGHT` in the order of the deck."""

LOST: Final = {"jackpot_id": "j1", "table_id": "T1", "round_id": "lost"}
"""A round of one losing bet on hand 1."""

MEANWHILE: Final[Mapping[str, Meanwhile]] = {
    "rules": Meanwhile(
        {"jackpot_id": "j1", "settings": {"limit": "5000", "payout_tiers": [{"from": "300"}, {"from": "900"}]}},
        {"settings/limit": "5000", "settings/payout_tiers/0/from": "300", "settings/payout_tiers/1/from": "900"},
        {"settings/displayed": "true"},
        {"jackpot_id": "j1", "settings": {"displayed": "true"}},
    ),
    "table-limits": Meanwhile(
        {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "40"},
        {"largest_stake": "40"},
        {"least_stake": "2"},
        {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "40", "least_stake": "2"},
    ),
    "casino-claims": Meanwhile(
        {"casino_id": "c1", "claim_days": 1, "forfeited_to": "meter"},
        {"forfeited_to": "meter"},
        {"claim_days": "7"},
        {"casino_id": "c1", "claim_days": 7, "forfeited_to": "meter"},
    ),
    "casino-withholding": Meanwhile(
        {"casino_id": "c1", "currency": "EUR", "report_at_minor": 60_000, "least_multiple": 300},
        {"least_multiple": "300"},
        {"report_at_minor": "700.00"},
        {"casino_id": "c1", "currency": "EUR", "report_at_minor": 70_000, "least_multiple": 300},
    ),
    "change-policy": Meanwhile(
        {"kinds": {"rules": {"requested_by": ["operator"], "decided_by": ["operator"]}}},
        {"kinds/rules/decided_by": ["operator"]},
        {"kinds/rules/requested_by": ["finance", "operator"]},
        {"kinds": {"rules": {"requested_by": ["finance", "operator"], "decided_by": ["operator"]}}},
    ),
    "round-correction": Meanwhile(
        {**LOST, "result": {"bet_count": 1, "hands": [hand("0", STRAIGHT), hand("1", FLUSH)]}},
        {"result/hands/0/cards": STRAIGHT, "result/hands/1/cards": FLUSH},
        {"result/dealer": ["2c"]},
        {**LOST, "result": {"bet_count": 1, "hands": [hand("0", IN_ORDER), hand("1", FLUSH)], "dealer": ["2c"]}},
    ),
}
"""By kind: of those whose forms show what is in force."""


@pytest.fixture
def played(world: World) -> World:
    every_kind.played(world)
    return world


@pytest.mark.parametrize("kind", MEANWHILE)
def test_what_a_form_left_is_no_change_back_of_what_came_meanwhile(played: World, kind: str) -> None:
    meanwhile = MEANWHILE[kind]
    maker = asker_of(kind)
    visitor = asker(played, kind)
    form = opened(visitor, kind, FILLED[kind].query)
    played.ask(kind, meanwhile.payload, request_id="first", by=maker.name, role=maker.role).ok(201)
    checker = checker_of(kind)
    played.approve("first", by=checker.name, role=checker.role).ok()

    late = sent(visitor, form, meanwhile.values)
    assert late.status == 409, content_of(late.text)
    assert STALE in content_of(late.text)
    assert requests(played)[0]["request_id"] == "first"
    again = form_to(late.text, f"/changes/new/{kind}")
    for name, value in {**meanwhile.shown, **meanwhile.values}.items():
        assert sorted(again.values(name)) == sorted([value] if isinstance(value, str) else value)
    assert again.value("reason") == "as agreed"
    answer = visitor.post(form.action, again.fields)
    assert answer.status == 303, content_of(answer.text)
    request = requests(played)[0]
    assert KINDS[kind].read(request["payload"]) == KINDS[kind].read(meanwhile.requested)


@pytest.mark.parametrize("kind", MEANWHILE)
def test_a_form_that_was_approved_is_a_replay_if_it_is_sent_again(played: World, kind: str) -> None:
    visitor, checker = asker(played, kind), checker_of(kind)
    form = opened(visitor, kind, FILLED[kind].query)
    first = sent(visitor, form, MEANWHILE[kind].values)
    request_id = form.value("request_id")
    played.approve(request_id, by=checker.name, role=checker.role).ok()
    assert sent(visitor, form, MEANWHILE[kind].values).headers.get("Location") == first.headers["Location"]
