"""
Addresses to which a report leads: accounts, lists, rounds and casinos, for who is signed in.

Periods are those of the report, so a page as of an instant leads to pages as of it.
"""

import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from jackpot_service.domain.casinos import Casino, gaming_day_start
from jackpot_service.domain.principals import Role
from jackpot_service.pages.access import signed_in
from jackpot_service.pages.links import page_address
from jackpot_service.pages.shown_reports import NamedRow
from jackpot_service.reports.documents import Document, Value, as_text
from jackpot_service.reports.finance.period import midnight

DAY: Final = timedelta(days=1)


def _start_of(day: date, casino: Casino | None) -> datetime:
    if casino is None or casino.has_plain_days:
        return midnight(day)
    return gaming_day_start(day, zoneinfo.ZoneInfo(casino.zone), casino.day_starts)


@dataclass(frozen=True, slots=True)
class ReportLinks:
    """
    The links of a report that was made, for who is signed in.

    `jackpots` are those that a casino may see; None for the house, which sees all. `casino_of` finds a casino by its
    id: its days are its own.
    """

    document: Document
    jackpots: frozenset[str] | None
    casino_of: Callable[[str], Casino | None]

    @property
    def edges(self) -> dict[str, str]:
        """The edges of the report's period, as a query states them."""
        return {"from": as_text(self.document.start), "to": as_text(self.document.end)}

    def edges_of_day(self, day: Value, casino_id: Value) -> dict[str, str]:
        """Return the edges of a day within the period: of a casino's gaming day, or of UTC. A day may not be over."""
        if not isinstance(day, date):
            return self.edges
        casino = None if casino_id is None else self.casino_of(str(casino_id))
        first, last = (_start_of(each, casino) for each in (day, day + DAY))
        start, end = self.document.start, self.document.end
        first = first if start is None else max(first, start)
        last = last if end is None else min(last, end)
        return {"from": as_text(first), "to": as_text(last) if end or last <= self.document.made_at else ""}

    # Where figures lead.

    def account(
        self,
        row: NamedRow,
        account: str,
        *,
        part: str = "period",
        movement: str | None = None,
        edges: Mapping[str, str] | None = None,
    ) -> str | None:
        """Return the address of an account: its entries of the period, before it (`opening`), or up to its end."""
        stated = dict(self.edges if edges is None else edges)
        if part == "opening":
            if not stated["from"]:
                return None
            stated = {"to": stated["from"]}
        elif part == "closing":
            stated = {"to": stated["to"]}
        currency = row["currency"] if "currency" in row else row.get("base")
        query = {"currency": currency, "movement": movement, **stated}
        return page_address("pages.show_account_book", jackpot_id=row["jackpot_id"], account=account, **query)

    def list_of(self, report: str, row: NamedRow, section: str, edges: Mapping[str, str] | None = None) -> str | None:
        """Return the address of a report's list, of what the row and the report are about."""
        scope = self.document.scope
        stated = {f"{name}_id": row.get(f"{name}_id") or scope.get(name) for name in ("jackpot", "casino", "table")}
        period = self.edges if edges is None else edges
        return page_address("pages.show_report", name=report, section=section, **stated, **period)

    def round(self, row: NamedRow) -> str | None:
        """Return the address of the row's round, at the row's bet if it has one."""
        table_id, round_id, bet_id = row.get("table_id"), row.get("round_id"), row.get("bet_id")
        if not table_id or not round_id:
            return None
        at_bet = {"bet_id": bet_id, "_anchor": f"bet-{bet_id}"} if bet_id else {}
        return page_address("pages.show_round", table_id=table_id, round_id=round_id, **at_bet)

    def entry(self, row: NamedRow, place: str) -> str | None:
        """Return the address of an entry of the row's jackpot by its place, `stripe.seq`; acts are the house's."""
        if self.jackpots is not None and "act" in row:
            return None
        stripe, _, seq = place.partition(".")
        return page_address("pages.show_entry", book=row["jackpot_id"], stripe=stripe, seq=seq)

    # Where names lead.

    def jackpot(self, row: NamedRow) -> str | None:
        """Return the address of the row's jackpot, if who is signed in may see it."""
        if self.jackpots is not None and row["jackpot_id"] not in self.jackpots:
            return None
        return page_address("pages.show_jackpot", jackpot_id=row["jackpot_id"])

    def statement(self, row: NamedRow) -> str | None:
        """Return the address of the statement of the row's casino, of the report's period."""
        return page_address("pages.show_statement", casino_id=row["casino_id"], **self.edges)

    def named_account(self, row: NamedRow) -> str | None:
        """Return the address of the row's account, of the report's period."""
        return self.account(row, str(row["account"]))

    def act(self, row: NamedRow) -> str | None:
        """Return the address of an act, which auditors may see."""
        shown = signed_in()
        if shown is None or shown.principal.role is not Role.AUDITOR:
            return None
        return page_address("pages.show_entry", book="-", stripe=0, seq=row["act"])
