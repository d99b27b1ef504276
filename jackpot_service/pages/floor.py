"""The floor: casinos with their rounds that wait, and the tables of one. People of a casino see their own at once."""

from typing import Any

import flask

from jackpot_service.api.casinos import CasinosQuerySchema
from jackpot_service.api.lists import page
from jackpot_service.api.request_context import context, look, now, principal
from jackpot_service.api.tables import TablesQuerySchema
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.lists import address_with, read_place
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.records import references
from jackpot_service.reports.floor import casinos_on_floor, tables_on_floor


@blueprint.route("/floor", methods=["GET"])
@people(*WATCHERS)
def show_floor() -> str:
    """Show all casinos, or to somebody of a casino its tables."""
    own = principal().casino_id
    if own is not None:
        return _casino(own)
    at, query = now(), read_place(CasinosQuerySchema())
    listed = page(
        query.values,
        lambda session, limit: casinos_on_floor(session, principal(), limit=limit, after=query.values["after"]),
        lambda shown: shown.casino.casino_id,
    )
    return flask.render_template("floor.html", casinos=listed["items"], **_common(listed["next"]), at=at)


@blueprint.route("/floor/<id:casino_id>", methods=["GET"])
@people(*WATCHERS)
def show_casino_floor(casino_id: str) -> str:
    """Show the tables of a casino. Raises: UnknownCasino."""
    return _casino(casino_id)


def _casino(casino_id: str) -> str:
    casino = look(lambda session: references.visible_casino(session, principal(), casino_id))
    at, query = now(), read_place(TablesQuerySchema())
    listed = page(
        query.values,
        lambda session, limit: tables_on_floor(
            session, principal(), casino_id, limit=limit, after=query.values["after"]
        ),
        lambda shown: shown.table.table_id,
    )
    return flask.render_template(
        "floor_casino.html",
        casino=casino,
        tables=listed["items"],
        **_common(listed["next"]),
        at=at,
        is_only_casino=principal().casino_id is not None,
    )


def _common(cursor: str | None) -> dict[str, Any]:
    """From which age on a round needs a person, and where the list goes on."""
    return {
        "late_after": context().config.longest_open,
        "next_page": address_with({}, after=cursor) if cursor else None,
    }
