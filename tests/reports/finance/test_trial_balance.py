from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import combinations
from typing import Any

import pytest

from jackpot_service.domain.money import ZERO
from tests.properties.profile import seeds
from tests.reports.finance import journal
from tests.reports.finance.journal import Line
from tests.reports.finance.play import Play
from tests.support import story
from tests.support.asking import only, report, rows
from tests.support.bets import bet
from tests.support.world import World

Account = tuple[str, str, str]
"""A jackpot, an account of its book, and a currency."""

Figures = tuple[Decimal, Decimal, Decimal, Decimal]
"""Opening, taken out, put in, closing."""


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds(40))
def test_every_account_is_the_sum_of_its_postings_whatever_the_period(world: World, seed: int) -> None:
    play = Play(world, seed)
    play.open()
    edges = [world.clock()]
    for _ in range(3):
        play.go_on(21)
        edges.append(world.clock())
    play.retire()
    story.require_whole(world)

    booked = world.books.rows("TABLE postings")
    periods = [(None, None), *((None, edge) for edge in edges), *combinations(edges, 2), (edges[1], None)]
    for start, end in periods:
        document = report(world, "trial-balance", **_stated(start=start, end=end))
        accounts = journal.numbers(document, "accounts")
        shown = {(row["jackpot_id"], row["account"], row["currency"]): _figures(row) for row in accounts}
        assert len(shown) == len(accounts)
        assert shown == expected_rows(booked, start, end)
        totals = journal.numbers(document, "totals")
        assert {(row["jackpot_id"], row["currency"]): _figures(row) for row in totals} == together(shown)


def test_a_movement_puts_in_or_takes_out_what_it_comes_to(world: World) -> None:
    world.open(base_amount="1000")
    start = world.clock()
    for number, amount in enumerate(("5", "-3")):
        moved_by_hand = {"account": "reserve", "amount": amount, "document": "memo", "cause": "count-error"}
        world.change("adjustment", {"jackpot_id": "j1", **moved_by_hand}, request_id=f"q{number}")
    world.bet(bet())

    period = rows(world, "trial-balance", start=start)

    reserve, house_ = (only(period, account=account) for account in ("pool:reserve", "house:adjustments"))
    assert (reserve["debit"], reserve["credit"], reserve["closing"]) == ("0", "2.05", "2.05")
    assert (house_["debit"], house_["credit"], house_["closing"]) == ("2", "0", "-2")


def expected_rows(booked: Sequence[Line], start: datetime | None, end: datetime | None) -> dict[Account, Figures]:
    """
    Every account that held something at the beginning, or that a movement changed: posting by posting.

    A movement puts in or takes out what its postings of the whole period come to.
    """
    opening: defaultdict[Account, list[Decimal]] = defaultdict(list)
    moved: defaultdict[Account, defaultdict[str, list[Decimal]]] = defaultdict(lambda: defaultdict(list))
    for line in booked:
        key = (line["jackpot_id"], line["account"], line["currency"])
        if start is not None and line["booked_at"] < start:
            opening[key].append(line["amount"])
        elif end is None or line["booked_at"] < end:
            moved[key][line["movement"]].append(line["amount"])
    lines_ = {}
    for key in {*opening, *moved}:
        sums = [sum(amounts, ZERO) for amounts in moved[key].values()]
        before, credit = sum(opening[key], ZERO), sum((sum_ for sum_ in sums if sum_ > ZERO), ZERO)
        debit = -sum((sum_ for sum_ in sums if sum_ < ZERO), ZERO)
        if before or any(sums):
            lines_[key] = (before, debit, credit, before + credit + -debit)
    return lines_


def together(accounts: Mapping[Account, Figures]) -> dict[tuple[str, str], Figures]:
    """All accounts of a jackpot in a currency, which are zero at both ends."""
    of_each = defaultdict(list)
    for (jackpot_id, _, currency), figures in accounts.items():
        of_each[jackpot_id, currency].append(figures)
    summed = {}
    for key, lines_ in of_each.items():
        opening, debit, credit, closing = (sum(column, ZERO) for column in zip(*lines_, strict=True))
        assert (opening, closing, debit) == (ZERO, ZERO, credit)
        summed[key] = (opening, debit, credit, closing)
    return summed


def _figures(row: Mapping[str, Any]) -> Figures:
    return row["opening"], row["debit"], row["credit"], row["closing"]


def _stated(**period: datetime | None) -> dict[str, datetime]:
    return {name: edge for name, edge in period.items() if edge is not None}
