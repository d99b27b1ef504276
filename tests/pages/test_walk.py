"""Everybody who follows every link of every page finds a page: nothing that is not theirs, and nothing broken."""

from urllib.parse import urlsplit

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.bets import bet
from tests.support.correcting import correct
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT, dead, hand
from tests.support.visitor import Visitor
from tests.support.walking import walk
from tests.support.world import CYBER, World

pytestmark = pytest.mark.long

PEOPLE = (
    *(Principal(f"the {role}", role) for role in (Role.FINANCE, Role.RATES, Role.OPERATOR, Role.AUDITOR)),
    Principal("the finance of c1", Role.FINANCE, "c1"),
    Principal("the finance of c2", Role.FINANCE, "c2"),
)


@pytest.fixture
def played(world: World) -> World:
    """Rounds in every state, hits at both casinos, an exception, and changes that people decided or that wait."""
    world.open(base_amount="1000", settings={"hands_per_player": "3"}, tables=("T1", "T2"))
    world.open(CYBER, jackpot_id="j2", base_amount="1000", tables=())
    world.add_casino("c2")
    world.add_table("T3", jackpot_id="j1", casino_id="c2")
    world.add_table("T4", jackpot_id="j2", casino_id="c2")
    world.add_table("T5")
    world.bet(bet("a"), round_id="open", table_id="T1")
    world.bet(bet("a"), round_id="closed", table_id="T2")
    world.put_closing(round_id="closed", table_id="T2").ok(201)
    world.bet(bet("a"), bet("b", hand="2"), round_id="put-right")
    world.settle(hand("1", STRAIGHT), dead("2"), round_id="put-right")
    correct(world, hand("1", FLUSH), hand("2", NOTHING), round_id="put-right")
    for table_id in ("T1", "T3", "T4"):
        world.bet(bet("a"), round_id=f"won-{table_id}", table_id=table_id)
        world.settle(hand("1", ROYAL_FLUSH), round_id=f"won-{table_id}", table_id=table_id)
    adjustment = {"jackpot_id": "j1", "account": "reserve", "amount": "1", "document": "memo", "cause": "count-error"}
    for number in range(2):
        world.ask("adjustment", adjustment, request_id=f"waits-{number}").ok(201)
    world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.18"}}, request_id="rates").ok(201)
    world.post_bets(bet("b"), round_id="cancelled-late").ok(201)
    world.cancel(round_id="cancelled-late")
    world.post_bets(bet("late"), round_id="cancelled-late").problem(409, "round-cancelled")
    for number in range(51):
        world.bet(bet("a"), round_id=f"cancelled-{number}", table_id="T3")
        world.cancel(round_id=f"cancelled-{number}", table_id="T3")
    return world


@pytest.mark.parametrize("somebody", PEOPLE, ids=lambda somebody: somebody.name)
def test_no_link_leads_to_what_is_not_there_or_not_theirs(played: World, somebody: Principal) -> None:
    statuses = walk(Visitor(played).sign_in(key=played.key_of(somebody)))

    assert {path: status for path, status in statuses.items() if status not in {200, 303}} == {}
    request = "/changes/rates" if somebody.role is Role.RATES else "/changes/waits-0"
    assert (request in statuses) is (somebody.casino_id is None)
    assert ("/finance" in statuses) is (somebody.role in {Role.FINANCE, Role.AUDITOR} and somebody.casino_id is None)
    assert ("/exceptions" in statuses) is (somebody.role is not Role.RATES)
    reads_reports = somebody.role in {Role.FINANCE, Role.AUDITOR}
    assert ("/reports/rounds" in statuses) is ("/exports" in statuses) is reads_reports
    assert any(path.startswith("/accounts/") for path in statuses) is (reads_reports and somebody.casino_id is None)
    assert ("/statements/c1" in statuses) is (reads_reports and somebody.casino_id in {None, "c1"})
    assert len({urlsplit(path).path for path in statuses}) >= (2 if somebody.role is Role.RATES else 10)


def test_finance_of_a_casino_reaches_nothing_of_another(played: World) -> None:
    visitor = Visitor(played).sign_in(key=played.key_of(PEOPLE[-1]))
    for path in walk(visitor):
        page = visitor.open(path).text
        for secret in ("put-right", "won-T1", "/floor/c1", "Casino c1", ">T1<", ">T2<"):
            assert secret not in page, path
