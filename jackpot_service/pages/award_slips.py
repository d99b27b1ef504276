"""The slip of an award, for the session: it is printed by a form, and shown as a duplicate by a link."""

import flask
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from jackpot_service.api.pages import answer
from jackpot_service.api.problems import problem_of
from jackpot_service.api.request_context import act, look, principal, signed
from jackpot_service.api.slip_page import rendered
from jackpot_service.api.slips import SlipRequestSchema
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.languages import Language
from jackpot_service.pages.access import people
from jackpot_service.pages.award_acts import PAYERS
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.one_award import Refusal, award_page
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.reports.slips import slip_of
from jackpot_service.translations import words_in
from jackpot_service.usecases.print_slip import PrintSlip, print_slip

NO_ID = "This form has no id. Nothing was printed: open the page again, and send it from there."


@blueprint.route("/awards/<id:award_id>/slip", methods=["POST"])
@people(*PAYERS)
def print_award_slip(award_id: str) -> Response:
    """Print the slip: the first is the original, each further one a duplicate. Raises: UnknownAward."""
    try:
        body = SlipRequestSchema().load({"request_id": flask.request.form.get("request_id", "")})
    except ValidationError:
        return award_page(award_id, Refusal("slip", flask.request.form, alert=NO_ID))
    command = PrintSlip(signed(body), award_id)
    try:
        done = act(lambda session: print_slip(session, command))
    except Conflict as error:
        status = problem_of(error, instance=flask.request.path).status
        return award_page(award_id, Refusal("slip", flask.request.form, alert=error.detail, status=status))
    return _slip(award_id, copy=done.copy)


@blueprint.route("/awards/<id:award_id>/slip", methods=["GET"])
@people(*WATCHERS)
def show_slip(award_id: str) -> Response:
    """Show a slip that was printed, as a duplicate. Raises: UnknownAward; UnknownSlip."""
    return _slip(award_id, copy=None)


def _slip(award_id: str, *, copy: int | None) -> flask.Response:
    slip = look(lambda session: slip_of(session, principal(), award_id, copy=copy))
    return answer(rendered(slip, words_in(Language.ENGLISH), copy=copy))
