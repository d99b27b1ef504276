"""Turnover times rate is what the pools got, and documents make what entries posted; or a variance says so."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from sqlalchemy import text

from jackpot_service.database.connections import create_owners_engine
from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import ZERO
from jackpot_service.domain.principals import Role
from jackpot_service.reports.documents import Document
from jackpot_service.reports.finance import frame
from jackpot_service.reports.finance.reconciliation import REPORT
from jackpot_service.reports.questions import Parameters
from tests.properties.profile import seeds
from tests.reports.finance import journal
from tests.reports.finance.play import Play
from tests.support import story
from tests.support.answers import Body
from tests.support.asking import figures, only, report, report_answer, rows, rows_of
from tests.support.bets import bet
from tests.support.correcting import correct, reversed_awards
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT_FLUSH, dead, hand
from tests.support.logins import owner_url
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

DECEMBER: Final = {"start": "2026-12-01", "end": "2027-01-01"}


def differing(world: World, **query: object) -> int:
    return sum(row["differing"] for row in rows(world, "reconciliation", "summary", **query))


def close_december(world: World) -> dict[str, str]:
    """Close what was before, then December; the hashes of its reports."""
    _before, closed = (
        world.post(
            "/v1/closed-periods",
            {"request_id": f"to-{day}", "to": day, "reason": "month end"},
            key=world.person("Fay", Role.FINANCE),
        ).ok(201)
        for day in DECEMBER.values()
    )
    return {name: report["sha256"] for name, report in closed["reports"].items()}


def put_back(world: World, **period: object) -> str:
    """What corrections put back into the prize fund in a period."""
    correction: str = only(rows(world, "pool-movements", "totals", **period), pool="prize fund")["correction"]
    return correction


def test_bets_on_dead_hands_that_play_on_are_in_no_report_of_refunds(world: World) -> None:
    world.open(base_amount="1000", settings={"dead_hand": "play-on"})
    world.bet(bet("a"), bet("b", hand="2"))
    world.settle(hand("1", FLUSH), dead("2"))
    correct(world, dead("1"), hand("2", FLUSH))

    assert differing(world) == 0
    assert rows(world, "rounds", "refunds") == []
    assert {row["booked"] for row in rows(world, "reconciliation", "reversals")} <= {"0"}


def test_scenario_40_at_month_close_turnover_times_rate_reconciles_and_stays_whatever_comes_later(world: World) -> None:
    world.clock.at = datetime(2026, 12, 10, 9, tzinfo=UTC)
    world.open(base_amount="1000")
    world.bet(bet("a", stake_minor=10_000), bet("b", currency="GBP", stake_minor=1000), bet("c", stake_minor=100))
    world.void("c")
    world.settle(hand("1", FLUSH))
    world.bet(bet("d", currency="SEK", stake_minor=1000), round_id="still-open")
    world.clock.at = datetime(2027, 1, 1, tzinfo=UTC)
    reports = close_december(world)
    closed = {name: report(world, name, **DECEMBER) for name in reports}
    assert {name: shown["content_sha256"] for name, shown in closed.items()} == reports
    reconciliation = closed["reconciliation"]

    contributed = {row["account"]: row for row in rows_of(reconciliation, "contributions")}
    assert {(row["value"], row["variance"], row["variance_percent"]) for row in contributed.values()} == {
        ("113.573", "0", "0")
    }
    assert contributed["pool:meter:players"]["booked"] == "51.10785"
    assert contributed["pool:reserve"]["booked"] == "5.67865"
    assert contributed["pool:prize_fund"]["expected"] == "36.1616432"
    assert contributed["house:margin"]["expected"] == "20.6248568"
    taken_back = {row["account"]: row["booked"] for row in rows_of(reconciliation, "reversals")}
    assert taken_back == {
        "pool:meter:players": "-0.45",
        "pool:reserve": "-0.05",
        "pool:prize_fund": "-0.3184",
        "house:margin": "-0.1816",
    }
    assert rows_of(reconciliation, "summary") == [{"jackpot_id": "j1", "compared": 21, "differing": 0}]

    world.clock.advance(timedelta(days=3))
    effect = correct(world, hand("1", NOTHING), round_id="r1")
    world.cancel(round_id="still-open")
    world.publish(GBP="1.30", SEK="0.09")
    world.bet(bet("a", stake_minor=700), round_id="later")
    world.settle(hand("1", ROYAL_FLUSH), round_id="later")

    again = {name: report(world, name, **DECEMBER) for name in reports}
    assert {name: figures(shown) for name, shown in again.items()} == {
        name: figures(shown) for name, shown in closed.items()
    }
    assert {name: shown["content_sha256"] for name, shown in again.items()} == reports
    assert [taken_back[:2] for taken_back in reversed_awards(effect)] == [("a", "flush"), ("b", "flush")]
    assert (put_back(world, **DECEMBER), put_back(world, start=DECEMBER["end"])) == ("0", "2792.5")
    assert differing(world) == differing(world, start=DECEMBER["end"]) == 0
    assert world.books.mismatches() == ()


def test_what_a_won_cycle_cannot_give_back_is_expected_of_the_house(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("early", stake_minor=10_000), round_id="early")
    world.bet(bet())
    world.settle(hand("1", ROYAL_FLUSH))
    world.cancel(round_id="early")

    taken_back = {row["account"]: row for row in rows(world, "reconciliation", "reversals")}

    assert (taken_back["house:adjustments"]["value"], taken_back["house:adjustments"]["rate"]) == ("-100", "0.5")
    assert taken_back["house:adjustments"]["booked"] == "-50"
    assert taken_back["pool:meter:players"]["expected"] == taken_back["pool:meter:players"]["booked"] == "0"
    assert differing(world) == 0


def test_each_rules_version_is_held_against_its_own_rates(world: World) -> None:
    world.open(base_amount="1000")
    world.change("rules", {"jackpot_id": "j1", "settings": {"split.meter": "0.40"}})
    world.bet(bet())
    world.settle(hand("1", ROYAL_FLUSH))
    world.bet(bet(stake_minor=1000), round_id="r2")

    of_meter = [
        (row["rules_version"], row["value"], row["rate"], row["expected"], row["variance"])
        for row in rows(world, "reconciliation", "contributions")
        if row["account"] == "pool:meter:players"
    ]

    assert of_meter == [(1, "1", "0.45", "0.45", "0"), (2, "10", "0.4", "4", "0")]


def test_held_awards_are_held_against_their_account_as_of_any_time(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("100")})
    world.bet(bet("a", currency="GBP"), bet("b", hand="2"))
    world.settle(hand("1", STRAIGHT_FLUSH), hand("2", NOTHING))
    then = world.clock()
    held = rows(world, "reconciliation", "held", as_of=then)
    named = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1"}
    world.change("held-awards", named | {"decision": "approve"})

    assert [(row["awards"], row["expected"], row["booked"]) for row in held] == [(1, "2925", "2925")]
    assert rows(world, "reconciliation", "held", as_of=then) == held
    now = rows(world, "reconciliation", "held")
    assert [(row["awards"], row["expected"], row["booked"]) for row in now] == [(0, "0", "0")]
    assert differing(world) == differing(world, as_of=then) == 0


def test_an_estate_is_held_against_its_transfer_in_both_books(world: World) -> None:
    world.open(base_amount="10")
    world.open(jackpot_id="j2", tables=("T2",))
    world.bet(bet(stake_minor=10_000))
    world.settle(hand("1", NOTHING))
    world.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="q7")

    moved = {
        row["jackpot_id"]: (row["expected"], row["booked"])
        for row in rows(world, "reconciliation", "accounts")
        if row["account"] == "transfer:q7"
    }

    assert moved == {"j1": ("81.84", "81.84"), "j2": ("-81.84", "-81.84")}
    assert differing(world) == 0


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_whatever_happens_it_reconciles_as_of_any_time(world: World, seed: int) -> None:
    play = Play(world, seed)
    play.open()
    seen = []
    for _ in range(3):
        play.go_on(35)
        then = world.clock()
        seen.append((then, report(world, "reconciliation", as_of=then)))
    play.retire()
    story.require_whole(world)

    for then, before in seen:
        assert figures(report(world, "reconciliation", as_of=then)) == figures(before)
    between = report(world, "reconciliation", start=seen[0][0], end=seen[1][0])
    for document in (*(document_ for _, document_ in seen), between, report(world, "reconciliation")):
        assert [row for row in rows_of(document, "summary") if row["differing"]] == []
    assert_it_is_the_journal(world, report(world, "reconciliation"))


def assert_it_is_the_journal(world: World, document: Body) -> None:
    """Whatever the report says was booked by a movement, the journal holds; and what it determines is all there."""
    of_account = ("jackpot_id", "account", "currency", "movement")
    booked = journal.sums(world, lambda line: tuple(line[name] for name in of_account))
    for row in journal.numbers(document, "accounts"):
        if row["account"] != "pool:meter":
            assert row["booked"] == booked.get(tuple(row[name] for name in of_account), ZERO), row
    named = {row["account"] for row in journal.numbers(document, "accounts")}
    assert {key[1] for key in booked if key[1].startswith(("casino:", "bank:", "transfer:", "fx:", "awards:"))} <= named
    for section, movement in (("contributions", "contribution"), ("reversals", "reversal")):
        numbers = journal.numbers(document, section)
        for key in {(row["jackpot_id"], row["account"], row["currency"]) for row in numbers}:
            of_key = [row for row in numbers if (row["jackpot_id"], row["account"], row["currency"]) == key]
            assert sum((row["booked"] for row in of_key), ZERO) == booked.get((*key, movement), ZERO)


# A comparison that could not fail would say nothing: each of these is a change of one source, made past the service.

CORRUPTIONS: Final = {
    "a bet's stake": (
        "UPDATE bets SET stake_minor = stake_minor + 1 WHERE bet_id = 'a'",
        {("contributions", "pool:meter:players"), ("contributions", "house:margin"), ("accounts", "casino:c1")},
    ),
    "a posting": (
        "UPDATE entries SET amounts[2] = amounts[2] + 1 WHERE kind = 'bets' AND accounts[2] LIKE 'pool:%'",
        {("contributions", "pool:meter:players")},
    ),
    "a bet": ("DELETE FROM bets WHERE bet_id = 'a'", {("contributions", "pool:reserve"), ("accounts", "casino:c1")}),
    "a void": (
        "DELETE FROM voids WHERE NOT is_tombstone",
        {("reversals", "pool:meter:players"), ("reversals", "house:margin"), ("accounts", "casino:c1")},
    ),
    "a hand that was dead": (
        "UPDATE entries SET facts = replace(facts::text, 'dead', 'forfeited')::jsonb WHERE facts::text LIKE '%dead%'",
        {("reversals", "pool:prize_fund"), ("accounts", "casino:c1")},
    ),
    "a rate": (
        "UPDATE rates SET base_per_unit = 1.18 WHERE currency = 'GBP'",
        {("contributions", "pool:meter:players"), ("accounts", "fx:EUR")},
    ),
    "a split": (
        """UPDATE rules_versions SET document = jsonb_set(document, '{split,reserve}', '"0.06"')""",
        {("contributions", "pool:reserve"), ("contributions", "house:margin")},
    ),
    "an award's cost": ("UPDATE awards SET cost = cost + 1 WHERE currency = 'EUR'", {("accounts", "pool:prize_fund")}),
    "an award's amount": ("UPDATE awards SET amount_minor = amount_minor - 1", {("accounts", "casino:c1")}),
    "an award": ("DELETE FROM awards", {("accounts", "casino:c1"), ("held", "awards:held")}),
    "a step of a held award": (
        "UPDATE award_steps SET step = 'payable' WHERE step = 'held'",
        {("held", "awards:held"), ("accounts", "awards:held"), ("accounts", "casino:c1")},
    ),
    "a statement": (
        "UPDATE statement_settlements SET amount = amount + 1",
        {("accounts", "bank:EUR"), ("accounts", "casino:c1")},
    ),
    "a compensation": (
        "UPDATE compensations SET amount_minor = amount_minor + 1",
        {("accounts", "casino:c1")},
    ),
    "what a compensation cost": (
        "UPDATE compensations SET cost = cost + 1",
        {("accounts", "house:adjustments")},
    ),
    "transferred balances": (
        """
        UPDATE acts SET effects = jsonb_set(effects, '{0,recorded,transferred,meter}', '"1"') WHERE decides = 'retire'
        """,
        {("accounts", "transfer:retire")},
    ),
}


@pytest.fixture
def superuser(world: World, database_url: str) -> Iterator[Session]:
    """A session that no trigger refuses anything, on books with something of everything; it is rolled back."""
    happened(world)
    engine = create_owners_engine(owner_url(database_url), lock_timeout_ms=0)
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        yield session


def happened(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("200")})
    world.open(jackpot_id="ended", tables=("E1",))
    world.bet(bet("a"), bet("b", currency="GBP", hand="2"), bet("c", hand="dead"), bet("d", hand="2"))
    world.void("d")
    world.settle(hand("1", FLUSH), hand("2", NOTHING), dead("dead"))
    world.bet(bet("e"), round_id="held")
    world.settle(hand("1", STRAIGHT_FLUSH), round_id="held")
    world.bet(bet("f"), round_id="cancelled")
    world.cancel(round_id="cancelled")
    compensation = {"jackpot_id": "j1", "table_id": "T1", "round_id": "cancelled", "bet_id": "f", "document": "memo"}
    world.change("compensation", compensation | {"amount_minor": 100, "currency": "EUR"}, request_id="give")
    paid = {"jackpot_id": "j1", "casino_id": "c1", "currency": "EUR", "amount": "3.00", "reference": "2026-10"}
    period = {"from": "2026-10-01T00:00:00Z", "to": "2026-11-01T00:00:00Z"}
    world.change("statement-settlement", paid | period, request_id="pay")
    world.bet(bet("g"), round_id="last", table_id="E1")
    world.settle(hand("1", NOTHING), round_id="last", table_id="E1")
    world.change("retirement", {"jackpot_id": "ended", "to": "j1"}, request_id="retire")


def test_what_was_changed_past_the_service_is_a_variance(superuser: Session, subtests: pytest.Subtests) -> None:
    for name, (statement, expected) in CORRUPTIONS.items():
        with subtests.test(name), superuser.begin_nested() as changed:
            assert found_differing(superuser) == set()

            assert superuser.execute(text(statement)).rowcount
            codes_ = found_differing(superuser)

            assert expected <= codes_, codes_
            changed.rollback()


def found_differing(session: Session) -> set[tuple[str, str]]:
    """Which rows have a variance: their sections and accounts."""
    session.info.pop("immutable", None)
    document: Document = frame.make(session, REPORT, Parameters(), made_at=datetime.now(UTC))
    differ = set()
    for section in document.sections[1:]:
        names = [column.name for column in section.columns]
        for values in section.rows:
            row = dict(zip(names, values, strict=True))
            if row["variance"] != ZERO:
                assert row["variance_percent"] != ZERO
                differ.add((section.name, str(row["account"])))
    return differ


def test_a_period_that_ends_before_it_begins_is_refused(world: World) -> None:
    world.open()
    now = world.clock()

    report_answer(world, "reconciliation", start=now, end=now - timedelta(days=1)).problem(422, "question-invalid")
    report_answer(world, "reconciliation", casino_id="c1").problem(422, "question-invalid")
    report_answer(world, "reconciliation", jackpot_id="j9").problem(404, "jackpot-unknown")
