"""The frame of every page: the navigation, of which everybody sees what they may open, and who is signed in."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import flask

from jackpot_service.api.reading import age_s
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import Principal
from jackpot_service.pages import access, assets, badges
from jackpot_service.pages.access import signed_in
from jackpot_service.version import service_version


@dataclass(frozen=True, slots=True)
class Item:
    """
    A page in the navigation, by its endpoint; it is marked on the pages of its `details` too.

    `badge` counts what waits there for somebody.
    """

    label: str
    endpoint: str
    details: tuple[str, ...] = ()
    badge: Callable[[Principal], int] | None = None

    def is_for(self, principal: Principal) -> bool:
        """Whether somebody may open it."""
        return access.audience_of(self.endpoint).admits(principal)

    def waiting(self) -> int:
        """How much waits there for who is signed in; 0 if it cannot be read, so that a page is shown all the same."""
        shown = signed_in()
        if self.badge is None or shown is None:
            return 0
        try:
            return self.badge(shown.principal)
        except LedgerError:
            return 0


@dataclass(frozen=True, slots=True)
class Section:
    """A group of pages in the navigation."""

    title: str
    items: tuple[Item, ...]


NAVIGATION: Final[tuple[Section, ...]] = (
    Section(
        "Now",
        (
            Item("Floor", "pages.show_floor", ("pages.show_casino_floor", "pages.show_casino")),
            Item("Rounds", "pages.show_rounds", ("pages.show_round",)),
            Item(
                "Jackpots",
                "pages.show_jackpots",
                (
                    *("pages.show_jackpot", "pages.show_rules", "pages.show_hits", "pages.show_history"),
                    *("pages.show_suspension", "pages.suspend", "pages.show_resumption", "pages.resume"),
                ),
            ),
        ),
    ),
    Section(
        "Money",
        (
            Item("Finance", "pages.show_finance", ("pages.show_finance_panel",)),
            Item(
                "Reports",
                "pages.show_reports",
                (
                    *("pages.show_report", "pages.show_account_book", "pages.show_entry"),
                    *("pages.show_closed_periods", "pages.show_closed_period", "pages.close_next_period"),
                ),
            ),
            Item("Statements", "pages.show_statements", ("pages.show_statement",)),
            Item("Exports", "pages.show_exports", ("pages.begin_export",)),
        ),
    ),
    Section(
        "Control",
        (
            Item(
                "Changes",
                "pages.show_changes",
                (
                    *("pages.show_change", "pages.decide", "pages.show_emergency", "pages.decide_alone"),
                    *("pages.show_new_changes", "pages.show_new_change", "pages.ask_for_change"),
                ),
                badge=badges.changes_waiting,
            ),
            Item(
                "Awards",
                "pages.show_awards",
                (
                    "pages.show_award",
                    "pages.stop_payment",
                    "pages.record_award_evidence",
                    "pages.record_award_payment",
                    "pages.print_award_slip",
                ),
                badge=badges.awards_waiting,
            ),
            Item("Exceptions", "pages.show_exceptions", ("pages.acknowledge",)),
            Item(
                "Rates",
                "pages.show_bases",
                (
                    *("pages.show_rates", "pages.show_sheet", "pages.show_new_sheet", "pages.request_sheet"),
                    *("pages.check_sheet", "pages.show_import", "pages.import_document"),
                ),
            ),
            Item("Audit trail", "pages.show_audit", ("pages.show_act",)),
            Item("Proof", "pages.show_proof_of_books", ("pages.start_proof",)),
            Item("Health", "pages.show_health"),
            Item(
                "Set-up",
                "pages.show_set_up_casinos",
                (
                    *("pages.show_new_casino", "pages.add_new_casino"),
                    *("pages.show_set_up_tables", "pages.show_new_table", "pages.add_new_table"),
                    *("pages.show_set_up_jackpots", "pages.show_new_jackpot", "pages.open_new_jackpot"),
                    *("pages.show_stripes", "pages.spread_jackpot", "pages.show_set_up_keys", "pages.show_key"),
                    *("pages.show_new_key", "pages.make_key", "pages.show_new_person", "pages.let_in"),
                    *("pages.show_revocation", "pages.revoke", "pages.show_end_of_sessions", "pages.end_sessions"),
                ),
            ),
        ),
    ),
    Section("You", (Item("Account", "pages.show_account"),)),
)


def values() -> dict[str, Any]:
    """Return what the templates of all pages use."""
    shown = signed_in()
    return {
        "asset": assets.address_of,
        "here": flask.request.full_path.rstrip("?"),
        "replica_age": age_s,
        "navigation": () if shown is None else tuple(_navigation(shown.principal)),
        "signed_in": shown,
        "scheme": scheme(),
        "version": service_version(),
    }


def first_page(principal: Principal) -> str:
    """Return the address at which somebody begins: the first page that they may open."""
    section = next(_navigation(principal))
    return flask.url_for(section.items[0].endpoint)


SCHEMES: Final = ("light", "dark")
SCHEME_COOKIE: Final = "jackpot-scheme"


def scheme() -> str:
    """Return the colours that somebody chose: light, dark, or empty for those of their machine."""
    shown = flask.request.cookies.get(SCHEME_COOKIE, "")
    return shown if shown in SCHEMES else ""


def _navigation(principal: Principal) -> Iterator[Section]:
    for section in NAVIGATION:
        items = tuple(item for item in section.items if item.is_for(principal))
        if items:
            yield Section(section.title, items)
