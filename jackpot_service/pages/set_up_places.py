"""Set-up of casinos and gaming tables: who and what there is, and the forms by which one operator adds some."""

import zoneinfo
from http import HTTPStatus
from typing import Any

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.casinos import CasinosQuerySchema, NewCasinoSchema
from jackpot_service.api.lists import page
from jackpot_service.api.request_context import act, principal, signed
from jackpot_service.api.tables import NewTableSchema, TablesQuerySchema
from jackpot_service.domain.casinos import UTC_ZONE
from jackpot_service.domain.games import GAME_IDS
from jackpot_service.pages import figures
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.choices import casino_choices, choices_of, jackpot_choices
from jackpot_service.pages.lists import address_with, read_place, read_query
from jackpot_service.pages.set_up_forms import ACTORS, READERS, REASON, Field, Form, read_form, sent, shown
from jackpot_service.records import references
from jackpot_service.records.immutable import Table
from jackpot_service.usecases.casinos import add_casino, add_table


@blueprint.route("/set-up", methods=["GET"])
@people(*READERS)
def show_set_up() -> Response:
    """Lead to the first of the lists."""
    return flask.redirect(flask.url_for("pages.show_set_up_casinos"), HTTPStatus.SEE_OTHER)


@blueprint.route("/set-up/casinos", methods=["GET"])
@people(*READERS)
def show_set_up_casinos() -> str:
    """List the casinos, by id."""
    query = read_place(CasinosQuerySchema())
    listed = page(
        query.values,
        lambda session, limit: references.casinos(session, principal(), limit=limit, after=query.values["after"]),
        lambda casino: casino.casino_id,
    )
    return flask.render_template("set_up_casinos.html", casinos=listed["items"], **list_values(query.typed, listed))


@blueprint.route("/set-up/casinos/new", methods=["GET"])
@people(*ACTORS)
def show_new_casino() -> Response:
    """Show the form by which a casino is added."""
    return shown(_casino_form())


@blueprint.route("/set-up/casinos/new", methods=["POST"])
@people(*ACTORS, needs_proof=True)
def add_new_casino() -> Response:
    """Add a casino; where that is refused, its form says why."""
    form = _casino_form()

    def do() -> Response:
        body = NewCasinoSchema().load(read_form(form.fields))
        new = {name: body[name] for name in ("casino_id", "name", "zone", "day_starts")}
        act(lambda session: add_casino(session, signed(body), **new))
        return added("pages.show_set_up_casinos", body["casino_id"])

    return sent(form, do)


@blueprint.route("/set-up/tables", methods=["GET"])
@people(*READERS)
def show_set_up_tables() -> Response:
    """List the tables, by id: all, or those of a casino or of a jackpot."""
    names = ("casino_id", "jackpot_id", "after")
    query = read_query(TablesQuerySchema(), {name: flask.request.args.get(name, "") for name in names})
    listed: Any = {"items": (), "next": None}
    if not query.errors:
        listed = page(
            query.values,
            lambda session, limit: references.tables(
                session,
                principal(),
                casino_id=query.values["casino_id"],
                jackpot_id=query.values["jackpot_id"],
                limit=limit,
                after=query.values["after"],
            ),
            lambda table: table.table_id,
        )
    html = flask.render_template(
        "set_up_tables.html",
        tables=listed["items"],
        query=query,
        choices=choices_of(("casino_id", "jackpot_id")),
        **list_values(query.typed, listed),
    )
    return flask.Response(html, HTTPStatus.UNPROCESSABLE_ENTITY if query.errors else HTTPStatus.OK)


@blueprint.route("/set-up/tables/new", methods=["GET"])
@people(*ACTORS)
def show_new_table() -> Response:
    """Show the form by which a table is added."""
    return shown(_table_form())


@blueprint.route("/set-up/tables/new", methods=["POST"])
@people(*ACTORS, needs_proof=True)
def add_new_table() -> Response:
    """Add a table; where that is refused, its form says why."""
    form = _table_form()

    def do() -> Response:
        body = NewTableSchema().load(read_form(form.fields))
        new = Table(body["table_id"], body["casino_id"], body["game"], body["jackpot_id"])
        act(lambda session: add_table(session, signed(body), new))
        return added("pages.show_set_up_tables", body["table_id"])

    return sent(form, do)


def added(endpoint: str, name: str) -> Response:
    """Lead to a list, which says what is in it now."""
    return flask.redirect(flask.url_for(endpoint, added=name), HTTPStatus.SEE_OTHER)


def list_values(typed: Any, listed: Any) -> dict[str, Any]:  # noqa: ANN401  a mapping
    """Return what every list of set-up shows: what was added, where it goes on, and whether one may add."""
    filters = {name: value for name, value in typed.items() if name != "after"}
    return {
        "added": flask.request.args.get("added", "")[:100],
        "may_act": principal().role in ACTORS,
        "next_page": address_with(filters, after=listed["next"]) if listed["next"] else None,
        "first_page": address_with(filters) if "after" in typed else None,
    }


def _casino_form() -> Form:
    return Form(
        "Add a casino",
        "Its id, its time zone and the start of its gaming days never change.",
        "Add the casino",
        (
            Field("casino_id", "Id", "Letters, digits and . _ : -, such as riga."),
            Field("name", "Name", "As people and displays read it, such as Casino Riga.", most=500),
            Field(
                "zone", "Time zone", "As the IANA names it, such as Europe/Riga.", initial=UTC_ZONE, suggested=_zones()
            ),
            Field("day_starts", "Gaming days start at", "In its local time.", kind="time", initial="00:00"),
            REASON,
        ),
        flask.url_for("pages.show_set_up_casinos"),
        "casinos",
    )


def _table_form() -> Form:
    args = flask.request.args
    return Form(
        "Add a table",
        "Its casino, its game and its jackpot never change: a table that moves gets a new id.",
        "Add the table",
        (
            Field("table_id", "Id", "Letters, digits and . _ : -, such as riga-1."),
            Field("casino_id", "Casino", options=casino_choices(), initial=args.get("casino_id", "")[:64]),
            Field("game", "Game", options={game: figures.label(game) for game in GAME_IDS}),
            Field(
                "jackpot_id",
                "Jackpot",
                "Without one, the table never takes jackpot bets.",
                options=jackpot_choices(),
                is_required=False,
                initial=args.get("jackpot_id", "")[:64],
            ),
            REASON,
        ),
        flask.url_for("pages.show_set_up_tables"),
        "tables",
    )


def _zones() -> list[str]:
    return sorted(zone for zone in zoneinfo.available_timezones() if "/" in zone and not zone.startswith("Etc/"))
