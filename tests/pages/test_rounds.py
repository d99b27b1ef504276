"""Rounds on pages: searched for, and one whole with cards, stakes, the sharing of the jackpot, bets and entries."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.pages import figures
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.correcting import correct
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT, STRAIGHT_FLUSH, dead, forfeited, hand
from tests.support.page_text import content_of, links_of
from tests.support.payouts import held_from
from tests.support.visitor import Visitor
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

WATCHERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)


def finance_of_casino(world: World, casino_id: str) -> Visitor:
    """Somebody of the finance of a casino."""
    return Visitor(world).sign_in(key=world.key(Role.FINANCE, casino_id=casino_id))


def shown(visitor: Visitor, path: str = "/tables/T1/rounds/r1") -> str:
    answer = visitor.open(path)
    assert answer.status == 200, answer.text
    return content_of(answer.text)


def exact(amount: Any, currency: str = "EUR") -> str:
    return " ".join(figures.exact(amount, currency).split())


@pytest.fixture
def shared(world: World) -> World:
    """Scenario 20."""
    world.open(base_amount="5432.68065")
    world.bet(
        bet("e", hand="1"),
        bet("g", hand="1", currency="GBP"),
        bet("s", hand="2", currency="SEK", stake_minor=1000),
    )
    world.settle(hand("1", ROYAL_FLUSH), hand("2", FLUSH), round_id="r1")
    return world


@pytest.mark.parametrize("role", WATCHERS)
def test_scenario_20_stands_on_its_page_to_the_last_digit(world: World, role: Role) -> None:
    world.open(base_amount="5432.68065")
    world.bet(
        bet("e", hand="1"),
        bet("g", hand="1", currency="GBP"),
        bet("s", hand="2", currency="SEK", stake_minor=1000),
    )
    world.settle(hand("1", ROYAL_FLUSH), hand("2"))

    page = shown(Visitor(world).sign_in(role))

    for sentence in (
        "The meter at that instant, M EUR 5,434.05 ",
        "The stakes\N{RIGHT SINGLE QUOTATION MARK} value, W EUR 3.043 ",
        "The factor, M ÷ W \N{MULTIPLICATION SIGN} 1,785.754189944134078212… ",
        "3 awards",
        "Together they cost the meter EUR 5,434.040742 ",
        "Carried: M less that cost EUR 0.009258 ",
        "The new meter EUR 0.161408 reserve + carried; cycle 2 began with it",
        "EUR 1,785.75",
        "GBP 1,785.75",
        "SEK 17,857.54",
        "10 \N{MULTIPLICATION SIGN} 5,434.05 ÷ 3.043 = 17,857.541899441340782122…",
        "settled cycle 1 jackpot won",
    ):
        assert sentence in page, sentence


def test_every_figure_of_a_shared_jackpot_is_the_records_and_the_hits_reports(shared: World) -> None:
    page = shown(Visitor(shared).sign_in())
    settlement = shared.round()["settlement"]
    for name in ("meter_before", "carried", "meter_after"):
        assert exact(settlement[name]) in page
    report = shared.get("/v1/reports/hits?jackpot_id=j1&from=2020-01-01T00:00:00Z").ok()
    (payoffs,) = (section["rows"] for section in report["sections"] if section["name"] == "payoffs")
    assert len(payoffs) == 4
    for payoff in payoffs:
        assert f"= {figures.number(payoff['due'])}" in page


def test_the_four_parts_of_the_stakes_are_those_of_the_bets(shared: World) -> None:
    page = shown(Visitor(shared).sign_in())
    parts = [item["contribution"] for item in shared.round()["bets"]]
    for name, label in (("meter", "Meter, 45 %"), ("reserve", "Reserve, 5 %"), ("prize_fund", "Fixed prizes, 31.84 %")):
        total = sum(Decimal(part[name]) for part in parts)
        assert f"{label} {exact(total)}" in page
    assert "EUR 3.043 of 3 bets" in page


def test_cards_stand_by_rank_and_have_names(shared: World) -> None:
    page = shown(Visitor(shared).sign_in())
    assert "A ♠ ace of spades K ♠ king of spades Q ♠ queen of spades J ♠ jack of spades 10 ♠ 10 of spades" in page
    assert "royal flush 2 bets" in page


def test_twelve_bettors_in_five_currencies(world: World) -> None:
    world.publish(GBP="1.17", SEK="0.0873", JPY="0.0061", USD="0.92")
    world.clock.advance(timedelta(seconds=1))
    world.open(base_amount="130710.94")
    stakes = {"EUR": (10, 250, 2500), "GBP": (50, 500), "SEK": (100, 10000), "JPY": (200, 3732, 5000), "USD": (500, 76)}
    bets = [
        bet(f"{currency}-{stake}", currency=currency, stake_minor=stake)
        for currency, minors in stakes.items()
        for stake in minors
    ]
    assert len(bets) == 12
    world.bet(*bets)
    settlement = world.settle(hand("1", ROYAL_FLUSH))

    page = shown(Visitor(world).sign_in())

    assert "12 awards" in page
    exponents = {"JPY": 0}
    for award in settlement["awards"]:
        amount = Decimal(award["amount_minor"]).scaleb(-exponents.get(award["currency"], 2))
        assert exact(amount, award["currency"]) in page
        assert exact(award["cost_base"]) in page


def test_a_hand_that_owns_its_prize_shows_its_entitlement(world: World) -> None:
    world.open(CYBER, base_amount="1000")
    world.bet(bet("a"), bet("b", hand="2"))
    world.settle(hand("1", STRAIGHT_FLUSH), hand("2", NOTHING))
    record = world.round()["settlement"]

    page = shown(Visitor(world).sign_in())

    assert (
        "Winning hands have prizes of their own 1 award if there are several winners, each prize is calculated from"
        in page
    )
    assert "aggregate pro rata" not in page
    assert "M ÷ W" not in page
    assert record["entitlements"][0]["amount"] == "5007/50"
    assert "100.14 EUR of the meter ÷ 1 = 100.14 EUR 100.14 to be paid" in page
    assert "No award: the hand won no fixed prize." in page


def test_an_open_and_a_closed_round_say_what_they_wait_for(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    visitor = Visitor(world).sign_in()
    assert "The round takes bets." in shown(visitor)
    world.put_closing().ok(201)
    page = shown(visitor)
    assert "Betting is closed." in page
    assert "closing 1 bets counted" in page
    assert "How the jackpot was shared" not in page


def test_a_cancelled_round_gives_all_back_and_says_why(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"), bet("b", hand="2"))
    world.put_cancellation(reason="the deck was <short>", hands=[hand("1", FLUSH)]).ok(201)

    page = shown(Visitor(world).sign_in())

    assert "cancelled The round was cancelled: all stakes were given back. Reason: the deck was <short>" in page
    assert "ace of diamonds" in page
    assert page.count("given back") >= 4


def test_a_compensated_round_shows_what_was_granted(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1"))
    world.cancel()
    granted = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "bet_id": "b1"}
    world.change("compensation", {**granted, "amount_minor": 2500, "currency": "GBP", "document": "minutes 7"})

    page = shown(Visitor(world).sign_in())

    assert "Granted by hand: GBP 25.00, which costs EUR 29.25. Document: minutes 7 . Act" in page
    assert "compensated" in page


def test_a_corrected_round_shows_the_verdict_in_force_and_folds_the_one_before(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", STRAIGHT))
    correct(world, hand("1", ROYAL_FLUSH))

    answer = Visitor(world).sign_in().open("/tables/T1/rounds/r1")
    page = content_of(answer.text)

    assert "Correction 1: how it judges the round" in page
    assert "royal flush" in page.partition("Where the stakes went")[0]
    assert "decided by" in page
    folded = content_of("<main>" + answer.text.partition('<details class="earlier">')[2])
    assert folded.startswith("The settlement no longer in force Hand 1")
    assert "straight EUR 10.00 reversed" in folded.replace("\u00a0", " ")


def test_a_casino_is_not_shown_who_of_the_house_decided(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", STRAIGHT))
    correct(world, hand("1", NOTHING))
    page = shown(finance_of_casino(world, "c1"))
    assert "Correction 1" in page
    assert "decided by" not in page


def test_dead_forfeited_void_and_unknown_bets_each_have_a_chip_and_a_sentence(world: World) -> None:
    world.open(base_amount="1000", settings={"hands_per_player": "3"})
    world.bet(bet("a"), bet("b", hand="2"), bet("c", hand="3"), bet("d"))
    world.post_voids("d", "never-came").ok()
    world.settle(hand("1", NOTHING), dead("2", FLUSH[:4]), forfeited("3"))

    page = shown(Visitor(world).sign_in())

    for sentence in (
        "dead 1 bet Dealt with a wrong number of cards: its bets are given back.",
        "no cards stated forfeited 1 bet The player forfeited this hand",
        "The hand was dead: the stake was given back.",
        "The hand was forfeited: neither award nor refund.",
        "This bet is void",
        "void before it came Made void before a bet of that id came; none is ever accepted: never-came",
        "EUR 2.00 of 2 bets",
    ):
        assert sentence in page, sentence


def test_held_awards_show_which_evidence_is_missing(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("500", Evidence.SURVEILLANCE)})
    world.bet(bet("a"))
    world.settle(hand("1", ROYAL_FLUSH))
    assert "surveillance missing" in shown(Visitor(world).sign_in())
    body = {"request_id": "e1", "kind": "surveillance", "statement": "tape 7 <b>"}
    world.post("/v1/tables/T1/rounds/r1/evidence", body, key=world.person("Eve", Role.OPERATOR)).ok(201)
    page = shown(Visitor(world).sign_in())
    assert "surveillance recorded" in page
    assert "surveillance : tape 7 <b>" in page
    assert "Eve" in page
    assert "Eve" not in shown(finance_of_casino(world, "c1"))


def test_a_round_with_many_bets_is_shown_in_pages_of_bets(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(*(bet(f"b{number:03}") for number in range(250)))
    visitor = Visitor(world).sign_in()
    first = visitor.open("/tables/T1/rounds/r1").text
    assert "Bets 1 to 200 of 250" in content_of(first)
    (following,) = (link for link in links_of(first) if "first=" in link)
    page = shown(visitor, following)
    assert "Bets 201 to 250 of 250" in page
    assert "player-of-b249" in page
    assert "player-of-b001" not in page
    assert "player-of-b249" in shown(visitor, "/tables/T1/rounds/r1?bet_id=b249")
    for place in ("first=9999", "first=-1", "first=x", "bet_id=none"):
        assert "Bets 1 to 200 of 250" in shown(visitor, f"/tables/T1/rounds/r1?{place}")


def test_one_players_bets_are_shown_alone(shared: World) -> None:
    visitor = Visitor(shared).sign_in()
    page = shown(visitor, "/tables/T1/rounds/r1?player_id=player-of-g")
    assert "GBP 1,785.75" in page
    assert "player-of-s" not in page
    assert "This player has no bet in this round." in shown(visitor, "/tables/T1/rounds/r1?player_id=nobody")
    assert "player-of-s" in shown(visitor, "/tables/T1/rounds/r1?player_id=%3Cscript%3E&first=-1")


# Who may see it.


@pytest.mark.parametrize(
    "path", ["/tables/T1/rounds/none", "/tables/T9/rounds/r1", "/tables/T1/rounds/%3Cscript%3E", "/tables/T1"]
)
def test_a_round_that_is_not_there_is_answered_by_a_page(shared: World, path: str) -> None:
    answer = Visitor(shared).sign_in().open(path)
    assert (answer.status, answer.media_type) == (404, "text/html")
    assert "There is nothing here" in answer.text


def test_finance_of_a_casino_sees_rounds_of_its_own_casino_only(shared: World) -> None:
    shared.add_casino("c2")
    shared.add_table("T2", jackpot_id="j1", casino_id="c2")
    shared.bet(bet("z"), round_id="r2", table_id="T2")
    own, other = finance_of_casino(shared, "c1"), finance_of_casino(shared, "c2")
    assert own.open("/tables/T1/rounds/r1").status == 200
    assert own.open("/tables/T2/rounds/r2").status == 404
    assert "T2 · r2" not in shown(own, "/rounds")
    assert "T2 · r2" in shown(other, "/rounds")
    assert "No round fits." in shown(own, "/rounds?casino_id=c2")
    award_id = shared.round()["settlement"]["awards"][0]["award_id"]
    assert own.open(f"/rounds?award_id={award_id}").status == 303
    assert "There is no award of this id." in other.open(f"/rounds?award_id={award_id}").text


@pytest.mark.parametrize("path", ["/rounds", "/tables/T1/rounds/r1"])
def test_the_people_of_rates_see_no_rounds(shared: World, path: str) -> None:
    assert Visitor(shared).sign_in(Role.RATES).open(path).status == 404


# The search.


def test_rounds_are_searched_for_in_the_words_of_the_api(shared: World) -> None:
    shared.clock.advance(timedelta(days=1))
    shared.bet(bet("w", player_id="pat"), round_id="r2")
    visitor = Visitor(shared).sign_in()
    both, first, second = {"r1", "r2"}, {"r1"}, {"r2"}
    day = shared.clock().date()
    for query, expected in (
        ("", both),
        ("state=waiting", second),
        ("state=settled", first),
        ("state=cancelled", set()),
        ("table_id=T1", both),
        ("table_id=T9", set()),
        ("player_id=pat", second),
        ("bet_id=e", first),
        ("jackpot_id=j1&casino_id=c1&table_id=+T1+", both),
        ("game_number=1", set()),
        (f"from={day}", second),
        (f"from={day}&to={day}", second),
        (f"to={day - timedelta(days=1)}", first),
    ):
        answer = visitor.open(f"/rounds?{query}")
        rounds = {name for name in both if f"/tables/T1/rounds/{name}" in links_of(answer.text)}
        assert (answer.status, rounds) == (200, expected), query


def test_an_awards_id_leads_to_its_round(shared: World) -> None:
    award: Body = shared.round()["settlement"]["awards"][0]
    answer = Visitor(shared).sign_in().open(f"/rounds?award_id={award['award_id']}")
    assert answer.status == 303
    assert answer.headers["Location"] == f"/tables/T1/rounds/r1?bet_id={award['bet_id']}#bet-{award['bet_id']}"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("table_id=%3Cscript%3Ealert(1)%3C/script%3E", "table_id"),
        (f"player_id={'x' * 65}", "player_id"),
        ("state=lost", "state"),
        ("from=2026-02-30", "from"),
        ("to=9999-12-31", "to"),
        ("from=%22%27%3E", "from"),
        ("award_id=%E2%80%AEabc", "award_id"),
        ("award_id=aw_0", "award_id"),
    ],
)
def test_what_is_no_such_value_is_refused_at_its_field(shared: World, query: str, field: str) -> None:
    answer = Visitor(shared).sign_in().open(f"/rounds?{query}")
    assert answer.status == 422
    assert f'id="{field}-error"' in answer.text
    assert "<script>alert" not in answer.text


def test_a_place_in_the_list_that_is_none_is_refused(shared: World) -> None:
    answer = Visitor(shared).sign_in().open("/rounds?after=nowhere")
    assert (answer.status, "Search again from the beginning." in answer.text) == (422, True)


def test_the_list_goes_on_with_the_same_filters(world: World) -> None:
    world.open(base_amount="1000")
    for number in range(52):
        world.bet(bet(f"b{number}"), round_id=f"r{number}")
    visitor = Visitor(world).sign_in()
    first = visitor.open("/rounds?table_id=T1&_external=1&_scheme=javascript").text
    (following,) = (link for link in links_of(first) if "after=" in link)
    assert following.startswith("/rounds?table_id=T1&after=")
    rest = links_of(visitor.open(following).text)
    assert {f"/tables/T1/rounds/r{number}" for number in (0, 1)} <= rest
    assert "/tables/T1/rounds/r2" not in rest


def test_without_rounds_the_page_says_what_will_be_here(world: World) -> None:
    assert "No rounds yet." in shown(Visitor(world).sign_in(), "/rounds")


def test_names_that_mean_harm_are_written_as_they_are(world: World) -> None:
    world.open(base_amount="1000", tables=("T" * 64,))
    hostile = '"><script>alert(1)</script>שלום'
    long = "r." * 32
    world.post_bets(bet("a", player_id="p:" * 32), round_id=long, table_id="T" * 64).ok(201)
    world.post_voids("a", round_id=long, table_id="T" * 64, reason=hostile).ok()
    world.put_cancellation(round_id=long, table_id="T" * 64, reason=hostile).ok(201)
    visitor = Visitor(world).sign_in(key=world.key_of(Principal("Näme & Co 'x' \"y\"", Role.FINANCE)))
    answer = visitor.open(f"/tables/{'T' * 64}/rounds/{long}")
    assert answer.status == 200
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text
    assert "p:" * 32 in answer.text
