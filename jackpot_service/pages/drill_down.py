"""
Drilling down: where a figure of a report leads, which is to the rows that sum to it, and names to what they name.

A figure of an account leads to the account's entries, any other one to a list, to its round, or to its bet.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import Final

from jackpot_service.api.request_context import look, principal
from jackpot_service.domain import accounts
from jackpot_service.domain.casinos import Casino
from jackpot_service.pages.links import page_address
from jackpot_service.pages.report_links import ReportLinks
from jackpot_service.pages.shown_reports import FIGURES, NamedRow
from jackpot_service.records import references
from jackpot_service.reports.documents import Column, Document
from jackpot_service.reports.finance.postings import METER


def links_of(document: Document) -> "DrillDown":
    """Return the links of a report that was made, for who is signed in."""
    casino_id = principal().casino_id
    jackpots = None if casino_id is None else look(lambda session: references.jackpots_at(session, casino_id))

    @cache
    def casino_of(casino_id: str) -> Casino | None:
        return look(lambda session: references.casino(session, casino_id))

    return DrillDown(document, jackpots, casino_of)


@dataclass(frozen=True, slots=True)
class DrillDown(ReportLinks):
    """The links of each value of a report."""

    def value_address(self, section: str, column: Column, row: NamedRow) -> str | None:
        """Return where the value of a column leads, in a row of a section of this name."""
        if column.type in FIGURES and column.name not in _NAMING:
            return self._figure_address(section, column.name, row)
        name = _NAMING.get(column.name)
        if name is None or (self.document.name, section) in _OF_OTHERS:
            return None
        return name(self, row)

    def entry_address(self, row: NamedRow, place: str) -> str | None:
        """Return where the place of an entry leads, `stripe.seq`, in a row."""
        return self.entry(row, place)

    def _figure_address(self, section: str, name: str, row: NamedRow) -> str | None:
        find_address = _OF_SECTION.get((self.document.name, section)) or _OF_REPORT.get(self.document.name)
        return None if find_address is None else find_address(self, name, row)


def _found_by(parameter: str, links: ReportLinks, row: NamedRow) -> str | None:  # noqa: ARG001  as the others
    return page_address("pages.show_rounds", **{parameter: row[parameter]})


_NAMING: Final[Mapping[str, Callable[[ReportLinks, NamedRow], str | None]]] = MappingProxyType(
    {
        "jackpot_id": ReportLinks.jackpot,
        "casino_id": ReportLinks.statement,
        "table_id": partial(_found_by, "table_id"),
        "player_id": partial(_found_by, "player_id"),
        "award_id": partial(_found_by, "award_id"),
        "round_id": ReportLinks.round,
        "bet_id": ReportLinks.round,
        "account": ReportLinks.named_account,
        "act": ReportLinks.act,
    }
)
"""By the name of a column: where its names lead."""

_OF_OTHERS: Final = frozenset({("exceptions", "exceptions")})
"""Sections whose names were sent by a caller, and may be those of nothing."""

_BALANCES: Final = MappingProxyType({"opening": "opening", "closing": "closing"})

_MOVEMENTS: Final = MappingProxyType(
    {
        "in": "contribution",
        "reversed": "reversal",
        "wins": "award",
        "adjustments": "adjustment",
        "corrections": "correction",
        "stakes": "contribution",
        "turnover": "contribution",
        "refunds": "reversal",
        "releases": "release",
        "compensations": "compensation",
        "withheld": "withholding",
        "forfeitures": "forfeiture",
        "settled": "payment",
    }
)
"""The movement of the postings that sum to a column, by its name."""

_POOLS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "meter players": accounts.METER_PLAYERS,
        "meter house": accounts.METER_HOUSE,
        "meter": METER,
        "reserve": accounts.RESERVE,
        "prize fund": accounts.PRIZE_FUND,
        "held awards": accounts.AWARDS_HELD,
    }
)
"""By their names in reports. `pool:meter` is both parts of the meter."""


def _account_link(links: ReportLinks, name: str, row: NamedRow) -> str | None:
    return links.account(row, str(row["account"]), part=_BALANCES.get(name, "period"))


def _pool_link(links: ReportLinks, name: str, row: NamedRow) -> str | None:
    if {"month", "cycle"} & row.keys():
        return None  # Their edges are no instants of the report's.
    part, movement = _BALANCES.get(name, "period"), None if name in _BALANCES else name
    edges = links.edges_of_day(row.get("day"), None)
    return links.account(row, _POOLS[str(row["pool"])], part=part, movement=movement, edges=edges)


def _liability_link(links: ReportLinks, name: str, row: NamedRow) -> str | None:
    item = str(row["item"])
    if item == "meter":
        item = {"players": "meter players", "house": "meter house"}.get(name, item)
    elif name != "total":
        return None  # Only of the meter are there two accounts: the rest is divided by the report.
    return links.account(row, _POOLS[item], part="closing")


def _meter_link(links: ReportLinks, name: str, row: NamedRow) -> str | None:
    if name == "meter":
        return links.account(row, METER, part="closing")
    if name in {"reserve", "prize_fund"}:
        return links.account(row, _POOLS[name.replace("_", " ")], part="closing")
    if name == "hits":
        return links.list_of("hits", row, "hits")
    movement = _MOVEMENTS.get(name)
    return None if movement is None else links.account(row, METER, movement=movement)


def _exchange_link(links: ReportLinks, name: str, row: NamedRow) -> str | None:
    account = accounts.exchange(str(row["currency"]))
    if name in {"closing", "opening"}:
        return links.account(row, account, part=name)
    if name == "position":
        return links.account(row, account, part="closing")
    movement = _MOVEMENTS.get(name)
    return links.account(row, account, movement=movement) if movement or name == "net" else None


def _casino_link(links: ReportLinks, name: str, row: NamedRow) -> str | None:
    """A casino's people read lists; to those of the house, its account says the same entry by entry."""
    account = accounts.casino(str(row.get("casino_id") or links.document.scope["casino"]))
    if name in _BALANCES:
        return links.account(row, account, part=name)
    if name == "net":
        return None  # The account has the payments of the period too.
    if name in {"held", "held_awards"}:
        return links.list_of("awards", row, "awards")
    within = links.account(row, account, movement=_MOVEMENTS.get(name, name.removesuffix("s")))
    return within or _list_of_casino(links, name, row)


def _casino_day_link(links: ReportLinks, name: str, row: NamedRow) -> str | None:
    if name in _BALANCES:
        return None
    return _list_of_casino(links, name, row, links.edges_of_day(row["gaming_day"], links.document.scope["casino"]))


def _list_of_casino(links: ReportLinks, name: str, row: NamedRow, edges: Mapping[str, str] | None = None) -> str | None:
    if name == "awards":
        return links.list_of("awards", row, "awards", edges)
    section = {"stakes": "bets", "refunds": "refunds", "net": "rounds"}.get(name, "acts")
    return links.list_of("rounds", row, section, edges)


def _bets_link(links: ReportLinks, name: str, row: NamedRow) -> str | None:
    """Groupings that are parameters narrow the list; net figures lead to its rounds."""
    scope, has_table = links.document.scope, "table_id" in row or "table" in links.document.scope
    casino_id = row.get("casino_id") or scope.get("casino")
    if {"month", "currency"} & row.keys() or ("day" in row and has_table and casino_id is None):
        return None  # No list is of a currency or of a month; a table's days are those of a casino that is not stated.
    section = "refunds" if name.startswith("reversed_") else "rounds" if name.startswith("net_") else "bets"
    return links.list_of("rounds", row, section, links.edges_of_day(row.get("day"), casino_id))


def _list_link(report: str, section: str, links: ReportLinks, name: str, row: NamedRow) -> str | None:  # noqa: ARG001  as the others
    return links.list_of(report, row, section)


def _movement_link(links: ReportLinks, name: str, row: NamedRow) -> str | None:  # noqa: ARG001  as the others
    return links.account(row, str(row["account"]), movement=str(row["movement"]))


def _entry_link(links: ReportLinks, name: str, row: NamedRow) -> str | None:  # noqa: ARG001  as the others
    return links.entry(row, str(row["entry"]))


def _round_link(links: ReportLinks, name: str, row: NamedRow) -> str | None:  # noqa: ARG001  as the others
    return links.round(row)


_OF_SECTION: Final[Mapping[tuple[str, str], Callable[[ReportLinks, str, NamedRow], str | None]]] = MappingProxyType(
    {
        ("trial-balance", "accounts"): _account_link,
        ("trial-balance", "totals"): partial(_list_link, "trial-balance", "accounts"),
        ("postings", "accounts"): _account_link,
        ("postings", "movements"): _movement_link,
        ("postings", "postings"): _entry_link,
        ("rounds", "acts"): _entry_link,
        ("reconciliation", "summary"): partial(_list_link, "reconciliation", "accounts"),
        ("reconciliation", "contributions"): _account_link,
        ("reconciliation", "reversals"): _account_link,
        ("reconciliation", "accounts"): _account_link,
        ("reconciliation", "held"): _account_link,
        ("pool-movements", "movements"): _pool_link,
        ("pool-movements", "totals"): _pool_link,
        ("liability", "liability"): _liability_link,
        ("liability", "jackpots"): partial(_list_link, "liability", "liability"),
        ("liability", "totals"): partial(_list_link, "liability", "liability"),
        ("liability", "unpaid"): partial(_list_link, "payables", "payables"),
        ("meters", "meters"): _meter_link,
        ("fx", "currencies"): _exchange_link,
        ("fx", "positions"): _exchange_link,
        ("casino-statement", "accounts"): _casino_link,
        ("casino-statement", "days"): _casino_day_link,
        ("casino-balances", "accounts"): _casino_link,
        ("finance-summary", "accounts"): _casino_link,
        ("finance-summary", "liability"): _liability_link,
        ("finance-summary", "movements"): _pool_link,
        ("finance-summary", "hits"): _round_link,
        ("awards", "totals"): partial(_list_link, "awards", "awards"),
        ("payables", "ageing"): partial(_list_link, "payables", "payables"),
    }
)

_OF_REPORT: Final[Mapping[str, Callable[[ReportLinks, str, NamedRow], str | None]]] = MappingProxyType(
    {
        "contributions": _bets_link,
        "rtp": partial(_list_link, "awards", "awards"),
        "hits": _round_link,
        "rounds": _round_link,
        "awards": _round_link,
        "payables": _round_link,
    }
)
