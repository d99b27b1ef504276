"""The ECB's rates on a page: a document that somebody brings or has fetched, its differences, and the request."""

import base64
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from jackpot_service.api.changes import shown_change
from jackpot_service.api.ecb_service import DocumentUnavailable, fetch_document
from jackpot_service.api.problems import problem_of
from jackpot_service.api.rate_imports import RateImportSchema, request_import
from jackpot_service.api.request_context import context, look
from jackpot_service.domain.changes import ChangeStale
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.forms import is_request_id, new_request_id
from jackpot_service.pages.new_sheet import ASKERS
from jackpot_service.pages.problems import DEFINITE
from jackpot_service.pages.rate_moves import rate_moves, rates_in, summary
from jackpot_service.pages.rates import require_may_ask, sheet_in_force
from jackpot_service.pages.sheet_form import details_of
from jackpot_service.records import changes
from jackpot_service.usecases.acts import RequestConflict
from jackpot_service.usecases.import_rates import RatesImported
from jackpot_service.usecases.payloads import field_errors_in

NONE_CHOSEN: Final = "Choose the document to upload."


@blueprint.route("/rates/<id:base>/import", methods=["GET"])
@people(*ASKERS, of_house=True)
def show_import(base: str) -> Response:
    """Show the form of a document. Raises: NotFound."""
    require_may_ask()
    sheet_in_force(base)
    return _page(base)


@blueprint.route("/rates/<id:base>/import", methods=["POST"])
@people(*ASKERS, of_house=True)
def import_document(base: str) -> Response:
    """Show what a document would change, or request that; the form says why that is refused. Raises: NotFound."""
    require_may_ask()
    sheet_in_force(base)
    try:
        document = _document()
        if document == "":
            return _page(base, error=NONE_CHOSEN, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        stated = {"base": base, "all_currencies": "all_currencies" in flask.request.form, **_own_id()}
        body = RateImportSchema().load({**stated, **({} if document is None else {"document": document})})
        if document is None:  # The page carries it: at the request another document may be there.
            body = {**body, "document": fetch_document(context().config.ecb_url)}
        is_dry_run = flask.request.form.get("act") != "request"
        imported = _imported(body, is_dry_run=is_dry_run)
    except ValidationError as error:
        details = details_of(tuple(field_errors_in(error.messages, "")))
        return _page(base, error=f"The document {'; '.join(details.values())}.", status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except (*DEFINITE, DocumentUnavailable) as error:
        return _page(base, error=error.detail, status=problem_of(error, instance=flask.request.path).status)
    change = imported.requested.change
    if imported.requested.is_replay or not is_dry_run:
        return flask.redirect(flask.url_for("pages.show_change", request_id=change.request_id), HTTPStatus.SEE_OTHER)
    return _page(base, imported=imported, document=base64.b64encode(body["document"]).decode())


def _imported(body: Mapping[str, Any], *, is_dry_run: bool) -> RatesImported:
    """
    Do what a body asks for, under an id of its own where the request under the document's cannot stand for it.

    That one is over, or is about other currencies. Raises: as `request_import`.
    """
    try:
        imported = request_import(body, is_dry_run=is_dry_run)
    except RequestConflict as error:
        if body["request_id"] is not None or not _is_over(str(error.facts["request_id"])):
            raise
    else:
        stored = imported.requested
        is_other = stored.is_replay and (not imported.is_as_expected or _is_over(stored.change.request_id))
        if body["request_id"] is not None or not is_other:
            return imported
    return request_import({**body, "request_id": new_request_id()}, is_dry_run=is_dry_run)


def _is_over(request_id: str) -> bool:
    """Whether a change request can become no sheet any more: it was rejected, has expired, or is stale."""
    if look(lambda session: changes.find(session, request_id)) is None:
        return False
    view = shown_change(request_id)
    problem = None if view.effect is None else view.effect.problem
    return view.effect is None or isinstance(problem, ChangeStale)


def _own_id() -> Mapping[str, str]:
    """The id that the page of the differences carries, if it asks under one of its own."""
    request_id = flask.request.form.get("request_id", "")
    return {"request_id": request_id} if is_request_id(request_id) else {}


def _document() -> str | None:
    """The document in base64: chosen, or carried by the page of its differences; None to fetch it; empty if none is."""
    form = flask.request.form
    if form.get("act") == "fetch":
        return None
    if "document" in form:
        return form["document"]
    brought = flask.request.files.get("file")
    return "" if brought is None else base64.b64encode(brought.read()).decode()


def _page(
    base: str,
    *,
    imported: RatesImported | None = None,
    document: str = "",
    error: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    html = flask.render_template(
        "rates_import.html",
        base=base,
        is_fetched=context().config.ecb_url is not None,
        all_currencies="all_currencies" in flask.request.form,
        error=error,
        document=document,
        **({} if imported is None else _proposal(imported, base)),
    )
    return flask.Response(html, status)


def _proposal(imported: RatesImported, base: str) -> Mapping[str, Any]:
    change, effect = imported.requested.change, imported.requested.effect
    before, after = (None, None) if effect is None else (effect.before, effect.after)
    moves = rate_moves(rates_in(before, base), rates_in(after, base), band=context().config.rate_band)
    return {
        "change": change,
        "own_id": is_request_id(change.request_id),
        "source": change.payload["source"],
        "unquoted": frozenset(imported.unquoted),
        "moves": list(moves.values()),
        "sentence": summary(moves),
    }
