"""
Awards in sums: of whole days from what those keep, and the same as if every award were looked at.

So are those of one casino and of one table.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, Final

import pytest
from sqlalchemy import text

from jackpot_service.domain.principals import Role
from tests.properties.profile import seeds
from tests.reports.finance.test_awards import PayingPlay, Sums, brute_force, decide, pay, sums
from tests.support import correcting, rolling, story
from tests.support.asking import figures, report, rows
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, FULL_HOUSE, STRAIGHT, dead, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.long

NOON: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)

DAY: Final = timedelta(days=1)


def midnight(days: int) -> datetime:
    """The beginning of a day, counted from that of `NOON`."""
    return NOON.replace(hour=0) + timedelta(days=days)


@pytest.fixture
def noon(world: World) -> World:
    """A jackpot at noon that holds awards from 200 euros on."""
    world.clock.at = NOON - DAY
    world.open(base_amount="1000", settings={"payout_tiers": held_from("200")})
    world.clock.at = NOON
    return world


def states(world: World, **period: datetime) -> dict[tuple[str, str], int]:
    """How many awards of each tier are in which state, in documents of which the list says the same, whoever's."""
    listed, totals = (section["rows"] for section in report(world, "awards", **period)["sections"])
    assert by_key(totals) == sums(listed)
    for filters in filters_of_each_casino_and_table(world):
        of_those = [row for row in listed if filters.items() <= row.items()]
        assert by_key(rows(world, "awards", "totals", **filters, **period)) == sums(of_those)
    return {(row["tier"], row["state"]): row["awards"] for row in totals}


def filters_of_each_casino_and_table(world: World) -> list[dict[str, str]]:
    """What asks about each casino, each table, and each table as one of its casino."""
    tables = world.books.rows("SELECT casino_id, table_id FROM tables WHERE jackpot_id IS NOT NULL ORDER BY table_id")
    casinos = sorted({row["casino_id"] for row in tables})
    return [
        *({"casino_id": casino_id} for casino_id in casinos),
        *({"table_id": row["table_id"]} for row in tables),
        *(dict(row) for row in tables),
    ]


def by_key(totals: Any) -> Sums:
    named = ("jackpot_id", "tier", "currency", "state")
    return {
        tuple(row[name] for name in named): (row["awards"], Fraction(row["amount"]), Fraction(row["cost_base"]))
        for row in totals
    }


def pay_payable(world: World) -> None:
    for award in world.get("/v1/awards?state=payable").ok()["items"]:
        pay(world, award["award_id"], casino_id=award["casino_id"])


def test_what_became_of_a_days_awards_on_later_days_is_told_as_of_each(noon: World) -> None:
    noon.bet(bet())
    noon.settle(hand("1", FOUR_OF_A_KIND))
    noon.bet(bet(), round_id="r2")
    noon.settle(hand("1", FLUSH), round_id="r2")
    for number, step in enumerate(("reject", "reinstate", "pay"), start=1):
        noon.clock.at = NOON + number * DAY
        if step == "pay":
            pay_payable(noon)
        else:
            decide(noon, step)
    noon.clock.at = NOON + 5 * DAY

    for number, state in enumerate(["held", "rejected", "payable", "paid", "paid"], start=1):
        of_other = "paid" if state == "paid" else "payable"
        expected = {("flush", of_other): 1, ("four_of_a_kind", state): 1}
        for start in (midnight(0), midnight(-1) + DAY / 3):
            assert states(noon, start=start, end=midnight(number)) == expected
        assert states(noon, start=midnight(1), end=midnight(number)) == {}
    assert states(noon) == {("flush", "paid"): 1, ("four_of_a_kind", "paid"): 1}


def test_what_a_correction_makes_is_of_its_own_day_and_so_is_its_payment(noon: World) -> None:
    noon.bet(bet("a"))
    noon.settle(hand("1", FLUSH))
    noon.clock.at = NOON + DAY
    correcting.correct(noon, hand("1", STRAIGHT))
    noon.clock.at = NOON + 2 * DAY
    pay_payable(noon)
    noon.clock.at = NOON + 4 * DAY

    assert states(noon, start=midnight(0), end=midnight(1)) == {("flush", "payable"): 1}
    assert states(noon, start=midnight(0), end=midnight(2)) == {("flush", "reversed"): 1, ("straight", "payable"): 1}
    assert states(noon, start=midnight(0), end=midnight(3)) == {("flush", "reversed"): 1, ("straight", "paid"): 1}
    assert states(noon, start=midnight(1), end=midnight(3)) == {("straight", "paid"): 1}
    assert states(noon, start=midnight(2), end=midnight(3)) == {}


def test_a_held_award_that_a_correction_took_back_is_reversed(noon: World) -> None:
    noon.bet(bet())
    noon.settle(hand("1", FOUR_OF_A_KIND))
    noon.clock.at = NOON + DAY
    correcting.correct(noon, hand("1", FULL_HOUSE))
    noon.clock.at = NOON + 2 * DAY

    assert states(noon, start=midnight(0), end=midnight(1)) == {("four_of_a_kind", "held"): 1}
    assert states(noon, start=midnight(0), end=midnight(2)) == {
        ("four_of_a_kind", "reversed"): 1,
        ("full_house", "payable"): 1,
    }


def test_what_was_paid_on_the_day_of_the_end_is_told_up_to_the_instant(noon: World) -> None:
    edges = []
    for number in range(3):
        noon.clock.at = NOON + number * DAY
        noon.bet(bet(), round_id=f"r{number}")
        noon.settle(hand("1", FLUSH), round_id=f"r{number}")
        noon.clock.advance(timedelta(hours=1))
        edges.append(noon.clock())
        pay_payable(noon)
    for number, edge in enumerate(edges):
        assert states(noon, end=edge) == {
            key: count for key, count in {("flush", "payable"): 1, ("flush", "paid"): number}.items() if count
        }
    assert states(noon, start=edges[0], end=edges[2]) == {("flush", "payable"): 1, ("flush", "paid"): 1}


def test_a_casinos_and_a_tables_awards_are_told_apart_whatever_became_of_them(noon: World) -> None:
    """Settled, held, refunded, corrected and paid at three tables of two casinos, and then asked about each."""
    noon.add_casino("riga", zone="Europe/Riga", day_starts="06:00")
    for table_id, casino_id in (("T2", "c1"), ("R1", "riga")):
        noon.add_table(table_id, jackpot_id="j1", casino_id=casino_id)
    tables = ("T1", "T2", "R1")
    for table_id in tables:
        noon.bet(bet(), bet("of-dead", hand="2"), table_id=table_id)
        noon.settle(hand("1", FOUR_OF_A_KIND), dead("2"), table_id=table_id)
        noon.bet(bet(), table_id=table_id, round_id="r2")
        noon.settle(hand("1", FLUSH), table_id=table_id, round_id="r2")
    noon.clock.at = NOON + DAY
    decide(noon, "approve")
    correcting.correct(noon, hand("1", STRAIGHT), table_id="R1", round_id="r2")
    noon.clock.advance(timedelta(hours=1))
    of_the_day = noon.clock()
    noon.clock.at = NOON + 2 * DAY
    pay_payable(noon)
    noon.clock.at = NOON + 4 * DAY

    period = {"start": midnight(0), "end": midnight(3)}
    assert states(noon, **period) == {
        ("flush", "paid"): 2,
        ("flush", "reversed"): 1,
        ("four_of_a_kind", "held"): 2,
        ("four_of_a_kind", "paid"): 1,
        ("straight", "paid"): 1,
    }
    by_table = {table_id: rows(noon, "awards", "totals", table_id=table_id, **period) for table_id in tables}
    assert {table_id: [(row["tier"], row["state"]) for row in totals] for table_id, totals in by_table.items()} == {
        "T1": [("flush", "paid"), ("four_of_a_kind", "paid")],
        "T2": [("flush", "paid"), ("four_of_a_kind", "held")],
        "R1": [("flush", "reversed"), ("four_of_a_kind", "held"), ("straight", "paid")],
    }
    ends = [midnight(1), midnight(2), of_the_day, NOON + 2 * DAY - timedelta(hours=1), noon.clock()]
    for start, end in product([midnight(0), NOON - timedelta(hours=1)], ends):
        assert sum(states(noon, start=start, end=end).values()) == (6 if end == midnight(1) else 7)


@pytest.mark.parametrize(
    ("kind", "of_what"),
    [("awards", "payable"), ("payments", "paid")],
)
def test_whole_days_are_told_by_their_sums_and_all_else_one_by_one(noon: World, kind: str, of_what: str) -> None:
    noon.clock.at = midnight(0)
    noon.bet(bet(), round_id="first")
    noon.clock.at = NOON
    for number in range(2):
        noon.bet(bet(), round_id=f"r{number}")
        noon.settle(hand("1", FLUSH), round_id=f"r{number}")
    (award, _) = noon.get("/v1/awards?state=payable").ok()["items"]
    pay(noon, award["award_id"])
    noon.clock.at = NOON + DAY / 4
    noon.bet(bet(), round_id="last")
    noon.clock.at = NOON + DAY
    inside = ({"start": midnight(0) + DAY / 4}, {"end": NOON + DAY / 8})
    filters: tuple[dict[str, Any], ...] = ({}, {"casino_id": "c1"}, {"table_id": "T1"})
    queries: list[dict[str, Any]] = [{**filter_, **part} for part in ({}, *inside) for filter_ in filters]

    def counts() -> list[int]:
        sections = [
            rows(noon, "awards", "totals", **{"start": midnight(0), "end": midnight(1), **more}) for more in queries
        ]
        return [sum(row["awards"] for row in totals if row["state"] == of_what) for totals in sections]

    assert counts() == [1] * 9
    rolling.roll_up(noon.engine)
    with noon.engine.begin() as connection:
        connection.execute(text("UPDATE days SET number = number + 5 WHERE kind = :kind"), {"kind": kind})
    changed = counts()
    with noon.engine.begin() as connection:
        connection.execute(text("UPDATE days SET number = number - 5 WHERE kind = :kind"), {"kind": kind})
    assert [count != 1 for count in changed] == [True] * 3 + [False] * 6


# What chance brings about, against rows of the tables added up one by one.


class LongPlay(PayingPlay):
    """Lets hours pass between its acts, so that awards are paid, decided about and corrected on later days."""

    def go_on(self, acts: int) -> None:
        for _ in range(acts // 10):
            super().go_on(10)
            self.world.clock.advance(timedelta(hours=self.chance.randint(0, 7), minutes=self.chance.randint(0, 59)))
            self._pay_what_a_correction_made()
            if self.chance.random() < 0.3:
                self.correct_stopped()
            if self.chance.random() < 0.3:
                self.stop("part-paid")
        self._forfeit_one()

    def _forfeit_one(self) -> None:
        """Forfeit an award that is paid in part, or else one of which nothing is paid."""
        for state in ("part-paid", "payable"):
            awards = self.world.get(f"/v1/awards?state={state}&limit=100").ok()["items"]
            awards = [award for award in awards if award["round_id"] != story.CORRECTED]
            if awards:
                award = self.chance.choice(awards)
                to = self.chance.choice(["statutory", "meter"])
                story.forfeit(self.world, award, to=to, casino_id=award["casino_id"])
                return

    def _pay_what_a_correction_made(self) -> None:
        made = self.world.books.rows("SELECT award_id FROM awards WHERE correction > 0 ORDER BY award_id")
        if made and self.chance.random() < 0.5:
            award_id = self.chance.choice(made)["award_id"]
            operator = self.world.person("Olga", Role.OPERATOR)
            body = {"request_id": f"again-{award_id}", "reference": "slip"}
            self.world.put(f"/v1/awards/{award_id}/payment", body, key=operator)


PARTS: Final = 4

EVERYTHING: Final = {
    *("approved", "rejected", "reversed", "corrected and paid", "paid later", "paid in part", "payment reversed"),
    *("forfeited", "forfeited when paid in part", "withheld", "withheld amount given back", "void after a closing"),
    *("stopped", "released", "released and paid", "reversed while it was stopped", "stopped when paid in part"),
}


@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_awards_in_sums_are_those_that_were_made_one_by_one(world: World, seed: int) -> None:
    play = LongPlay(world, seed)
    world.clock.at = NOON
    play.open()
    questions: list[tuple[datetime, datetime, Mapping[str, Any]]] = []
    edges = [world.clock()]
    while len(edges) <= PARTS or not what_happened(world) >= EVERYTHING:
        assert len(edges) <= 3 * PARTS, f"never happened: {EVERYTHING - what_happened(world)}"
        play.go_on(50)
        edges.append(world.clock())
        questions.extend((start, edges[-1], asked_of(world, start, edges[-1])) for start in edges[:-1])
    play.retire()
    story.require_whole(world)
    world.clock.advance(DAY)
    last = world.clock().date()
    midnights = [midnight(number) for number in range((last - NOON.date()).days + 1)]
    assert len(midnights) > 4

    for start, end, seen in questions:
        assert asked_of(world, start, end) == seen
    pairs = [*pairwise(midnights), *product([edges[0], edges[1], midnights[1]], [*edges[2:], *midnights[2:]])]
    some = play.chance.sample(sorted({(start, end) for start, end in pairs if start < end}), 12)
    for start, end in some:
        expected = list(brute_force(world, start=start, end=end))
        totals = asked_of(world, start, end)["sections"][1]["rows"]
        assert by_key(totals) == sums(expected)
        for filters in play.chance.sample(filters_of_each_casino_and_table(world), 3):
            of_those = sums([row for row in expected if filters.items() <= row.items()])
            assert by_key(rows(world, "awards", "totals", **filters, start=start, end=end)) == of_those


def asked_of(world: World, start: datetime, end: datetime) -> Mapping[str, Any]:
    return figures(report(world, "awards", start=start, end=end))


LIVES: Final = """
    SELECT array_agg(step) AS steps FROM award_steps GROUP BY jackpot_id, round_key, bet_id, tier, correction
"""


PAID_AFTER: Final = """
    SELECT FROM award_steps s JOIN payments p USING (jackpot_id, round_key, bet_id, tier, correction)
    WHERE s.step = '{}' AND p.act_seq > s.act_seq
"""
PAID_BEFORE: Final = """
    SELECT FROM award_steps s JOIN payments p USING (jackpot_id, round_key, bet_id, tier, correction)
    WHERE s.step = '{}' AND p.act_seq < s.act_seq
"""


def what_happened(world: World) -> set[str]:
    steps = {row["step"] for row in world.books.rows("SELECT DISTINCT step FROM award_steps")}
    lives = [set(row["steps"]) for row in world.books.rows(LIVES)]
    seen = {
        "corrected and paid": world.books.rows("SELECT FROM payments WHERE correction > 0"),
        "paid in part": world.books.rows("SELECT FROM figures WHERE kind = 'payments' AND number = 0 AND minor > 0"),
        "payment reversed": world.books.rows("SELECT FROM payments WHERE reverses IS NOT NULL"),
        "forfeited when paid in part": world.books.rows(PAID_BEFORE.format("forfeited")),
        "withheld": world.books.rows("SELECT FROM payments WHERE withheld_minor > 0"),
        "withheld amount given back": world.books.rows("SELECT FROM payments WHERE withheld_minor < 0"),
        "void after a closing": world.books.rows("SELECT FROM exceptions WHERE kind = 'late-void'"),
        "paid later": world.books.rows("SELECT FROM figures WHERE made_on < day"),
        "released and paid": world.books.rows(PAID_AFTER.format("released")),
        "stopped when paid in part": world.books.rows(PAID_BEFORE.format("stopped")),
        "reversed while it was stopped": [
            life for life in lives if life >= {"stopped", "reversed"} and "released" not in life
        ],
    }
    return steps | {name for name, awards in seen.items() if awards}
