"""The panels of the finance page: each reads its own reports, by itself, and is a page of its own too."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from jackpot_service.api.request_context import context, look, now
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO
from jackpot_service.ledger import instants
from jackpot_service.pages import finance_charts, lamps
from jackpot_service.pages.finance_charts import FixedPrizeReturn
from jackpot_service.pages.finance_query import FinanceQuery
from jackpot_service.pages.report_rows import account_link, report_link, report_rows, statement_link
from jackpot_service.reports import making
from jackpot_service.reports.book_checks import book_checks
from jackpot_service.reports.last_reconciliations import Reconciliation, Variance, reconciliations
from jackpot_service.reports.questions import By

LAST_HITS: Final = 10

OTHER_MOVEMENTS: Final = ("releases", "compensations", "corrections", "withheld", "forfeitures")
"""Movements of a casino's account that are seldom: they share a column, which is there if any moved something."""


@dataclass(frozen=True, slots=True)
class Panel:
    """
    A panel: its name, which is also that of its template, its title, and what it reads.

    `rows` reads more for a panel that stands alone: rows that its figures are the sums of. `says_the_same`: whether it
    says the same for ever as of an instant, as the books do. Checks of them may be noted a moment after their time.
    """

    name: str
    title: str
    read: Callable[[FinanceQuery], Mapping[str, Any]]
    rows: Callable[[FinanceQuery], Mapping[str, Any]] = lambda _: {}
    says_the_same: bool = True

    @property
    def template(self) -> str:
        """The template of what the panel shows."""
        return f"_finance_{self.name}.html"


def _figures(query: FinanceQuery) -> Mapping[str, Any]:
    """Read the amounts that are held: the rows of the liability."""
    items, totals = report_rows("liability", query.since_beginning, "liability", "jackpots")
    by_item = {row["item"]: row for row in items}
    return {
        "items": items,
        "total": next(iter(totals), None),
        "meter": by_item.get("meter"),
        "prize_fund": by_item.get("prize fund"),
        "link": report_link("liability", query.since_beginning),
    }


def _movements(query: FinanceQuery) -> Mapping[str, Any]:
    """Read the movements of the period, with a column for each pool; those that moved nothing are left out."""
    question = query.question(By.DAY)
    (totals,) = report_rows("pool-movements", question, "totals")
    by_pool = {row["pool"]: row for row in totals}
    names = ("opening", *(movement.value for movement in Movement), "closing")
    rows = [{"name": name, "amounts": [row[name] for row in by_pool.values()]} for name in names]
    return {
        "pools": list(by_pool),
        "movements": [row for row in rows if any(row["amounts"]) or row["name"] in {"opening", "closing"}],
        "movements_link": report_link("pool-movements", question),
    }


def _held(query: FinanceQuery) -> Mapping[str, Any]:
    """Read the pools' closing balances, by day."""
    question = query.question(By.DAY)
    movements, totals = report_rows("pool-movements", question, "movements", "totals")
    chart = finance_charts.held_by_day(query, movements, totals)
    return {"chart_of_panel": chart, "link": report_link("pool-movements", question)}


def _books(query: FinanceQuery) -> Mapping[str, Any]:
    """Read whether the books agree, from results that are kept."""
    making.resolve(context().engine, REFERENCE_BOOK, query.as_of, now=now())
    is_over = partial(instants.is_over, book=REFERENCE_BOOK, instant=query.as_of)
    compared = look(partial(reconciliations, at=query.as_of), holds=is_over)
    checks = look(partial(book_checks, base=query.base, at=query.as_of), holds=is_over)
    stale_after = timedelta(seconds=context().config.rates_stale_after_s)
    return {
        "lamps": lamps.lamps(compared, checks, at=query.as_of, stale_after=stale_after),
        "variances": [
            {"of": row, "variance": variance, "link": _account(row, variance)}
            for row, variance in lamps.variances(compared)
        ],
        "link": report_link("reconciliation", query.since_beginning),
    }


def _account(row: Reconciliation, variance: Variance) -> str | None:
    return account_link(row.jackpot_id, variance.account, variance.currency, end=row.end)


def _return(query: FinanceQuery) -> Mapping[str, Any]:
    """Read the return of the fixed prizes, day by day and of the whole period."""
    days, cumulative = report_rows("rtp-by-day", query.question(), "days", "cumulative")
    rows = finance_charts.fixed_prize_rows(cumulative)
    return {
        "chart_of_panel": finance_charts.return_by_day(query, cumulative),
        "whole": FixedPrizeReturn(rows[-1]) if rows else None,
        "days": finance_charts.fixed_prize_rows(days),
        "link": report_link("rtp-by-day", query.question()),
    }


def _casinos(query: FinanceQuery) -> Mapping[str, Any]:
    """Read the balances of casinos, and what moved them."""
    question = query.question()
    (rows,) = report_rows("casino-balances", question, "accounts")
    shown = [{**row, "other": sum((row[name] for name in OTHER_MOVEMENTS), ZERO)} for row in rows]
    return {
        "casinos": [
            {"casino_id": casino_id, "link": statement_link(casino_id, question), "rows": list(of_casino)}
            for casino_id, of_casino in groupby(shown, key=itemgetter("casino_id"))
        ],
        "has_other": any(row["other"] for row in shown),
        "link": report_link("casino-balances", question),
    }


def _hits(query: FinanceQuery) -> Mapping[str, Any]:
    """Read the last hits, the latest first."""
    (rows,) = report_rows("hits", query.since_beginning, "hits")
    return {
        "hits": list(reversed(rows[-LAST_HITS:])),
        "count": len(rows),
        "paid": sum((row["paid"] for row in rows), Decimal(0)),
        "link": report_link("hits", query.since_beginning),
    }


PANELS: Final[Mapping[str, Panel]] = {
    panel.name: panel
    for panel in (
        Panel("figures", "What is held", _figures, _movements),
        Panel("held", "What is held, by day", _held),
        Panel("books", "Do the books agree?", _books, says_the_same=False),
        Panel("return", "Return of the fixed prizes", _return),
        Panel("casinos", "Casinos", _casinos),
        Panel("hits", "Last hits", _hits),
    )
}
"""By their names, in the order in which they are read."""
