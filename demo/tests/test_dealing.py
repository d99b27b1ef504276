"""What the demo's tables do before anything is sent: real decks, and bets that the rulebooks allow."""

import random
from collections import Counter, defaultdict
from decimal import Decimal

import pytest

from jackpot_client import Bet, HandStatus
from jackpot_demo import betting, dealer, figures, plan
from jackpot_demo.figures import Figures
from jackpot_demo.scene import CASINOS, JACKPOTS, MONEY, SCRIPTED_TABLE, SHEETS, TABLES, Table

pytestmark = pytest.mark.slow

EVERY_TABLE = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.table_id)
LIVE_TABLES = tuple(table for table in TABLES if table.jackpot_id == "live")
TOKEN_TABLES = tuple(table for table in TABLES if table.jackpot_id != "live")
MUCH_MISHAP = plan.Chances(
    void=0.5,
    void_before_bet=0.5,
    cancellation=0.3,
    dead_hand=0.3,
    forfeited_hand=0.3,
    repeated_batch=0.5,
    repeated_end=0.5,
    late_bet=0.5,
    misstated_count=0.5,
)


def draw_many(table: Table, *, rounds: int = 200, chances: plan.Chances = plan.USUAL) -> list[plan.Plan]:
    """Draw a table's rounds, always the same."""
    rng = random.Random(f"test:{table.table_id}")
    return [plan.draw(rng, table, chances=chances) for _ in range(rounds)]


def sent(drawn: plan.Plan) -> list[Bet]:
    """Return every bet a plan sends that must not be refused."""
    return [bet for batch in (*drawn.batches, drawn.rebets) for bet in batch]


def base_value(bet: Bet) -> Decimal:
    """Return a stake in euro, under the demo's sheet."""
    money = MONEY[bet.currency]
    return bet.stake_minor * money.euro_rate / Decimal(10) ** money.exponent


@pytest.mark.parametrize("hands", range(1, dealer.MOST_HANDS + 1))
def test_a_round_is_dealt_from_one_deck(hands: int) -> None:
    dealt = dealer.deal(random.Random(hands), hands=hands)
    cards = [card for hand in (*dealt.hands, dealt.dealer) for card in hand]
    assert [len(hand) for hand in dealt.hands] == [5] * hands
    assert len(cards) == len(set(cards)) == 5 * (hands + 1)
    assert set(cards) <= set(dealer.DECK)


@pytest.mark.parametrize("hands", [-1, 0, 10])
def test_more_hands_than_a_deck_holds_are_not_dealt(hands: int) -> None:
    with pytest.raises(ValueError, match="1 to 9 hands"):
        dealer.deal(random.Random(1), hands=hands)


def test_the_same_seed_deals_the_same_cards_and_another_seed_others() -> None:
    assert dealer.deal(random.Random(1), hands=9) == dealer.deal(random.Random(1), hands=9)
    assert dealer.deal(random.Random(1), hands=9) != dealer.deal(random.Random(2), hands=9)


def test_every_card_comes_about_equally_often() -> None:
    rng = random.Random(1)
    seen = Counter(card for _ in range(5200) for card in dealer.deal(rng, hands=1).hands[0])
    assert set(seen) == set(dealer.DECK)
    assert all(400 <= times <= 600 for times in seen.values())


@pytest.mark.parametrize("hands", [1, 9])
def test_a_scripted_deal_has_a_royal_flush_first_and_is_still_one_deck(hands: int) -> None:
    suits = set()
    for seed in range(40):
        dealt = dealer.deal_royal_flush(random.Random(seed), hands=hands)
        cards = [card for hand in (*dealt.hands, dealt.dealer) for card in hand]
        assert {card[0] for card in dealt.hands[0]} == set("TJQKA")
        assert len({card[1] for card in dealt.hands[0]}) == 1
        assert len(cards) == len(set(cards)) == 5 * (hands + 1)
        suits.add(dealt.hands[0][0][1])
    assert suits == set("shdc")


@EVERY_TABLE
def test_a_round_has_one_to_forty_bettors_on_dealt_hands(table: Table) -> None:
    for drawn in draw_many(table):
        bettors = {bet.player_id for batch in drawn.batches for bet in batch}
        assert 1 <= len(bettors) <= betting.MOST_BETTORS
        assert {bet.hand for bet in sent(drawn)} <= {hand.hand for hand in drawn.hands}
        assert 1 <= len(drawn.hands) <= table.most_hands


@EVERY_TABLE
def test_a_player_never_has_more_hands_than_the_rules_allow(table: Table) -> None:
    for drawn in draw_many(table, chances=MUCH_MISHAP):
        hands = defaultdict(list)
        for bet in [bet for batch in drawn.batches for bet in batch]:
            hands[bet.player_id].append(bet.hand)
        assert all(len(mine) == len(set(mine)) <= table.hands_per_player for mine in hands.values())


@EVERY_TABLE
def test_a_bet_made_anew_takes_the_place_of_a_voided_one(table: Table) -> None:
    for drawn in draw_many(table, chances=MUCH_MISHAP):
        places = Counter((bet.player_id, bet.hand) for bet in drawn.live_bets)
        assert not places or max(places.values()) == 1


@pytest.mark.parametrize("table", LIVE_TABLES, ids=lambda table: table.table_id)
def test_live_stakes_are_within_the_largest_stake(table: Table) -> None:
    for drawn in draw_many(table):
        assert all(0 < base_value(bet) <= 100 for bet in sent(drawn))


@pytest.mark.parametrize("table", TOKEN_TABLES, ids=lambda table: table.table_id)
def test_token_stakes_are_exactly_the_token(table: Table) -> None:
    for drawn in draw_many(table):
        assert all((bet.stake_minor, bet.currency) == (100, "USD") for bet in sent(drawn))


@pytest.mark.parametrize(
    ("currency", "largest"), [("EUR", 10_000), ("GBP", 8_547), ("SEK", 114_547), ("JPY", 16_393), ("USD", 10_869)]
)
def test_the_largest_stake_is_the_last_minor_unit_within_the_limit(currency: str, largest: int) -> None:
    assert betting.largest_stake_minor(currency) == largest


def test_live_players_bet_in_every_currency_of_the_table() -> None:
    seen = {bet.currency for drawn in draw_many(LIVE_TABLES[0]) for bet in drawn.live_bets}
    assert seen == {"EUR", "GBP", "SEK", "JPY", "USD"}


@pytest.mark.long
def test_every_mishap_happens_in_the_long_run() -> None:
    drawn = [round_plan for table in TABLES for round_plan in draw_many(table, rounds=400)]
    assert any(round_plan.voided for round_plan in drawn)
    assert any(round_plan.voided_before for round_plan in drawn)
    assert any(round_plan.rebets for round_plan in drawn)
    assert any(round_plan.cancellation for round_plan in drawn)
    assert any(round_plan.bets_on(HandStatus.DEAD) for round_plan in drawn)
    assert any(round_plan.bets_on(HandStatus.FORFEITED) for round_plan in drawn)
    assert any(round_plan.repeated_batches for round_plan in drawn)
    assert any(round_plan.is_end_repeated for round_plan in drawn)
    assert any(round_plan.late_bet for round_plan in drawn)
    assert any(round_plan.misstated_count for round_plan in drawn)


@EVERY_TABLE
def test_live_bets_are_those_sent_and_not_void(table: Table) -> None:
    for drawn in draw_many(table, chances=MUCH_MISHAP):
        void = {*drawn.voided, *drawn.voided_before}
        assert len(drawn.live_bets) == len(sent(drawn)) - len(void)
        assert {bet.bet_id for bet in drawn.live_bets}.isdisjoint(void)
        assert sum(len(drawn.bets_on(status)) for status in HandStatus) == len(drawn.live_bets)


@EVERY_TABLE
def test_a_late_bet_is_none_of_the_rounds_bets(table: Table) -> None:
    for drawn in draw_many(table, chances=MUCH_MISHAP):
        assert drawn.late_bet is None or drawn.late_bet.bet_id not in {bet.bet_id for bet in sent(drawn)}


def test_the_scripted_round_is_labelled_has_no_mishap_and_is_bet_on_in_five_currencies() -> None:
    for seed in range(50):
        scripted = plan.script_royal_flush(random.Random(seed), SCRIPTED_TABLE)
        assert scripted.round_id.startswith("scripted-")
        assert len(scripted.round_id) <= 64
        assert {hand.status for hand in scripted.hands} == {HandStatus.DEALT}
        assert {bet.currency for bet in scripted.live_bets} == set(MONEY)
        assert len(scripted.live_bets) == len({bet.player_id for bet in scripted.live_bets}) <= betting.MOST_BETTORS
        assert (scripted.cancellation, scripted.late_bet, scripted.misstated_count) == (None, None, None)


def test_an_ordinary_round_is_not_labelled() -> None:
    assert not any(drawn.is_scripted or drawn.round_id.startswith("scripted-") for drawn in draw_many(TABLES[0]))


def test_the_scene_fits_together() -> None:
    jackpots = {jackpot.jackpot_id: jackpot for jackpot in JACKPOTS}
    assert {table.casino_id for table in TABLES} == {casino.casino_id for casino in CASINOS}
    assert {table.jackpot_id for table in TABLES} == set(jackpots)
    assert {table.casino_id for table in LIVE_TABLES} == {casino.casino_id for casino in CASINOS}
    assert len({table.table_id for table in TABLES}) == len(TABLES)
    for table in TABLES:
        base = jackpots[table.jackpot_id].currency
        assert set(table.currencies) <= {base, *SHEETS[base]}


def test_tallies_add_up_by_currency() -> None:
    first = Figures(rounds=1, bets=2, awarded_minor={"EUR": 100, "JPY": 5})
    other = Figures(rounds=1, awards=1, awarded_minor={"EUR": 1})
    assert first + other == Figures(rounds=2, bets=2, awards=1, awarded_minor={"EUR": 101, "JPY": 5})


def test_totals_are_printed_with_each_currencys_own_decimals() -> None:
    assert figures.in_words({"JPY": 1500, "EUR": 178575}) == "EUR 1,785.75 + JPY 1,500"
    assert figures.in_words({}) == "0"
