"""Set-up of jackpots: which there are, and what one operator does: opening them, and spreading them over stripes."""

from collections.abc import Mapping
from typing import Any

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.jackpot_openings import NewJackpotSchema, StripesRequestSchema, opening
from jackpot_service.api.jackpots import JackpotsQuerySchema
from jackpot_service.api.lists import page
from jackpot_service.api.request_context import act, context, look, now, signed
from jackpot_service.domain.lives import Life
from jackpot_service.domain.rulebooks import RULEBOOK_IDS
from jackpot_service.domain.settings import PAYOUT_TIERS, SETTINGS
from jackpot_service.ledger.stripes import MOST_STRIPES
from jackpot_service.pages import figures
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.change_links import Links
from jackpot_service.pages.choices import currency_choices
from jackpot_service.pages.lists import read_place
from jackpot_service.pages.set_up_forms import (
    ACTORS,
    READERS,
    REASON,
    Field,
    Form,
    read_form,
    sent,
    shown,
    whole,
)
from jackpot_service.pages.set_up_places import added, list_values
from jackpot_service.reports.jackpots import jackpot_state, jackpot_states
from jackpot_service.usecases.jackpots import AddStripes, add_stripes, open_jackpot

SETTABLE = tuple(name for name in SETTINGS if name not in {"displayed", PAYOUT_TIERS})
"""The settings that a line of the form can state; `displayed` has a field of its own, and payout tiers are a list."""


@blueprint.route("/set-up/jackpots", methods=["GET"])
@people(*READERS)
def show_set_up_jackpots() -> str:
    """List the jackpots, by id."""
    query = read_place(JackpotsQuerySchema())
    listed = page(
        query.values,
        lambda session, limit: jackpot_states(session, at=now(), limit=limit, after=query.values["after"]),
        lambda state: state.jackpot_id,
    )
    return flask.render_template(
        "set_up_jackpots.html",
        states=listed["items"],
        retired=Life.RETIRED,
        changes=Links().kinds,
        **list_values(query.typed, listed),
    )


@blueprint.route("/set-up/jackpots/new", methods=["GET"])
@people(*ACTORS)
def show_new_jackpot() -> Response:
    """Show the form by which a jackpot is opened."""
    return shown(_opening_form())


@blueprint.route("/set-up/jackpots/new", methods=["POST"])
@people(*ACTORS, needs_proof=True)
def open_new_jackpot() -> Response:
    """Open a jackpot; where that is refused, its form says why."""
    form = _opening_form()

    def do() -> Response:
        body = NewJackpotSchema().load(_with_settings(read_form(form.fields)))
        act(lambda session: open_jackpot(session, opening(body)))
        return added("pages.show_set_up_jackpots", body["jackpot_id"])

    return sent(form, do)


@blueprint.route("/set-up/jackpots/<id:jackpot_id>/stripes", methods=["GET"])
@people(*ACTORS)
def show_stripes(jackpot_id: str) -> Response:
    """Show the form by which a jackpot is spread over more stripes. Raises: UnknownJackpot."""
    look(lambda session: jackpot_state(session, jackpot_id, at=now()))
    return shown(_stripes_form(jackpot_id))


@blueprint.route("/set-up/jackpots/<id:jackpot_id>/stripes", methods=["POST"])
@people(*ACTORS, needs_proof=True)
def spread_jackpot(jackpot_id: str) -> Response:
    """Spread a jackpot over more stripes; where that is refused, its form says why."""
    form = _stripes_form(jackpot_id)

    def do() -> Response:
        body = StripesRequestSchema().load(read_form(form.fields))
        act(lambda session: add_stripes(session, AddStripes(signed(body), jackpot_id, body["stripes"])))
        return added("pages.show_set_up_jackpots", jackpot_id)

    return sent(form, do)


def _with_settings(body: dict[str, Any]) -> Mapping[str, Any]:
    """Put the box and the lines of settings together, as the API has them; without any it is sent none."""
    settings: dict[str, str] = body.pop("settings", {})
    if "displayed" in body:
        settings["displayed"] = body.pop("displayed")
    return {**body, "settings": settings} if settings else body


def _lines(typed: str) -> dict[str, str]:
    """Read settings, one a line: its name, an equals sign, its value."""
    stated = [line.partition("=") for line in typed.splitlines() if line.strip()]
    return {name.strip(): value.strip() for name, _, value in stated}


def _opening_form() -> Form:
    return Form(
        "Open a jackpot",
        "The house pays the base amount in, and the jackpot takes bets at once. Its rulebook and its base currency "
        "never change; two people change its settings.",
        "Open the jackpot",
        (
            Field("jackpot_id", "Id", "Letters, digits and . _ : -, such as live-caribbean-stud."),
            Field("rulebook", "Rulebook", options={name: figures.label(name) for name in RULEBOOK_IDS}),
            Field("currency", "Base currency", options=currency_choices(), initial="EUR"),
            Field(
                "base_amount",
                "Base amount",
                "The start of the first jackpot, in the base currency. If empty: the reset amount of the rules.",
                is_required=False,
                most=60,
            ),
            Field(
                "displayed",
                "Shown to everybody",
                "Its wall and its feed need no key. Two people change that later.",
                kind="checkbox",
                is_required=False,
            ),
            Field(
                "settings",
                "Other settings",
                f"One per line, such as hands_per_player = 2. The rulebook has the others. {', '.join(SETTABLE)}.",
                kind="lines",
                is_required=False,
                most=4000,
                read=_lines,
            ),
            Field(
                "stripes",
                "Stripes",
                f"How many of its entries can be committed at the same time. If empty: {context().config.stripes}.",
                kind="number",
                is_required=False,
                most=MOST_STRIPES,
                read=whole,
            ),
            REASON,
        ),
        flask.url_for("pages.show_set_up_jackpots"),
        "jackpots",
    )


def _stripes_form(jackpot_id: str) -> Form:
    return Form(
        "Spread a jackpot over more stripes",
        f"Bets on {jackpot_id} continue meanwhile. The number of stripes can only grow.",
        "Spread the jackpot",
        (
            Field(
                "stripes", "Stripes, in all", f"At most {MOST_STRIPES}.", kind="number", most=MOST_STRIPES, read=whole
            ),
            REASON,
        ),
        flask.url_for("pages.show_set_up_jackpots"),
        "jackpots",
    )
