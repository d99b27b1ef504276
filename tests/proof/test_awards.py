"""The proof sees what becomes of awards, compensations and statements; whatever of it is changed, it finds."""

import random
from collections.abc import Iterator
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.dialects.postgresql import ARRAY

from jackpot_service.database.models import Base
from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.principals import Role
from jackpot_service.ledger.mismatches import Code
from jackpot_service.proof.proof import verify
from jackpot_service.records import corrections
from jackpot_service.usecases import jackpot_acts
from tests.proof.corruption import (
    Corruption,
    change,
    codes_after,
    forge,
    in_round,
    mismatches_after_changing,
    refact,
    remove,
)
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.correcting import correct
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.long


def write(url: str) -> None:
    """Awards held, approved, rejected and paid; two compensations; statements settled, with bets in between."""
    random.seed(7)
    world = World(url)
    world.open(base_amount="999.10", settings={"payout_tiers": held_from("275")}, stripes=2)
    world.bet(bet("a", hand="1"), bet("b", hand="2", currency="GBP"), bet("c", hand="3"))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", FOUR_OF_A_KIND), hand("3", NOTHING))
    world.change("held-awards", about("r1") | {"bets": ["a"], "decision": "reject"}, request_id="q1")
    world.change("held-awards", about("r1") | {"bets": ["b"], "decision": "approve"}, request_id="q2")
    world.bet(bet("a"), round_id="r2")
    world.settle(hand("1", FLUSH), round_id="r2")
    pay(world, "r1", "b", "four_of_a_kind", request_id="p1")
    pay(world, "r2", "a", "flush", request_id="p2")
    world.bet(bet("a"), bet("b", hand="2", currency="GBP"), round_id="r3")
    world.cancel(round_id="r3")
    for number, amount_minor in enumerate((50_000, 7, -8)):
        compensation = {"bet_id": "b", "amount_minor": amount_minor, "currency": "GBP", "document": "minutes 7"}
        world.change("compensation", about("r3") | compensation, request_id=f"k{number}")
    for number, amount in enumerate(("-100.00", "2.50")):
        world.change("statement-settlement", statement(f"s{number}", amount), request_id=f"s{number}")
        world.bet(bet("a"), round_id=f"after-{number}")
    reinstate(world)
    world.close()


def reinstate(world: World) -> None:
    """Awards that were rejected, and are payable after all: a prize, and shares before and after a hit."""
    world.bet(bet("a", stake_minor=110), round_id="r4")
    world.settle(hand("1", FOUR_OF_A_KIND), round_id="r4")
    world.bet(bet("a", stake_minor=9_000), bet("b", hand="2", stake_minor=9_000), round_id="r5")
    world.change("adjustment", ADDED, request_id="m1")
    world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING), round_id="r5")
    for round_id in ("r4", "r5"):
        world.change("held-awards", about(round_id) | {"decision": "reject"}, request_id=f"no-{round_id}")
    world.change("held-awards", about("r4") | {"decision": "reinstate"}, request_id="yes-r4")
    world.change("held-awards", about("r5") | {"bets": ["a"], "decision": "reinstate"}, request_id="yes-a")
    world.bet(bet("a"), round_id="r6")
    world.settle(hand("1", ROYAL_FLUSH), round_id="r6")
    world.change("held-awards", about("r5") | {"decision": "reinstate"}, request_id="yes-b")
    pay(world, "r5", "b", "royal_flush", request_id="p3")


ADDED: Final = {"jackpot_id": "j1", "account": "meter", "amount": "600", "document": "d", "cause": "count-error"}


def about(round_id: str) -> Body:
    return {"jackpot_id": "j1", "table_id": "T1", "round_id": round_id}


def statement(reference: str, amount: str) -> Body:
    period = {"from": "2026-11-01T00:00:00Z", "to": "2026-11-20T00:00:00Z"}
    return {"jackpot_id": "j1", "casino_id": "c1", "currency": "EUR", "amount": amount, "reference": reference} | period


def pay(world: World, round_id: str, bet_id: str, tier: str, *, request_id: str) -> None:
    (award_id,) = (
        award["award_id"]
        for award in world.round(round_id)["settlement"]["awards"]
        if (award["bet_id"], award["tier"]) == (bet_id, tier)
    )
    body = {"request_id": request_id, "reference": f"slip {request_id}", "paid_at": facts.instant(world.clock.at)}
    answer = world.put(f"/v1/awards/{award_id}/payment", body, key=world.person("Ann", Role.OPERATOR))
    answer.ok(201)


def test_the_books_of_an_untouched_history_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()
    assert set(superuser.scalars(text("SELECT DISTINCT step FROM award_steps"))) == {
        "payable",
        "held",
        "approved",
        "rejected",
        "reinstated",
    }
    assert {decided(superuser, request_id) for request_id in ("yes-r4", "yes-a", "yes-b")} == {
        ("pool:prize_fund",),
        ("pool:meter:players",),
        ("house:adjustments",),
    }
    held = superuser.scalar(text("SELECT sum(amount) FROM postings WHERE account = 'awards:held'"))
    assert held is not None
    assert held > 0


def decided(superuser: Session, request_id: str) -> tuple[str, ...]:
    """The accounts from which a reinstated award was taken."""
    query = text("SELECT after->'awards'->0->'taken_from' FROM acts WHERE decides = :id AND after ? 'awards'")
    return tuple(superuser.execute(query, {"id": request_id}).scalar_one())


def act_of(kind: str) -> str:
    """The first act of a kind."""
    entry = f"SELECT min(seq) FROM entries WHERE jackpot_id = '-' AND kind = '{kind}'"  # noqa: S608  constants
    return f"seq = ({entry})"


def entry_of(kind: str) -> str:
    """The first entry of a kind in the jackpot's book."""
    entry = f"SELECT min(seq) FROM entries WHERE jackpot_id = 'j1' AND kind = '{kind}'"  # noqa: S608  constants
    return f"jackpot_id = 'j1' AND stripe_no = 0 AND seq = ({entry})"


PAYABLE = f"step = 'payable' AND {in_round('r2')}"
APPROVED = f"step = 'approved' AND {in_round('r1')} AND tier = 'four_of_a_kind'"
HELD = f"step = 'held' AND {in_round('r1')} AND bet_id = 'c'"
AWARD = "jackpot_id, round_key, bet_id, tier"
REINSTATED_BY = "act-record award-steps entry-postings"
GIVEN = "amount_minor = 7"
FIRST = "reference = 's0'"

STEPS: Final = (
    change("award_steps", "taken_at = taken_at + interval '1 us'", APPROVED, "award-steps"),
    change("award_steps", "act_seq = act_seq - 1", APPROVED, f"{REINSTATED_BY} day-figures"),
    change("award_steps", "act_seq = NULL", APPROVED, f"{REINSTATED_BY} day-figures"),
    change("award_steps", "act_seq = 1", PAYABLE, "award-steps"),
    change("award_steps", "step = 'payable'", HELD, "award-figures award-steps entry-digest held-balance day-figures"),
    remove("award_steps", APPROVED, "award-steps award-payments held-balance"),
    remove("award_steps", f"step = 'rejected' AND {in_round('r1')}", "award-steps held-balance"),
    forge(
        "award_steps", f"{AWARD}, 0, 'rejected', taken_at, 3", f"award_steps WHERE {HELD}", "award-steps held-balance"
    ),
    remove("award_steps", f"step = 'reinstated' AND {in_round('r4')}", "award-steps"),
    change("award_steps", "act_seq = act_seq - 1", f"step = 'reinstated' AND {in_round('r4')}", REINSTATED_BY),
    forge(
        "award_steps",
        f"{AWARD}, 0, 'reversed', taken_at, 3",
        f"award_steps WHERE {PAYABLE}",
        "award-steps award-payments",
    ),
    change(
        "awards",
        "cost = cost + 1",
        f"{in_round('r1')} AND bet_id = 'c'",
        "award-figures entry-digest held-balance day-figures",
    ),
)

ACTS: Final = (
    change(
        "acts",
        "after = jsonb_set(after, '{awards,0,cost}', '\"1\"')",
        act_of("awards_approved"),
        "act-record entry-digest",
    ),
    change(
        "acts",
        "after = jsonb_set(after, '{round,round_key}', '17')",
        act_of("award_paid"),
        "act-record award-payments entry-digest",
    ),
    change("acts", "after = '{}'", act_of("award_paid"), "award-payments entry-digest"),
    change("acts", "after = '[]'", act_of("award_paid"), "award-payments entry-digest record-unreadable"),
    change("acts", "effects = '[]'", act_of("awards_rejected"), "act-record entry-digest entry-kind"),
    change(
        "acts",
        f"effects = (SELECT effects FROM acts WHERE {act_of('awards_rejected')})",  # noqa: S608  constants
        act_of("award_paid"),
        "act-effects act-record entry-digest",
    ),
    change(
        "acts",
        "effects = jsonb_set(effects, '{0,recorded,step}', '\"x\"')",
        act_of("awards_rejected"),
        "act-record entry-digest",
    ),
    *(
        change("acts", f"after = jsonb_set(after, '{path}', '{value}')", act_of("awards_reinstated"), codes)
        for path, value, codes in (
            ("{awards,0,taken_from}", '{"house:adjustments": "275"}', "act-record entry-digest"),
            ("{positions,0}", "1", "act-record entry-digest entry-postings settlement-positions"),
            ("{positions,1}", "1", "act-record entry-digest settlement-positions"),
            ("{positions}", "[1]", "act-record entry-digest settlement-positions"),
        )
    ),
    change(
        "acts",
        "after = jsonb_set(after, '{positions}', jsonb_build_array(after->'positions'->0))",
        act_of("awards_reinstated"),
        "act-record entry-digest settlement-positions",
    ),
)

ENTRIES: Final = (
    change(
        "entries",
        "accounts = array_replace(accounts, 'pool:meter:house', 'pool:prize_fund')",
        entry_of("awards_rejected"),
        "award-figures award-steps effect-figures entry-digest entry-postings settlement-figures stripe-pools "
        "day-figures",
    ),
    change(
        "entries",
        "accounts = array_replace(accounts, 'awards:held', 'house:adjustments')",
        entry_of("awards_approved"),
        "entry-digest entry-postings held-balance day-figures",
    ),
    change(
        "entries",
        "accounts = array_replace(accounts, 'pool:prize_fund', 'house:adjustments')",
        entry_of("awards_reinstated"),
        "entry-digest entry-postings settlement-figures stripe-pools day-figures",
    ),
    change(
        "entries",
        "currencies = array_replace(currencies, 'GBP', 'SEK')",
        entry_of("compensation"),
        "entry-digest entry-postings day-figures",
    ),
    change(
        "entries",
        "accounts = array_replace(accounts, 'casino:c1', 'casino:c2')",
        entry_of("statement_settled"),
        "entry-digest entry-postings statement-balance day-figures",
    ),
)

SEEN_BY_A_REINSTATEMENT = "(SELECT after->'positions' FROM acts WHERE decides = 'yes-a' AND after ? 'positions')"

SETTLEMENTS: Final = (
    refact(
        "settlement,positions",
        SEEN_BY_A_REINSTATEMENT,
        in_round("r6"),
        "award-figures entry-digest entry-postings hit-cycle settlement-figures settlements-cross",
    ),
)

COMPENSATIONS: Final = (
    change("compensations", "amount_minor = 8", GIVEN, "act-record compensation-round entry-postings"),
    change("compensations", "amount_minor = -9", "amount_minor = -8", "act-record compensation-round entry-postings"),
    change(
        "compensations",
        "bet_id = 'a', player_id = (SELECT max(player_id) FROM bets WHERE bet_id = 'a')",
        "amount_minor = -8",
        "act-record compensation-round",
    ),
    change("compensations", "cost = cost + 1", GIVEN, "act-record compensation-round"),
    change("compensations", "player_id = 'x'", GIVEN, "act-record compensation-round"),
    change("compensations", "document = 'x'", GIVEN, "act-record"),
    change("compensations", "act_seq = 1", GIVEN, "document-without-entry"),
    change("compensations", "round_key = 17", GIVEN, "document-without-entry round-missing"),
    change("compensations", "jackpot_id = 'j9'", GIVEN, "book-unknown document-without-entry"),
    remove("compensations", GIVEN, "document-without-entry"),
    forge(
        "compensations",
        "jackpot_id, round_key, 1, bet_id, player_id, 1, currency, cost, document",
        f"compensations WHERE {GIVEN}",
        "document-without-entry",
    ),
)

STATEMENTS: Final = (
    change("statement_settlements", "amount = amount + 1", FIRST, "act-record entry-postings"),
    change("statement_settlements", "balance_before = 1", FIRST, "act-record statement-balance"),
    change("statement_settlements", "positions[1] = 1", FIRST, "act-record statement-balance"),
    change("statement_settlements", "casino_id = 'c2'", FIRST, "act-record entry-postings statement-balance"),
    change("statement_settlements", "act_seq = 1", FIRST, "document-without-entry"),
    change("statement_settlements", "jackpot_id = 'j9'", FIRST, "book-unknown document-without-entry"),
    remove("statement_settlements", FIRST, "document-without-entry"),
    forge(
        "statement_settlements",
        "jackpot_id, casino_id, currency, 's9', period_from, period_to, amount, positions, balance_before, 1",
        f"statement_settlements WHERE {FIRST}",
        "document-without-entry",
    ),
)


def payload(how: str, request_id: str, expected: str) -> Corruption:
    """Change what somebody asked for."""
    return change("change_requests", f"payload = payload {how}", f"request_id = '{request_id}'", expected)


REQUESTS: Final = (
    payload("- 'bets'", "q1", "act-record entry-digest entry-postings day-figures"),
    payload("""|| '{"bets": ["b"]}'""", "q1", "act-record entry-digest entry-postings day-figures"),
    payload("""|| '{"decision": "approve"}'""", "q1", "change-done entry-digest"),
    payload("""|| '{"decision": "other"}'""", "q1", "change-done entry-digest"),
    payload("""|| '{"round_id": "r2"}'""", "q2", "change-done entry-digest"),
    payload("""|| '{"decision": "approve"}'""", "yes-r4", "change-done entry-digest"),
    payload("""|| '{"bets": ["a"]}'""", "no-r5", "act-record entry-digest entry-postings day-figures"),
    payload("""|| '{"amount_minor": 8}'""", "k1", "change-done entry-digest"),
    payload("""|| '{"player_id": "x"}'""", "k1", "change-done entry-digest"),
    payload("""|| '{"document": "x"}'""", "k1", "change-done entry-digest"),
    payload("""|| '{"table_id": "T2"}'""", "k1", "change-done entry-digest"),
    payload("""|| '{"jackpot_id": "j2"}'""", "k1", "change-done entry-digest"),
    payload("""|| '{"amount": "-100.01"}'""", "s0", "change-done entry-digest"),
    payload("""|| '{"amount": "x"}'""", "s0", "change-done entry-digest"),
    payload("""|| '{"from": "2026-10-01T00:00:00Z"}'""", "s0", "change-done entry-digest"),
    payload("""|| '{"casino_id": "c2"}'""", "s0", "change-done entry-digest"),
    change("change_requests", "payload = '[]'", "request_id = 's0'", "change-done entry-digest record-unreadable"),
)

CORRUPTIONS: Final = (*STEPS, *ACTS, *ENTRIES, *SETTLEMENTS, *COMPENSATIONS, *STATEMENTS, *REQUESTS)
"""What somebody with every right might change, and every code by which the proof names it, no more and no less."""


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


CHANGES: Final = {"award_steps.step": "'rejected'"}

BY_TYPE: Final = (
    (sqlalchemy.DateTime, "{} - interval '1 day'"),
    (sqlalchemy.Text, "{} || 'x'"),
    (sqlalchemy.Numeric, "{} + 10"),
    (sqlalchemy.Integer, "{} + 10"),
)

COLUMNS: Final = [
    column
    for table in ("award_steps", "compensations", "statement_settlements")
    for column in Base.metadata.tables[table].columns
]


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_a_change_of_any_column_is_found(superuser: Session, column: sqlalchemy.Column[Any]) -> None:
    value = CHANGES.get(str(column))
    if value is None and isinstance(column.type, ARRAY):
        value = f"array_append({column.name}, 1)"
    value = value or next(how for kind, how in BY_TYPE if isinstance(column.type, kind)).format(column.name)
    where = APPROVED if column.table.name == "award_steps" else "true"
    assert mismatches_after_changing(superuser, column, value, where=where)


@pytest.fixture
def rejected(database_url: str) -> Iterator[World]:
    """A held prize that was rejected."""
    world = World(database_url)
    world.open(settings={"payout_tiers": held_from("250")})
    world.bet(bet("a"))
    world.settle(hand("1", FOUR_OF_A_KIND))
    world.change("held-awards", about("r1") | {"decision": "reject"}, request_id="no")
    yield world
    world.close()


def test_a_reinstatement_after_a_correction_is_found(rejected: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Done by a service that forgets to ask."""
    correct(rejected, hand("1", NOTHING), request_id="q1")
    monkeypatch.setattr(corrections, "count", lambda *_: 0)

    rejected.change("held-awards", about("r1") | {"decision": "reinstate"}, request_id="yes")

    assert {mismatch.code for mismatch in rejected.books.mismatches()} == {Code.ACT_RECORD}


def test_a_reinstatement_in_a_retired_jackpot_is_found(rejected: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Done by a service that forgets to ask."""
    rejected.open(jackpot_id="j2", tables=())
    rejected.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="end")
    monkeypatch.setattr(jackpot_acts, "hold_unretired", jackpot_acts.hold)

    rejected.change("held-awards", about("r1") | {"decision": "reinstate"}, request_id="yes")

    assert {mismatch.code for mismatch in rejected.books.mismatches()} == {Code.JACKPOT_STATUS}
