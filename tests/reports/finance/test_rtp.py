from collections import defaultdict
from datetime import datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

import pytest

from jackpot_service.domain import accounts
from jackpot_service.domain.money import ZERO
from jackpot_service.domain.rules import FundedBy, from_document
from jackpot_service.domain.statistics import fixed_prize_variance
from tests.properties.profile import seeds
from tests.support import story
from tests.support.asking import only, report, rows, rows_of
from tests.support.bets import bet
from tests.support.chance import Chance
from tests.support.correcting import correct
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, THREE_OF_A_KIND, dead, hand
from tests.support.journal_sums import lines, moved
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

CREDITED = (
    accounts.METER_PLAYERS,
    accounts.RESERVE,
    accounts.PRIZE_FUND,
    accounts.HOUSE_MARGIN,
    accounts.HOUSE_ADJUSTMENTS,
)

THREE_ROUNDINGS = 3 * Decimal("0.5e-10")
"""Two parts and their whole are each shown with ten decimals."""


def test_what_the_live_rulebook_returns_is_its_published_figure(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1", stake_minor=10_000), bet("b2", stake_minor=10_000, hand="2"))
    world.settle(hand("1", THREE_OF_A_KIND), hand("2", NOTHING))

    funds = {row["paid_from"]: row for row in rows(world, "rtp")}

    assert {name: row["turnover"] for name, row in funds.items()} == dict.fromkeys(funds, "200")
    assert funds["meter"]["theoretical_percent"] == "50"
    assert funds["prize fund"]["theoretical_percent"] == "31.8448918029"
    assert funds["both"]["theoretical_percent"] == "81.8448918029"
    assert (funds["prize fund"]["actual"], funds["prize fund"]["actual_percent"]) == ("300", "150")
    assert funds["prize fund"]["theoretical"] == "63.6897836057"
    assert funds["prize fund"]["variance"] == "236.3102163943"
    assert funds["prize fund"]["variance_percent"] == "371.0331595053"


def test_bettors_of_one_hand_stray_together_those_of_two_apart(world: World) -> None:
    """Decision 2: 10.34 stakes for a bet alone on its hand."""
    world.open()
    world.bet(bet("b1"))
    world.settle(hand("1", NOTHING))
    alone = world.clock()
    world.bet(bet("b2", player_id="p2"), bet("b3", player_id="p3"), round_id="r2")
    world.settle(hand("1", NOTHING), round_id="r2")
    together = world.clock()
    world.bet(bet("b4"), bet("b5", hand="2"), round_id="r3")
    world.settle(hand("1", NOTHING), hand("2", FLUSH), round_id="r3")

    deviations = [
        only(rows(world, "rtp", None, **period), paid_from="prize fund")["deviation"]
        for period in ({"as_of": alone}, {"start": alone, "as_of": together}, {"start": together})
    ]

    assert deviations == ["10.34", "20.68", "14.62"]


def test_a_variance_is_told_in_deviations(world: World) -> None:
    world.open()
    world.bet(bet())
    world.settle(hand("1", NOTHING))
    lost = world.clock()
    world.bet(bet(), round_id="r2")
    world.settle(hand("1", FOUR_OF_A_KIND), round_id="r2")

    def cells(**period: object) -> tuple[str, str]:
        row = only(rows(world, "rtp", None, **period), paid_from="prize fund")
        return row["variance"], row["deviations"]

    assert cells(as_of=lost) == ("-0.318448918", "-0.03")
    assert cells(start=lost) == ("249.681551082", "24.15")


def test_a_round_is_played_when_it_is_settled(world: World) -> None:
    """So that awards are held against the very stakes that they were won with."""
    world.open()
    world.bet(bet("b1"))
    bet_at = world.clock()
    world.settle(hand("1", FLUSH))

    def cells(**period: object) -> tuple[str, str]:
        row = only(rows(world, "rtp", None, **period), paid_from="both")
        return row["turnover"], row["actual"]

    assert (cells(as_of=bet_at), cells(start=bet_at)) == (("0", "0"), ("1", "25"))


def test_what_was_refunded_was_not_played(world: World) -> None:
    world.open()
    for name in ("voided", "cancelled", "dead", "played"):
        world.bet(bet("b1"), round_id=name)
    world.void("b1", round_id="voided")
    world.cancel(round_id="cancelled")
    world.settle(dead("1"), round_id="dead")
    world.settle(hand("1", NOTHING), round_id="played")

    row = only(rows(world, "rtp"), paid_from="prize fund")

    assert (row["turnover"], row["deviation"]) == ("1", "10.34")


def test_what_a_correction_refunds_was_not_played_either_and_its_awards_replace_the_others(world: World) -> None:
    world.open()
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(hand("1", FLUSH), hand("2", NOTHING))
    before = world.clock()
    correct(world, hand("1", THREE_OF_A_KIND), dead("2"))

    assert only(rows(world, "rtp", as_of=before), paid_from="both")["turnover"] == "2"
    both = only(rows(world, "rtp"), paid_from="both")
    assert (both["turnover"], both["actual"], both["awards"]) == ("1", "3", 1)
    tiers = {row["tier"]: row for row in rows(world, "rtp", "tiers")}
    assert (tiers["flush"]["actual"], tiers["three_of_a_kind"]["actual"]) == ("0", "3")
    since = {row["tier"]: row["actual"] for row in rows(world, "rtp", "tiers", start=before)}
    assert (since["flush"], since["three_of_a_kind"]) == ("-25", "3")
    taken_back = only(rows(world, "rtp", start=before), paid_from="prize fund")
    assert (taken_back["turnover"], taken_back["deviation"], taken_back["deviations"]) == ("-1", None, None)


def test_each_round_counts_by_its_own_rules(world: World) -> None:
    world.open(base_amount="10")
    world.change("rules", {"jackpot_id": "j1", "settings": {"prizes.flush": "30", "split.meter": "0.40"}})
    world.bet(bet())
    world.settle(hand("1", ROYAL_FLUSH))
    since = world.clock()
    world.bet(bet(), round_id="r2")
    world.settle(hand("1", NOTHING), round_id="r2")

    assert only(rows(world, "rtp", "tiers"), tier="flush")["theoretical"] == "0.108097085"
    assert only(rows(world, "rtp", "tiers", start=since), tier="flush")["theoretical_percent"] == "5.8962046357"
    assert only(rows(world, "rtp"), paid_from="meter")["theoretical"] == "0.95"


def test_where_the_meter_pays_all_prizes_there_is_no_deviation_to_tell(world: World) -> None:
    world.open(CYBER, tables=("C1",))
    world.bet(bet(), table_id="C1")
    world.settle(hand("1", FLUSH), table_id="C1")

    funds = {row["paid_from"]: row for row in rows(world, "rtp")}

    assert (funds["meter"]["actual"], funds["meter"]["theoretical_percent"]) == ("50", "70")
    assert (funds["prize fund"]["deviation"], funds["prize fund"]["deviations"]) == ("0", None)
    tiers = {row["tier"]: row["theoretical"] for row in rows(world, "rtp", "tiers")}
    assert tiers == {"four_of_a_kind": "0.1200480192", "full_house": "0.144057623", "flush": "0.0982700773"}


def test_where_nothing_was_played_no_part_of_it_was_awarded(world: World) -> None:
    world.open()

    assert {row["actual_percent"] for row in rows(world, "rtp")} == {None}


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_return_to_players_equals_the_journal_and_the_documents(world: World, seed: int) -> None:
    history = Chance(world, seed)
    history.go_on(50)
    start = world.clock()
    history.go_on(70)
    story.require_whole(world)

    whole, early, late = (report(world, "rtp", **query) for query in ({}, {"as_of": start}, {"start": start}))

    for jackpot_id in ("j1", "j2"):
        for document, period in ((whole, {}), (early, {"end": start}), (late, {"start": start})):
            both = only(rows_of(document), jackpot_id=jackpot_id, paid_from="both")
            assert Decimal(both["turnover"]) == judged(world, jackpot_id, **period)
        require_awards(world, whole, jackpot_id)
        require_deviation(world, whole, jackpot_id)
        parts = [only(rows_of(document), jackpot_id=jackpot_id, paid_from="both") for document in (early, late)]
        both = only(rows_of(whole), jackpot_id=jackpot_id, paid_from="both")
        for figure, error in (("turnover", ZERO), ("actual", ZERO), ("theoretical", THREE_ROUNDINGS)):
            assert abs(sum((Decimal(part[figure]) for part in parts), ZERO) - Decimal(both[figure])) <= error


def judged(world: World, jackpot_id: str, *, start: datetime | None = None, end: datetime | None = None) -> Decimal:
    """All that was ever booked for the rounds that a period settled, and what it corrected of any."""
    entries = {
        (row["stripe_no"], row["seq"]): row
        for row in world.books.rows("SELECT * FROM entries WHERE jackpot_id = :jackpot", jackpot=jackpot_id)
    }
    inside = {
        place
        for place, entry in entries.items()
        if (start is None or entry["booked_at"] >= start) and (end is None or entry["booked_at"] < end)
    }
    settled = {entries[place]["round_key"] for place in inside if entries[place]["kind"] == "result"}
    stakes = [line for line in lines(world, jackpot_id) if line["movement"] in {"contribution", "reversal"}]
    counted = []
    for line in stakes:
        place = (line["stripe_no"], line["seq"])
        round_key = entries[place]["round_key"]
        if round_key in settled or (round_key is None and place in inside):
            counted.append(line)
    return moved(counted, *CREDITED)


def require_awards(world: World, document: dict[str, object], jackpot_id: str) -> None:
    """All awards that nobody rejected or took back."""
    listed = world.books.rows(
        """
        SELECT a.tier, a.funded_by, a.cost
        FROM awards a
        WHERE a.jackpot_id = :jackpot
          AND (SELECT array_agg(s.step) FROM award_steps s
               WHERE (s.jackpot_id, s.round_key, s.bet_id, s.tier, s.correction)
                     = (a.jackpot_id, a.round_key, a.bet_id, a.tier, a.correction))
              && ARRAY['rejected', 'reversed'] IS NOT TRUE
           OR a.jackpot_id = :jackpot AND EXISTS (
               SELECT FROM award_steps s
               WHERE (s.jackpot_id, s.round_key, s.bet_id, s.tier, s.correction, s.step)
                     = (a.jackpot_id, a.round_key, a.bet_id, a.tier, a.correction, 'reinstated')
                 AND NOT EXISTS (
                   SELECT FROM award_steps o
                   WHERE (o.jackpot_id, o.round_key, o.bet_id, o.tier, o.correction, o.step)
                         = (a.jackpot_id, a.round_key, a.bet_id, a.tier, a.correction, 'reversed')))
        """,
        jackpot=jackpot_id,
    )
    costs: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for row in listed:
        costs[row["tier"], row["funded_by"].replace("_", " ")] += row["cost"]
    shown = {
        (row["tier"], row["paid_from"]): Decimal(row["actual"])
        for row in rows_of(document, "tiers")
        if row["jackpot_id"] == jackpot_id
    }
    assert {key: cost for key, cost in shown.items() if cost} == dict(costs)


def require_deviation(world: World, document: dict[str, object], jackpot_id: str) -> None:
    """The deviation of the hands that were judged, each by its own rules."""
    stood = world.books.rows(
        """
        SELECT r.round_key, b.bet_id, b.hand, r.rules_version, b.stake_minor * s.base_per_unit / 100 AS value,
               coalesce(c.refunds ? b.bet_id, h.status = 'dead') AS is_dead
        FROM bets b
        JOIN rounds r USING (jackpot_id, round_key)
        JOIN rates s ON s.base = 'EUR' AND s.number = r.rate_sheet AND s.currency = b.currency
        LEFT JOIN voids v USING (jackpot_id, round_key, bet_id)
        LEFT JOIN results d USING (jackpot_id, round_key)
        LEFT JOIN hands h ON (h.jackpot_id, h.round_key, h.hand) = (b.jackpot_id, b.round_key, b.hand)
        LEFT JOIN LATERAL (
            SELECT a.after -> 'refunds' AS refunds
            FROM corrections x
            JOIN acts a ON a.seq = x.act_seq
            WHERE (x.jackpot_id, x.round_key) = (b.jackpot_id, b.round_key)
            ORDER BY x.number DESC
            LIMIT 1
        ) AS c ON true
        WHERE b.jackpot_id = :jackpot AND v.bet_id IS NULL AND d.round_key IS NOT NULL
        """,
        jackpot=jackpot_id,
    )
    hands: defaultdict[tuple[int, str, int], Decimal] = defaultdict(Decimal)
    for stake in (row for row in stood if not row["is_dead"]):
        hands[stake["round_key"], stake["hand"], stake["rules_version"]] += stake["value"]
    documents = world.books.rows("SELECT version, document FROM rules_versions WHERE jackpot_id = :j", j=jackpot_id)
    rules = {document["version"]: from_document(document["document"]) for document in documents}
    wide = Context(prec=60, traps=[])
    variance = sum(
        (
            fixed_prize_variance(rules[version]) * Fraction(staked) ** 2
            for (_, _, version), staked in hands.items()
            if rules[version].fixed_prizes_from is FundedBy.PRIZE_FUND
        ),
        Fraction(0),
    )
    deviation = wide.divide(Decimal(variance.numerator), Decimal(variance.denominator)).sqrt(wide)
    row = only(rows_of(document), jackpot_id=jackpot_id, paid_from="prize fund")
    assert Decimal(row["deviation"]) == deviation.quantize(Decimal("0.01"), ROUND_HALF_UP, wide)
