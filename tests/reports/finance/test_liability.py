from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from jackpot_service.domain.accounts import AWARDS_HELD, METER_HOUSE, METER_PLAYERS, PRIZE_FUND, RESERVE
from jackpot_service.domain.money import ZERO
from jackpot_service.domain.principals import Role
from tests.properties.profile import seeds
from tests.reports.finance.test_awards import brute_force
from tests.support import story
from tests.support.answers import Body
from tests.support.asking import only, report, rows, rows_of
from tests.support.bets import bet
from tests.support.chance import Chance
from tests.support.hands import FOUR_OF_A_KIND, ROYAL_FLUSH, STRAIGHT_FLUSH, THREE_OF_A_KIND, hand
from tests.support.journal_sums import lines, moved
from tests.support.payouts import held_from
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_liability_equals_the_journal_and_the_awards(world: World, seed: int) -> None:
    history = Chance(world, seed)
    history.go_on(50)
    edges = [world.clock()]
    hold_what_stood_in_the_meter(world)
    for acts in (20, 20, 30):
        edges.append(max(world.clock(), edges[-1]))
        history.go_on(acts)
        stop_one(world, len(edges))
    world.clock.at = max(world.clock(), edges[-1])  # It may have been put back; nobody is told what is ahead.
    story.require_whole(world)

    for end in (*edges, None):
        document = report(world, "liability", **({"as_of": end} if end else {}))
        for jackpot_id in ("j1", "j2"):
            require_booked(world, document, jackpot_id, end=end or datetime.max.replace(tzinfo=UTC))
        (whole,) = rows_of(document, "totals")
        for column in ("players", "house", "total"):
            assert Decimal(whole[column]) == sum((Decimal(row[column]) for row in rows_of(document, "jackpots")), ZERO)
    for jackpot_id in ("j1", "j2"):
        require_unpaid(world, report(world, "liability"), jackpot_id)
    assert all(held_at(world, "j2", end=edges[1]))
    assert world.get("/v1/awards?state=stopped").ok()["items"]


def hold_what_stood_in_the_meter(world: World) -> None:
    """Have two bets win what the house and players put into the meter of jackpot `j2`: more than is paid at once."""
    lost = (bet(f"lost-{number}", hand="3") for number in range(20))
    world.bet(bet("a"), bet("b", hand="2"), *lost, round_id="held", table_id="C1")
    world.settle(hand("1", ROYAL_FLUSH), hand("2", STRAIGHT_FLUSH), hand("3"), round_id="held", table_id="C1")


def stop_one(world: World, number: int) -> None:
    """Have a bet win, and somebody stop its payment: it is owed all the same."""
    world.bet(bet(), round_id=f"stopped-{number}")
    (award,) = world.settle(hand("1", THREE_OF_A_KIND), round_id=f"stopped-{number}")["awards"]
    body = {"request_id": f"stop-{number}", "reason": "in doubt"}
    world.put(f"/v1/awards/{award['award_id']}/stop", body, key=world.person("Fiona", Role.FINANCE)).ok(201)


def require_booked(world: World, document: Body, jackpot_id: str, *, end: datetime) -> None:
    """What a jackpot's liability is made of is what its postings and its awards come to, up to the end."""
    booked = lines(world, jackpot_id, end=end)
    fund = moved(booked, PRIZE_FUND)
    shown = {row["item"]: row for row in rows_of(document) if row["jackpot_id"] == jackpot_id}
    item = {name: (Decimal(row["players"]), Decimal(row["house"])) for name, row in shown.items()}
    assert item == {
        "meter": (moved(booked, METER_PLAYERS), moved(booked, METER_HOUSE)),
        "reserve": (moved(booked, RESERVE), ZERO),
        "held awards": held_at(world, jackpot_id, end=end),
        "prize fund": (max(fund, ZERO), min(fund, ZERO)),
    }
    assert sum(item["held awards"], ZERO) == moved(booked, AWARDS_HELD)
    together = only(rows_of(document, "jackpots"), jackpot_id=jackpot_id)
    for column in ("players", "house", "total"):
        assert Decimal(together[column]) == sum((Decimal(row[column]) for row in shown.values()), ZERO)
    assert all(Decimal(row["total"]) == sum(item[name], ZERO) for name, row in shown.items())
    unpaid = {
        (row["paid_from"], row["currency"]): (row["awards"], Decimal(row["amount"]), Decimal(row["cost_base"]))
        for row in rows_of(document, "unpaid")
        if row["jackpot_id"] == jackpot_id
    }
    assert unpaid == unpaid_at(world, jackpot_id, end=end)


def held_at(world: World, jackpot_id: str, *, end: datetime) -> tuple[Decimal, Decimal]:
    """
    What held awards cost the players and the house: settlement by settlement, from what it took from the meter.

    Its awards had the players' money first, in the order of their bets; what the prize fund paid is players' money.
    """
    awards = world.books.rows(
        """
        SELECT a.round_key, a.bet_id, a.tier, a.cost, a.funded_by, e.stripe_no, e.seq,
               (SELECT array_agg(o.step)
                FROM award_steps o LEFT JOIN entries t ON t.jackpot_id = '-' AND t.seq = o.act_seq
                WHERE (o.jackpot_id, o.round_key, o.bet_id, o.tier, o.correction)
                    = (a.jackpot_id, a.round_key, a.bet_id, a.tier, a.correction)
                  AND (o.act_seq IS NULL OR t.booked_at < :end)) AS steps
        FROM awards a
        JOIN settlements s ON s.jackpot_id = a.jackpot_id AND s.round_key = a.round_key
        JOIN entries e ON e.jackpot_id = s.jackpot_id AND e.round_key = s.round_key AND e.step = s.step
        WHERE a.jackpot_id = :jackpot AND a.correction = 0 AND e.booked_at < :end
        ORDER BY a.round_key, a.bet_id, a.tier
        """,
        jackpot=jackpot_id,
        end=end,
    )
    of_players = {
        (line["stripe_no"], line["seq"]): -line["amount"]
        for line in lines(world, jackpot_id)
        if (line["account"], line["movement"]) == (METER_PLAYERS, "award")
    }
    players, of_house = [], []
    for award in awards:
        place = (award["stripe_no"], award["seq"])
        part = award["cost"]
        if award["funded_by"] == "meter":
            part = min(part, of_players.get(place, ZERO))
            of_players[place] = of_players.get(place, ZERO) - part
        if award["steps"] == ["held"]:
            players.append(part)
            of_house.append(award["cost"] - part)
    return sum(players, ZERO), sum(of_house, ZERO)


def unpaid_at(world: World, jackpot_id: str, *, end: datetime) -> dict[tuple[str, str], tuple[int, Decimal, Decimal]]:
    """How many awards were payable or stopped, what they came to and what they cost, by who paid and by currency."""
    start = datetime.min.replace(tzinfo=UTC)
    by_fund = defaultdict(list)
    for award in brute_force(world, start=start, end=end):
        if award["jackpot_id"] == jackpot_id and award["state"] in {"payable", "part-paid", "stopped"}:
            by_fund[award["paid_from"], award["currency"]].append(award)
    return {
        key: (
            len(awards),
            sum((award["amount"] - award["paid_amount"] for award in awards), ZERO),
            sum((award["cost_base"] - _cost_of_paid(award) for award in awards), ZERO),
        )
        for key, awards in by_fund.items()
    }


def _cost_of_paid(award: Mapping[str, Any]) -> Decimal:
    """An award's cost is its amount times a rate, and so is that of a part."""
    cost = Fraction(award["cost_base"]) * Fraction(award["paid_amount"]) / Fraction(award["amount"])
    return Decimal(cost.numerator) / Decimal(cost.denominator)


def test_nothing_is_paid_before_it_was_awarded_whatever_the_clocks_say(world: World) -> None:
    """A server whose clock is ahead settles, one that is behind is told of the payment."""
    world.open(stripes=1)
    world.bet(bet())
    world.clock.advance(timedelta(minutes=10))
    world.settle(hand("1", THREE_OF_A_KIND))
    settled = world.clock.at
    world.clock.at = settled - timedelta(minutes=9)
    (award,) = world.get("/v1/awards?state=payable").ok()["items"]
    world.put(
        f"/v1/awards/{award['award_id']}/payment", {"request_id": "p1", "reference": "slip"}, key=world.key(Role.TABLE)
    ).ok(201)
    between = world.clock()
    world.clock.at = settled + timedelta(minutes=1)

    for instant in (between, settled - timedelta(seconds=1), settled + timedelta(seconds=2)):
        assert rows(world, "liability", "unpaid", as_of=instant) == []
    paid = world.books.value("SELECT booked_at FROM entries WHERE kind = 'award_paid'")
    assert paid >= world.books.value("SELECT booked_at FROM entries WHERE kind = 'result'")


def require_unpaid(world: World, document: dict[str, object], jackpot_id: str) -> None:
    """The memorandum is what the lists of awards say."""
    listed = [
        award
        for state in ("payable", "part-paid", "stopped")
        for award in world.get(f"/v1/awards?state={state}&jackpot_id={jackpot_id}&limit=100").ok()["items"]
    ]
    unpaid = [row for row in rows_of(document, "unpaid") if row["jackpot_id"] == jackpot_id]
    assert sum(row["awards"] for row in unpaid) == len(listed)
    assert sum(Fraction(row["cost_base"]) for row in unpaid) == sum(
        Fraction(award["cost_base"]) * (award["amount_minor"] - award["paid_minor"]) / award["amount_minor"]
        for award in listed
    )
    by_currency = Counter[str]()
    for row in unpaid:
        by_currency[row["currency"]] += int(Decimal(row["amount"]) * (1 if row["currency"] == "JPY" else 100))
    owed = Counter[str]()
    for award in listed:
        owed[award["currency"]] += award["amount_minor"] - award["paid_minor"]
    assert by_currency == owed


def test_a_held_jackpot_is_split_by_whose_money_it_took(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("200")})
    world.bet(bet("b1", stake_minor=10_000))
    before = world.clock()
    world.settle(hand("1", ROYAL_FLUSH))

    held = only(rows(world, "liability"), item="held awards")
    assert (held["players"], held["house"], held["total"]) == ("45", "1000", "1045")
    assert only(rows(world, "liability", as_of=before), item="held awards")["total"] == "0"

    decided = world.clock()
    world.change("held-awards", {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"})
    assert only(rows(world, "liability"), item="held awards")["total"] == "0"
    assert only(rows(world, "liability", as_of=decided), item="held awards")["total"] == "1045"
    assert rows(world, "liability", "unpaid", as_of=decided) == []
    (unpaid,) = rows(world, "liability", "unpaid")
    assert (unpaid["paid_from"], unpaid["awards"], unpaid["amount"], unpaid["cost_base"]) == (
        "meter",
        1,
        "1045",
        "1045",
    )


def test_what_a_prize_fund_held_for_players_is_the_players_money(world: World) -> None:
    world.open(settings={"payout_tiers": held_from("200")})
    world.bet(bet())
    world.settle(hand("1", FOUR_OF_A_KIND))

    items = {row["item"]: row for row in rows(world, "liability")}

    assert (items["held awards"]["players"], items["held awards"]["house"]) == ("250", "0")
    assert (items["prize fund"]["players"], items["prize fund"]["house"]) == ("0", "-249.6816")
    assert only(rows(world, "liability", "jackpots"))["players"] == "250.5"


def test_players_money_below_zero_stands_as_it_is(world: World) -> None:
    world.open(CYBER, tables=("C1",), base_amount="20000", settings={"reset_amount": "10000"})
    world.bet(bet(), round_id="refunded", table_id="C1")
    world.bet(bet(), table_id="C1")
    world.settle(hand("1", STRAIGHT_FLUSH), table_id="C1")
    world.cancel(round_id="refunded", table_id="C1")

    meter = only(rows(world, "liability"), item="meter")

    assert (meter["players"], meter["house"], meter["total"]) == ("-0.7", "18001.26", "18000.56")


def test_an_award_waits_until_its_casino_says_that_it_paid(world: World) -> None:
    world.open()
    world.bet(bet(currency="GBP"))
    world.settle(hand("1", THREE_OF_A_KIND))
    unpaid_then = world.clock()
    (award,) = world.round()["settlement"]["awards"]
    body = {"request_id": "p1", "reference": "slip"}
    world.put(f"/v1/awards/{award['award_id']}/payment", body, key=world.key(Role.TABLE)).ok(201)

    assert rows(world, "liability", "unpaid") == []
    (unpaid,) = rows(world, "liability", "unpaid", as_of=unpaid_then)
    assert {name: unpaid[name] for name in ("paid_from", "currency", "amount", "base", "cost_base")} == {
        "paid_from": "prize fund",
        "currency": "GBP",
        "amount": "3",
        "base": "EUR",
        "cost_base": "3.51",
    }


def test_payments_count_from_their_act_on_whatever_the_day_and_whoever_owns_the_jackpot(world: World) -> None:
    """Whole days of payments are summed, and those of the day that the instant lies in are looked up."""
    world.open(tables=("T1",))
    world.open(jackpot_id="j2", tables=("T2",))
    for table_id in ("T1", "T2"):
        for number in range(4):
            world.bet(bet(), round_id=f"r{number}", table_id=table_id)
            world.settle(hand("1", THREE_OF_A_KIND), round_id=f"r{number}", table_id=table_id)
    first = world.clock().replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    instants = [first + timedelta(hours=hours) for hours in (1, 23, 25, 48)]
    for number, world.clock.at in enumerate(instants):
        (award,) = world.round(f"r{number}")["settlement"]["awards"]
        body = {"request_id": f"p{number}", "reference": "slip"}
        world.put(f"/v1/awards/{award['award_id']}/payment", body, key=world.key(Role.TABLE)).ok(201)
    world.clock.at = instants[-1] + timedelta(hours=30)

    for hours, unpaid in ((0, 4), (1.5, 3), (24, 2), (24.5, 2), (26, 1), (48, 1), (50, 0), (72, 0), (75, 0)):
        listed = rows(world, "liability", "unpaid", as_of=first + timedelta(hours=hours))
        counts = {row["jackpot_id"]: (row["awards"], row["amount"], row["cost_base"]) for row in listed}
        expected = {"j1": unpaid, "j2": 4}
        assert counts == {key: (awards, str(3 * awards), str(3 * awards)) for key, awards in expected.items() if awards}
