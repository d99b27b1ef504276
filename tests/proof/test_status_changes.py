"""The proof finds what is changed in a jackpot's rules versions, suspensions, and money that was moved by hand."""

import random
from dataclasses import replace
from typing import Any, Final

import orjson
import pytest
from sqlalchemy import text

from jackpot_service.database import snapshots
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.ledger.mismatches import Code
from jackpot_service.proof.proof import verify
from jackpot_service.usecases.acts import Done
from jackpot_service.usecases.changes.jackpots import BadAmount, JackpotKind, JackpotState
from jackpot_service.usecases.changes.registry import KINDS
from tests.proof.corruption import Corruption, change, codes_after, forge, in_round, mismatches_after, refact, remove
from tests.support import history
from tests.support.bets import bet
from tests.support.hands import NOTHING, ROYAL_FLUSH, STRAIGHT_FLUSH, hand
from tests.support.world import World
from tests.usecases.test_stripes import spread

pytestmark = pytest.mark.long


class Life:
    """Lets a world live through everything that this topic has, each request under the next id: q1, q2 and so on."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.requests = 0

    def change(self, kind: str, jackpot_id: str, **stated: Any) -> None:
        self.requests += 1
        self.world.change(kind, {"jackpot_id": jackpot_id, **stated}, request_id=f"q{self.requests}")

    def adjust(self, account: str, amount: str) -> None:
        self.change("adjustment", "j1", account=account, amount=amount, document="memo", cause="count-error")

    def change_status(self, what: str, jackpot_id: str, request_id: str) -> None:
        body = {"request_id": request_id, "reason": "as agreed"}
        key = self.world.person("Ann", Role.OPERATOR)
        self.world.call("PUT", f"/v1/jackpots/{jackpot_id}/{what}", key=key, data=orjson.dumps(body)).ok(201)

    def bet_and_settle(self, round_id: str, cards: Any = NOTHING, table_id: str = "T1") -> None:
        self.world.bet(bet(stake_minor=10_000), round_id=round_id, table_id=table_id)
        self.world.settle(hand("1", cards), round_id=round_id, table_id=table_id)


def write(url: str) -> None:
    """
    Jackpot j1 is adjusted (q1, q2), changes its rules (q3; q5 still waits when it ends), is suspended and resumed, hit,
    gives back seed (q4), is trued up (q6) and retired (q7) into j2; j3 stays suspended. Two tables
    of j4 are limited (q8, q9).
    """
    random.seed(13)
    world = World(url)
    world.open(base_amount="1000", settings={"limit": "5000", "reset_amount": "200"}, stripes=3)
    world.open(jackpot_id="j2", tables=("T2",), stripes=2)
    world.open(jackpot_id="j3", tables=("T3",), stripes=2)
    life = Life(world)
    for number in range(6):
        life.bet_and_settle(f"before-{number}")
    life.adjust("meter", "-70.000000000000000001")
    life.adjust("reserve", "5")
    life.change("rules", "j1", settings={"split.meter": "0.40", "reset_amount": "300", "limit": None})
    world.bet(bet(stake_minor=10_000), round_id="across")
    life.change_status("suspension", "j1", "s1")
    spread(world, 4)
    world.settle(hand("1", NOTHING), round_id="across")
    life.change_status("suspension", "j1", "s2")
    life.change_status("resumption", "j1", "s3")
    life.bet_and_settle("hit", ROYAL_FLUSH)
    for number in range(6):
        life.bet_and_settle(f"after-{number}")
    life.change("seed-recovery", "j1", amount="100")
    life.change("rules", "j1", settings={"payout_tiers": [{"from": "1000"}]})
    life.bet_and_settle("fixed", STRAIGHT_FLUSH)
    life.change("prize-fund-true-up", "j1")
    life.change("retirement", "j1", to="j2")
    life.bet_and_settle("received", ROYAL_FLUSH, table_id="T2")
    life.change_status("suspension", "j3", "s4")
    world.open(jackpot_id="j4", tables=("T4", "T5"), stripes=2)
    life.bet_and_settle("unlimited", table_id="T4")
    life.change("table-limits", "j4", table_id="T4", least_stake="2", largest_stake="100")
    life.bet_and_settle("limited", table_id="T4")
    life.bet_and_settle("beside", table_id="T5")
    life.change("table-limits", "j4", table_id="T5", token="5")
    world.close()


def test_the_books_of_an_untouched_life_are_right(url: str) -> None:
    with history.engine_of(url) as engine, snapshots.snapshot(engine) as session:
        assert verify(session).mismatches == ()


def test_the_history_has_everything_that_this_topic_books(superuser: Session) -> None:
    kinds = set(superuser.scalars(text("SELECT DISTINCT kind FROM entries WHERE jackpot_id = 'j1'")))
    assert kinds >= {
        "jackpot_suspended",
        "jackpot_resumed",
        "jackpot_retired",
        "rules_changed",
        "adjustment",
        "seed_recovered",
        "prize_fund_trued_up",
    }
    assert superuser.scalar(text("SELECT count(*) FROM entries WHERE kind = 'transfer_received'")) == 1
    assert superuser.scalar(text("SELECT count(DISTINCT stripe_no) FROM entries WHERE jackpot_id = 'j1'")) == 4


def recorded(path: str, value: str, where: str, expected: str) -> Corruption:
    """Change what an act says that its effect recorded."""
    return change("acts", f"effects = jsonb_set(effects, '{{{path}}}', '{value}')", where, expected)


def done(request_id: str) -> str:
    """The act that carried out a change request."""
    return f"decides = '{request_id}' AND effects <> '[]'"


RULES: Final = (
    change(
        "rules_versions",
        """document = jsonb_set(document, '{payout_tiers,0,from}', '"7"')""",
        "version = 3",
        "entry-digest",
    ),
    change("rules_versions", "document = '{}'", "version = 3", "entry-digest rules-document"),
    change(
        "rules_versions",
        """document = jsonb_set(document, '{reset_amount}', '"299"')""",
        "version = 2",
        "entry-digest entry-postings effect-figures settlement-figures",
    ),
    change("rules_versions", "entry_seq = entry_seq + 1", "version = 3", "document-without-entry entry-digest"),
    change(
        "rules_versions",
        "entry_seq = 1",
        "version = 3",
        "entry-digest cycle-rules document-without-entry effect-figures",
    ),
    change("rules_versions", "version = 4", "version = 3", "entry-digest"),
    change("rules_versions", "jackpot_id = 'j2'", "version = 3", "entry-digest document-without-entry"),
    remove("rules_versions", "version = 3", "entry-digest"),
    forge(
        "rules_versions",
        "jackpot_id, 2, document, 99",
        "rules_versions WHERE jackpot_id = 'j2'",
        "document-without-entry",
    ),
    change(
        "cycles",
        "rules_version = 1",
        "jackpot_id = 'j1' AND cycle = 2",
        "entry-digest entry-postings cycle-rules round-terms settlement-figures",
    ),
    change(
        "cycles",
        "rules_version = 3",
        "jackpot_id = 'j1' AND cycle = 2",
        "entry-digest entry-postings award-figures award-steps cycle-rules round-terms",
    ),
    change(
        "rounds", "rules_version = 2", "round_id = 'before-1'", "entry-digest entry-postings round-terms day-figures"
    ),
)

DOORS: Final = (
    change("stripes", "accepting = true", "jackpot_id = 'j1' AND stripe_no = 3", "stripe-accepting"),
    change("stripes", "accepting = true", "jackpot_id = 'j3' AND stripe_no = 1", "stripe-accepting"),
    change("stripes", "accepting = false", "jackpot_id = 'j2' AND stripe_no = 1", "stripe-accepting"),
    recorded(
        "0,kind",
        '"jackpot_suspended"',
        "request_id = 's3'",
        "entry-digest entry-kind act-record bet-suspended effect-figures",
    ),
    recorded(
        "0,kind",
        '"jackpot_resumed"',
        "request_id = 's1'",
        "entry-digest entry-kind act-record effect-figures jackpot-status",
    ),
    recorded("0,recorded,state", '"open"', "request_id = 's1'", "entry-digest effect-figures"),
    recorded(
        "0,recorded,positions,1",
        "0",
        "request_id = 's1'",
        "entry-digest bet-suspended effect-figures settlements-cross",
    ),
    recorded(
        "0,recorded,positions,0",
        "3",
        "request_id = 's1'",
        "entry-digest effect-figures effect-positions settlements-cross",
    ),
    recorded("0,recorded,positions", "[]", "request_id = 's4'", "entry-digest effect-figures stripe-accepting"),
    recorded("0,recorded,positions", '["x"]', "request_id = 's4'", "entry-digest effect-figures stripe-accepting"),
    recorded(
        "0,recorded",
        '"x"',
        "request_id = 's4'",
        "entry-digest entry-kind act-record record-unreadable stripe-accepting",
    ),
    change("acts", """before = '{"state": "retired"}'""", "request_id = 's1'", "entry-digest effect-figures"),
    change("acts", """after = '{"state": "open"}'""", "request_id = 's1'", "entry-digest act-record effect-figures"),
    change("acts", "effects = '[]'", "request_id = 's4'", "entry-digest entry-kind act-record stripe-accepting"),
    change(
        "entries",
        "kind = 'jackpot_resumed'",
        "kind = 'jackpot_suspended' AND jackpot_id = 'j3'",
        "entry-kind jackpot-status",
    ),
)

MONEY: Final = (
    recorded("0,recorded,amount", '"-71"', done("q1"), "entry-digest effect-figures"),
    recorded("0,recorded,document", '"other"', done("q1"), "entry-digest effect-figures"),
    recorded("0,recorded,pools,reserve", '"1"', done("q1"), "entry-digest effect-figures"),
    recorded("0,recorded,positions,2", "0", done("q1"), "entry-digest effect-figures settlements-cross"),
    recorded("0,recorded,amount", '"99"', done("q4"), "entry-digest effect-figures"),
    recorded("0,recorded,amount", '"99"', done("q6"), "entry-digest effect-figures"),
    recorded("0,recorded,transferred,meter", '"1"', done("q7"), "entry-digest effect-figures"),
    change(
        "acts",
        """after = jsonb_set(after, '{transferred,meter}', '"1"')""",
        done("q7"),
        "entry-digest entry-postings effect-figures",
    ),
    recorded("0,recorded,to", '"j3"', done("q7"), "entry-digest effect-figures"),
    recorded("0,recorded,to_house_seed", '"1"', done("q7"), "entry-digest effect-figures"),
    recorded("1,recorded,transferred,meter", '"1"', done("q7"), "entry-digest effect-figures"),
    recorded("1,recorded,from", '"j3"', done("q7"), "entry-digest effect-figures"),
    recorded("1,book", '"j3"', done("q7"), "entry-digest entry-kind act-effects act-record"),
    recorded("0,seq", "6", done("q1"), "entry-digest entry-kind act-effects"),
    change("acts", "effects = effects - 1", done("q7"), "entry-digest entry-kind act-record"),
    change("acts", "jackpot_id = 'j2'", done("q1"), "entry-digest act-record change-done"),
    change("acts", "decides = 'q2'", done("q1"), "entry-digest entry-postings change-done effect-figures"),
    change("acts", "decides = 'gone'", done("q4"), "entry-digest change-done effect-figures"),
    change(
        "acts", "decides = NULL", done("q7"), "entry-digest entry-postings change-done effect-figures act-principal"
    ),
    remove("acts", done("q1"), "entry-digest entry-kind change-done"),
    change(
        "change_requests",
        """payload = jsonb_set(payload, '{amount}', '"-71"')""",
        "request_id = 'q1'",
        "entry-digest entry-postings effect-figures",
    ),
    change("change_requests", "kind = 'seed-recovery'", "request_id = 'q1'", "entry-digest change-done"),
    change(
        "change_decisions",
        "outcome = 'rejected'",
        "request_id = 'q1'",
        "entry-digest change-done document-without-entry",
    ),
    change(
        "entries",
        "amounts[1] = amounts[1] + 1, amounts[2] = amounts[2] - 1",
        "jackpot_id = 'j1' AND kind = 'adjustment' AND accounts[2] = 'pool:reserve'",
        "entry-digest entry-postings cut-reserve effect-figures reserve-negative settlement-figures stripe-pools "
        "day-figures",
    ),
    change(
        "entries",
        "accounts[1] = 'house:margin'",
        "jackpot_id = 'j1' AND kind = 'prize_fund_trued_up'",
        "entry-digest entry-postings day-figures",
    ),
    change(
        "entries",
        "accounts[1] = 'transfer:q9'",
        "kind = 'transfer_received'",
        "entry-digest entry-postings day-figures",
    ),
    change("entries", "kind = 'seed_recovered'", "jackpot_id = 'j1' AND kind = 'prize_fund_trued_up'", "entry-kind"),
    remove(
        "entries",
        "kind = 'transfer_received'",
        "entry-postings act-effects award-figures chain-broken cut-reserve reserve-negative seq-gap settlement-figures "
        "stripe-pools day-figures",
    ),
    change("rounds", "state = 'open'", "round_id = 'after-1' AND jackpot_id = 'j1'", "round-state"),
    change(
        "entries",
        "kind = 'voids'",
        "kind = 'result' AND round_key = (SELECT round_key FROM rounds WHERE round_id = 'after-1')",
        "entry-digest retired-in-play round-ending round-state day-figures",
    ),
)

LIMITED: Final = f"kind = 'bets' AND {in_round('limited')}"
UNLIMITED: Final = f"kind = 'bets' AND {in_round('unlimited')}"

LIMITS: Final = (
    change("table_limits", """document = '{"token": "5"}'""", "version = 1", "entry-digest"),
    change("table_limits", "table_id = 'T5'", "version = 1", "entry-digest"),
    change("table_limits", "version = 3", "version = 2", "entry-digest"),
    change("table_limits", "entry_seq = 1", "version = 1", "document-without-entry entry-digest"),
    change("table_limits", "jackpot_id = 'j2'", "version = 1", "document-without-entry entry-digest"),
    remove("table_limits", "version = 1", "entry-digest"),
    forge(
        "table_limits",
        "jackpot_id, 3, table_id, document, entry_seq",
        "table_limits WHERE version = 2",
        "entry-digest",
    ),
    change("stripes", "limits_version = 1", "jackpot_id = 'j4' AND stripe_no = 1", "stripe-limits"),
    change("stripes", "limits_version = 1", "jackpot_id = '-'", "stripe-limits"),
    refact("limits_version", "'2'", in_round("limited"), "entry-digest bet-limits"),
    change("entries", "facts = NULL", LIMITED, "entry-digest bet-limits"),
    change("entries", """facts = '{"limits_version": 1}'""", UNLIMITED, "entry-digest bet-limits"),
    recorded(
        "0,recorded,limits,document",
        '{"largest_stake": "99"}',
        done("q8"),
        "entry-digest bet-stake effect-figures",
    ),
    recorded("0,recorded,limits,version", "2", done("q8"), "entry-digest bet-limits effect-figures"),
    recorded("0,recorded,table_id", '"T5"', done("q8"), "entry-digest bet-limits effect-figures"),
)

CORRUPTIONS: Final = (*RULES, *DOORS, *MONEY, *LIMITS)


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


COLUMNS: Final = {
    "rules_versions.jackpot_id": ("version = 2", "'j2'"),
    "rules_versions.version": ("version = 2", "12"),
    "rules_versions.document": ("version = 2", """document || '{"x": 1}'"""),
    "rules_versions.entry_seq": ("version = 2", "entry_seq + 1"),
    "table_limits.jackpot_id": ("version = 1", "'j2'"),
    "table_limits.version": ("version = 1", "12"),
    "table_limits.table_id": ("version = 1", "'T5'"),
    "table_limits.document": ("version = 1", """document || '{"x": 1}'"""),
    "table_limits.entry_seq": ("version = 1", "entry_seq + 1"),
    "stripes.limits_version": ("jackpot_id = 'j4' AND stripe_no = 0", "1"),
    "stripes.accepting": ("jackpot_id = 'j3' AND stripe_no = 0", "true"),
    "acts.decides": (done("q1"), "'q5'"),
    "acts.jackpot_id": (done("q1"), "'j2'"),
    "acts.subject": (done("q1"), "'x'"),
    "acts.reason": (done("q1"), "'x'"),
    "acts.request": ("request_id = 's1'", "NULL"),
    "acts.before": (done("q1"), "NULL"),
    "acts.after": (done("q1"), "'{}'"),
    "acts.effects": (done("q1"), "'[]'"),
    "acts.request_id": ("request_id = 's1'", "NULL"),
}
"""Every column that this topic writes in tables that others share, which row is changed, and to what."""


@pytest.mark.parametrize("column", COLUMNS)
def test_a_change_of_any_column_is_found(superuser: Session, column: str) -> None:
    (table, name), (where, value) = column.split("."), COLUMNS[column]
    assert mismatches_after(superuser, f"UPDATE {table} SET {name} = {value} WHERE {where}")  # noqa: S608  constants


NEW_CODES: Final = {
    Code.EFFECT_POSITIONS,
    Code.EFFECT_FIGURES,
    Code.JACKPOT_STATUS,
    Code.BET_SUSPENDED,
    Code.RETIRED_IN_PLAY,
    Code.CYCLE_RULES,
    Code.STRIPE_ACCEPTING,
    Code.STRIPE_LIMITS,
    Code.BET_LIMITS,
}


def test_every_code_of_this_topic_is_shown() -> None:
    assert {code for corruption in CORRUPTIONS for code in corruption.codes} >= NEW_CODES


DECIDED: Final = [kind for kind in KINDS.values() if issubclass(kind, JackpotKind)]


@pytest.mark.parametrize("kind", DECIDED, ids=lambda kind: kind.name)
def test_a_decision_that_comes_out_otherwise_is_a_named_mismatch(
    superuser: Session, kind: type[JackpotKind], monkeypatch: pytest.MonkeyPatch
) -> None:
    decide = kind.decide

    def otherwise(request: JackpotKind, state: JackpotState) -> Done:
        done = decide(request, state)
        return replace(done, recorded={**done.recorded, "x": 1})

    monkeypatch.setattr(kind, "decide", otherwise)

    assert {mismatch.code for mismatch in verify(superuser).mismatches} == {Code.EFFECT_FIGURES}


@pytest.mark.parametrize("kind", DECIDED, ids=lambda kind: kind.name)
def test_what_would_be_refused_now_is_a_named_mismatch(
    superuser: Session, kind: type[JackpotKind], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_request: object, _state: JackpotState) -> Done:
        message = "Not so."
        raise BadAmount(message)

    monkeypatch.setattr(kind, "decide", refused)

    (*_, mismatch) = verify(superuser).mismatches
    assert (mismatch.code, "BadAmount: Not so." in mismatch.detail) == (Code.EFFECT_FIGURES, True)
