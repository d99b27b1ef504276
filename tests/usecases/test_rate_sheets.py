"""Which rate sheet is in force: latest effective time, then highest number; a round keeps the one it was pinned to."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
import sqlalchemy
from sqlalchemy import NullPool, text

from jackpot_service.domain.currencies import UnknownCurrency
from jackpot_service.usecases.payloads import BadPayload
from jackpot_service.usecases.publish_rates import (
    BadRate,
    ExponentChanged,
    PublishRates,
    publish_first_sheet,
    publish_rates,
)
from tests.support import publishing
from tests.support.bets import bet
from tests.support.logins import owner_url
from tests.support.world import World

pytestmark = pytest.mark.slow


def publish(world: World, at: datetime, **rates: str) -> int:
    """Have a sheet approved that is in force from an instant on."""
    sheet = {code: Decimal(rate) for code, rate in rates.items()}
    return world.transact(lambda session: publishing.publish(session, "EUR", sheet, now=world.clock(), effective_at=at))


@pytest.fixture
def opened(world: World) -> World:
    world.open()
    return world


def in_force(world: World) -> tuple[int, str]:
    """The sheet that is in force now: the one that is shown, and that a round which is first seen is pinned to."""
    sheet = world.get("/v1/rates?base=EUR").ok()
    seen_now = world.bet(bet(), round_id=f"seen-{world.clock.at:%Y%m%d%H%M%S}")
    assert seen_now["round"]["rate_sheet"] == sheet["number"]
    rates = {rate["currency"]: rate["rate"] for rate in sheet["rates"]}
    return sheet["number"], rates["GBP"]


def test_sheets_are_numbered_from_one_for_each_base(world: World) -> None:
    assert [world.publish(GBP="1.2"), world.publish(GBP="1.3")] == [2, 3]
    assert world.publish("USD", GBP="1.3") == 1


def test_a_currency_is_not_divided_anew(opened: World, database_url: str) -> None:
    """Of a day's sum of minor units nobody could tell what they were."""
    divide_pounds(database_url, by=3)
    command = PublishRates(opened.act(), "EUR", {"GBP": Decimal("1.30")}, effective_at=opened.clock())

    with pytest.raises(ExponentChanged, match="GBP"):
        opened.transact(lambda session: publish_rates(session, command))

    divide_pounds(database_url, by=2)


def divide_pounds(url: str, *, by: int) -> None:
    """Change what earlier sheets say of pounds, with a superuser's rights."""
    owner = sqlalchemy.create_engine(owner_url(url), poolclass=NullPool)
    with owner.begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        connection.execute(text("UPDATE rates SET exponent = :by WHERE currency = 'GBP'"), {"by": by})


def test_a_sheet_of_the_future_is_not_yet_in_force(opened: World) -> None:
    tomorrow = opened.clock.at + timedelta(days=1)
    publish(opened, tomorrow, GBP="1.30")
    assert in_force(opened) == (1, "1.17")

    opened.clock.at = tomorrow
    assert in_force(opened) == (2, "1.3")


def test_the_later_effective_time_wins_whatever_the_number(opened: World) -> None:
    now = opened.clock.at
    publish(opened, now + timedelta(minutes=2), GBP="2")
    publish(opened, now + timedelta(minutes=1), GBP="3")
    opened.clock.advance(timedelta(minutes=5))

    assert in_force(opened) == (2, "2")


def test_of_the_same_effective_time_the_higher_number_wins(opened: World) -> None:
    soon = opened.clock.at + timedelta(minutes=1)
    publish(opened, soon, GBP="2")
    publish(opened, soon, GBP="3")
    opened.clock.advance(timedelta(minutes=5))

    assert in_force(opened) == (3, "3")


def test_a_sheet_is_not_dated_back(opened: World) -> None:
    with pytest.raises(BadPayload):
        publish(opened, opened.clock.at - timedelta(days=1), GBP="9")

    assert in_force(opened) == (1, "1.17")


@pytest.mark.parametrize("first_seen", ["bet", "void", "cancellation"])
def test_a_round_is_pinned_when_it_is_first_seen_by_whatever(world: World, first_seen: str) -> None:
    world.open()
    if first_seen == "bet":
        world.bet(bet("first"))
    elif first_seen == "void":
        world.void("first")
    else:
        world.cancel()

    world.publish(GBP="1.30")

    assert world.round()["round"]["rate_sheet"] == 1
    if first_seen != "cancellation":
        world.bet(bet("later", currency="GBP"))
        later = next(booked for booked in world.round()["bets"] if booked["bet_id"] == "later")
        assert later["contribution"]["value"] == "1.17"
    assert world.bet(bet(), round_id="next")["round"]["rate_sheet"] == 2


def test_a_round_keeps_a_currency_that_a_later_sheet_leaves_out(world: World) -> None:
    world.open()
    world.bet(bet("a", currency="SEK", stake_minor=1000))
    world.publish(GBP="1.17")

    world.bet(bet("b", currency="SEK", stake_minor=1000))

    world.post_bets(bet(currency="SEK"), round_id="next").problem(422, "no-rate", "/bets/0/currency")


def test_without_any_sheet_of_its_base_a_jackpot_takes_no_bet(world: World) -> None:
    world.open(base="USD", jackpot_id="dollars", tables=("D1",))
    before = world.books.counts_but_exceptions()

    world.post_bets(bet(currency="USD"), table_id="D1").problem(422, "no-rate")
    world.put_cancellation(table_id="D1").problem(422, "no-rate")
    world.put_result(table_id="D1").problem(422, "no-rate")

    assert world.books.counts_but_exceptions() == before


def test_a_rate_that_cannot_be_is_refused(world: World, subtests: pytest.Subtests) -> None:
    for rate in ("0", "-1", "NaN", "Infinity", "10000000000", "0.00000000001"):
        with subtests.test(rate=rate):
            before = world.books.counts()

            with pytest.raises((BadRate, BadPayload)):
                world.publish(GBP=rate)

            assert world.books.counts() == before


def test_the_base_currency_has_no_rate_of_its_own(world: World) -> None:
    with pytest.raises(BadRate, match="base currency"):
        world.publish(EUR="1")


@pytest.mark.parametrize("code", ["XXX", "HRK", "BGN"])
def test_a_currency_that_is_no_tender_gets_no_rate(world: World, code: str) -> None:
    with pytest.raises(UnknownCurrency):
        world.publish(**{code: "1"})


def test_a_withdrawn_currency_is_taken_by_a_sheet_of_its_time(world: World) -> None:
    before_the_euro = world.clock.at.replace(year=2025, month=6)

    command = PublishRates(world.act(), "USD", {"BGN": Decimal("0.5113")}, before_the_euro)

    assert world.transact(lambda session: publish_first_sheet(session, command))


def test_the_finest_rate_is_exact(world: World) -> None:
    world.publish(JPY="0.0061234567", GBP="1.17")
    world.open(settings={"split.meter": "0.4501", "split.prize_fund": "0.3183"})

    world.bet(bet(currency="JPY", stake_minor=1))

    contribution = world.round()["bets"][0]["contribution"]
    assert contribution["value"] == "0.0061234567"
    assert Decimal(contribution["meter"]) == Decimal("0.0061234567") * Decimal("0.4501")
    assert world.books.pools("j1").meter == Decimal("0.00275616786067")
