"""Awards: what was won, what became of it, as of any time; and that it adds up to the journal."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.properties.profile import seeds
from tests.reports.finance.play import Play
from tests.support import correcting, story
from tests.support.answers import Body
from tests.support.asking import figures, only, report, rows
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, FULL_HOUSE, ROYAL_FLUSH, STRAIGHT, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

NOTHING_YET = dict.fromkeys(
    ("approved_at", "rejected_at", "reinstated_at", "paid_at", "payment_reference", "reversed_at")
)


def pay(world: World, award_id: str, reference: str = "slip 7", *, casino_id: str = "c1") -> None:
    body = {"request_id": f"payment-{award_id}", "reference": reference}
    world.put(f"/v1/awards/{award_id}/payment", body, key=world.key(Role.FINANCE, casino_id=casino_id)).ok(201)


def decide(world: World, decision: str, *bet_ids: str) -> None:
    held: Body = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": decision}
    if bet_ids:
        held["bets"] = list(bet_ids)
    world.change("held-awards", held, request_id="-".join([decision, *bet_ids]))


@pytest.fixture
def won(world: World) -> World:
    """A flush of a GBP bet and a full house that are held, in a round of casino c1."""
    world.open(base_amount="1000", settings={"payout_tiers": held_from("10")})
    world.bet(bet("a", currency="GBP"), bet("b", hand="2"))
    world.settle(hand("1", FLUSH), hand("2", FULL_HOUSE))
    return world


def test_an_award_is_told_with_all_that_finance_asks(won: World) -> None:
    decide(won, "approve", "a")
    (award,) = (award for award in won.round()["settlement"]["awards"] if award["bet_id"] == "a")
    pay(won, award["award_id"])

    row = dict(only(rows(won, "awards"), bet_id="a"))

    made_at, approved_at, paid_at = (row.pop(name) for name in ("made_at", "approved_at", "paid_at"))
    assert made_at < approved_at < paid_at
    assert row == {
        "jackpot_id": "j1",
        "base": "EUR",
        "award_id": award["award_id"],
        "casino_id": "c1",
        "table_id": "T1",
        "round_id": "r1",
        "bet_id": "a",
        "hand": "1",
        "player_id": "player-of-a",
        "tier": "flush",
        "amount": "25",
        "currency": "GBP",
        "cost_base": "29.25",
        "funded_by": "prize_fund",
        "correction": 0,
        "stopped_at": None,
        "released_at": None,
        "state": "paid",
        "rejected_at": None,
        "reinstated_at": None,
        "paid_amount": "25",
        "payment_reference": "slip 7",
        "forfeited_at": None,
        "reversed_at": None,
        "reportable": None,
        "withholding_due": None,
        "withheld_amount": "0",
    }


def test_an_award_stands_as_it_stood_then_whatever_became_of_it(won: World) -> None:
    instants, seen = [won.clock()], []
    for step in ("reject", "reinstate", None):
        if step is None:
            pay(won, only(rows(won, "awards"), bet_id="a")["award_id"])
        else:
            decide(won, step, "a")
        seen.append(report(won, "awards", as_of=instants[-1]))
        instants.append(won.clock())
    seen.append(report(won, "awards", as_of=instants[-1]))

    states = [only(document["sections"][0]["rows"], bet_id="a") for document in seen]
    assert [row["state"] for row in states] == ["held", "rejected", "payable", "paid"]
    assert NOTHING_YET.items() <= states[0].items()
    assert [sum(value is not None for name, value in row.items() if name in NOTHING_YET) for row in states] == [
        0,
        1,
        2,
        4,
    ]
    for edge, document in zip(instants, seen, strict=True):
        assert figures(report(won, "awards", as_of=edge)) == figures(document)


def test_a_corrected_round_shows_the_awards_of_both_verdicts(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    before = world.clock()
    correcting.correct(world, hand("1", STRAIGHT))

    listed = [(row["tier"], row["correction"], row["state"]) for row in rows(world, "awards")]
    assert listed == [("flush", 0, "reversed"), ("straight", 1, "payable")]
    assert (
        only(rows(world, "awards"), correction=1)["made_at"] == only(rows(world, "awards"), correction=0)["reversed_at"]
    )
    (made_later,) = rows(world, "awards", start=before)
    assert made_later["tier"] == "straight"
    (made_before,) = rows(world, "awards", as_of=before)
    assert (made_before["tier"], made_before["state"]) == ("flush", "payable")


def test_a_period_has_the_awards_that_were_made_in_it(world: World) -> None:
    world.open(base_amount="1000")
    edges = [world.clock()]
    for number in range(3):
        world.bet(bet(), round_id=f"r{number}")
        world.settle(hand("1", FLUSH), round_id=f"r{number}")
        world.clock.advance(timedelta(days=1))
        edges.append(world.clock())

    def in_period(first: int, last: int) -> list[str]:
        period = {"start": edges[first], "end": edges[last]}
        return [row["round_id"] for row in rows(world, "awards", **period)]

    assert in_period(0, 3) == ["r0", "r1", "r2"]
    assert [in_period(number, number + 1) for number in range(3)] == [["r0"], ["r1"], ["r2"]]
    assert in_period(1, 1) == []


def test_a_casinos_key_is_told_of_its_own_awards_only(world: World) -> None:
    world.add_casino("c2")
    world.open(base_amount="1000")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    for table_id in ("T1", "T2"):
        world.bet(bet(f"of-{table_id}"), table_id=table_id)
        world.settle(hand("1", FOUR_OF_A_KIND), table_id=table_id)
    own = world.key_of(Principal("Carl", Role.FINANCE, "c2"))

    for path in ("/v1/reports/awards", "/v1/reports/awards?casino_id=c2", "/v1/reports/awards?table_id=T2"):
        answer = world.get(path, key=own)
        listed, totals = (section["rows"] for section in answer.ok()["sections"])
        assert [row["player_id"] for row in listed] == ["player-of-of-T2"]
        assert [(row["awards"], row["amount"]) for row in totals] == [(1, "250")]
    world.get("/v1/reports/awards?casino_id=c1", key=own).problem(404, "casino-unknown")
    world.get("/v1/reports/awards?table_id=T1", key=own).problem(404, "table-unknown")
    assert len(rows(world, "awards")) == 2


def test_a_hit_that_many_share_is_one_total(world: World) -> None:
    world.open(base_amount="10000", settings={"payout_tiers": held_from("1")})
    world.bet(*(bet(f"b{number}") for number in range(300)))
    world.settle(hand("1", ROYAL_FLUSH))
    decide(world, "approve")

    (total,) = rows(world, "awards", "totals")

    paid = world.books.balance("j1", "casino:c1") + 300
    assert (total["awards"], total["state"], Decimal(total["amount"])) == (300, "payable", paid)


# What chance brings about, against rows of the tables added up one by one.


class PayingPlay(Play):
    """Pays some of the awards besides, in one part or in two, withholds, and has a payment reversed at times."""

    def go_on(self, acts: int) -> None:
        for _ in range(acts // 10):
            super().go_on(10)
            for state in ("payable", "part-paid"):
                for award in self.world.get(f"/v1/awards?state={state}&limit=100").ok()["items"][:2]:
                    self._pay(award)
            if self.chance.random() < 0.2:
                self._reverse_a_payment()

    def _pay(self, award: Body) -> None:
        number = len(award["payments"])
        reference = f"payment-{number}-{award['award_id']}"
        body: Body = {"request_id": reference, "reference": f"=slip {number}"}
        if award["round_id"] != story.CORRECTED and self.chance.random() < 0.5:
            body["amount_minor"] = self.chance.randint(1, award["amount_minor"] - award["paid_minor"])
        due_minor = (award["withholding_due_minor"] or 0) - award["withheld_minor"]
        paid = body.get("amount_minor", award["amount_minor"] - award["paid_minor"])
        body["withheld_minor"] = self.chance.choice([0, min(due_minor, paid)])
        operator = self.world.person("Olga", Role.OPERATOR)
        self.world.put(f"/v1/awards/{award['award_id']}/payment", body, key=operator).ok(201)

    def _reverse_a_payment(self) -> None:
        for state in ("paid", "part-paid"):
            for award in self.world.get(f"/v1/awards?state={state}&limit=1").ok()["items"]:
                payments = [payment for payment in award["payments"] if payment["reversed_by"] is None]
                payload = {"jackpot_id": award["jackpot_id"], "award_id": award["award_id"]}
                self._change("payment-reversal", payload | {"reference": payments[0]["reference"]})


STANDS: Final = {
    "payable": "payable",
    "held": "held",
    "approved": "payable",
    "rejected": "rejected",
    "reinstated": "payable",
    "stopped": "stopped",
    "released": "payable",
    "reversed": "reversed",
    "forfeited": "forfeited",
}
"""Where each step leaves an award, in the order in which steps are taken: the last says how it stands."""


def brute_force(world: World, *, start: datetime, end: datetime) -> Iterator[Mapping[str, Any]]:
    """The awards that a report tells of, found by looking at every row there is and the times of entries alone."""
    booked = {
        (row["jackpot_id"], row["stripe_no"], row["seq"]): row["booked_at"] for row in world.books.rows("TABLE entries")
    }
    by_step = {
        (row["jackpot_id"], row["round_key"], row["step"]): row["booked_at"]
        for row in world.books.rows("TABLE entries")
        if row["round_key"]
    }
    rounds = {(row["jackpot_id"], row["round_key"]): row for row in world.books.rows("TABLE rounds")}
    made = {
        (row["jackpot_id"], row["round_key"], 0): by_step[row["jackpot_id"], row["round_key"], row["step"]]
        for row in world.books.rows("TABLE settlements")
    } | {
        (row["jackpot_id"], row["round_key"], row["number"]): booked["-", 0, row["act_seq"]]
        for row in world.books.rows("TABLE corrections")
    }
    steps = defaultdict(list)
    for row in world.books.rows("TABLE award_steps"):
        key = tuple(row[name] for name in ("jackpot_id", "round_key", "bet_id", "tier", "correction"))
        if row["act_seq"] is None or booked["-", 0, row["act_seq"]] < end:
            steps[key].append(row["step"])
    paid: Counter[tuple[Any, ...]] = Counter()
    withheld: Counter[tuple[Any, ...]] = Counter()
    for row in world.books.rows("TABLE payments"):
        if booked["-", 0, row["act_seq"]] < end:
            key = tuple(row[name] for name in ("jackpot_id", "round_key", "bet_id", "tier", "correction"))
            paid[key] += row["amount_minor"]
            withheld[key] += row["withheld_minor"]
    stakes = {(row["jackpot_id"], row["round_key"], row["bet_id"]): row["stake_minor"] for row in bets_of(world)}
    rules = world.books.rows("SELECT * FROM withholding_rules ORDER BY version")
    for row in world.books.rows("TABLE awards"):
        if start <= made[row["jackpot_id"], row["round_key"], row["correction"]] < end:
            key = tuple(row[name] for name in ("jackpot_id", "round_key", "bet_id", "tier", "correction"))
            exponent = 0 if row["currency"] == "JPY" else 2
            by_steps = [state for step, state in STANDS.items() if step in steps[key]][-1]
            of_payable = "paid" if paid[key] == row["amount_minor"] else "part-paid" if paid[key] else "payable"
            yield {
                "award_id": row["award_id"],
                "casino_id": rounds[row["jackpot_id"], row["round_key"]]["casino_id"],
                "table_id": rounds[row["jackpot_id"], row["round_key"]]["table_id"],
                "jackpot_id": row["jackpot_id"],
                "tier": row["tier"],
                "paid_from": row["funded_by"].replace("_", " "),
                "currency": row["currency"],
                "amount": Decimal(row["amount_minor"]).scaleb(-exponent),
                "cost_base": row["cost"],
                "state": of_payable if by_steps == "payable" else by_steps,
                "paid_amount": Decimal(paid[key]).scaleb(-exponent),
                "withheld_amount": Decimal(withheld[key]).scaleb(-exponent),
                "withholding_due": due_of(row, rounds[row["jackpot_id"], row["round_key"]], stakes[key[:3]], rules),
            }


def bets_of(world: World) -> Sequence[Mapping[str, Any]]:
    return world.books.rows("TABLE bets")


def due_of(
    award: Mapping[str, Any], round_: Mapping[str, Any], stake_minor: int, rules: Sequence[Mapping[str, Any]]
) -> Decimal | None:
    """How much of an award is to be withheld, by the rule in force when its round was opened; None without one."""
    of_casino = [
        rule
        for rule in rules
        if (rule["casino_id"], rule["currency"]) == (round_["casino_id"], award["currency"])
        and rule["in_force_from"] <= round_["opened_at"]
    ]
    if not of_casino:
        return None
    rule, amount_minor = of_casino[-1], award["amount_minor"]
    is_due = amount_minor >= rule["withhold_at_minor"] and amount_minor >= (rule["least_multiple"] or 0) * stake_minor
    due_minor = int(Fraction(amount_minor) * Fraction(rule["percent"]) / 100) if is_due else 0
    return Decimal(due_minor).scaleb(0 if award["currency"] == "JPY" else -2)


NAMED = ("jackpot_id", "tier", "currency", "state")


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_awards_add_up_to_the_journal_whatever_happens(world: World, seed: int) -> None:
    play = PayingPlay(world, seed)
    play.open()
    edges = [world.clock()]
    for _ in range(3):
        play.go_on(40)
        edges.append(world.clock())

    first = [report(world, "awards", start=edges[0], end=edge) for edge in edges[1:]]
    play.go_on(60)
    play.retire()
    story.require_whole(world)

    for edge, seen in zip(edges[1:], first, strict=True):
        document = report(world, "awards", start=edges[0], end=edge)
        assert figures(document) == figures(seen)
        listed, totals = (section["rows"] for section in document["sections"])
        expected = list(brute_force(world, start=edges[0], end=edge))
        assert compared(listed) == compared(expected)
        assert sums(listed) == sums(expected)
        assert {
            tuple(row[name] for name in NAMED): (row["awards"], Fraction(row["amount"]), Fraction(row["cost_base"]))
            for row in totals
        } == sums(expected)
        of_c2 = [row for row in listed if row["casino_id"] == "c2"]
        assert rows(world, "awards", casino_id="c2", start=edges[0], end=edge) == of_c2
        for jackpot_id in ("j1", "cyber"):
            of_it = [row for row in listed if row["jackpot_id"] == jackpot_id]
            held = [row for row in of_it if row["state"] == "held"]
            of_settlements = [row for row in of_it if row["correction"] == 0]
            assert cost_of(held) == posted(world, jackpot_id, edge, account="awards:held")
            assert cost_of(of_settlements) == -posted(world, jackpot_id, edge, movement="award", pools=True)


def compared(rows_: Any) -> dict[str, tuple[Any, ...]]:
    figures_ = ("paid_amount", "cost_base", "withheld_amount", "withholding_due")
    return {
        row["award_id"]: (row["casino_id"], row["state"], *(_decimal(row[figure]) for figure in figures_))
        for row in rows_
    }


def _decimal(figure: Any) -> Decimal | None:
    return None if figure is None else Decimal(figure)


Sums = dict[tuple[Any, ...], tuple[int, Fraction, Fraction]]


def sums(rows_: Any) -> Sums:
    """Awards by state; what was paid of one is paid, and the rest is where it stands otherwise."""
    summed: Sums = {}
    for row in rows_:
        amount, cost, paid = (Fraction(row[name]) for name in ("amount", "cost_base", "paid_amount"))
        state = "payable" if row["state"] in {"paid", "part-paid"} else row["state"]
        for of, number, part in ((state, paid < amount, amount - paid), ("paid", paid == amount, paid)):
            key = tuple(of if name == "state" else row[name] for name in NAMED)
            before = summed.get(key, (0, Fraction(), Fraction()))
            summed[key] = before[0] + number, before[1] + part, before[2] + cost * part / amount
    return {key: figures for key, figures in summed.items() if any(figures)}


def cost_of(rows_: Any) -> Decimal:
    return sum((Decimal(row["cost_base"]) for row in rows_), Decimal(0))


def posted(
    world: World, jackpot_id: str, end: datetime, *, account: str = "", movement: str = "", pools: bool = False
) -> Decimal:
    lines = world.books.rows("SELECT * FROM postings WHERE jackpot_id = :jackpot", jackpot=jackpot_id)
    return sum(
        (
            line["amount"]
            for line in lines
            if line["booked_at"] < end
            and (not account or line["account"] == account)
            and (not movement or line["movement"] == movement)
            and (not pools or line["account"].startswith("pool:"))
        ),
        Decimal(0),
    )
