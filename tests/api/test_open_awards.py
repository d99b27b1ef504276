"""Awards of which something is still to be paid or decided: listed in the order in which they wait, and summed up."""

from datetime import timedelta
from typing import Any, Final

import psycopg
import pytest
from psycopg import errors

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.awarded import decide, furnish, pay, stop, win
from tests.support.fixtures import books_verify, open_awards_follow
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify", "open_awards_follow"]

TOTALS: Final = "/v1/award-totals"


@pytest.fixture
def awarded(world: World) -> World:
    return furnish(world)


def rounds(world: World, query: str, **caller: Any) -> list[str]:
    items: list[Body] = world.get(f"/v1/awards?{query}", **caller).ok()["items"]
    return [item["round_id"] for item in items]


def totals(world: World, query: str = "", **caller: Any) -> set[tuple[str, str, str, int, int]]:
    items: list[Body] = world.get(f"{TOTALS}{query}", **caller).ok()["items"]
    names = ("state", "currency", "age", "awards", "unpaid_minor")
    return {tuple(item[name] for name in names) for item in items}


def test_open_awards_are_those_of_which_something_is_to_be_paid_or_decided(awarded: World) -> None:
    pay(awarded, "payable", "a part", 100)
    pay(awarded, "pounds", "all of it")
    assert rounds(awarded, "open=true&oldest_first=true") == ["payable", "held", "other"]
    assert rounds(awarded, "open=true") == ["other", "held", "payable"]
    assert rounds(awarded, "open=false") == ["pounds", "other", "held", "payable"]
    assert rounds(awarded, "open=true&state=paid") == []
    decide(awarded, "reject")
    stop(awarded, "payable")
    assert rounds(awarded, "open=true&oldest_first=true") == ["payable", "other"]
    assert rounds(awarded, "state=stopped&oldest_first=true") == ["payable"]


def test_the_oldest_come_first_and_the_list_goes_on_there(awarded: World) -> None:
    for query in ("oldest_first=true", "open=true&oldest_first=true"):
        first = awarded.get(f"/v1/awards?{query}&limit=3").ok()
        rest = awarded.get(f"/v1/awards?{query}&limit=3&after={first['next']}").ok()
        listed = [item["round_id"] for item in first["items"] + rest["items"]]
        assert (listed, rest["next"]) == (["payable", "held", "other", "pounds"], None)
    awarded.get("/v1/awards?oldest_first=true&player_id=p").problem(422, "validation")


def test_awards_are_listed_whose_claim_ends_before_an_instant(awarded: World) -> None:
    awarded.change("casino-claims", {"casino_id": "c1", "claim_days": 10}, request_id="claims")
    assert rounds(awarded, "claimable_before=2026-11-30T08:00:00Z") == []
    assert rounds(awarded, "claimable_before=2026-12-01T00:00:00Z") == ["pounds", "payable"]
    stop(awarded, "pounds")
    assert rounds(awarded, "claimable_before=2026-12-01T00:00:00Z") == ["payable"]


def test_a_table_server_sees_the_open_awards_of_its_own_tables(awarded: World) -> None:
    awarded.add_table("T9", jackpot_id="j1")
    win(awarded, "own", table_id="T9")
    server = awarded.key(Role.TABLE, casino_id="c1", table_ids=("T9",))
    assert rounds(awarded, "open=true&limit=1", key=server) == ["own"]
    assert rounds(awarded, "open=true&oldest_first=true&limit=1", key=server) == ["own"]


def test_totals_are_those_of_the_list_by_state_currency_and_age(awarded: World) -> None:
    pay(awarded, "payable", "a part", 1_000)
    awarded.clock.advance(timedelta(days=95))
    win(awarded, "young")
    awarded.change("casino-claims", {"casino_id": "c2", "claim_days": 90}, request_id="claims")
    whole = {
        ("held", "EUR", "over 90", 1, 25_000),
        ("part-paid", "EUR", "over 90", 1, 1_500),
        ("payable", "EUR", "0-30", 1, 2_500),
        ("payable", "GBP", "over 90", 1, 2_500),
        ("unclaimed", "EUR", "over 90", 1, 2_500),
    }
    of_c2 = {("unclaimed", "EUR", "over 90", 1, 2_500)}
    assert totals(awarded) == whole
    assert totals(awarded, "?casino_id=c2") == of_c2
    assert totals(awarded, key=awarded.key(Role.FINANCE, casino_id="c2")) == of_c2
    assert totals(awarded, "?casino_id=c1", key=awarded.key(Role.FINANCE, casino_id="c2")) == set()
    assert totals(awarded, "?jackpot_id=j9") == set()
    for state, _, _, count, _ in whole - {("payable", "GBP", "over 90", 1, 2_500)}:
        assert len(rounds(awarded, f"state={state}")) == count + (state == "payable")


def test_totals_are_for_people(awarded: World) -> None:
    for role in (Role.TABLE, Role.RATES):
        awarded.get(TOTALS, role=role).problem(403, "role-forbidden")


def test_the_service_writes_no_open_award_itself(awarded: World) -> None:
    with psycopg.connect(awarded.database_url.replace("+psycopg", "")) as application:
        for statement in (
            "DELETE FROM open_awards",
            "UPDATE open_awards SET paid_minor = 1",
            "INSERT INTO open_awards SELECT * FROM open_awards",
            "SELECT keep_open_award()",
            "SELECT open_new_awards()",
        ):
            with pytest.raises(errors.InsufficientPrivilege, match="permission denied"):
                application.execute(statement)
            application.rollback()
    assert len(rounds(awarded, "open=true")) == 4
