"""Exceptions: what somebody has to look into, by kind, and the form by which several are acknowledged at once."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from jackpot_service.api.exceptions import (
    ACKNOWLEDGERS,
    KINDS,
    READERS,
    AcknowledgementRequestSchema,
    ExceptionsQuerySchema,
    filters_of,
    opened_before,
)
from jackpot_service.api.lists import DEFAULT_LISTED, page
from jackpot_service.api.problems import problem_of
from jackpot_service.api.request_context import act, look, now, principal, signed
from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import Conflict, Forbidden, NotFound
from jackpot_service.domain.exceptions import EXCEPTION_ID, PRIZE_DENIED, NotedException
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.change_links import Links
from jackpot_service.pages.choices import choices_of
from jackpot_service.pages.form_errors import errors_in
from jackpot_service.pages.forms import new_request_id
from jackpot_service.pages.lists import ReadQuery, address_with, any_of, days_to_instants, read_query
from jackpot_service.pages.shown_exceptions import facts_shown
from jackpot_service.records import rounds
from jackpot_service.records.rounds import RoundName
from jackpot_service.reports.audit import counted_exceptions, latest_exceptions
from jackpot_service.usecases.acknowledge_exception import AcknowledgeException, acknowledge_exception

STATES: Final = {"": "open", "true": "acknowledged", "any": "all"}
"""The words of the field `acknowledged`; without one the page lists what is still open."""

FIELDS: Final = (("table_id", "Table"), ("casino_id", "Casino"), ("jackpot_id", "Jackpot"))

_KNOWN: Final = frozenset({name for name, _ in FIELDS} | {"kind", "acknowledged", "from", "to", "after"})

NO_EXCEPTION: Final = "Nothing was acknowledged. One of the chosen lines is not an exception. Open the page again."

NONE_CHOSEN: Final = "Choose the exceptions that you have looked into."


@blueprint.route("/exceptions", methods=["GET"])
@people(*READERS)
def show_exceptions() -> Response:
    """List exceptions, the latest first, by the filters in the address, with a count of each kind."""
    return _page({}, ())


@blueprint.route("/exceptions", methods=["POST"])
@people(*ACKNOWLEDGERS, of_house=True)
def acknowledge() -> Response:
    """Acknowledge the exceptions that were chosen, all of them or none, with one reason."""
    form = flask.request.form
    chosen = form.getlist("exception")[:DEFAULT_LISTED]
    try:
        body = AcknowledgementRequestSchema().load(
            {"request_id": form.get("request_id", ""), "reason": form.get("reason", "").strip()}
        )
    except ValidationError as error:
        errors = errors_in(error)
        return _page(form, chosen, errors=errors, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    if not chosen:
        return _page(form, chosen, alert=NONE_CHOSEN, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    if not all(map(EXCEPTION_ID.fullmatch, chosen)):
        return _page(form, chosen, alert=NO_EXCEPTION, status=HTTPStatus.NOT_FOUND)
    try:
        act(lambda session: _acknowledge_all(session, body, chosen))
    except (Conflict, Forbidden, NotFound) as error:
        status = problem_of(error, instance=flask.request.path).status
        return _page(form, chosen, alert=f"Nothing was acknowledged. {error.detail}", status=status)
    typed = {name: value for name, value in _typed().items() if name != "after"}
    return flask.redirect(address_with(typed, done=str(len(chosen))), HTTPStatus.SEE_OTHER)


def _acknowledge_all(session: Session, body: Mapping[str, Any], chosen: Sequence[str]) -> None:
    """Each is an act of its own, whose id is the form's and the exception's: a form that comes twice is a replay."""
    for exception_id in sorted({*chosen}):
        own = {**body, "request_id": f"{body['request_id']}-{exception_id}"}
        acknowledge_exception(session, AcknowledgeException(signed(own), exception_id, opened_before()))


def _typed() -> dict[str, str]:
    return {name: value.strip() for name, value in flask.request.args.items() if name in _KNOWN}


def _read(typed: Mapping[str, str]) -> ReadQuery:
    """Read the filters in the words of the API; without a state those that are still open."""
    state = typed.get("acknowledged", "")
    fields = {**typed, "acknowledged": {"": "false", "any": ""}.get(state, state)}
    errors = days_to_instants(fields)
    read = read_query(ExceptionsQuerySchema(), fields)
    errors = {**read.errors, **errors}
    return ReadQuery({name: value for name, value in typed.items() if value}, {} if errors else read.values, errors)


def _page(
    form: Mapping[str, str],
    chosen: Sequence[str],
    *,
    errors: Mapping[str, str] | None = None,
    alert: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    query, done = _read(_typed()), flask.request.args.get("done", "")
    listed: Mapping[str, Any] = {"items": (), "next": None} if query.errors else _find(query.values)
    may_acknowledge = principal().role in ACKNOWLEDGERS and principal().casino_id is None
    filters = {name: value for name, value in query.typed.items() if name != "after"}
    fields = FIELDS if principal().casino_id is None else FIELDS[:1]
    without_kind = {name: value for name, value in filters.items() if name != "kind"}
    html = flask.render_template(
        "exceptions.html",
        query=query,
        fields=fields,
        choices=choices_of(name for name, _ in fields),
        kinds=any_of(KINDS),
        states=STATES,
        counts=() if query.errors else _counts(query.values),
        address_of_kind=lambda kind: address_with(without_kind, kind=kind),
        here_again=address_with(query.typed),
        cards=_cards(listed["items"], may_acknowledge=may_acknowledge),
        at=now(),
        next_page=address_with(filters, after=listed["next"]) if listed["next"] else None,
        first_page=address_with(filters) if "after" in query.typed else None,
        is_filtered=bool(filters),
        form=form,
        chosen=frozenset(chosen),
        request_id=form.get("request_id") or new_request_id(),
        errors=errors or {},
        alert=alert,
        done=int(done) if done.isascii() and done.isdigit() and len(done) <= len(str(DEFAULT_LISTED)) else 0,
    )
    wrong = HTTPStatus.UNPROCESSABLE_ENTITY if query.errors and status == HTTPStatus.OK else status
    return flask.Response(html, wrong)


def _find(values: Mapping[str, Any]) -> Mapping[str, Any]:
    filters, before = filters_of(values), opened_before()

    def rows(session: Session, limit: int) -> Sequence[NotedException]:
        return latest_exceptions(
            session, principal(), filters, opened_before=before, limit=limit, before=values["after"]
        )

    return page(values, rows, lambda exception: exception.exception_id)


def _counts(values: Mapping[str, Any]) -> Sequence[Any]:
    """Count by kind what the filters find, whatever the kind."""
    filters, before = filters_of({**values, "kind": None}), opened_before()
    return look(lambda session: counted_exceptions(session, principal(), filters, opened_before=before))


def _cards(listed: Sequence[NotedException], *, may_acknowledge: bool) -> Sequence[Mapping[str, Any]]:
    there = look(lambda session: _rounds_there(session, listed))
    links = Links()
    return [
        {
            "exception": exception,
            "facts": facts_shown(exception.facts),
            "links": links.exception_links(exception),
            "has_round": (exception.table_id, exception.round_id) in there,
            "can_be_chosen": may_acknowledge and exception.acknowledgement is None and exception.kind != PRIZE_DENIED,
            "needs_two": exception.acknowledgement is None and exception.kind == PRIZE_DENIED,
        }
        for exception in listed
    ]


def _rounds_there(session: Session, listed: Sequence[NotedException]) -> frozenset[RoundName]:
    """The rounds of some exceptions that there are: of one, the call that would have begun it was refused."""
    named: defaultdict[str, set[RoundName]] = defaultdict(set)
    for exception in listed:
        if exception.jackpot_id and exception.table_id and exception.round_id:
            named[exception.jackpot_id].add(RoundName(exception.table_id, exception.round_id))
    return frozenset().union(*(rounds.those_there(session, each, sorted(names)) for each, names in named.items()))
