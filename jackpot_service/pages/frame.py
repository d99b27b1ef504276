"""The frame of every page: the navigation, of which everybody sees what they may open, and who is signed in."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import flask

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
            Item("Floor", "pages.show_floor", ("pages.show_casino_floor",)),
            Item("Rounds", "pages.show_rounds", ("pages.show_round",)),
            Item(
                "Jackpots",
                "pages.show_jackpots",
                ("pages.show_jackpot", "pages.show_rules", "pages.show_hits", "pages.show_history"),
            ),
        ),
    ),
    Section(
        "Control",
        (
            Item(
                "Changes",
                "pages.show_changes",
                ("pages.show_change", "pages.decide", "pages.show_emergency", "pages.decide_alone"),
                badge=badges.changes_waiting,
            ),
            Item("Exceptions", "pages.show_exceptions", ("pages.acknowledge",)),
            Item("Audit trail", "pages.show_audit", ("pages.show_act",)),
            Item("Proof", "pages.show_proof_of_books", ("pages.start_proof",)),
            Item("Health", "pages.show_health"),
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
