"""Foreign currencies: what rounds took and gave at their own rates, what is left of it, and what that is worth now."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from jackpot_service.domain.money import ZERO
from tests.properties.profile import seeds
from tests.reports.finance import journal
from tests.reports.finance.play import Play
from tests.support import story
from tests.support.asking import figures, report, report_answer, rows
from tests.support.bets import bet
from tests.support.hands import NOTHING, STRAIGHT, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


def test_a_position_is_worth_what_its_rounds_say_and_now_something_else(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a", currency="GBP", stake_minor=8000), bet("b", currency="GBP", hand="2"), bet("c", hand="2"))
    world.settle(hand("1", NOTHING), hand("2", STRAIGHT))
    world.publish(GBP="1.30", SEK="0.09", JPY="0.006")

    (row,), (position,), (residue,) = (
        journal.numbers(report(world, "fx"), section) for section in ("currencies", "positions", "residue")
    )

    assert (row["currency"], row["turnover"], row["turnover_base"]) == ("GBP", 81, Decimal("94.77"))
    assert (row["awards"], row["awards_base"], row["net"]) == (10, Decimal("11.7"), 71)
    assert (row["opening"], row["closing"], row["variance"]) == (0, 71, 0)
    assert (position["position"], position["value"]) == (71, Decimal("83.07"))
    assert (position["rate_sheet"], position["rate"], position["revalued"]) == (2, Decimal("1.3"), Decimal("92.3"))
    assert (position["difference"], position["difference_percent"]) == (Decimal("9.23"), Decimal("11.1111111111"))
    assert (residue["booked"], residue["variance"], residue["difference"]) == (Decimal("83.07"), 0, Decimal("9.23"))


def test_it_is_revalued_at_the_sheet_that_was_in_force_and_published_at_the_end(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet(currency="GBP"))
    world.publish(GBP="1.20")
    then = world.clock()
    before = report(world, "fx", as_of=then)
    world.publish(GBP="1.40")
    world.bet(bet(currency="GBP"), round_id="r2")

    (row,) = rows(world, "fx", "positions", as_of=then)
    (now,) = rows(world, "fx", "positions")

    assert (row["rate_sheet"], row["rate"], row["difference"]) == (2, "1.2", "0.03")
    assert (now["rate_sheet"], now["value"], now["revalued"]) == (3, "2.57", "2.8")
    assert figures(report(world, "fx", as_of=then)) == figures(before)


def test_nothing_is_written_back(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet(currency="GBP"))
    world.publish(GBP="1.40")
    report(world, "fx")
    before = world.books.counts()

    report(world, "fx")

    assert world.books.counts() == before


def test_without_a_rate_in_force_nothing_is_revalued(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a", currency="GBP"), bet("b", currency="SEK", stake_minor=1000))
    world.publish(SEK="0.09")

    pound, krona = rows(world, "fx", "positions")
    (residue,) = rows(world, "fx", "residue")

    assert (pound["rate_sheet"], pound["rate"], pound["revalued"], pound["difference"]) == (2, None, None, None)
    assert krona["difference"] == "0.027"
    assert (residue["value"], residue["variance"], residue["revalued"]) == ("2.043", "0", None)


def test_bets_in_the_base_currency_leave_nothing_to_revalue(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet())

    assert rows(world, "fx", "positions") == rows(world, "fx", "residue") == []
    report_answer(world, "fx", casino_id="c1").problem(422, "question-invalid")


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds(30))
def test_whatever_happens_positions_are_what_the_journal_exchanged(world: World, seed: int) -> None:
    play = Play(world, seed)
    play.open()
    play.go_on(60)
    then = world.clock()
    before = figures(report(world, "fx", as_of=then))
    world.clock.advance(timedelta(hours=1))
    play.go_on(60)
    play.retire()
    story.require_whole(world)

    assert figures(report(world, "fx", as_of=then)) == before
    assert_it_is_the_journal(world, report(world, "fx"))
    later = journal.numbers(report(world, "fx", start=then), "currencies")
    closed = {(row["jackpot_id"], row["currency"]): row["closing"] for row in journal.numbers(before, "currencies")}
    assert all(row["opening"] == closed.get((row["jackpot_id"], row["currency"]), ZERO) for row in later)
    assert journal.numbers(report(world, "fx", start=then), "positions") == journal.numbers(
        report(world, "fx"), "positions"
    )


def assert_it_is_the_journal(world: World, document: Mapping[str, Any]) -> None:
    """Documents explain each position, and the base currency's side of all of them."""

    def exchanged(line: Mapping[str, Any]) -> tuple[str, str] | None:
        return (line["jackpot_id"], line["currency"]) if line["account"].startswith("fx:") else None

    booked = journal.sums(world, exchanged)
    document = dict(document)
    currencies = journal.numbers(document, "currencies")
    assert {(row["jackpot_id"], row["currency"]) for row in currencies} == {key for key in booked if key[1] != "EUR"}
    for row in currencies:
        assert row["closing"] == booked[row["jackpot_id"], row["currency"]]
        assert row["variance"] == ZERO
        for unit in ("", "_base"):
            gone = sum((row[f"{name}{unit}"] for name in ("refunds", "awards", "compensations", "net")), ZERO)
            assert gone == row[f"turnover{unit}"]
    for row in journal.numbers(document, "residue"):
        assert row["booked"] == -booked[row["jackpot_id"], "EUR"] == row["value"]
        of_jackpot = [
            number for number in journal.numbers(document, "positions") if number["jackpot_id"] == row["jackpot_id"]
        ]
        assert sum((position["revalued"] for position in of_jackpot), ZERO) == row["revalued"]
