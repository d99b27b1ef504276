"""Each figure of the finance page is a report's, to the digit, and stands on a page with rows that sum to it."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest

from jackpot_service.pages import figures
from tests.support.asking import only, report, rows, rows_of
from tests.support.bets import bet
from tests.support.finance_pages import AS_OF, amount_in, at, cells, exact, part, play, read_days, shown
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, hand
from tests.support.page_text import content_of, links_of
from tests.support.payouts import held_from
from tests.support.reading import past_the_service
from tests.support.visitor import Visitor
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

BALANCE = ("opening", "stakes", "refunds", "awards", "settled", "closing")


@pytest.fixture
def played(world: World) -> World:
    """A jackpot of five days; it is the noon of the last."""
    play(world)
    return world


def test_the_four_figures_are_those_of_the_liability_and_stand_above_rows_that_sum_to_them(played: World) -> None:
    visitor = Visitor(played).sign_in()
    liability = report(played, "liability", jackpot_id="j1", as_of=AS_OF)
    (total,) = rows_of(liability, "jackpots")
    items = {row["item"]: row for row in rows_of(liability, "liability")}
    expected = {
        "sum-players": total["players"],
        "sum-house": total["house"],
        "sum-meter": items["meter"]["total"],
        "sum-prize-fund": items["prize fund"]["total"],
    }

    for page in (part(visitor, "figures").text, shown(visitor, "figures").text):
        for name, amount in expected.items():
            figure = page.partition(f'aria-describedby="{name}"')[2]
            assert re.search(r'<data value="([^"]*)"', figure)[1] == amount  # type: ignore[index]

    alone = shown(visitor, "figures").text
    _, *listed, together = cells(alone, "liability")
    for column, name in enumerate(("players", "house", "total"), 1):
        assert sum(amount_in(row[column]) for row in listed) == amount_in(together[column]) == Decimal(total[name])
    head, *moved, closing = cells(alone, "movements")
    fund, meter = head.index("prize fund"), head.index("meter")
    for column, name in ((fund, "prize fund"), (meter, "meter")):
        assert sum(amount_in(row[column]) for row in moved) == amount_in(closing[column])
        assert amount_in(closing[column]) == Decimal(items[name]["total"])


def test_each_figure_leads_to_its_rows(played: World) -> None:
    page = part(Visitor(played).sign_in(), "figures").text
    links = re.findall(r'<a href="([^"]*)" aria-describedby="sum-', page)
    assert len(links) == 4
    for link in map(unescape, links):
        path, _, anchor = link.partition("#")
        alone = Visitor(played).sign_in().open(path).text
        assert f'id="{anchor}"' in alone


def test_the_pools_by_day_are_those_of_the_report_and_a_day_without_movement_closes_as_the_one_before(
    played: World,
) -> None:
    page = shown(Visitor(played).sign_in(), "held").text
    closing = {(row["day"], row["pool"]): row["closing"] for row in rows(played, "pool-movements", as_of=AS_OF)}

    head, *listed = cells(page, "panel-held")

    assert [row[0] for row in listed] == ["1 Dec 2026", "2 Dec 2026", "3 Dec 2026", "4 Dec 2026"]
    pools = ("meter players", "meter house", "reserve", "prize fund")
    assert len(head) == len(pools) + 1
    for number, row in enumerate(listed, 1):
        day = 2 if number == 3 else number
        assert row[1:] == [exact(closing[f"2026-12-0{day}", pool]) for pool in pools]


def test_the_chart_and_the_figures_say_which_of_them_has_the_held_awards(world: World) -> None:
    """The pools of the chart and the held awards together are all that is held."""
    world.clock.at = at(1)
    world.open(base_amount="1000", settings={"payout_tiers": held_from("1")})
    world.bet(bet("a", stake_minor=1000))
    world.settle(hand("1", FLUSH))
    world.clock.at = at(5)
    visitor = Visitor(world).sign_in()
    chart, figures_alone = shown(visitor, "held").text, shown(visitor, "figures").text
    _, *listed, together = cells(figures_alone, "liability")
    (held,) = [amount_in(row[3]) for row in listed if row[0] == "held awards"]
    *_, last_day = cells(chart, "panel-held")

    assert held == 250
    assert sum(map(amount_in, last_day[1:])) + held == amount_in(together[3])
    assert "Awards that wait for approval have left the pools, so they are not in it." in content_of(chart)
    assert "money alone, and includes these awards." in content_of(chart)
    assert "money in the meter, the reserve, the prize fund and held awards" in content_of(figures_alone)


def test_a_period_in_which_nothing_moved_draws_what_is_held(played: World) -> None:
    played.clock.at = at(20)
    page = shown(Visitor(played).sign_in(), "held", days=3, as_of="2026-12-20T00:00:00.000000Z").text
    _, *listed = cells(page, "panel-held")
    assert [row[0] for row in listed] == ["18 Dec 2026", "19 Dec 2026"]
    assert listed[0][1:] == listed[1][1:]
    assert any(value not in {"0", "EUR 0.00"} for value in listed[0][1:])


def test_a_period_that_begins_later_draws_its_own_days_only(played: World) -> None:
    page = shown(Visitor(played).sign_in(), "held", days=3).text
    _, *listed = cells(page, "panel-held")
    assert [row[0] for row in listed] == ["3 Dec 2026", "4 Dec 2026"]


def test_the_return_is_that_of_the_report_in_a_sentence_and_by_whole_days(played: World) -> None:
    page = shown(Visitor(played).sign_in(), "return").text
    period = {"jackpot_id": "j1", "start": "2026-11-06", "as_of": AS_OF}
    of_fund = only(rows(played, "rtp", **period), paid_from="prize fund")
    (*_, last) = (row for row in rows(played, "rtp-by-day", "cumulative", **period) if row["paid_from"] == "prize fund")

    assert {**last, **of_fund} == last
    paid, by_rules, low, high = (
        figures.hundredths(Decimal(last[name]))
        for name in ("actual_percent", "theoretical_percent", "low_percent", "high_percent")
    )
    sentence = f"{paid} paid, {by_rules} by the rules, chance alone {low} to {high}:"
    assert " ".join(sentence.split()) in content_of(page)
    assert f"{exact(last['actual'])} awarded of {exact(last['turnover'])} staked" in content_of(page)
    assert [row[0] for row in cells(page, "panel-return")[1:]] == ["1 Dec 2026", "2 Dec 2026", "4 Dec 2026"]
    _, *alone, together = cells(page, "of-days")
    for column in (1, 2, 3):
        assert sum(amount_in(row[column]) for row in alone) == amount_in(together[column])


def test_a_return_is_said_to_be_within_the_band_or_not(world: World) -> None:
    world.open()
    world.bet(bet("a"))
    world.settle(hand("1", NOTHING))
    world.clock.advance(timedelta(seconds=10))
    page = content_of(Visitor(world).sign_in().open("/finance/return").text)
    assert "0.00 % paid, 31.84 % by the rules, chance alone 0.00 % to" in page
    assert "within chance" in page
    world.bet(bet("a"), round_id="r2")
    world.settle(hand("1", FOUR_OF_A_KIND), round_id="r2")
    world.clock.advance(timedelta(seconds=10))
    page = content_of(Visitor(world).sign_in().open("/finance/return").text)
    assert "12,500.00 % paid, 31.84 % by the rules" in page
    assert "not by chance alone" in page


def test_where_the_meter_pays_all_prizes_no_band_is_shown(world: World) -> None:
    world.open(CYBER, jackpot_id="cyber", tables=("C1",))
    world.bet(bet(), table_id="C1")
    world.settle(hand("1", FLUSH), table_id="C1")
    page = content_of(Visitor(world).sign_in().open("/finance/return").text)
    assert "The prize fund pays no fixed prizes of this jackpot" in page
    assert "chance" not in page


def test_the_casinos_are_those_of_their_statements(played: World) -> None:
    page = shown(Visitor(played).sign_in(), "casinos").text
    expected = []
    for casino_id in ("c1", "c2"):
        statement = rows(
            played, "casino-statement", "accounts", casino_id=casino_id, start="2026-11-06T00:00:00Z", as_of=AS_OF
        )
        expected += [[row["currency"], *(Decimal(row[name]) for name in BALANCE)] for row in statement]

    _, *listed = cells(page, "panel-casinos")

    assert [[row[-7], *map(amount_in, row[-6:])] for row in listed] == expected
    assert [row[0] for row in listed if len(row) == 8] == ["c1", "c2"]


def test_the_last_hits_lead_to_their_rounds(played: World) -> None:
    page = shown(Visitor(played).sign_in(), "hits").text
    (hit,) = rows(played, "hits", as_of=AS_OF)
    assert "/tables/T1/rounds/r1" in links_of(page)
    _, row = cells(page, "panel-hits")
    assert row[2:] == [f"{Decimal(hit['meter']):,.2f}", f"{Decimal(hit['paid']):,.2f}", str(hit["awards"])]


def test_lamps_say_by_shape_and_word_whether_the_books_agree(played: World) -> None:
    played.clock.at = at(5, 9)
    visitor = Visitor(played).sign_in()
    waiting = part(visitor, "books", as_of="2026-12-05T09:00:00Z").text
    assert "No day of it was compared yet." in content_of(f"<main>{waiting}")
    assert "4 days wait, since 1 Dec 2026: j1." in waiting
    played.clock.at = at(5, 10)
    read_days(played)
    played.clock.at = at(5)
    visitor.sign_in()

    page = shown(visitor, "books").text

    (summary,) = rows(played, "reconciliation", "summary", jackpot_id="j1", end="2026-12-05")
    text = content_of(page)
    assert f"{summary['compared']} figures of documents and journal compared, none differs" in text
    assert "up to 5 Dec 2026, 00:00:00 UTC" in text
    assert "Days not yet reconciled none" in text
    assert "The books were not verified from zero yet." in text
    assert "The books were not sealed yet." in text
    assert "Rate sheet of EUR old" in text
    assert page.count('class="lamp good"') == 2


def test_a_variance_of_a_cent_turns_the_lamp_names_the_account_and_leads_to_it(
    played: World, database_url: str
) -> None:
    past_the_service(
        database_url, "UPDATE bets SET stake_minor = stake_minor + 1 WHERE bet_id = 'a' AND stake_minor = 1000"
    )
    played.clock.at = at(5, 10)
    read_days(played)
    played.clock.at = at(5)
    visitor = Visitor(played).sign_in()

    panel = part(visitor, "books").text

    (summary,) = rows(played, "reconciliation", "summary", jackpot_id="j1", end="2026-12-05")
    text = content_of(f"<main>{panel}")
    assert f"{summary['differing']} of {summary['compared']} figures differ" in text
    assert panel.count('class="lamp wrong"') == 1
    assert "casino:c2 : EUR 0.01" in text
    (link,) = {unescape(each) for each in re.findall(r'href="(/finance/books\?[^"]*#differs-j1)"', panel)}
    page = visitor.open(link.partition("#")[0]).text
    assert 'id="differs-j1"' in page
    row = next(row for row in cells(page, "of-variances") if row[1] == "casino:c2")
    assert row[-3:] == [f"EUR {figures.MINUS}10.01", f"EUR {figures.MINUS}10.00", "EUR 0.01"]
    assert len(cells(page, "of-variances")) == 1 + summary["differing"]
    past_the_service(
        database_url, "UPDATE bets SET stake_minor = stake_minor - 1 WHERE bet_id = 'a' AND stake_minor = 1001"
    )
