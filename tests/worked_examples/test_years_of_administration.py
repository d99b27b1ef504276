"""Years in the life of a world: every kind of change, between hits and refunds, all told in the audit trail."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

import pytest

from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.principals import Role
from jackpot_service.domain.settings import Setting
from jackpot_service.usecases.changes.registry import KINDS
from tests.support import people
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.correcting import payload as correction
from tests.support.hands import (
    FLUSH,
    FOUR_OF_A_KIND,
    NOTHING,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE_OF_A_KIND,
    dead,
    forfeited,
    hand,
)
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

WHY, SEEN = "as agreed", "seen and compared"

DONE_AS: Final[Mapping[str, str]] = {
    "rate-sheet": "rates_published",
    "rules": "rules_changed",
    "table-limits": "table_limits_changed",
    "retirement": "jackpot_retired",
    "adjustment": "adjustment",
    "seed-recovery": "seed_recovered",
    "prize-fund-true-up": "prize_fund_trued_up",
    "held-awards": "awards_approved",
    "compensation": "compensation",
    "declined-compensation": "compensation_declined",
    "round-correction": "round_corrected",
    "payment-reversal": "payment_reversed",
    "casino-claims": "casino_claims_changed",
    "award-forfeiture": "award_forfeited",
    "statement-settlement": "statement_settled",
    "casino-withholding": "withholding_changed",
    "change-policy": "change_policy_changed",
}
"""The act by which a change of a kind is done, where it is approved as it is here."""


def adjustment(account: str, amount: str, cause: str = "count-error") -> Body:
    return {"jackpot_id": "j1", "account": account, "amount": amount, "document": "memo 7", "cause": cause}


def statement(amount: str, reference: str) -> Body:
    return {
        "jackpot_id": "j1",
        "casino_id": "c1",
        "currency": "EUR",
        "from": "2026-10-01T00:00:00Z",
        "to": "2026-11-01T00:00:00Z",
        "amount": amount,
        "reference": reference,
    }


def change_of_round(round_id: str, **stated: Any) -> Body:
    return {"jackpot_id": "j1", "table_id": "T1", "round_id": round_id, **stated}


def play(world: World, round_id: str, *hands: Body, table_id: str = "T1", **stated: Any) -> Body:
    """A round of one bet on hand 1, settled."""
    world.bet(bet(**stated), round_id=round_id, table_id=table_id)
    return world.settle(*hands, round_id=round_id, table_id=table_id)


@dataclass(frozen=True, slots=True)
class Years:
    """A house and what two people changed in it; each change's id is its kind's name."""

    world: World
    effects: dict[str, Body] = field(default_factory=dict)

    def change(self, kind: str, payload: Body) -> None:
        self.world.ask(kind, payload, request_id=kind, reason=WHY).ok(201)
        decided = self.world.approve(kind, reason=SEEN).ok()
        self.effects[kind] = decided["effect"]

    def put(self, path: str, request_id: str, key: str, **more: object) -> Body:
        return self.world.put(path, {"request_id": request_id, **more}, key=key).ok(201)

    def post(self, path: str, request_id: str, key: str, **more: object) -> Body:
        return self.world.post(path, {"request_id": request_id, "reason": WHY, **more}, key=key).ok(201)

    def pass_a_year(self) -> None:
        assert self.world.books.mismatches() == ()
        self.world.clock.advance(timedelta(days=365))


def first_year(years: Years) -> None:
    """Rates, a prize that was paid, a refund, a late bet that somebody looked into, a statement."""
    world = years.world
    for number in range(10):
        play(world, f"filled-{number}", hand("1"), stake_minor=10_000)
    years.change("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.18"}})
    (award,) = play(world, "won", hand("1", FLUSH), currency="GBP")["awards"]
    assert award["cost_base"] == "29.5"
    years.put(f"/v1/awards/{award['award_id']}/payment", "paid", world.key(Role.TABLE), reference="slip 7")
    years.change("payment-reversal", {"jackpot_id": "j1", "award_id": award["award_id"], "reference": "slip 7"})
    assert play(world, "dead", dead("1"))["refunds"]
    world.post_bets(bet("late"), round_id="dead").problem(409, "round-settled")
    (late,) = world.get("/v1/exceptions").ok()["items"]
    years.post(f"/v1/exceptions/{late['exception_id']}/acknowledgement", "looked", world.person("Fay", Role.FINANCE))
    years.change("statement-settlement", statement("1000", "2026-10"))
    taxed = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 60_000, "withhold_at_minor": 500_000}
    years.change("casino-withholding", {**taxed, "percent": "24"})
    assert world.books.balance("j1", "casino:c1") == 0


def second_year(years: Years) -> None:
    """An unclaimed prize, a door closed, a key for a while, money moved by hand; rules that wait, a policy."""
    world, ann = years.world, years.world.person("Ann", Role.OPERATOR)
    years.change("casino-claims", {"casino_id": "c1", "claim_days": 365})
    (unclaimed,) = world.get("/v1/awards?state=unclaimed").ok()["items"]
    years.change("award-forfeiture", {"jackpot_id": "j1", "award_id": unclaimed["award_id"]})
    world.bet(bet(), round_id="open")
    for what, bets in (("suspension", 409), ("resumption", 201)):
        world.put(f"/v1/jackpots/j1/{what}", {"request_id": what, "reason": WHY}, key=ann).ok(201)
        assert world.post_bets(bet("b2"), round_id="open").status == bets
    created = years.post("/v1/keys", "key", ann, principal="Kim", role="auditor")
    assert world.get("/v1/jackpots", key=created["key"]).status == 200
    years.post(f"/v1/keys/{created['key_id']}/revocation", "no-key", ann)
    years.change("seed-recovery", {"jackpot_id": "j1", "amount": "100"})
    years.change("adjustment", adjustment("meter", "-50"))
    years.change("rules", {"jackpot_id": "j1", "settings": {"split.meter": "0.40"}})
    years.change("table-limits", {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "100"})
    by_operators = {"requested_by": ["operator"], "decided_by": ["operator"]}
    years.change("change-policy", {"kinds": {"rules": by_operators}})
    settlement = world.settle(hand("1", ROYAL_FLUSH), round_id="open")
    assert {award["state"] for award in settlement["awards"]} == {"held"}
    years.change("held-awards", change_of_round("open", decision="approve"))
    assert world.get("/v1/jackpots/j1/rules").ok()["version"] == 2


def third_year(years: Years) -> None:
    """A refund that is made good, a round that is put right, another hit; then the end, and another jackpot goes on."""
    world = years.world
    world.bet(bet(), round_id="cancelled")
    world.cancel(round_id="cancelled")
    granted = change_of_round("cancelled", bet_id="b1", amount_minor=5000, currency="GBP", document="minutes 7")
    years.change("compensation", granted)
    play(world, "denied", forfeited("1", FLUSH))
    years.change("declined-compensation", change_of_round("denied", bet_id="b1"))
    play(world, "wrong", hand("1", THREE_OF_A_KIND))
    right = correction(hand("1", STRAIGHT), round_id="wrong")
    years.change("round-correction", right)
    play(world, "hit", hand("1", ROYAL_FLUSH))
    world.change("held-awards", change_of_round("hit", decision="reject"), request_id="second-hit")
    years.change("prize-fund-true-up", {"jackpot_id": "j1"})
    world.ask("adjustment", adjustment("reserve", "1"), request_id="unwanted").ok(201)
    bob = world.person("Bob", Role.FINANCE)
    world.post("/v1/change-requests/unwanted/rejection", {"reason": SEEN}, key=bob).ok()
    years.change("retirement", {"jackpot_id": "j1", "to": "j2"})
    world.post_bets(bet(), round_id="after").problem(409, "jackpot-suspended")
    play(world, "on", hand("1", ROYAL_FLUSH), table_id="T2")


def trail(world: World) -> list[Body]:
    """The whole audit trail, the first act first, page by page."""
    acts: list[Body] = []
    after: str | None = ""
    while after is not None:
        page = world.get(f"/v1/audit?limit=7{after and f'&after={after}'}").ok()
        acts += page["items"]
        after = page["next"]
    return acts[::-1]


def test_a_house_lives_for_years_through_every_kind_of_change_and_its_books_show_all_of_it(world: World) -> None:
    settings: dict[str, Setting] = {"reset_amount": "300", "payout_tiers": held_from("200")}
    world.open(base_amount="1000", settings=settings)
    world.open(jackpot_id="j2", tables=("T2",))
    years = Years(world)

    for lived in (first_year, second_year, third_year):
        lived(years)
        years.pass_a_year()

    changes = world.get("/v1/change-requests?limit=100").ok()["items"]
    assert {change["kind"] for change in changes} == set(KINDS) == years.effects.keys()
    assert world.books.pools("j1") == Pools()
    assert world.books.mismatches() == ()
    acts = trail(world)
    assert [act["seq"] for act in acts] == list(range(1, len(acts) + 1))
    for kind, effect in years.effects.items():
        assert_told(acts, kind, effect)
    assert [(act["kind"], act["principal"], act["reason"]) for act in acts if "unwanted" in named(act)] == [
        ("change_requested", "Ann", WHY),
        ("change_rejected", "Bob", SEEN),
    ]
    by_one_person = ("paid", "looked", "suspension", "resumption", "key", "no-key")
    assert [act["kind"] for act in acts if act["request_id"] in by_one_person] == [
        "award_paid",
        "exception_acknowledged",
        "jackpot_suspended",
        "jackpot_resumed",
        "key_created",
        "key_revoked",
    ]


def named(act: Body) -> tuple[str | None, str | None]:
    return act["request_id"], act["decides"]


def assert_told(acts: list[Body], kind: str, effect: Body) -> None:
    """Who asked for a change, who approved and did it, why, and what it changed."""
    asks, approves = people.asker_of(kind).name, people.checker_of(kind).name
    requested, approved, done = (act for act in acts if kind in named(act))
    assert [(act["kind"], act["principal"], act["reason"], *named(act)) for act in (requested, approved, done)] == [
        ("change_requested", asks, WHY, kind, None),
        ("change_approved", approves, SEEN, None, kind),
        (DONE_AS[kind], approves, SEEN, None, kind),
    ]
    assert (requested["before"], requested["after"]["kind"]) == (None, kind)
    assert (approved["before"], approved["after"]["outcome"]) == ({"state": "pending"}, "approved")
    assert done["before"] == effect["before"]
    assert done["after"].items() <= effect["after"].items()
    assert [(effect["book"], effect["seq"], effect["kind"]) for effect in done["effects"]] == [
        (entry["book"], entry["seq"], entry["kind"]) for entry in effect["entries"]
    ]
    assert done["before"] != done["after"]
    assert not any(act["is_emergency"] for act in (requested, approved, done))


# What moved money is never taken back but by a further entry.


APPEND_ONLY: Final = (
    "entries",
    "acts",
    "awards",
    "award_steps",
    "payments",
    "corrections",
    "statement_settlements",
    "change_requests",
    "change_decisions",
)


def rows(world: World) -> dict[str, Counter[str]]:
    """Every row of the tables that only ever grow, to the last column."""
    return {
        table: Counter(row["told"] for row in world.books.rows(f"SELECT one::text AS told FROM {table} AS one"))  # noqa: S608 -- the tables above
        for table in APPEND_ONLY
    }


def money(world: World) -> tuple[Pools, dict[tuple[str, str], Decimal]]:
    """The pools, and every balance that is not zero."""
    summed = world.books.rows(
        "SELECT account, currency, sum(amount) AS balance FROM postings WHERE jackpot_id = 'j1' "
        "GROUP BY account, currency HAVING sum(amount) <> 0"
    )
    return world.books.pools("j1"), {
        (account["account"], account["currency"]): account["balance"] for account in summed
    }


def do_nothing(_world: World) -> None:
    """Nothing has to happen first."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """
    A change that moves money, and the change that takes it back.

    `first` happens before both. `verdict` is what the change is about, if it was not there before: it goes as well.
    """

    kind: str
    payload: Body
    by: str
    back: Body
    first: Callable[[World], object] = do_nothing
    verdict: Callable[[World], object] = do_nothing


def won(*cards: str) -> Callable[[World], object]:
    """The round that `bets_stand` left open is settled."""
    return lambda world: world.settle(hand("1", cards), round_id="round")


def overlooked(world: World) -> None:
    """A hit that nobody saw; since then the players have put in more than the next meter begins with: 315."""
    won(*NOTHING)(world)
    for number in range(7):
        play(world, f"since-{number}", hand("1"), stake_minor=10_000)


def rejected(world: World) -> None:
    """Four of a kind, which two people did not believe: 250 are in the prize fund again."""
    won(*FOUR_OF_A_KIND)(world)
    world.change("held-awards", change_of_round("round", decision="reject"), request_id="rejected")


def right(*hands: Body) -> Body:
    return correction(*hands, round_id="round")


def compensation(amount_minor: int) -> Body:
    return change_of_round("round", bet_id="b1", amount_minor=amount_minor, currency="GBP", document="minutes 7")


def cancelled(world: World) -> None:
    world.cancel(round_id="round")


def compensated(world: World) -> None:
    cancelled(world)
    world.change("compensation", compensation(2500), request_id="given")


ADJUSTED: Final = "adjustment"
RECOVERED: Final = "seed-recovery"
CORRECTED: Final = "round-correction"
SETTLED: Final = "statement-settlement"

MONEY: Final[Mapping[str, TakenBack]] = {
    **{
        f"an adjustment of the {account} by {amount}": TakenBack(
            ADJUSTED, adjustment(account, amount), ADJUSTED, adjustment(account, opposite, "reversed-adjustment")
        )
        for account in ("meter", "reserve", "prize_fund")
        for amount, opposite in (("4.5", "-4.5"), ("-4.5", "4.5"))
    },
    "a whole prize fund taken by the house": TakenBack(
        "prize-fund-true-up",
        {"jackpot_id": "j1"},
        ADJUSTED,
        adjustment("prize_fund", "31.84", "other-documented"),
    ),
    "a part of the prize fund taken by the house": TakenBack(
        "prize-fund-true-up",
        {"jackpot_id": "j1", "amount": "-1.84"},
        ADJUSTED,
        adjustment("prize_fund", "1.84", "other-documented"),
    ),
    "a statement that a casino paid": TakenBack(SETTLED, statement("12.5", "a"), SETTLED, statement("-12.5", "b")),
    "a statement that a casino was paid": TakenBack(SETTLED, statement("-12.5", "a"), SETTLED, statement("12.5", "b")),
    "a prize found to be higher": TakenBack(
        CORRECTED, right(hand("1", STRAIGHT)), CORRECTED, right(hand("1", THREE_OF_A_KIND)), won(*THREE_OF_A_KIND)
    ),
    "a prize found to be none": TakenBack(
        CORRECTED, right(hand("1", NOTHING)), CORRECTED, right(hand("1", FLUSH)), won(*FLUSH)
    ),
    "a hand found to be dead": TakenBack(
        CORRECTED, right(dead("1")), CORRECTED, right(hand("1", NOTHING)), won(*NOTHING)
    ),
    "seed that the house recovered": TakenBack(
        RECOVERED, {"jackpot_id": "j1", "amount": "45"}, RECOVERED, {"jackpot_id": "j1", "amount": "-45"}
    ),
    "seed that the house put in": TakenBack(
        RECOVERED, {"jackpot_id": "j1", "amount": "-45"}, RECOVERED, {"jackpot_id": "j1", "amount": "45"}
    ),
    "a shortage of the prize fund paid by the house": TakenBack(
        "prize-fund-true-up",
        {"jackpot_id": "j1"},
        ADJUSTED,
        adjustment("prize_fund", "-2468.16", "other-documented"),
        won(*STRAIGHT_FLUSH),
    ),
    "a compensation": TakenBack("compensation", compensation(2500), "compensation", compensation(-2500), cancelled),
    "a compensation taken back": TakenBack(
        "compensation", compensation(-1000), "compensation", compensation(1000), compensated
    ),
    "an overlooked hit": TakenBack(
        CORRECTED, right(hand("1", ROYAL_FLUSH)), CORRECTED, right(hand("1", NOTHING)), overlooked
    ),
    "held awards that were approved": TakenBack(
        "held-awards",
        change_of_round("round", decision="approve"),
        CORRECTED,
        right(hand("1", NOTHING)),
        verdict=won(*FOUR_OF_A_KIND),
    ),
    "rejected awards that were reinstated": TakenBack(
        "held-awards",
        change_of_round("round", decision="reinstate"),
        CORRECTED,
        right(hand("1", NOTHING)),
        rejected,
    ),
}
"""By what docs/changes.md says: what takes back what each kind of change moved."""

FOR_GOOD: Final = {"retirement", "award-forfeiture"}

NO_MONEY: Final = {
    *("rate-sheet", "rules", "table-limits", "declined-compensation", "payment-reversal", "change-policy"),
    "casino-withholding",
    "casino-claims",
}


def test_of_every_kind_it_is_said_whether_it_moves_money_and_what_takes_it_back() -> None:
    assert {moved.kind for moved in MONEY.values()} == set(KINDS) - FOR_GOOD - NO_MONEY


@pytest.fixture
def bets_stand(world: World) -> World:
    """A jackpot with 45 of the players' money in its meter, 5 in reserve and 31.84 for prizes; a round is open."""
    world.open(base_amount="1000", settings={"reset_amount": "300", "payout_tiers": held_from("200")})
    world.bet(bet("b1", stake_minor=9900), round_id="before")
    world.settle(hand("1", NOTHING), round_id="before")
    world.bet(bet(), round_id="round")
    return world


@pytest.mark.parametrize("name", MONEY)
def test_what_moved_money_is_taken_back_by_a_further_entry_alone(bets_stand: World, name: str) -> None:
    world, moved = bets_stand, MONEY[name]
    moved.first(world)
    before = money(world)
    moved.verdict(world)
    seen = [rows(world)]

    world.change(moved.kind, moved.payload, request_id="there")
    assert money(world) != before
    seen.append(rows(world))
    world.change(moved.by, moved.back, request_id="back")
    seen.append(rows(world))

    assert money(world) == before
    for earlier, later in pairwise(seen):
        assert {table: gone for table in APPEND_ONLY if (gone := earlier[table] - later[table])} == {}
        for table in ("entries", "acts", "change_requests", "change_decisions"):
            assert later[table].total() > earlier[table].total(), table
    assert world.books.mismatches() == ()


def test_a_rejection_is_taken_back_to_where_an_approval_would_have_led(bets_stand: World) -> None:
    world = bets_stand
    won(*FOUR_OF_A_KIND)(world)
    before = rows(world)

    for decision in ("reject", "reinstate"):
        world.change("held-awards", change_of_round("round", decision=decision), request_id=decision)

    _, balances = money(world)
    assert ("awards:held", "EUR") not in balances
    assert balances["casino:c1", "EUR"] == -100 + 250
    assert world.books.pools("j1").prize_fund == Decimal("31.84") - 250
    assert all(not before[table] - rows(world)[table] for table in APPEND_ONLY)
    assert world.books.mismatches() == ()
