"""One entry by its place: what it moved and what it says, in a chain that a stranger can compute again."""

import hashlib
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00Z")


@pytest.fixture
def played(world: World) -> World:
    world.open(base_amount="1000", tables=("T1", "T2"))
    world.bet(bet("b1"), bet("b2", currency="GBP", hand="2"))
    world.settle(hand("1", FLUSH), hand("2"))
    return world


def place_of(world: World, kind: str, round_id: str = "r1") -> str:
    (place,) = (
        f"{entry['stripe']}/{entry['seq']}" for entry in world.round(round_id)["entries"] if entry["kind"] == kind
    )
    return place


def entry(world: World, place: str, *, book: str = "j1", **more: Any) -> Body:
    return world.get(f"/v1/entries/{book}/{place}", **more).ok()


def test_an_entry_of_bets_shows_its_round_and_postings_that_sum_to_zero(played: World) -> None:
    shown = entry(played, place_of(played, "bets"))

    assert (shown["book"], shown["kind"], shown["principal"]) == ("j1", "bets", "a table")
    assert shown["round"] == {"table_id": "T1", "round_id": "r1", "step": 1}
    assert (shown["casino_id"], shown["table_id"], shown["rules_version"], shown["facts"]) == ("c1", "T1", 1, None)
    sums: dict[str, Decimal] = {}
    for posting in shown["postings"]:
        sums[posting["currency"]] = sums.get(posting["currency"], Decimal(0)) + Decimal(posting["amount"])
    assert sums == {"EUR": 0, "GBP": 0}
    assert {posting["movement"] for posting in shown["postings"]} == {"contribution"}
    bets = [figure for figure in shown["figures"] if figure["kind"] == "bets"]
    assert [(bet["currency"], bet["number"], bet["minor"], bet["value"]) for bet in bets] == [
        ("EUR", 1, 100, "1"),
        ("GBP", 1, 100, "1.17"),
    ]


def test_an_entry_of_a_result_shows_what_was_stated(played: World) -> None:
    shown = entry(played, place_of(played, "result"))

    assert shown["facts"]["result"]["bet_count"] == 2
    assert shown["round"]["step"] == 2


def test_the_chain_of_a_stripe_can_be_computed_again_from_its_entries(world: World) -> None:
    world.open(base_amount="1000", stripes=1)
    world.bet(bet())
    world.settle(hand("1", FLUSH))

    head = hashlib.sha256(b"j1/0").hexdigest()
    for seq in (1, 2, 3):
        shown = entry(world, f"0/{seq}")
        assert shown["head_before"] == head
        microseconds = (datetime.fromisoformat(shown["booked_at"]) - EPOCH) // timedelta(microseconds=1)
        content = bytes.fromhex(head) + bytes.fromhex(shown["digest"]) + microseconds.to_bytes(8, "big")
        head = hashlib.sha256(content).hexdigest()
        assert shown["head"] == head
    world.get("/v1/entries/j1/0/4").problem(404, "entry-unknown")


def test_the_reference_book_is_for_auditors(played: World) -> None:
    act = entry(played, "0/1", book="-")
    assert (act["kind"], act["round"], act["casino_id"], act["postings"]) == ("casino_added", None, None, [])

    for role in (Role.OPERATOR, Role.FINANCE, Role.TABLE):
        played.get("/v1/entries/-/0/1", role=role).problem(404, "entry-unknown")


def test_a_key_of_a_casino_or_of_tables_sees_the_entries_of_its_own_rounds(played: World) -> None:
    played.add_casino("c2")
    place, opening = place_of(played, "bets"), "0/1"

    for key in (
        played.key(Role.TABLE),
        played.key(Role.TABLE, table_ids=("T1",)),
        played.key(Role.FINANCE, casino_id="c1"),
    ):
        assert entry(played, place, key=key)["kind"] == "bets"
        played.get(f"/v1/entries/j1/{opening}", key=key).problem(404, "entry-unknown")
    for key in (played.key(Role.FINANCE, casino_id="c2"), played.key(Role.TABLE, table_ids=("T2",))):
        played.get(f"/v1/entries/j1/{place}", key=key).problem(404, "entry-unknown")
    for role in (Role.FINANCE, Role.OPERATOR, Role.AUDITOR):
        assert entry(played, opening, role=role)["kind"] == "jackpot_opened"
    played.get(f"/v1/entries/j1/{place}", role=Role.RATES).problem(403, "role-forbidden")


@pytest.mark.parametrize("place", ["0/0", "9/1", "0/999999999999999999", "999999999999999999/1", "2147483648/1"])
def test_where_nothing_is_there_is_no_entry(played: World, place: str) -> None:
    played.get(f"/v1/entries/j1/{place}").problem(404, "entry-unknown")
    played.get(f"/v1/entries/j9/{place}").problem(404, "entry-unknown")


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("-1/1", "?stripe"),
        ("x/1", "?stripe"),
        ("0/1.5", "?seq"),
        ("0/1e3", "?seq"),
        ("0/" + "9" * 19, "?seq"),
        ("0/" + "9" * 5000, "?seq"),
        ("0/%D9%A1", "?seq"),
    ],
)
def test_what_is_no_place_is_refused(played: World, place: str, wrong: str) -> None:
    problem = played.get(f"/v1/entries/j1/{place}").problem(422, "validation", wrong)

    assert problem["errors"][0]["detail"] == "must be a whole number from 0 to 999999999999999999"


def test_a_place_that_is_not_whole_names_nothing(played: World) -> None:
    played.get("/v1/entries/j1/0/").problem(404, "not-found")
