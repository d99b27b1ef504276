"""Slips of awards: pages to print for the cashier and the player, numbered by their casino."""

from collections.abc import Mapping
from typing import Any

import flask

from jackpot_service.api import slip_page
from jackpot_service.api.awards import PAYERS, READERS
from jackpot_service.api.pages import HTML, answer, language_field
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, look, principal, signed
from jackpot_service.api.schemas import IdentifiedSchema, RequestSchema
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.languages import Language
from jackpot_service.reports.slips import slip_of
from jackpot_service.translations import words_in
from jackpot_service.usecases.print_slip import PrintSlip, print_slip

blueprint = Blueprint(
    "slips", __name__, url_prefix="/v1/awards", description="Slips of awards: pages to print, numbered by their casino."
)


class SlipQuerySchema(RequestSchema):
    """In which language."""

    lang = language_field("The language of the page.")


class SlipRequestSchema(IdentifiedSchema):
    """That a slip is printed."""


@blueprint.route("/<id:award_id>/slip", methods=["POST"])
@allow(*PAYERS)
@refused_with("award-state", "award-unknown", "request-conflict")
@blueprint.arguments(SlipQuerySchema(), location="query")
@blueprint.arguments(SlipRequestSchema())
@blueprint.response(201, {"type": "string"}, content_type=HTML, description="The slip as a page to print.")
@blueprint.alt_response(
    200, schema={"type": "string"}, content_type=HTML, description="The same request again: the same slip."
)
def post_award_slip(query: Mapping[str, Any], body: Mapping[str, Any], award_id: str) -> flask.Response:
    """
    Print the slip of an award that is payable, or paid, and record that.

    The first print takes the casino's next number; there are no gaps. Each further print says DUPLICATE.
    """
    command = PrintSlip(signed(body), award_id)
    done = act(lambda session: print_slip(session, command))
    return _page(award_id, query["lang"], copy=done.copy, status=200 if done.is_replay else 201)


@blueprint.route("/<id:award_id>/slip", methods=["GET"])
@allow(*READERS)
@refused_with("award-unknown", "slip-unknown")
@blueprint.arguments(SlipQuerySchema(), location="query")
@blueprint.response(200, {"type": "string"}, content_type=HTML, description="The slip, as a duplicate.")
def get_award_slip(query: Mapping[str, Any], award_id: str) -> flask.Response:
    """Show the slip of an award that was printed, with its number and as it stands now, as a duplicate."""
    return _page(award_id, query["lang"], copy=None, status=200)


def _page(award_id: str, language: Language, *, copy: int | None, status: int) -> flask.Response:
    slip = look(lambda session: slip_of(session, principal(), award_id, copy=copy))
    page = slip_page.rendered(slip, words_in(language), copy=copy)
    return answer(page, status=status)
