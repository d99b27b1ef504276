"""Days: every figure in exactly one of them, whatever booked it, and added once, whenever that is."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import NullPool, text

from jackpot_service.database.transactions import pipelined
from jackpot_service.domain.accounts import PRIZE_FUND, casino
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.journal import EntryKind, Movement, Posting, Postings
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.ledger import days as kept_days
from jackpot_service.ledger import journal, stripes
from jackpot_service.ledger.digests import FiguresMissing
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted, accept_group
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.jackpots import AddStripes, add_stripes
from tests.support import correcting, days, history, rolling, summing
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, STRAIGHT_FLUSH, dead, forfeited, hand
from tests.support.logins import owner_url
from tests.support.payouts import held_from
from tests.support.reading import Rows
from tests.support.world import World

pytestmark = pytest.mark.long

SERVER: Final = Principal("server", Role.TABLE)
MIDNIGHT: Final = datetime(2026, 11, 21, tzinfo=UTC)

GROUPS: Final = 200
FIGURES: Final = 4
"""How many figures the bets of a group of two tables have."""


@pytest.fixture
def opened(world: World) -> World:
    """Live Caribbean Stud on one stripe, at a table of UTC and one of Riga, whose days start at 06:00 (04:00 UTC)."""
    world.add_casino("riga", zone="Europe/Riga", day_starts="06:00")
    world.open(stripes=1)
    world.add_table("R1", jackpot_id="j1", casino_id="riga")
    return world


def _batch(table_id: str, round_id: str, now: datetime) -> AcceptBets:
    """A euro on a hand, as it came at an instant."""
    return AcceptBets(SERVER, table_id, round_id, Bets.of([Bet("b", "p", "1", "EUR", 100)]), now)


def _book(world: World, *group: AcceptBets) -> None:
    answers = world.transact(lambda session: accept_group(session, group))
    assert all(isinstance(answer, BetsAccepted) for answer in answers), answers


def _days(world: World, kind: str, columns: str = "*", rest: str = "ORDER BY 1, 2, 3", where: str = "true") -> Rows:
    """What the days hold of a kind when everything is in them."""
    rolling.roll_up(world.engine)
    return world.books.rows(f"SELECT {columns} FROM days WHERE kind = '{kind}' AND {where} {rest}")  # noqa: S608


def _bets(world: World) -> Sequence[Any]:
    rows = _days(world, "bets", "day::text, gaming_day::text, table_id, number, value")
    return [tuple(row.values()) for row in rows]


def test_a_batch_is_added_to_its_day_by_currency(opened: World) -> None:
    opened.bet(bet("a", stake_minor=250), bet("b", currency="GBP"), bet("c", currency="GBP"))
    opened.bet(bet("d"), round_id="r2")

    rows = _days(opened, "bets", rest="ORDER BY currency")

    figures = ("number", "minor", "value")
    assert [(row["currency"], *(row[name] for name in figures)) for row in rows] == [
        ("EUR", 2, 350, Decimal("3.5")),
        ("GBP", 2, 200, Decimal("2.34")),
    ]
    whose = ("jackpot_id", "stripe_no", "casino_id", "table_id", "rules_version")
    assert {tuple(row[name] for name in whose) for row in rows} == {("j1", 0, "c1", "T1", 1)}
    assert not _days(opened, "postings", where="detail = 'contribution'")


def test_what_is_booked_at_midnight_belongs_to_the_day_that_begins(opened: World) -> None:
    _book(opened, _batch("T1", "r1", MIDNIGHT - timedelta(microseconds=1)))
    _book(opened, _batch("T1", "r2", MIDNIGHT))

    assert _bets(opened) == [("2026-11-20", "2026-11-20", "T1", 1, 1), ("2026-11-21", "2026-11-21", "T1", 1, 1)]


def test_a_gaming_day_starts_by_its_casinos_clock(opened: World) -> None:
    six = MIDNIGHT + timedelta(hours=4)
    _book(opened, _batch("R1", "r1", six - timedelta(microseconds=1)))
    _book(opened, _batch("R1", "r2", six))

    assert _bets(opened) == [("2026-11-21", "2026-11-20", "R1", 1, 1), ("2026-11-21", "2026-11-21", "R1", 1, 1)]


def test_a_clock_that_falls_back_does_not_reopen_a_day(opened: World) -> None:
    """The day is that of the booking, which never falls on a stripe."""
    _book(opened, _batch("T1", "r1", MIDNIGHT))
    _book(opened, _batch("T1", "r2", MIDNIGHT - timedelta(hours=1)))

    assert _bets(opened) == [("2026-11-21", "2026-11-21", "T1", 2, 2)]


def test_batches_of_a_group_that_are_booked_at_once_share_their_tables_rows(opened: World) -> None:
    before = MIDNIGHT - timedelta(microseconds=1)

    _book(opened, _batch("T1", "r1", before), _batch("R1", "r1", before), _batch("T1", "r2", MIDNIGHT))

    # All are booked at the latest of their times.
    assert _bets(opened) == [("2026-11-21", "2026-11-20", "R1", 1, 1), ("2026-11-21", "2026-11-21", "T1", 2, 2)]


def test_a_round_in_the_night_keeps_its_casinos_gaming_day(opened: World) -> None:
    opened.clock.at = MIDNIGHT + timedelta(hours=2)
    opened.bet(bet(), table_id="R1")
    opened.settle(hand("1", STRAIGHT_FLUSH), table_id="R1")

    whose = "DISTINCT day::text, gaming_day::text, casino_id, table_id"
    (row,) = _days(opened, "postings", whose, where="detail = 'award'")
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

    staked = _days(world, "bets", "cycle, number", "ORDER BY cycle")
    moved = _days(world, "postings", "DISTINCT cycle, detail", "ORDER BY 1, 2")

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

    staked = _days(world, "bets", "cycle, rules_version, number, value")

    assert [tuple(row.values()) for row in staked] == [(1, 1, 2, 2), (2, 1, 1, 1), (2, 2, 1, 1)]
    with world.engine.connect() as connection:
        assert rolling.rolled_up(connection) == rolling.posted(connection)


def test_what_takes_back_a_bet_of_a_cycle_that_was_won_belongs_to_the_cycle_that_runs(opened: World) -> None:
    opened.bet(bet("a"), bet("b"))
    opened.bet(bet("c"), round_id="r2")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="r2")
    opened.void("a")

    assert _days(opened, "postings", "DISTINCT cycle", "", "detail = 'reversal'") == [{"cycle": 2}]


def test_batches_of_a_group_are_of_the_cycle_that_they_stand_after(opened: World) -> None:
    opened.bet(bet(), round_id="won")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="won")
    opened.clock.at = MIDNIGHT

    _book(opened, *(_batch(table_id, name, MIDNIGHT) for table_id in ("T1", "R1") for name in ("r1", "r2")))

    of_cycles = _days(opened, "bets", "day::text, cycle, count(*)", "GROUP BY 1, 2 ORDER BY 1, 2")
    assert [tuple(row.values()) for row in of_cycles] == [("2026-11-20", 1, 1), ("2026-11-21", 2, 2)]


def test_a_stripe_that_a_cut_does_not_reach_stands_after_it(world: World) -> None:
    world.open(base_amount="100", stripes=1)
    world.bet(bet())
    world.settle(hand("1", ROYAL_FLUSH))
    adding = AddStripes(Act(SYSTEM_OPERATOR, datetime.now(UTC)), "j1", 9)
    world.transact(lambda session: add_stripes(session, adding))
    for number in range(20):
        world.bet(bet(), round_id=f"more-{number}")

    assert _days(world, "bets", "DISTINCT cycle", "", "stripe_no > 0") == [{"cycle": 2}]


def test_refunds_are_kept_by_currency_and_by_what_was_charged(opened: World) -> None:
    """Decision 14: what is taken back of a cycle that was won is the house's."""
    opened.bet(bet("a", stake_minor=250), bet("b", currency="GBP"), bet("c", hand="2"))
    opened.void("a")
    opened.bet(bet("d"), round_id="r2")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="r2")
    opened.settle(dead("1"), hand("2", NOTHING))

    rows = [row for kind in ("refunds", "late_refunds") for row in _days(opened, kind)]

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

    awards = _days(world, "awards", rest="ORDER BY tier, currency")
    told = ("tier", "account", "currency", "detail", "number", "minor", "value")
    assert [tuple(row[name] for name in told) for row in awards] == [
        ("flush", "prize_fund", "EUR", "payable", 1, 2500, 25),
        ("four_of_a_kind", "prize_fund", "EUR", "held", 1, 50_000, 500),
        ("four_of_a_kind", "prize_fund", "GBP", "held", 1, 25_000, Decimal("292.5")),
    ]
    (hands,), (squares,) = (_days(world, kind, "rules_version, number, value") for kind in ("hands", "squares"))
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
        rows = _days(opened, kind, "casino_id, table_id, number, value", "ORDER BY table_id")
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
    rows = _days(opened, "payments", columns, "ORDER BY day, currency")
    (meter,) = (award for award in awards if award["tier"] == "royal_flush")
    whose = ("c1", "T1")
    cost = Decimal(meter["cost_base"])
    assert [tuple(row.values()) for row in rows] == [
        ("j1", before.date(), before.date(), *whose, "flush", "prize_fund", "EUR", 2, 2500 + 5000, 75),
        ("j1", before.date(), before.date(), *whose, "flush", "prize_fund", "GBP", 1, 2500, Decimal("29.25")),
        ("j1", MIDNIGHT.date(), before.date(), *whose, "royal_flush", "meter", "EUR", 1, meter["amount_minor"], cost),
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

    (row,) = _days(opened, "payments", "day, made_on, tier, number")
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

    (row,) = _days(opened, "payments", "day, made_on", "")
    assert (row["day"], row["made_on"]) == (MIDNIGHT.date(), MIDNIGHT.date())


def test_a_suspended_jackpot_leaves_no_row(opened: World) -> None:
    body = {"request_id": "s1", "reason": "as agreed"}
    opened.put("/v1/jackpots/j1/suspension", body, key=opened.person("Ann", Role.OPERATOR)).ok(201)
    assert opened.post_bets(bet()).status == 409
    assert not _days(opened, "bets")


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
    assert _days(opened, "bets", "minor, value", "") == [{"minor": 10**30 + 100, "value": 10**30 + 1}]
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
        kept = _rows(session)
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text("TRUNCATE days"))
        session.exec_driver_sql(summing.STATEMENT)
        made = _rows(session)
        kinds = set(session.scalars(text("SELECT DISTINCT kind FROM days")))
        assert rolling.rolled_up(session) == rolling.posted(session)
    assert made == kept
    assert {kind.value for kind in FigureKind} - kinds == lacking


def _rows(session: sqlalchemy.Connection) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in session.execute(text("SELECT * FROM days")))


# --- Adding to days ---------------------------------------------------------------------------------------------------


def _never_add() -> None:
    kept_days.CHANCE.seed(1)
    assert min(kept_days.CHANCE.randrange(kept_days.FIGURES_AT_ONCE) for _ in range(9)) >= FIGURES
    kept_days.CHANCE.seed(1)


def _group(world: World, *tables: str, name: str) -> None:
    """A euro and two pounds at each of some tables, in one group."""
    bets = Bets.of([Bet("a", "p", "1", "EUR", 100), Bet("b", "q", "2", "GBP", 100), Bet("c", "r", "3", "GBP", 100)])
    _book(world, *(AcceptBets(SERVER, table_id, name, bets, world.clock()) for table_id in tables))


def _behind(world: World) -> int:
    """How many entries of the stripe are not in its days."""
    behind: int = world.books.value("SELECT seq - summed_to FROM stripes WHERE jackpot_id = 'j1' AND stripe_no = 0")
    return behind


def _told(world: World) -> Rows:
    """What reports see of bets."""
    relation = "days_with_recent('j1', ARRAY['bets'])"
    columns = "table_id, currency, cycle, sum(number) AS bets, sum(minor) AS stakes_minor, sum(value) AS value"
    return world.books.rows(f"SELECT {columns} FROM {relation} AS told GROUP BY 1, 2, 3 ORDER BY 3, 1, 2")  # noqa: S608


def test_an_entry_tells_what_its_bets_come_to_by_currency(opened: World) -> None:
    _group(opened, "T1", "R1", name="r1")

    columns = "casino_id, table_id, rules_version, figures::text[]"
    rows = opened.books.rows(f"SELECT {columns} FROM entries WHERE kind = 'bets'")  # noqa: S608  a constant

    figures = ["(bets,EUR,,,,,1,100,1)", "(bets,GBP,,,,,2,200,2.34)"]
    assert [tuple(row.values()) for row in rows] == [("c1", "T1", 1, figures), ("riga", "R1", 1, figures)]


@pytest.mark.parametrize("table_id", ["null", "NULL", "..--::__", "0", "x" * 64])
def test_an_id_of_any_form_is_told_as_it_is(opened: World, table_id: str) -> None:
    opened.add_table(table_id, jackpot_id="j1")
    opened.bet(bet(), table_id=table_id)

    assert [row["table_id"] for row in _told(opened)] == [table_id]


def test_figures_are_told_once_before_they_are_added_to_days_and_after(opened: World) -> None:
    _never_add()
    behind = _behind(opened)
    _group(opened, "T1", name="r1")
    _group(opened, "T1", "R1", name="r2")
    assert _behind(opened) == behind + 3
    told = _told(opened)
    assert [tuple(row.values()) for row in told] == [
        ("R1", "EUR", 1, 1, 100, 1),
        ("R1", "GBP", 1, 2, 200, Decimal("2.34")),
        ("T1", "EUR", 1, 2, 200, 2),
        ("T1", "GBP", 1, 4, 400, Decimal("4.68")),
    ]

    rolling.roll_up(opened.engine)

    assert _behind(opened) == 0
    assert _told(opened) == told
    assert opened.books.value("SELECT count(*) FROM days WHERE kind = 'bets'") == 4


def test_what_is_added_later_is_added_to_what_was_before(opened: World) -> None:
    for name in ("r1", "r2"):
        _group(opened, "T1", name=name)
        rolling.roll_up(opened.engine)

    assert [(row["bets"], row["stakes_minor"]) for row in _told(opened)] == [(2, 200), (4, 400)]
    assert opened.books.value("SELECT count(*) FROM days WHERE kind = 'bets'") == 2


def test_figures_of_three_cycles_that_are_added_at_once_are_kept_apart(opened: World) -> None:
    """The place of an entry on its stripe tells its cycle, though hits came between."""
    _never_add()
    for cycle in (1, 2, 3):
        opened.bet(bet(stake_minor=100 * cycle), round_id=f"r{cycle}")
        if cycle < 3:
            opened.settle(hand("1", ROYAL_FLUSH), round_id=f"r{cycle}")
    told = _told(opened)
    assert [(row["cycle"], row["stakes_minor"]) for row in told] == [(1, 100), (2, 200), (3, 300)]

    rolling.roll_up(opened.engine)

    assert _told(opened) == told


def test_now_and_then_a_booking_adds_what_is_behind(opened: World) -> None:
    """A group of four figures does so once in as many groups as have `FIGURES_AT_ONCE` figures."""
    rolling.roll_up(opened.engine)
    chance = random.Random(5)
    kept_days.CHANCE.seed(5)
    behind = []
    for number in range(GROUPS):
        _group(opened, "T1", "R1", name=f"r{number}")
        behind.append(_behind(opened))

    due = [number for number in range(GROUPS) if chance.randrange(kept_days.FIGURES_AT_ONCE) < FIGURES]
    assert [number for number, left in enumerate(behind) if left == 0] == due
    assert len(due) > 1
    assert all(after == before + 2 for before, after in pairwise(behind) if after)
    assert [row["bets"] for row in _told(opened)] == [GROUPS, 2 * GROUPS] * 2


def test_a_stripe_adds_nothing_of_another(world: World) -> None:
    world.open(stripes=2)
    _never_add()
    random.seed(2)
    for number in range(9):
        world.bet(bet(), round_id=f"r{number}")
    assert world.books.value("SELECT count(DISTINCT stripe_no) FROM entries WHERE kind = 'bets'") == 2

    with world.engine.begin() as session, pipelined(session) as pipe:
        stripes.lock_one(pipe, "j1", 0)
        kept_days.add(pipe, "j1", stripe_no=0)

    assert {row["stripe_no"] for row in world.books.rows("SELECT stripe_no FROM days")} == {0}
    assert world.books.value("SELECT summed_to FROM stripes WHERE jackpot_id = 'j1' AND stripe_no = 1") == 0


def test_what_is_rolled_back_leaves_all_as_it_was(opened: World) -> None:
    _never_add()
    _group(opened, "T1", name="r1")
    told, behind = _told(opened), _behind(opened)

    with opened.engine.connect() as session:
        with pipelined(session) as pipe:
            stripes.lock_one(pipe, "j1", 0)
            kept_days.add(pipe, "j1", stripe_no=0)
        session.rollback()

    assert _behind(opened) == behind
    assert _told(opened) == told


def test_nothing_is_added_twice(opened: World) -> None:
    _group(opened, "T1", name="r1")
    for _ in range(2):
        with opened.engine.begin() as session, pipelined(session) as pipe:
            stripes.lock_one(pipe, "j1", 0)
            kept_days.add(pipe, "j1", stripe_no=0)

    assert [(row["bets"], row["stakes_minor"]) for row in _told(opened)] == [(1, 100), (2, 200)]
