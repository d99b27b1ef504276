"""
Reports of a hit that many share do what is in proportion to its awards, also while no table is analysed.

Before it is analysed, PostgreSQL expects one award in a round, and would compare each award with each step, bet and
payment.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import event

from jackpot_service.database.transactions import driver_connection
from jackpot_service.domain.payout_tiers import PayoutTier
from jackpot_service.domain.principals import Role
from jackpot_service.reports.finance.registry import REPORTS
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.payouts import held_from
from tests.support.shown_reports import by_books
from tests.support.work import work_of
from tests.support.world import LIVE, World

pytestmark = pytest.mark.slow

WINNERS: Final = 100
PAID: Final = 40
MOST_ROWS: Final = 20 * WINNERS
"""No step of a plan reads more: each award has nine kinds of steps at most, which are compared with it one by one."""

Plans = dict[str, str]


@contextmanager
def explained(engine: sqlalchemy.Engine) -> Iterator[Plans]:
    """Explain what each question of the block does, just before it is asked."""
    plans: Plans = {}

    def explain(connection: Any, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        question = re.sub(r"^DECLARE \w+ NO SCROLL CURSOR FOR", "", statement).strip()
        if question.upper().startswith(("SELECT", "WITH")) and " FROM " in f" {' '.join(question.split())} ":
            explaining = f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, BUFFERS OFF) {question}"
            lines = driver_connection(connection).execute(explaining, parameters or None)
            plans[question] = "\n".join(line for (line,) in lines)

    event.listen(engine, "before_cursor_execute", explain)
    try:
        yield plans
    finally:
        event.remove(engine, "before_cursor_execute", explain)


@pytest.mark.parametrize("tiers", [(), held_from("1")], ids=["payable", "held"])
def test_a_report_does_no_more_than_a_hits_awards_need(world: World, tiers: tuple[PayoutTier, ...]) -> None:
    world.open(LIVE, base_amount="1000", settings={"payout_tiers": tiers})
    world.bet(*(bet(f"b{number:03}") for number in range(WINNERS)))
    awards = world.settle(hand("1", ROYAL_FLUSH))["awards"]
    for number, award in enumerate(awards[: 0 if tiers else PAID]):
        body = {"request_id": f"p{number}", "reference": f"slip {number}"}
        world.put(f"/v1/awards/{award['award_id']}/payment", body, key=world.key(Role.TABLE)).ok(201)

    with explained(world.engine) as plans:
        shown_reports = [by_books(world.engine, name, now=world.clock()) for name in REPORTS]

    assert sum(len(rows) for report in shown_reports for rows in report.rows.values()) > 2 * WINNERS
    assert len(plans) > len(REPORTS)
    too_much = {question: plan for question, plan in plans.items() if work_of(plan) > MOST_ROWS}
    assert not too_much, "\n\n".join(f"{question}\n{plan}" for question, plan in too_much.items())
