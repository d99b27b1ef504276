"""The laws of the books, each broken by itself; that they hold for what the use cases book, their tests ask for."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from sqlalchemy import text

from jackpot_service.database import snapshots
from jackpot_service.domain.accounts import Account, Pools
from jackpot_service.domain.entries import Attribution
from jackpot_service.ledger import laws
from jackpot_service.ledger.digests import first_head, next_head
from jackpot_service.ledger.laws import Replayed
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedCycle, BookedEntry, BookedStripe, Line
from tests.support import history

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
DIGEST = b"d" * 32
HEAD = next_head(first_head("live", 0), DIGEST, NOON)


def entry(seq: int = 1, *lines: Line) -> BookedEntry:
    return BookedEntry(
        book="live",
        stripe_no=0,
        seq=seq,
        kind="bets",
        principal="srv",
        round_key=None,
        step=None,
        received_at=NOON,
        booked_at=NOON,
        digest=DIGEST,
        head=HEAD,
        lines=lines,
        attribution=Attribution(),
        figures=(),
    )


def stripe(stripe_no: int = 0) -> BookedStripe:
    return BookedStripe(
        stripe_no, 0, first_head("live", stripe_no), Pools(), accepting=True, booked_at=NOON, added_by=1
    )


def cycle(number: int, *cut: int, stripe_no: int = 0) -> BookedCycle:
    return BookedCycle(number, 1, stripe_no, cut[stripe_no], cut)


def booked(*, stripes: tuple[BookedStripe, ...] = (), cycles: tuple[BookedCycle, ...] = (), **ends: int) -> Replayed:
    """A book of empty entries; `ends` are the seqs of the stripes' last ones: `s0=3`."""
    last = {int(name[1:]): replace(entry(seq), stripe_no=int(name[1:])) for name, seq in ends.items()}
    return Replayed("live", stripes, cycles, last=last)


def line(amount: str, *, account: str = "pool:reserve", currency: str = "EUR", movement: str = "award") -> Line:
    return account, currency, Decimal(amount), movement


def codes(mismatches: Iterator[Mismatch]) -> list[Code]:
    return [mismatch.code for mismatch in mismatches]


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "0.0000000000000000001", "100000000000000000000"])
def test_an_amount_that_the_books_cannot_hold_is_inexact(amount: str) -> None:
    assert codes(laws.amounts_are_exact(entry(1, line(amount)))) == [Code.ENTRY_INEXACT]


@pytest.mark.parametrize("amount", ["0.000000000000000001", "-99999999999999999999"])
def test_the_smallest_and_the_largest_amount_are_exact(amount: str) -> None:
    assert codes(laws.amounts_are_exact(entry(1, line(amount)))) == []


@pytest.mark.parametrize("amounts", [("1.00", "1.0000000000000000000"), ("1.0000000000000000000", "1.00")])
def test_an_amount_with_too_many_decimals_is_inexact_whatever_equals_it(amounts: tuple[str, str]) -> None:
    codes_by_amount = {amount: codes(laws.amounts_are_exact(entry(1, line(amount)))) for amount in amounts}

    assert codes_by_amount == {"1.00": [], "1.0000000000000000000": [Code.ENTRY_INEXACT]}


@pytest.mark.parametrize("other", [line("-0.99"), line("-1", currency="GBP"), line("-1", movement="seed")])
def test_what_does_not_sum_to_zero_in_each_currency_and_movement_is_unbalanced(other: Line) -> None:
    found_codes = codes(laws.postings_sum_to_zero(entry(1, line("1"), other)))
    assert set(found_codes) == {Code.ENTRY_UNBALANCED}


def test_equal_amounts_on_both_sides_are_balanced() -> None:
    assert codes(laws.postings_sum_to_zero(entry(1, line("1"), line("-1.00", account="house:margin")))) == []


def test_a_stripe_that_does_not_begin_at_one_has_a_gap() -> None:
    assert codes(laws.seqs_are_dense(None, entry(2))) == [Code.SEQ_GAP]
    assert codes(laws.seqs_are_dense(None, entry(1))) == []


def test_an_entry_that_does_not_follow_the_one_before_it_leaves_a_gap() -> None:
    assert codes(laws.seqs_are_dense(entry(1), entry(3))) == [Code.SEQ_GAP]
    assert codes(laws.seqs_are_dense(entry(1), entry(2))) == []


def test_a_chain_begins_with_the_head_of_its_own_stripe() -> None:
    assert codes(laws.heads_are_chained(None, entry(1))) == []
    assert codes(laws.heads_are_chained(None, replace(entry(1), stripe_no=1))) == [Code.CHAIN_BROKEN]


def test_a_head_that_does_not_follow_from_the_one_before_breaks_the_chain() -> None:
    following = replace(entry(2), head=next_head(HEAD, DIGEST, NOON))
    assert codes(laws.heads_are_chained(entry(1), following)) == []
    assert codes(laws.heads_are_chained(entry(1), replace(following, digest=b"e" * 32))) == [Code.CHAIN_BROKEN]
    late = NOON + timedelta(microseconds=1)
    assert codes(laws.heads_are_chained(entry(1), replace(following, booked_at=late))) == [Code.CHAIN_BROKEN]
    assert codes(laws.heads_are_chained(replace(entry(1), head=DIGEST), following)) == [Code.CHAIN_BROKEN]


def test_an_entry_dated_before_the_one_before_it_falls() -> None:
    earlier = replace(entry(2), booked_at=NOON - timedelta(microseconds=1))
    assert codes(laws.booked_at_never_falls(entry(1), earlier)) == [Code.BOOKED_AT_FALLS]
    assert codes(laws.booked_at_never_falls(entry(1), entry(2))) == []


def test_an_entry_dated_before_its_request_is_named() -> None:
    early = replace(entry(1), received_at=NOON + timedelta(microseconds=1))
    assert codes(laws.nothing_is_booked_before_it_came(None, early)) == [Code.BOOKED_BEFORE_RECEIVED]
    assert codes(laws.nothing_is_booked_before_it_came(None, entry(1))) == []


def test_a_missing_stripe_is_named() -> None:
    assert codes(laws.stripes_are_there(booked())) == [Code.STRIPE_MISSING]
    assert codes(laws.stripes_are_there(booked(stripes=(stripe(0), stripe(2))))) == [Code.STRIPE_MISSING]
    assert codes(laws.stripes_are_there(booked(stripes=(stripe(0),), s1=1))) == [Code.STRIPE_MISSING]
    assert codes(laws.stripes_are_there(booked(stripes=(stripe(0), stripe(1)), s1=1))) == []


def test_a_stripe_ends_where_its_entries_do() -> None:
    assert codes(laws.stripes_end_with_their_last_entry(booked(stripes=(stripe(),)))) == []
    assert set(codes(laws.stripes_end_with_their_last_entry(booked(stripes=(stripe(),), s0=1)))) == {Code.STRIPE_END}
    ended = replace(stripe(), seq=1, head=HEAD)
    assert codes(laws.stripes_end_with_their_last_entry(booked(stripes=(ended,), s0=1))) == []
    for wrong in (replace(ended, seq=2), replace(ended, head=DIGEST), replace(ended, booked_at=None)):
        assert codes(laws.stripes_end_with_their_last_entry(booked(stripes=(wrong,), s0=1))) == [Code.STRIPE_END]


def test_pools_without_postings_are_named() -> None:
    rich = replace(stripe(), pools=Pools(reserve=Decimal(1)))
    assert codes(laws.pools_are_the_sum_of_their_postings(booked(stripes=(rich,)))) == [Code.STRIPE_POOLS]
    replayed = booked(stripes=(rich,))
    replayed.pools[0] = Pools(reserve=Decimal("1.00"))
    assert codes(laws.pools_are_the_sum_of_their_postings(replayed)) == []


def test_accounts_that_do_not_sum_to_zero_are_named_by_their_currency() -> None:
    replayed = booked()
    replayed.balances["casino:c", "EUR"] += Decimal(1)
    replayed.balances["casino:c", "GBP"] += Decimal(1)
    replayed.balances["house:margin", "EUR"] -= Decimal(1)
    assert [mismatch.place for mismatch in laws.accounts_sum_to_zero(replayed)] == ["GBP"]


def test_days_that_do_not_add_up_to_the_entries_are_named_by_their_account() -> None:
    replayed = replace(
        booked(), by_days={Account("pool:reserve"): Decimal("1.00"), Account("house:margin"): Decimal(0)}
    )
    replayed.balances["pool:reserve", "EUR"] += Decimal(1)
    assert codes(laws.days_add_up(replayed)) == []
    replayed.balances["house:margin", "EUR"] += Decimal("1e-18")
    (mismatch,) = laws.days_add_up(replayed)
    assert (mismatch.code, mismatch.place) == (Code.DAY_FIGURES, "house:margin")


def test_a_stripe_may_owe_the_reserve_what_the_others_hold_but_not_more() -> None:
    replayed = booked()
    replayed.pools.update({0: Pools(reserve=Decimal(-1)), 1: Pools(reserve=Decimal(1))})
    assert codes(laws.reserve_is_not_negative(replayed)) == []
    replayed.pools[0] = Pools(reserve=Decimal(-2))
    assert codes(laws.reserve_is_not_negative(replayed)) == [Code.RESERVE_NEGATIVE]


def test_a_jackpot_has_cycles_from_one_and_the_reference_book_none() -> None:
    assert codes(laws.cycles_are_dense(booked(cycles=(cycle(1, 1), cycle(2, 2))))) == []
    assert codes(laws.cycles_are_dense(booked(cycles=(cycle(1, 1), cycle(3, 2))))) == [Code.CYCLE_GAP]
    assert codes(laws.cycles_are_dense(booked())) == [Code.CYCLE_GAP]
    assert codes(laws.cycles_are_dense(Replayed("-", (), ()))) == []
    assert codes(laws.cycles_are_dense(Replayed("-", (), (cycle(1, 1),)))) == [Code.CYCLE_GAP]


def test_a_cut_ends_with_the_entry_that_opened_its_cycle() -> None:
    assert codes(laws.cuts_end_with_their_opening(booked(cycles=(cycle(1, 2, 3),), s0=2, s1=3))) == []
    elsewhere = replace(cycle(1, 2, 3), seq=1)
    assert codes(laws.cuts_end_with_their_opening(booked(cycles=(elsewhere,), s0=2, s1=3))) == [Code.CYCLE_CUT]


def test_a_cut_names_only_positions_that_exist() -> None:
    assert codes(laws.cuts_end_with_their_opening(booked(cycles=(cycle(1, 2, 3),), s0=2, s1=2))) == [Code.CYCLE_CUT]


def test_a_cut_before_an_earlier_one_crosses_it() -> None:
    assert codes(laws.cuts_do_not_cross(booked(cycles=(cycle(1, 1), cycle(2, 2, 1))))) == []
    assert codes(laws.cuts_do_not_cross(booked(cycles=(cycle(1, 1, 2), cycle(2, 2, 1))))) == [Code.CUTS_CROSS]
    assert codes(laws.cuts_do_not_cross(booked(cycles=(cycle(1, 1, 2), cycle(2, 2))))) == [Code.CUTS_CROSS]


def test_two_cycles_cannot_be_opened_by_one_entry() -> None:
    assert codes(laws.cuts_do_not_cross(booked(cycles=(cycle(1, 1), cycle(2, 1))))) == [Code.CUTS_CROSS]


def test_a_reserve_that_a_hit_left_is_named_whatever_single_stripes_held() -> None:
    replayed = booked(cycles=(cycle(1, 1), cycle(2, 3, 4)))
    replayed.at_cuts.update({(0, 3): Pools(reserve=Decimal(-1)), (1, 4): Pools(reserve=Decimal(1))})
    assert codes(laws.a_hit_empties_the_reserve(replayed)) == []
    replayed.at_cuts[1, 4] = Pools(reserve=Decimal(2))
    assert codes(laws.a_hit_empties_the_reserve(replayed)) == [Code.CUT_RESERVE]


def test_a_law_is_in_one_of_the_lists() -> None:
    """A law that no list holds would never be asked."""
    listed = {law.__name__ for law in (*laws.LAWS_OF_POSTINGS, *laws.ENTRY_LAWS, *laws.BOOK_LAWS)}
    written = {
        name for name, value in vars(laws).items() if getattr(value, "__annotations__", {}).get("return") is Found
    }
    assert {name for name in written if not name.startswith("_")} - {"broken_in"} == listed


def test_every_law_holds_for_a_history_with_everything_in_it(database_url: str) -> None:
    with history.engine_of(database_url) as engine:
        history.write(engine)
        with snapshots.snapshot(engine) as session:
            assert laws.broken(session) == ()


def test_no_law_is_broken_in_an_empty_database(database_url: str) -> None:
    with history.engine_of(database_url) as engine, snapshots.snapshot(engine) as session:
        assert laws.broken(session) == ()


def test_a_stripe_that_was_changed_is_named_with_its_place(database_url: str) -> None:
    with history.engine_of(database_url) as engine:
        history.open_casino(history.Casino(engine))
        with engine.connect() as session:
            session.execute(text("UPDATE stripes SET reserve = 1 WHERE jackpot_id = 'cyber' AND stripe_no = 1"))
            (mismatch,) = laws.broken(session)
    assert (mismatch.code, mismatch.book, mismatch.place) == (Code.STRIPE_POOLS, "cyber", "stripe 1")
    assert str(mismatch).startswith("stripe-pools: cyber, stripe 1: holds")
