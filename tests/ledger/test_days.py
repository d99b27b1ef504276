"""Days: every figure in exactly one of them, whatever booked it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import NullPool, text

from jackpot_service.database.transactions import pipelined
from jackpot_service.domain.accounts import PRIZE_FUND, casino
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.journal import EntryKind, Movement, Posting, Postings
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Role
from jackpot_service.ledger import journal
from jackpot_service.ledger.digests import FiguresMissing
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.jackpots import AddStripes, add_stripes
from tests.ledger.booked_days import MIDNIGHT, batch, book, days_of, opened
from tests.support import correcting, days, history, rolling, summing
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, STRAIGHT_FLUSH, dead, forfeited, hand
from tests.support.logins import owner_url
from tests.support.payouts import held_from
from tests.support.world import World

__all__ = ["opened"]

pytestmark = pytest.mark.long


def _bets(world: World) -> Sequence[Any]:
    rows = days_of(world, "bets", "day::text, gaming_day::text, table_id, number, value")
    return [tuple(row.values()) for row in rows]


def test_a_batch_is_added_to_its_day_by_currency(opened: World) -> None:
    opened.bet(bet("a", stake_minor=250), bet("b", currency="GBP"), bet("c", currency="GBP"))
    opened.bet(bet("d"), round_id="r2")

    rows = days_of(opened, "bets", rest="ORDER BY currency")

    figures = ("number", "minor", "value")
    assert [(row["currency"], *(row[name] for name in figures)) for row in rows] == [
        ("EUR", 2, 350, Decimal("3.5")),
        ("GBP", 2, 200, Decimal("2.34")),
    ]
    columns = ("jackpot_id", "stripe_no", "casino_id", "table_id", "rules_version")
    assert {tuple(row[name] for name in columns) for row in rows} == {("j1", 0, "c1", "T1", 1)}
    assert not days_of(opened, "postings", where="detail = 'contribution'")


def test_what_is_booked_at_midnight_belongs_to_the_day_that_begins(opened: World) -> None:
    book(opened, batch("T1", "r1", MIDNIGHT - timedelta(microseconds=1)))
    book(opened, batch("T1", "r2", MIDNIGHT))

    assert _bets(opened) == [("2026-11-20", "2026-11-20", "T1", 1, 1), ("2026-11-21", "2026-11-21", "T1", 1, 1)]


def test_a_gaming_day_starts_by_its_casinos_clock(opened: World) -> None:
    six = MIDNIGHT + timedelta(hours=4)
    book(opened, batch("R1", "r1", six - timedelta(microseconds=1)))
    book(opened, batch("R1", "r2", six))

    assert _bets(opened) == [("2026-11-21", "2026-11-20", "R1", 1, 1), ("2026-11-21", "2026-11-21", "R1", 1, 1)]


def test_a_clock_that_falls_back_does_not_reopen_a_day(opened: World) -> None:
    """The day is that of the booking, which never falls on a stripe."""
    book(opened, batch("T1", "r1", MIDNIGHT))
    book(opened, batch("T1", "r2", MIDNIGHT - timedelta(hours=1)))

    assert _bets(opened) == [("2026-11-21", "2026-11-21", "T1", 2, 2)]


def test_batches_of_a_group_that_are_booked_at_once_share_their_tables_rows(opened: World) -> None:
    before = MIDNIGHT - timedelta(microseconds=1)

    book(opened, batch("T1", "r1", before), batch("R1", "r1", before), batch("T1", "r2", MIDNIGHT))

    # All are booked at the latest of their times.
    assert _bets(opened) == [("2026-11-21", "2026-11-20", "R1", 1, 1), ("2026-11-21", "2026-11-21", "T1", 2, 2)]


def test_a_round_in_the_night_keeps_its_casinos_gaming_day(opened: World) -> None:
    opened.clock.at = MIDNIGHT + timedelta(hours=2)
    opened.bet(bet(), table_id="R1")
    opened.settle(hand("1", STRAIGHT_FLUSH), table_id="R1")

    columns = "DISTINCT day::text, gaming_day::text, casino_id, table_id"
    (row,) = days_of(opened, "postings", columns, where="detail = 'award'")
    assert tuple(row.values()) == ("2026-11-21", "2026-11-20", "riga", "R1")


def test_what_moves_no_money_leaves_no_row_but_of_the_hands_that_were_judged(opened: World) -> None:
    opened.void("unknown")
    opened.bet(bet("b"))
    opened.settle(hand("1", NOTHING))
    rolling.roll_up(opened.engine)
    kinds = "SELECT kind, count(*) FROM days WHERE table_id <> '' GROUP BY kind ORDER BY kind"
    assert [tuple(row.values()) for row in opened.books.rows(kinds)] == [("bets", 1), ("hands", 1), ("squares", 1)]


def test_a_hit_belongs_to_the_cycle_that_it_ends_and_the_opening_to_the_first(world: World) -> None:
    world.open(base_amount="100", stripes=1)
    world.bet(bet("a"))
    world.bet(bet("b"), round_id="r2")
    world.settle(hand("1", ROYAL_FLUSH))
    world.bet(bet("c"), bet("d"), round_id="r3")
    world.settle(hand("1", FLUSH), round_id="r2")

    staked = days_of(world, "bets", "cycle, number", "ORDER BY cycle")
    moved = days_of(world, "postings", "DISTINCT cycle, detail", "ORDER BY 1, 2")

    assert [tuple(row.values()) for row in staked] == [(1, 2), (2, 2)]
    assert [tuple(row.values()) for row in moved] == [(1, "award"), (1, "refill"), (1, "seed"), (2, "award")]


def test_bets_are_kept_by_the_rules_that_tell_where_they_go(world: World) -> None:
    """A round keeps its rules: bets of a day and cycle may be split in two ways."""
    world.open(base_amount="100", stripes=1)
    world.bet(bet("a"), round_id="r0")
    world.change("rules", {"jackpot_id": "j1", "settings": {"split.meter": "0.40"}})
    world.bet(bet("b"))
    world.settle(hand("1", ROYAL_FLUSH))
    world.bet(bet("c"), round_id="r0")
    world.bet(bet("d"), round_id="r2")

    staked = days_of(world, "bets", "cycle, rules_version, number, value")

    assert [tuple(row.values()) for row in staked] == [(1, 1, 2, 2), (2, 1, 1, 1), (2, 2, 1, 1)]
    with world.engine.connect() as connection:
        assert rolling.rolled_up(connection) == rolling.posted(connection)


def test_what_takes_back_a_bet_of_a_cycle_that_was_won_belongs_to_the_cycle_that_runs(opened: World) -> None:
    opened.bet(bet("a"), bet("b"))
    opened.bet(bet("c"), round_id="r2")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="r2")
    opened.void("a")

    assert days_of(opened, "postings", "DISTINCT cycle", "", "detail = 'reversal'") == [{"cycle": 2}]


def test_batches_of_a_group_are_of_the_cycle_that_they_stand_after(opened: World) -> None:
    opened.bet(bet(), round_id="won")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="won")
    opened.clock.at = MIDNIGHT

    book(opened, *(batch(table_id, name, MIDNIGHT) for table_id in ("T1", "R1") for name in ("r1", "r2")))

    of_cycles = days_of(opened, "bets", "day::text, cycle, count(*)", "GROUP BY 1, 2 ORDER BY 1, 2")
    assert [tuple(row.values()) for row in of_cycles] == [("2026-11-20", 1, 1), ("2026-11-21", 2, 2)]


def test_a_stripe_that_a_cut_does_not_reach_stands_after_it(world: World) -> None:
    world.open(base_amount="100", stripes=1)
    world.bet(bet())
    world.settle(hand("1", ROYAL_FLUSH))
    adding = AddStripes(Act(SYSTEM_OPERATOR, datetime.now(UTC)), "j1", 9)
    world.transact(lambda session: add_stripes(session, adding))
    for number in range(20):
        world.bet(bet(), round_id=f"more-{number}")

    assert days_of(world, "bets", "DISTINCT cycle", "", "stripe_no > 0") == [{"cycle": 2}]


def test_refunds_are_kept_by_currency_and_by_what_was_charged(opened: World) -> None:
    """Decision 14: what is taken back of a cycle that was won is the house's."""
    opened.bet(bet("a", stake_minor=250), bet("b", currency="GBP"), bet("c", hand="2"))
    opened.void("a")
    opened.bet(bet("d"), round_id="r2")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="r2")
    opened.settle(dead("1"), hand("2", NOTHING))

    rows = [row for kind in ("refunds", "late_refunds") for row in days_of(opened, kind)]

    assert [(row["kind"], row["currency"], row["number"], row["minor"], row["value"]) for row in rows] == [
        ("refunds", "EUR", 1, 250, Decimal("2.5")),
        ("late_refunds", "GBP", 1, 100, Decimal("1.17")),
    ]


def test_awards_are_kept_by_the_state_they_began_in_and_hands_by_what_stood_on_them(world: World) -> None:
    world.open(settings={"payout_tiers": held_from("100")}, stripes=1)
    world.bet(bet("a", stake_minor=200), bet("b", currency="GBP"), bet("c", hand="2"), bet("d", hand="3"))
    world.settle(hand("1", FOUR_OF_A_KIND), hand("2", NOTHING), forfeited("3"))
    world.bet(bet("e"), round_id="r2")
    world.settle(hand("1", FLUSH), round_id="r2")

    awards = days_of(world, "awards", rest="ORDER BY tier, currency")
    columns = ("tier", "account", "currency", "detail", "number", "minor", "value")
    assert [tuple(row[name] for name in columns) for row in awards] == [
        ("flush", "prize_fund", "EUR", "payable", 1, 2500, 25),
        ("four_of_a_kind", "prize_fund", "EUR", "held", 1, 50_000, 500),
        ("four_of_a_kind", "prize_fund", "GBP", "held", 1, 25_000, Decimal("292.5")),
    ]
    (hands,), (squares,) = (days_of(world, kind, "rules_version, number, value") for kind in ("hands", "squares"))
    # 3.17 on the first hand, 1 on the two others, 1 in the second round.
    assert tuple(hands.values()) == (1, 4, Decimal("6.17"))
    assert tuple(squares.values()) == (1, 4, Decimal("13.0489"))


def test_awards_and_their_payments_are_kept_by_the_casino_and_the_table_of_their_round(opened: World) -> None:
    """Whoever says that they were paid."""
    opened.add_table("R2", jackpot_id="j1", casino_id="riga")
    for table_id, rounds in (("T1", 1), ("R1", 2), ("R2", 1)):
        for number in range(rounds):
            at: dict[str, Any] = {"table_id": table_id, "round_id": f"r{number}"}
            opened.bet(bet(), **at)
            opened.settle(hand("1", FLUSH), **at)
            for award in opened.round(**at)["settlement"]["awards"]:
                place = f"/v1/awards/{award['award_id']}/payment"
                opened.put(
                    place, {"request_id": f"p{award['award_id']}", "reference": "slip"}, key=opened.key(Role.OPERATOR)
                ).ok(201)

    for kind in ("awards", "payments"):
        rows = days_of(opened, kind, "casino_id, table_id, number, value", "ORDER BY table_id")
        assert [tuple(row.values()) for row in rows] == [
            ("riga", "R1", 2, 50),
            ("riga", "R2", 1, 25),
            ("c1", "T1", 1, 25),
        ]


def test_payments_are_kept_by_their_acts_day_and_by_the_day_tier_and_pool_of_what_they_pay(opened: World) -> None:
    opened.bet(bet("a"), bet("b", currency="GBP"), bet("c", stake_minor=200))
    opened.settle(hand("1", FLUSH))
    opened.bet(bet("a"), round_id="r2")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="r2")
    awards = [award for name in ("r1", "r2") for award in opened.round(name)["settlement"]["awards"]]
    before = MIDNIGHT - timedelta(minutes=1)
    for number, (award, opened.clock.at) in enumerate(zip(awards, (before, before, before, MIDNIGHT), strict=True)):
        for status in (201, 200):
            place = f"/v1/awards/{award['award_id']}/payment"
            opened.put(place, {"request_id": f"p{number}", "reference": "slip"}, key=opened.key(Role.TABLE)).ok(status)

    columns = "detail, day, made_on, casino_id, table_id, tier, account, currency, number, minor, value"
    rows = days_of(opened, "payments", columns, "ORDER BY day, currency")
    (meter,) = (award for award in awards if award["tier"] == "royal_flush")
    casino_and_table = ("c1", "T1")
    cost = Decimal(meter["cost_base"])
    assert [tuple(row.values()) for row in rows] == [
        ("j1", before.date(), before.date(), *casino_and_table, "flush", "prize_fund", "EUR", 2, 2500 + 5000, 75),
        (
            "j1",
            before.date(),
            before.date(),
            *casino_and_table,
            "flush",
            "prize_fund",
            "GBP",
            1,
            2500,
            Decimal("29.25"),
        ),
        (
            "j1",
            MIDNIGHT.date(),
            before.date(),
            *casino_and_table,
            "royal_flush",
            "meter",
            "EUR",
            1,
            meter["amount_minor"],
            cost,
        ),
    ]


def test_what_a_correction_awarded_was_made_on_its_day(opened: World) -> None:
    opened.clock.at = MIDNIGHT - timedelta(minutes=1)
    opened.bet(bet("a"))
    opened.settle(hand("1", FLUSH))
    opened.clock.at = MIDNIGHT + timedelta(hours=1)
    correcting.correct(opened, hand("1", FOUR_OF_A_KIND))
    opened.clock.at = MIDNIGHT + timedelta(days=1)
    (award,) = opened.get("/v1/awards?state=payable").ok()["items"]
    opened.put(
        f"/v1/awards/{award['award_id']}/payment", {"request_id": "p", "reference": "slip"}, key=opened.key(Role.TABLE)
    ).ok(201)

    (row,) = days_of(opened, "payments", "day, made_on, tier, number")
    assert tuple(row.values()) == ((MIDNIGHT + timedelta(days=1)).date(), MIDNIGHT.date(), "four_of_a_kind", 1)


def test_no_day_pays_what_a_later_day_made_though_the_jackpots_book_is_ahead(opened: World) -> None:
    """As it is where another process settled, whose clock is ahead."""
    opened.clock.at = MIDNIGHT
    opened.bet(bet("a"))
    opened.settle(hand("1", FLUSH))
    opened.clock.at = MIDNIGHT - timedelta(minutes=1)
    (award,) = opened.get("/v1/awards?state=payable").ok()["items"]
    opened.put(
        f"/v1/awards/{award['award_id']}/payment", {"request_id": "p", "reference": "slip"}, key=opened.key(Role.TABLE)
    ).ok(201)

    (row,) = days_of(opened, "payments", "day, made_on", "")
    assert (row["day"], row["made_on"]) == (MIDNIGHT.date(), MIDNIGHT.date())


def test_a_suspended_jackpot_leaves_no_row(opened: World) -> None:
    body = {"request_id": "s1", "reason": "as agreed"}
    opened.put("/v1/jackpots/j1/suspension", body, key=opened.person("Ann", Role.OPERATOR)).ok(201)
    assert opened.post_bets(bet()).status == 409
    assert not days_of(opened, "bets")


def test_a_result_without_its_refunds_and_awards_is_not_booked(opened: World) -> None:
    opened.bet(bet())
    taken = Posting(PRIZE_FUND, "EUR", Decimal(-1), Movement.AWARD)
    postings = Postings((taken, Posting(casino("c1"), "EUR", Decimal(1), Movement.AWARD)))
    step = RoundStep("c1", "T1", "r1", 1, 2, 1)
    entry = Entry("j1", EntryKind.RESULT, "srv", opened.clock(), {}, postings=postings, round_step=step)
    with opened.engine.connect() as session, pytest.raises(FiguresMissing), pipelined(session) as pipe:
        journal.post(pipe, entry, stripe_no=0)


def test_bets_without_their_turnover_are_not_booked(opened: World) -> None:
    now = opened.clock()
    step = RoundStep("c1", "T1", "r1", 1, 1, 1)
    entry = Entry("j1", EntryKind.BETS, "srv", now, {"bets": {}}, round_step=step)
    for wrong in (entry, replace(entry, round_step=None)):
        with opened.engine.connect() as session, pytest.raises(FiguresMissing), pipelined(session) as pipe:
            journal.post(pipe, wrong, stripe_no=0)


@pytest.mark.parametrize(
    ("book", "kind"),
    [
        ("j1", "awards_approved"),
        ("j1", "awards_rejected"),
        ("j1", "awards_reinstated"),
        ("j1", "award_forfeited"),
        ("j1", "round_corrected"),
        ("-", "award_paid"),
        ("-", "payment_reversed"),
    ],
)
def test_acts_about_awards_without_their_figures_are_not_booked(opened: World, book: str, kind: str) -> None:
    entry = Entry(book, EntryKind(kind), "olga", opened.clock(), {})
    with opened.engine.connect() as session, pytest.raises(FiguresMissing), pipelined(session) as pipe:
        journal.post(pipe, entry, stripe_no=0)


def test_sums_that_no_bigint_holds_are_kept(opened: World) -> None:
    """Ten million million stakes of a hundred thousand yen a day are not to be expected, nor to be refused."""
    opened.bet(bet())
    rolling.roll_up(opened.engine)
    with opened.engine.begin() as connection:
        connection.execute(text("UPDATE days SET minor = 1e30, value = 1e30 WHERE kind = 'bets'"))
    opened.bet(bet("c"), round_id="r2")
    assert days_of(opened, "bets", "minor, value", "") == [{"minor": 10**30 + 100, "value": 10**30 + 1}]
    with opened.engine.begin() as connection:
        connection.execute(text("UPDATE days SET minor = 200, value = 2 WHERE kind = 'bets'"))


@pytest.mark.parametrize(
    ("write", "lacking"),
    [(history.write, {"award_steps", "payments"}), (None, set())],
    ids=["every kind of round", "every kind of act"],
)
def test_days_add_up_to_what_the_documents_say(database_url: str, write: Any, lacking: set[str]) -> None:
    if write is None:
        days.write(database_url)
    else:
        with history.engine_of(database_url) as engine:
            write(engine)
    with history.engine_of(database_url) as engine:
        rolling.roll_up(engine)
    owner = sqlalchemy.create_engine(owner_url(database_url), poolclass=NullPool)
    with owner.connect() as session:
        stored = _rows(session)
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text("TRUNCATE days"))
        session.exec_driver_sql(summing.STATEMENT)
        made = _rows(session)
        kinds = set(session.scalars(text("SELECT DISTINCT kind FROM days")))
        assert rolling.rolled_up(session) == rolling.posted(session)
    assert made == stored
    assert {kind.value for kind in FigureKind} - kinds == lacking


def _rows(session: sqlalchemy.Connection) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in session.execute(text("SELECT * FROM days")))
