"""The page of a casino: its tables, how long its awards can be claimed, what it withholds, and where else it is."""

from collections.abc import Mapping
from typing import Any, Final

import flask

from jackpot_service.api.audit import READERS
from jackpot_service.api.lists import page
from jackpot_service.api.request_context import look, principal
from jackpot_service.api.tables import TablesQuerySchema
from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.withholding import VersionedRule
from jackpot_service.pages import figures
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.change_links import Links
from jackpot_service.pages.links import page_address
from jackpot_service.pages.lists import address_with, read_place
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.records import references
from jackpot_service.reports.claims import claims_of_casino
from jackpot_service.reports.withholding_rules import rules_of_casino

ELSEWHERE: Final = (
    ("Floor", "pages.show_casino_floor", "casino_id"),
    ("Awards", "pages.show_awards", "casino_id"),
    ("Exceptions", "pages.show_exceptions", "casino_id"),
    ("Statement", "pages.show_statement", "casino_id"),
    ("Tables in set-up", "pages.show_set_up_tables", "casino_id"),
)


@blueprint.route("/casinos/<id:casino_id>", methods=["GET"])
@people(*WATCHERS)
def show_casino(casino_id: str) -> str:
    """Show a casino; somebody of a casino sees their own. Raises: UnknownCasino."""
    casino = look(lambda session: references.visible_casino(session, principal(), casino_id))
    query = read_place(TablesQuerySchema())
    tables = page(
        query.values,
        lambda session, limit: references.tables(
            session, principal(), casino_id=casino_id, limit=limit, after=query.values["after"]
        ),
        lambda table: table.table_id,
    )
    rules = look(lambda session: rules_of_casino(session, principal(), casino_id)).rules
    return flask.render_template(
        "casino.html",
        casino=casino,
        tables=tables["items"],
        claims=look(lambda session: claims_of_casino(session, principal(), casino_id)).claims,
        rules=[_shown(rule) for rule in rules],
        elsewhere=_elsewhere(casino_id),
        changes=Links().kinds,
        sees_acts=principal().role in READERS,
        next_page=address_with({}, after=tables["next"]) if tables["next"] else None,
        first_page=address_with({}) if "after" in query.typed else None,
    )


def _elsewhere(casino_id: str) -> Mapping[str, str]:
    """The pages about a casino that somebody may open, by what they are called."""
    addresses = {title: page_address(endpoint, **{name: casino_id}) for title, endpoint, name in ELSEWHERE}
    return {title: address for title, address in addresses.items() if address is not None}


def _shown(versioned: VersionedRule) -> Mapping[str, Any]:
    rule = versioned.rule

    def amount(minor: int | None) -> str | None:
        if minor is None:
            return None
        return f"{rule.currency}{figures.SPACE}{figures.in_units(minor, CURRENCIES[rule.currency].exponent)}"

    return {
        "currency": rule.currency,
        "version": versioned.version,
        "from": rule.in_force_from,
        "report_at": amount(rule.report_at_minor),
        "withhold_at": amount(rule.withhold_at_minor),
        "percent": rule.percent,
        "least_multiple": rule.least_multiple,
    }
