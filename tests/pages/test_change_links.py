"""Links that ask for a change, on the pages of what they are about: only those that a person may follow."""

import pytest

from jackpot_service.domain.principals import Role
from tests.support import every_kind
from tests.support.correcting import correct
from tests.support.every_kind import PAID, UNCLAIMED
from tests.support.filled_forms import somebody
from tests.support.hands import STRAIGHT, hand
from tests.support.page_text import links_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

NEW = "/changes/new/"


@pytest.fixture
def played(world: World) -> World:
    every_kind.played(world)
    return world


def kinds_on(visitor: Visitor, page: str) -> set[str]:
    """The kinds of change that a page leads to; each link leads to a form."""
    links = [link for link in links_of(visitor.open(page).text) if link.startswith(NEW)]
    for link in links:
        assert visitor.open(link).status == 303, link
    return {link.removeprefix(NEW).partition("?")[0] for link in links}


def test_a_jackpot_leads_to_the_changes_of_it(played: World) -> None:
    money = {"adjustment", "seed-recovery", "prize-fund-true-up", "retirement"}
    assert kinds_on(somebody(played, "Olga", Role.OPERATOR), "/jackpots/j1") == {"rules", *money}
    assert kinds_on(somebody(played, "Fay", Role.FINANCE), "/jackpots/j1") == set()
    assert kinds_on(somebody(played, "Aud", Role.AUDITOR), "/jackpots/j1") == set()


@pytest.mark.parametrize(
    ("round_id", "of_operator", "of_finance"),
    [
        ("lost", {"round-correction"}, set()),
        ("held", {"round-correction", "held-awards"}, {"held-awards"}),
        ("paid", {"round-correction", "payment-reversal"}, {"payment-reversal"}),
        ("cancelled", {"compensation"}, set()),
        ("denied", {"round-correction", "compensation", "declined-compensation"}, {"declined-compensation"}),
    ],
)
def test_a_round_leads_to_the_changes_that_its_state_leaves(
    played: World, round_id: str, of_operator: set[str], of_finance: set[str]
) -> None:
    page = f"/tables/T1/rounds/{round_id}"
    assert kinds_on(somebody(played, "Olga", Role.OPERATOR), page) == of_operator
    assert kinds_on(somebody(played, "Fay", Role.FINANCE), page) == of_finance
    assert kinds_on(Visitor(played).sign_in(key=played.key(Role.FINANCE, casino_id="c1")), page) == set()


def test_an_award_leads_to_the_reversal_of_its_payment(played: World) -> None:
    links = links_of(somebody(played, "Olga", Role.OPERATOR).open("/tables/T1/rounds/paid").text)
    assert f"/changes/new/payment-reversal?award={PAID}" in links


def test_what_a_later_verdict_has_counted_is_not_reversed(played: World) -> None:
    correct(played, hand("1", STRAIGHT), round_id="paid")
    olga = somebody(played, "Olga", Role.OPERATOR)
    assert kinds_on(olga, "/tables/T1/rounds/paid") == {"round-correction"}
    assert "reversal" not in kinds_on(olga, f"/awards/{PAID}")


def test_an_exception_leads_to_the_changes_that_settle_it(played: World) -> None:
    played.post("/v1/unclaimed-awards", {}, key=played.key(Role.OPERATOR)).ok()
    olga = somebody(played, "Olga", Role.OPERATOR)
    links = links_of(olga.open("/exceptions").text)
    assert f"/changes/new/award-forfeiture?award={UNCLAIMED}" in links
    assert "/changes/new/compensation?table=T1&round=denied&bet_id=b1" in links
    assert kinds_on(olga, "/exceptions?kind=prize-denied") == {"compensation", "declined-compensation"}
    assert kinds_on(somebody(played, "Fay", Role.FINANCE), "/exceptions?kind=prize-denied") == {"declined-compensation"}
    played.change("declined-compensation", every_kind.PAYLOADS["declined-compensation"])
    assert kinds_on(olga, "/exceptions?kind=prize-denied&acknowledged=any") == set()
