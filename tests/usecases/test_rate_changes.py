"""Changes of rates by two people: what they are put over, what must be repeated, when they come into force."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final

import pytest

from jackpot_service.domain.changes import ChangeStale, Outcome
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.rate_sheet import ChangeRates
from jackpot_service.usecases.changes.requests import DecideChange, RequestChange, decide_change, request_change
from jackpot_service.usecases.publish_rates import PublishRates, publish_rates
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

ANN, BOB = Principal("Ann", Role.RATES), Principal("Bob", Role.RATES)


def ask(world: World, request_id: str = "q1", **payload: Any) -> Answer:
    return world.ask("rate-sheet", {"base": "EUR", **payload}, request_id=request_id, role=Role.RATES)


def approve(world: World, request_id: str = "q1", **more: Any) -> Answer:
    return world.approve(request_id, role=Role.RATES, **more)


def change(world: World, request_id: str = "q1", **payload: Any) -> Body:
    """Have a change asked for and approved, with whatever must be confirmed; what it did."""
    requested = ask(world, request_id, **payload).ok(201)
    effect: Body = approve(world, request_id, confirm=requested["confirm"]).ok()["effect"]
    return effect


def rates(world: World, query: str = "base=EUR") -> dict[str, str]:
    listed = world.get(f"/v1/rates?{query}").ok()["rates"]
    return {rate["currency"]: rate["rate"] for rate in listed if rate["currency"] not in query}


def soon(world: World, **duration: float) -> str:
    written = instant(world.clock.at + timedelta(**duration))
    assert written is not None
    return written


def people(world: World) -> None:
    """Have keys made, so that what is counted afterwards is only what a change wrote."""
    for name in ("Ann", "Bob"):
        world.person(name, Role.RATES)


# What a change makes of the sheet before it.


def test_single_rates_are_put_over_the_sheet_in_force(world: World) -> None:
    effect = change(world, rates={"GBP": "1.18"})

    assert rates(world) == {"GBP": "1.18", "SEK": "0.0873", "JPY": "0.0061"}
    assert (effect["before"]["number"], effect["after"]["number"], effect["after"]["until"]) == (1, 2, None)
    assert ["GBP", "1.17", 2] in effect["before"]["rates"]
    assert ["GBP", "1.18", 2] in effect["after"]["rates"]


def test_of_a_whole_sheet_only_what_it_states_is_in_force(world: World) -> None:
    change(world, rates={"GBP": "1.18", "SEK": "0.0873"}, replace_all=True)

    assert rates(world) == {"GBP": "1.18", "SEK": "0.0873"}


@pytest.mark.parametrize(
    "way", [{"removed_currencies": ["SEK"]}, {"rates": {"GBP": "1.17", "JPY": "0.0061"}, "replace_all": True}]
)
def test_a_currency_that_leaves_takes_no_new_round_and_its_open_rounds_settle(world: World, way: Body) -> None:
    world.open(base_amount="1000")
    world.bet(bet("crowns", currency="SEK", stake_minor=1000), bet("pounds", currency="GBP", hand="2"))

    change(world, **way)

    world.post_bets(bet(currency="SEK", stake_minor=1000), round_id="r2").problem(422, "no-rate", "/bets/0/currency")
    world.bet(bet("more", currency="SEK", stake_minor=1000, hand="3"))
    lost, lost_too = ("2c", "3d", "5h", "7s", "9c"), ("2d", "3c", "6h", "8s", "9d")
    settlement = world.settle(hand("1", ROYAL_FLUSH), hand("2", lost), hand("3", lost_too))
    paid = {award["bet_id"]: award["currency"] for award in settlement["awards"]}
    assert paid == {"crowns": "SEK", "pounds": "GBP", "more": "SEK"}
    assert world.get("/v1/rates?base=EUR&number=1").ok()["rates"] != []
    assert world.books.value("SELECT count(*) FROM rates WHERE currency = 'SEK'") == 1


def test_a_currency_that_left_comes_back_as_a_new_one(world: World) -> None:
    change(world, removed_currencies=["SEK"])

    assert ask(world, "q2", rates={"SEK": "0.0873"}).ok(201)["confirm"] == {"SEK": "0.0873"}


def test_a_currency_that_is_no_money_any_more_has_to_leave(world: World) -> None:
    quoted = {"EUR": Decimal("1.05"), "BGN": Decimal("0.53")}
    long_ago = world.clock.at.replace(year=2025)
    first = PublishRates(world.act(), "USD", quoted, long_ago)
    world.transact(lambda session: publish_rates(session, first))

    ask(world, base="USD", rates={"EUR": "1.06"}).problem(422, "unknown-currency", "/payload/removed_currencies")
    change(world, base="USD", rates={"EUR": "1.06"}, removed_currencies=["BGN"])
    assert rates(world, "base=USD") == {"EUR": "1.06"}


def test_a_first_sheet_may_come_from_two_people_as_well(world: World) -> None:
    requested = ask(world, base="USD", rates={"EUR": "1.05"}).ok(201)
    assert (requested["base_version"], requested["confirm"], requested["effect"]["before"]) == (
        "0",
        {"EUR": "1.05"},
        None,
    )

    approve(world, confirm={"EUR": "1.05"}).ok()
    assert rates(world, "base=USD") == {"EUR": "1.05"}


# Sheets of the future.


def test_single_rates_for_now_are_not_put_over_a_sheet_of_the_future(world: World) -> None:
    change(world, "future", rates={"SEK": "0.09"}, effective_at=soon(world, days=1))

    effect = change(world, "now", rates={"GBP": "1.18"})

    assert rates(world) == {"GBP": "1.18", "SEK": "0.0873", "JPY": "0.0061"}
    # It says itself that it does not last.
    assert effect["after"]["until"] == world.get("/v1/rate-sheets?base=EUR").ok()["items"][1]["effective_at"]
    world.clock.advance(timedelta(days=1))
    assert rates(world) == {"GBP": "1.17", "SEK": "0.09", "JPY": "0.0061"}


def test_single_rates_for_later_are_put_over_the_sheet_in_force_then(world: World) -> None:
    change(world, "q1", rates={"SEK": "0.09"}, effective_at=soon(world, days=1))
    change(world, "q2", rates={"GBP": "1.18"}, effective_at=soon(world, days=2))

    assert rates(world) == {"GBP": "1.17", "SEK": "0.0873", "JPY": "0.0061"}
    assert rates(world, f"base=EUR&as_of={soon(world, days=3)}") == {"GBP": "1.18", "SEK": "0.09", "JPY": "0.0061"}


def test_a_wrong_sheet_of_the_future_is_corrected_by_another_of_the_same_time(world: World) -> None:
    at = soon(world, days=1)
    change(world, "wrong", rates={"GBP": "1.19"}, effective_at=at)
    change(world, "right", rates={"GBP": "1.18"}, effective_at=at)

    assert rates(world, f"base=EUR&as_of={at}")["GBP"] == "1.18"


def test_a_request_is_stale_when_another_sheet_has_come_into_force_meanwhile(world: World) -> None:
    change(world, "future", rates={"GBP": "1.19"}, effective_at=soon(world, hours=1))
    ask(world, "q2", rates={"SEK": "0.09"}).ok(201)
    world.clock.advance(timedelta(hours=2))

    approve(world, "q2").problem(409, "change-stale")
    assert rates(world) == {"GBP": "1.19", "SEK": "0.0873", "JPY": "0.0061"}


def test_a_sheet_of_a_later_time_does_not_stand_in_the_way(world: World) -> None:
    ask(world, "now", rates={"GBP": "1.18"}).ok(201)
    change(world, "future", rates={"SEK": "0.09"}, effective_at=soon(world, days=1))

    approve(world, "now").ok()
    assert rates(world)["GBP"] == "1.18"


def test_an_approval_that_had_to_wait_sees_what_was_approved_before_it(world: World) -> None:
    """Its clock was read before its turn came: what is in force when it is booked is in force not before that."""

    def decided(request_id: str, at: Any) -> DecideChange:
        return DecideChange(Act(BOB, at, reason="checked"), request_id, Outcome.APPROVED)

    people(world)
    for request_id, rate in (("q1", "1.18"), ("q2", "1.19")):
        act = Act(ANN, world.clock(), request_id=request_id, reason="the morning's rates")
        command = RequestChange(act, "rate-sheet", {"base": "EUR", "rates": {"GBP": rate}})
        world.transact(partial(request_change, command=command))
    early, late = world.clock(), world.clock()
    world.transact(lambda session: decide_change(session, decided("q1", late)))

    with pytest.raises(ChangeStale):
        world.transact(lambda session: decide_change(session, decided("q2", early)))

    assert rates(world)["GBP"] == "1.18"


def test_a_sheet_is_in_force_not_before_it_is_booked(world: World) -> None:
    people(world)
    act = Act(ANN, world.clock(), request_id="q1", reason="the morning's rates")
    command = RequestChange(act, "rate-sheet", {"base": "EUR", "rates": {"GBP": "1.18"}})
    world.transact(lambda session: request_change(session, command))
    slow = world.clock()
    world.add_casino("c2")

    world.transact(
        lambda session: decide_change(session, DecideChange(Act(BOB, slow, reason="checked"), "q1", Outcome.APPROVED))
    )

    (booked,) = world.books.rows("SELECT booked_at FROM entries WHERE kind = 'rates_published' AND principal = 'Bob'")
    (sheet,) = world.books.rows("SELECT effective_at FROM rate_sheets WHERE number = 2")
    assert sheet["effective_at"] == booked["booked_at"] > slow


# Never in the past, and never ambiguous.


def test_a_time_that_has_passed_is_refused_when_it_is_asked_for(world: World) -> None:
    people(world)
    before = world.books.counts()

    ask(world, rates={"GBP": "1.18"}, effective_at=soon(world, seconds=-1)).problem(
        422, "payload-invalid", "/payload/effective_at"
    )
    assert world.books.counts() == before


def test_a_time_that_has_passed_is_refused_when_it_is_approved(world: World) -> None:
    ask(world, rates={"GBP": "1.18"}, effective_at=soon(world, hours=1)).ok(201)
    world.clock.advance(timedelta(hours=2))

    refused = approve(world).problem(422, "payload-invalid", "")  # The approver sent no payload.
    assert refused["detail"] == "/payload/effective_at lies in the past."
    assert world.get("/v1/change-requests/q1").ok()["state"] == "pending"
    assert rates(world)["GBP"] == "1.17"


WITHOUT_OFFSET: Final[tuple[object, ...]] = (
    "2027-10-31T02:30:00",
    "2027-10-31T02:30:00 Europe/Riga",
    "2027-10-31 02:30:00+02:00",
    "2027-10-31",
    "2027-13-31T02:30:00Z",
    "2027-10-31T02:30:00+99:00",
    1824949800,
    None,
    "",
)


def test_a_time_without_its_offset_could_be_two_and_is_refused(world: World, subtests: pytest.Subtests) -> None:
    for number, time in enumerate(WITHOUT_OFFSET):
        with subtests.test(time=time):
            answer = ask(world, f"q{number}", rates={"GBP": "1.18"}, effective_at=time)

            answer.problem(422, "payload-invalid", "/payload/effective_at")


def test_the_two_hours_of_one_name_are_told_apart_by_their_offsets(world: World) -> None:
    """On 31 October 2027 the clocks of Riga show 3:30 twice."""
    change(world, "summer", rates={"GBP": "1.18"}, effective_at="2027-10-31T03:30:00+03:00")
    change(world, "winter", rates={"GBP": "1.19"}, effective_at="2027-10-31T03:30:00+02:00")

    listed = world.get("/v1/rate-sheets?base=EUR").ok()["items"]
    assert [sheet["effective_at"] for sheet in listed[:2]] == [
        "2027-10-31T01:30:00.000000Z",
        "2027-10-31T00:30:00.000000Z",
    ]


# What is hard to believe.


def test_an_inverted_quote_is_named_as_one_and_has_to_be_repeated_as_one(world: World) -> None:
    requested = ask(world, rates={"GBP": "0.8547", "SEK": "0.09"}).ok(201)
    assert requested["confirm"] == {"GBP:inverted": "0.8547"}

    approve(world).problem(422, "confirmation-required")
    approve(world, confirm={"GBP": "0.8547"}).problem(422, "confirmation-required")
    approve(world, confirm={"GBP:inverted": "1.17"}).problem(422, "confirmation-required")
    assert rates(world)["GBP"] == "1.17"
    approve(world, confirm={"GBP:inverted": "0.8547"}).ok()
    assert rates(world)["GBP"] == "0.8547"


def test_the_band_is_the_installations(world: World) -> None:
    world.config = replace(world.config, rate_band=Decimal("0.005"))
    world.app = world.start()

    assert ask(world, rates={"GBP": "1.18"}).ok(201)["confirm"] == {"GBP": "1.18"}


def test_the_band_lies_around_the_sheet_before_not_around_one_of_the_future(world: World) -> None:
    change(world, "future", rates={"GBP": "1.60"}, effective_at=soon(world, days=1))

    assert ask(world, "now", rates={"GBP": "1.20"}).ok(201)["confirm"] == {}
    assert ask(world, "later", rates={"GBP": "1.20"}, effective_at=soon(world, days=2)).ok(201)["confirm"] == {
        "GBP": "1.2"
    }


def test_in_an_emergency_too_the_figure_is_repeated(world: World) -> None:
    world.switch_emergency()
    ask(world, rates={"GBP": "3"}).ok(201)

    approve(world, by="Ann", emergency=True).problem(422, "confirmation-required")


# What cannot be.


SOURCE: Final = ("date", "name", "sha256")

NO_SHEET: Final[tuple[tuple[Body, str, *tuple[str, ...]], ...]] = (
    ({"rates": {"GBP": "NaN"}}, "payload-invalid", "/payload/rates/GBP"),
    ({"rates": {"SEK": "0.09", "GBP": "Infinity"}}, "payload-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": 1.17}}, "payload-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": 1}}, "payload-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": "1e3"}}, "payload-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": "1,17"}}, "payload-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": " 1.17"}}, "payload-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": "1" * 5000}}, "payload-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": None}}, "payload-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": "0"}}, "rate-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": "-1.17"}}, "rate-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": "-0"}}, "rate-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": "1.00000000001"}}, "rate-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": "10000000000"}}, "rate-invalid", "/payload/rates/GBP"),
    ({"rates": {"GBP": "0.00000001"}}, "rate-invalid", "/payload/rates/GBP"),
    ({"rates": {"EUR": "1"}}, "rate-invalid", "/payload/rates/EUR"),
    ({"rates": {"XXX": "1"}}, "unknown-currency", "/payload/rates/XXX"),
    ({"rates": {"HRK": "0.13"}}, "unknown-currency", "/payload/rates/HRK"),
    ({"rates": {"gbp": "1.17"}}, "payload-invalid", "/payload/rates"),
    ({"rates": {"GBP" * 100_000: "1.17"}}, "payload-invalid", "/payload/rates"),
    ({"rates": {}}, "payload-invalid", "/payload/rates"),
    ({"rates": []}, "payload-invalid", "/payload/rates"),
    ({}, "payload-invalid", "/payload/rates"),
    ({"replace_all": True}, "payload-invalid", "/payload/rates"),
    ({"replace_all": True, "removed_currencies": ["SEK"]}, "payload-invalid", "/payload/rates"),
    (
        {"replace_all": True, "rates": {"GBP": "1.17"}, "removed_currencies": ["SEK"]},
        "payload-invalid",
        "/payload/removed_currencies",
    ),
    ({"replace_all": "yes", "rates": {"GBP": "1.17"}}, "payload-invalid", "/payload/replace_all"),
    ({"removed_currencies": []}, "payload-invalid", "/payload/removed_currencies"),
    ({"removed_currencies": ["sek"]}, "payload-invalid", "/payload/removed_currencies/0"),
    ({"removed_currencies": ["SEK", "CHF"]}, "payload-invalid", "/payload/removed_currencies/1"),
    ({"removed_currencies": ["SEK", "SEK"]}, "payload-invalid", "/payload/removed_currencies/1"),
    ({"removed_currencies": ["EUR"]}, "payload-invalid", "/payload/removed_currencies/0"),
    ({"removed_currencies": ["GBP"], "rates": {"GBP": "1.17"}}, "payload-invalid", "/payload/removed_currencies/0"),
    ({"base": "XXX", "rates": {"GBP": "1.17"}}, "unknown-currency", "/payload/base"),
    ({"base": "euro", "rates": {"GBP": "1.17"}}, "payload-invalid", "/payload/base"),
    ({"rates": {"GBP": "1.17"}, "by": "me"}, "payload-invalid", "/payload/by"),
    ({"rates": {"GBP": "1.17"}, "source": {}}, "payload-invalid", *(f"/payload/source/{name}" for name in SOURCE)),
    (
        {"rates": {"GBP": "1.17"}, "source": {"name": "ecb"}},
        "payload-invalid",
        "/payload/source/date",
        "/payload/source/sha256",
    ),
    (
        {"rates": {"GBP": "1.17"}, "source": {"name": "ecb", "date": "2026-02-30", "sha256": "0" * 64}},
        "payload-invalid",
        "/payload/source/date",
    ),
    (
        {"rates": {"GBP": "1.17"}, "source": {"name": "ecb", "date": "2026-11-19", "sha256": "0" * 63}},
        "payload-invalid",
        "/payload/source/sha256",
    ),
    (
        {"rates": {"GBP": "1.17"}, "source": {"name": "ecb", "date": "2026-11-19", "sha256": "0" * 64, "x": 1}},
        "payload-invalid",
        "/payload/source/x",
    ),
)


def test_what_cannot_be_is_refused_with_a_pointer_and_nothing_is_written(
    world: World, subtests: pytest.Subtests
) -> None:
    people(world)

    for number, (payload, code, *pointers) in enumerate(NO_SHEET):
        with subtests.test(payload=payload):
            before = world.books.counts()

            refused = ask(world, f"q{number}", **payload)

            refused.problem(422, code, *pointers)
            assert len(refused.text) < 2000
            assert world.books.counts() == before


def test_a_payload_is_read_without_a_house() -> None:
    with pytest.raises(LookupError, match="completed before"):
        _ = ChangeRates.read({"base": "EUR", "rates": {"GBP": "1"}}).in_force_from


# A trial leaves nothing, also not in the memory of its connection.


def test_what_was_only_tried_is_not_taken_for_the_sheet_of_that_number(world: World) -> None:
    world.open()
    world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.20"}}, role=Role.RATES, query="?dry_run=true").ok()

    change(world, rates={"GBP": "1.18"})

    assert rates(world)["GBP"] == "1.18"
    assert world.bet(bet(currency="GBP"))["round"]["total_stake_base"] == "1.18"


def test_the_source_of_its_rates_is_kept_with_the_sheet_and_in_the_audit_trail(world: World) -> None:
    source = {"name": "ecb", "date": "2026-11-19", "sha256": "ab" * 32}

    effect = change(world, rates={"GBP": "1.18"}, source=source)

    assert effect["after"]["source"] == source
    assert world.get("/v1/rates?base=EUR").ok()["source"] == source
    assert world.get("/v1/rates?base=EUR&number=1").ok()["source"] is None
    (act,) = world.books.rows("SELECT after FROM acts WHERE decides = 'q1' AND subject = 'rate sheet EUR 2'")
    assert act["after"]["source"] == source
