"""Events: told once each, to whom they may be told, in the order of booking; and nothing is passed over."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import pytest

from jackpot_service.api.places import Caller
from jackpot_service.api.request_context import EXTENSION
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Role
from jackpot_service.events import entries
from jackpot_service.events.cursor import Begun, Cursor, decode, encode
from jackpot_service.events.event import EventType
from jackpot_service.events.page import events_page
from jackpot_service.usecases.jackpots import AddStripes, add_stripes
from tests.support import correcting, notifications
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

HOUSE_READERS: Final = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)

DOCUMENTATION: Final = (Path(__file__).resolve().parents[2] / "docs" / "events.md").read_text(encoding="utf-8")
EXAMPLES: Final[list[Body]] = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", DOCUMENTATION, re.DOTALL)]


def test_events_of_every_type_are_told_by_cloudevents(world: World) -> None:
    notifications.bring_about_everything(world)

    notified = notifications.follow(world)

    assert {event["type"] for event in notified} == set(EventType)
    for event in notified:
        assert (event["specversion"], event["datacontenttype"]) == ("1.0", "application/json")
        assert event["id"].startswith(f"{event['source'].removeprefix('urn:jackpot:book:')}/0/")
        assert event["subject"]
        assert re.fullmatch(r"2026-11-2[024]T09:\d\d:\d\d\.000000Z", event["time"])


def test_the_documentation_shows_each_type_as_it_is_told(world: World) -> None:
    notifications.bring_about_everything(world)
    by_type: dict[str, Body] = {}
    for event in notifications.follow(world):
        by_type.setdefault(event["type"], event)

    assert {example["type"] for example in EXAMPLES} == by_type.keys()
    for example in EXAMPLES:
        event = by_type[example["type"]]
        assert example == {name: event[name] for name in {*example, "data"}}, json.dumps(event)


@pytest.mark.long
def test_pages_of_any_length_tell_the_same_and_nothing_twice(world: World) -> None:
    notifications.bring_about_everything(world)
    notified = notifications.follow(world)

    assert len({event["id"] for event in notified}) == len(notified)
    for limit in (1, 2, 3, 7, len(notified)):
        assert notifications.follow(world, limit=limit) == notified


@pytest.mark.long
def test_events_of_all_books_are_told_in_the_order_in_which_they_were_booked(world: World) -> None:
    notifications.bring_about_everything(world)

    times = [event["time"] for event in notifications.follow(world)]

    assert times == sorted(times)


def test_a_page_goes_on_where_it_stopped_whatever_came_meanwhile(world: World) -> None:
    world.open(base_amount="1000", tables=("T1", "T2"))
    world.clock.advance(timedelta(hours=1))
    start = notifications.now(world)
    world.bet(*(bet(f"b{number}", hand=f"{number}") for number in range(3)))
    world.settle(hand("0", FLUSH), hand("1", FOUR_OF_A_KIND), hand("2", ROYAL_FLUSH))

    first = notifications.page(world, after=start, limit=2)
    world.clock.advance(timedelta(minutes=-30))  # On another stripe, what comes now is dated before it.
    world.cancel(round_id="r2", table_id="T2")
    rest = notifications.follow(world, after=first["next"], limit=2)

    assert notifications.types(first["items"]) == ["round.settled", "award.made"]
    assert notifications.types(rest) == [
        "award.made",
        "award.made",
        "award.made",
        "award.made",
        "hit",
        "reset",
        "round.cancelled",
    ]
    ids = [event["id"] for event in (*first["items"], *rest)]
    assert len(set(ids)) == len(ids)


def test_an_entry_that_is_begun_stays_so_while_its_stripe_is_not_looked_at(world: World) -> None:
    """As at a replica that is behind, or where it was last looked before the entry came."""
    world.open(base_amount="1000", stripes=1)
    world.open(jackpot_id="j2", tables=("T2",))
    start = decode(notifications.now(world))
    world.bet(bet())
    world.settle(hand("1", FLUSH))
    begun = decode(notifications.page(world, after=encode(start), limit=1)["next"])
    world.cancel(table_id="T2")

    with world.engine.connect() as session:
        all_ = entries.heads(session)
        behind = replace(all_, positions={**all_.positions, "j1": start.positions["j1"]})
        page = events_page(session, SYSTEM_OPERATOR, begun, behind, limit=10)

    assert [event.payload.type for event in page.items] == [EventType.ROUND_CANCELLED]
    assert page.next.begun == begun.begun == Begun("j1", 0, 1)
    assert notifications.types(notifications.follow(world, after=encode(page.next))) == ["award.made"]


def test_batches_of_bets_are_not_told_and_passed_over(world: World) -> None:
    world.open(base_amount="1000")
    start = notifications.now(world)
    for number in range(5):
        world.bet(bet(), round_id=f"r{number}")

    page = notifications.page(world, after=start)

    assert (page["items"], page["has_more"]) == ([], False)
    assert page["next"] != start
    assert notifications.page(world, after=page["next"])["next"] == page["next"]


def test_a_page_looks_at_so_many_entries_and_no_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    notifications.bring_about_everything(world)
    notified = notifications.follow(world)
    monkeypatch.setattr(entries, "MOST_LOOKED_AT", 3)

    after, seen, empty = None, [], 0
    while True:
        page = notifications.page(world, after=after)
        seen += page["items"]
        empty += not page["items"]
        after = page["next"]
        if not page["has_more"]:
            break

    assert empty > 0
    assert sorted(event["id"] for event in seen) == sorted(event["id"] for event in notified)


def test_what_happens_after_now_is_told_from_now_on(world: World) -> None:
    world.open(base_amount="1000")

    start = notifications.page(world, after="now")
    world.cancel()

    assert (start["items"], start["has_more"]) == ([], False)
    assert notifications.types(notifications.follow(world, after=start["next"])) == ["round.cancelled"]


def test_a_jackpot_and_stripes_that_are_newer_than_the_cursor_are_told_from_their_beginning(world: World) -> None:
    world.open(base_amount="1000", stripes=1)
    start = notifications.now(world)

    world.open(jackpot_id="j2", tables=("T2",), stripes=2)
    world.cancel(round_id="new", table_id="T2")
    world.transact(lambda session: add_stripes(session, AddStripes(world.act(), "j1", 16)))
    for number in range(20):
        world.cancel(round_id=f"r{number}")

    notified = notifications.follow(world, after=start)
    assert notifications.types(notified) == ["opened", "table.added", *["round.cancelled"] * 21]
    assert len({event["id"].rpartition("/")[0].rpartition("/")[0] for event in notified}) > 3


def test_an_event_adds_up_to_the_money_of_its_round(world: World) -> None:
    world.open(base_amount="1000")
    start = notifications.now(world)
    world.bet(bet("a"), bet("b", currency="GBP", hand="2"), bet("c", hand="3", stake_minor=250))
    world.settle(hand("1", FLUSH), hand("2"), {"hand": "3", "status": "dead"})

    settled, made = (event["data"] for event in notifications.follow(world, after=start))

    assert settled["stakes"] == [
        {"currency": "EUR", "amount_minor": 350, "bets": 2},
        {"currency": "GBP", "amount_minor": 100, "bets": 1},
    ]
    assert settled["refunds"] == [{"currency": "EUR", "amount_minor": 250, "bets": 1}]
    assert settled["awards"] == [{"currency": "EUR", "amount_minor": 2500, "awards": 1}]
    assert (made["amount_minor"], made["cost_base"], made["state"]) == (2500, "25", "payable")
    assert world.books.balance("j1", "casino:c1") == (-350 + 250 + 2500) // 100


def test_an_award_is_told_as_it_was_made_whatever_became_of_it(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("20")})
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    before = notifications.follow(world)

    world.change("held-awards", notifications.ROUND | {"round_id": "r1", "decision": "approve"})
    correcting.pay(world, "a")

    assert before[-1]["data"]["state"] == "held"
    assert notifications.follow(world)[: len(before)] == before


def test_what_changes_nothing_is_not_told(world: World) -> None:
    world.open(base_amount="1000")
    start = notifications.now(world)
    for request_id in ("s1", "s2", "s2"):
        body = {"request_id": request_id, "reason": "to be sure"}
        world.put("/v1/jackpots/j1/suspension", body, key=world.person("Ann", Role.OPERATOR))

    assert notifications.types(notifications.follow(world, after=start)) == ["suspended"]


def test_keys_requests_and_stripes_are_not_told(world: World) -> None:
    world.open(base_amount="1000")
    world.person("Ann", Role.OPERATOR)
    world.person("Bob", Role.FINANCE)
    start = notifications.now(world)

    world.person("Eve", Role.AUDITOR)
    world.transact(lambda session: add_stripes(session, AddStripes(world.act(), "j1", 8)))
    world.ask("seed-recovery", {"jackpot_id": "j1", "amount": "-100"}).ok(201)
    body = {"reason": "not agreed"}
    world.post("/v1/change-requests/q1/rejection", body, key=world.person("Bob", Role.FINANCE)).ok()

    assert notifications.follow(world, after=start) == []


# Who sees what.


@pytest.fixture
def two_casinos(world: World) -> World:
    """One jackpot at two casinos: c1 has T1 and T3, c2 has T2, which hit it."""
    world.open(base_amount="1000", settings={"payout_tiers": held_from("20")}, tables=("T1", "T3"))
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    for table_id, cards in (("T1", FLUSH), ("T2", ROYAL_FLUSH), ("T3", FLUSH)):
        world.bet(bet(f"{table_id}-bet"), table_id=table_id)
        world.settle(hand("1", cards), table_id=table_id)
    for table_id in ("T1", "T2", "T3"):
        payload = {"jackpot_id": "j1", "table_id": table_id, "round_id": "r1", "decision": "approve"}
        world.change("held-awards", payload, request_id=f"approve-{table_id}")
    correcting.correct(world, hand("1", NOTHING), request_id="correct", table_id="T3")
    for casino_id in ("c1", "c2"):
        payload = notifications.STATEMENT | {"casino_id": casino_id}
        world.change("statement-settlement", payload, request_id=f"statement-{casino_id}")
    return world


PUBLIC: Final = ["hit", "reset"]
OF_T1: Final = ["round.settled", "award.made", "award.approved"]
OF_T3: Final = ["round.settled", "award.made", "award.approved", "round.corrected", "award.reversed"]


@pytest.mark.parametrize("role", HOUSE_READERS)
def test_the_house_is_told_everything_and_by_whom(two_casinos: World, role: Role) -> None:
    notified = notifications.follow(two_casinos, key=two_casinos.key(role))

    assert notified == notifications.follow(two_casinos)
    assert {event["data"]["act"]["principal"] for event in notified if "act" in event["data"]} == {"cli", "Bob"}


@pytest.mark.parametrize("role", [Role.TABLE, Role.FINANCE])
def test_a_casinos_key_is_told_what_is_the_casinos_and_that_the_jackpot_was_hit(two_casinos: World, role: Role) -> None:
    notified = notifications.follow(two_casinos, key=two_casinos.key(role, casino_id="c1"))

    assert sorted(notifications.types(notified)) == sorted([*OF_T1, *OF_T3, *PUBLIC, "statement.settled"])
    assert {event["data"]["casino_id"] for event in notified if "casino_id" in event["data"]} == {"c1"}
    text = json.dumps(notified)
    assert "player-of-T1-bet" in text
    assert not {name for name in ("player-of-T2-bet", "Ann", "Bob", "as agreed", '"act"') if name in text}


def test_a_key_bound_to_a_table_is_told_what_is_that_tables(two_casinos: World) -> None:
    notified = notifications.follow(two_casinos, key=two_casinos.key(Role.TABLE, casino_id="c1", table_ids=("T1",)))

    assert sorted(notifications.types(notified)) == sorted([*OF_T1, *PUBLIC])
    assert "T3" not in json.dumps(notified)


def test_a_key_for_rates_is_told_of_rates_and_hits(two_casinos: World) -> None:
    notified = notifications.follow(two_casinos, key=two_casinos.key(Role.RATES))

    assert notifications.types(notified) == ["rates.published", *PUBLIC]
    assert "act" not in notified[0]["data"]


def test_an_event_is_the_same_for_everybody_but_for_who_acted(two_casinos: World) -> None:
    all_ = {event["id"]: event for event in notifications.follow(two_casinos)}

    for key in (two_casinos.key(Role.FINANCE, casino_id="c2"), two_casinos.key(Role.TABLE)):
        for event in notifications.follow(two_casinos, key=key, limit=1):
            whole = all_[event["id"]]
            assert event == {**whole, "data": {k: v for k, v in whole["data"].items() if k != "act"}}


def test_a_cursor_opens_nothing_to_another_key(two_casinos: World) -> None:
    cursor = notifications.page(two_casinos, limit=8)["next"]
    strange = two_casinos.key(Role.TABLE, casino_id="c2")

    assert {
        event["data"].get("casino_id", "c2") for event in notifications.follow(two_casinos, after=cursor, key=strange)
    } == {"c2"}


# Wrong questions.


WRONG: Final = (
    ("after=", "?after"),
    ("after=k1f", "?after"),
    (f"after={encode(Cursor({'-': (1,)}))[:-1]}", "?after"),
    (f"after={'A' * 60_001}", "?after"),
    ("after=%00", "?after"),
    ("after=%FF", "?after"),
    ("after=-1", "?after"),
    ("after=Now", "?after"),
    ("limit=0", "?limit"),
    ("limit=1001", "?limit"),
    ("limit=-1", "?limit"),
    ("limit=1.0", "?limit"),
    ("limit=%D9%A1", "?limit"),
    (f"limit={'9' * 5000}", "?limit"),
    ("wait=21", "?wait"),
    ("wait=-1", "?wait"),
    ("wait=1e1", "?wait"),
    ("wait=", "?wait"),
    ("since=yesterday", "?since"),
    ("after=now&after=now", "?after"),
)


def test_a_wrong_question_is_refused_where_it_is_wrong(world: World, subtests: pytest.Subtests) -> None:
    for query, pointer in WRONG:
        with subtests.test(query[:60]):
            world.get(f"/v1/events?{query}").problem(422, "validation", pointer)


NEVER_GIVEN: Final = {
    "beyond the end": Cursor({"-": (2**63 - 1,)}),
    "of an unknown stripe": Cursor({"j1": (1, 0, 0, 0, 0, 1)}),
    "of an unknown book": Cursor({"none": (1,)}),
    "begun in one": Cursor({}, Begun("none", 0, 1)),
    "begun on one": Cursor({}, Begun("-", 2**63 - 1, 1)),
}


def test_a_cursor_that_these_books_never_gave_is_refused(world: World, subtests: pytest.Subtests) -> None:
    world.open(base_amount="1000")

    for name, cursor in NEVER_GIVEN.items():
        with subtests.test(name):
            world.get(f"/v1/events?after={encode(cursor)}").problem(422, "cursor-ahead")


def test_a_cursor_made_by_hand_within_the_books_tells_what_its_key_may_see(world: World) -> None:
    world.open(base_amount="1000", stripes=1)
    world.cancel()

    for number in (1, 99, 2**63 - 1):
        cursor = Cursor({"-": (1,)}, Begun("j1", 0, number))
        notified = notifications.types(notifications.follow(world, after=encode(cursor)))
        assert "casino.added" not in notified


# Waiting.


@contextmanager
def meanwhile(act: Any) -> Iterator[None]:
    """Have something done by another thread, a little after the block began."""
    timer = threading.Timer(0.3, act)
    timer.start()
    try:
        yield
    finally:
        timer.join()


def test_whoever_waits_is_told_as_soon_as_something_happens(world: World) -> None:
    world.open(base_amount="1000")
    start = notifications.now(world)

    with meanwhile(world.cancel):
        page = notifications.page(world, after=start, wait=20)

    assert notifications.types(page["items"]) == ["round.cancelled"]


def test_whoever_waits_for_what_he_may_not_see_is_told_nothing_and_has_passed_it(world: World) -> None:
    world.open(base_amount="1000")
    world.add_casino("c2")
    key = world.key(Role.TABLE, casino_id="c2")
    start = notifications.now(world)

    world.cancel()

    page = notifications.page(world, after=start, wait=1, key=key)

    assert (page["items"], page["has_more"]) == ([], False)
    assert page["next"] == notifications.now(world)


def test_what_is_there_is_told_without_waiting(world: World) -> None:
    assert notifications.page(world, wait=20)["items"]


def test_if_as_many_wait_as_may_one_more_is_told_to_come_again(world: World) -> None:
    listeners = world.app.extensions[EXTENSION].listeners

    with listeners.place(Caller("c9", "flood"), listeners.at_most):
        answer = world.get("/v1/events?after=now&wait=20")
        assert world.get("/v1/events?after=now").status == HTTPStatus.OK

    answer.problem(503, "busy")
    assert 15 <= int(answer.headers["Retry-After"]) <= 30


def test_an_answer_is_not_to_be_kept(world: World) -> None:
    assert world.get("/v1/events?limit=1").headers["Cache-Control"] == "no-store"
