"""The acts on an award, as forms of its page: its payment is stopped, evidence and payments are recorded."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import Schema, ValidationError
from werkzeug.wrappers import Response

from jackpot_service.api.awards import STOPPERS, PaymentRequestSchema, StopRequestSchema
from jackpot_service.api.evidence import RECORDERS, EvidenceRequestSchema
from jackpot_service.api.problems import problem_of
from jackpot_service.api.request_context import act, look, principal, signed
from jackpot_service.domain.errors import Conflict, Forbidden, LedgerError, Refused
from jackpot_service.domain.payments import PaymentReferenceTaken, PaymentTooLarge, WithheldTooMuch
from jackpot_service.domain.principals import Role
from jackpot_service.domain.withholding import WithholdingTooLarge
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.figures import minor
from jackpot_service.pages.form_errors import errors_in
from jackpot_service.pages.one_award import Refusal, award_page
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.pages.typed_texts import WrongText, instant_of, minor_of
from jackpot_service.records import awards
from jackpot_service.records.awards import AwardRecord
from jackpot_service.usecases.record_evidence import RecordEvidence, record_evidence
from jackpot_service.usecases.record_payment import RecordPayment, record_payment
from jackpot_service.usecases.stop_award import StopAward, stop_award

PAYERS: Final = (Role.FINANCE, Role.OPERATOR)
"""The people who may record a payment, or print a slip: of those of finance, a casino's pay."""

_FIELD_OF: Final[Mapping[str, str]] = {
    PaymentTooLarge.code: "/amount_minor",
    PaymentReferenceTaken.code: "/reference",
    WithheldTooMuch.code: "/withheld_minor",
    WithholdingTooLarge.code: "/withheld_minor",
}
"""The field of the form at which a refusal stands, by code."""

_IN_UNITS: Final[Mapping[str, str]] = {
    PaymentTooLarge.code: "{unpaid_minor} of the award is unpaid, not more.",
    WithheldTooMuch.code: "{amount_minor} is paid: no more can be withheld.",
    WithholdingTooLarge.code: "{due_minor} of the award is due for withholding, and {withheld_minor} was withheld.",
}
"""Refusals that name amounts, as somebody reads them who types units; the API says them in minor units."""


@blueprint.route("/awards/<id:award_id>/stop", methods=["GET"])
@blueprint.route("/awards/<id:award_id>/evidence", methods=["GET"])
@blueprint.route("/awards/<id:award_id>/payment", methods=["GET"])
@people(*WATCHERS)
def show_award_of_act(award_id: str) -> Response:
    """Lead to the page of the award: where a refused form stands, a browser may come back from the sign-in."""
    return flask.redirect(flask.url_for("pages.show_award", award_id=award_id), HTTPStatus.SEE_OTHER)


@blueprint.route("/awards/<id:award_id>/stop", methods=["POST"])
@people(*STOPPERS)
def stop_payment(award_id: str) -> Response:
    """Stop the payment of an award, or of its rest. Raises: UnknownAward, also for another casino's."""
    body = {"reason": _typed("reason")}

    def done(read: Mapping[str, Any]) -> None:
        command = StopAward(signed(read), award_id)
        act(lambda session: stop_award(session, command))

    return _acted(award_id, "stop", StopRequestSchema(), body, done, word="stopped")


@blueprint.route("/awards/<id:award_id>/evidence", methods=["POST"])
@people(*RECORDERS)
def record_award_evidence(award_id: str) -> Response:
    """Record evidence for the awards of the award's round. Raises: UnknownAward, also for another casino's."""
    record = _record(award_id)
    body = {"kind": _typed("kind"), "statement": _typed("statement"), **_stated("sha256")}

    def done(read: Mapping[str, Any]) -> None:
        stated = (read["kind"], read["statement"], read["sha256"])
        command = RecordEvidence(signed(read), record.table_id, record.round_id, *stated)
        act(lambda session: record_evidence(session, command))

    return _acted(award_id, "evidence", EvidenceRequestSchema(), body, done, word="evidence")


@blueprint.route("/awards/<id:award_id>/payment", methods=["POST"])
@people(*PAYERS, needs_proof=True)
def record_award_payment(award_id: str) -> Response:
    """Record a payment of an award, or of a part of it. Raises: UnknownAward, also for another casino's."""
    record = _record(award_id)
    currency = record.award.currency
    body: dict[str, Any] = {"reference": _typed("reference"), "currency": currency, **_stated("channel", "payer")}
    wrong: dict[str, str] = {}
    for name, typed in (("amount_minor", _typed("amount")), ("withheld_minor", _typed("withheld") or "0")):
        try:
            body[name] = minor_of(typed, currency, may_be_zero=name == "withheld_minor")
        except WrongText as error:
            wrong[f"/{name}"] = str(error)
            body[name] = 1
    if _typed("paid_at"):
        body["paid_at"] = instant_of(_typed("paid_at"))

    def done(read: Mapping[str, Any]) -> None:
        names = ("reference", "amount_minor", "currency", "paid_at", "channel", "payer", "withheld_minor")
        command = RecordPayment(signed(read), award_id, **{name: read[name] for name in names})
        act(lambda session: record_payment(session, command))

    return _acted(award_id, "payment", PaymentRequestSchema(), body, done, word="paid", wrong=wrong, currency=currency)


def _typed(name: str) -> str:
    return flask.request.form.get(name, "").strip()


def _stated(*names: str) -> dict[str, str]:
    """The fields of the form that may be left empty, and were not."""
    return {name: _typed(name) for name in names if _typed(name)}


def _record(award_id: str) -> AwardRecord:
    """Raises: UnknownAward."""
    return look(lambda session: awards.visible(session, principal(), award_id))


def _acted(
    award_id: str,
    form: str,
    schema: Schema,
    body: Mapping[str, Any],
    done: Callable[[Mapping[str, Any]], None],
    *,
    word: str,
    wrong: Mapping[str, str] | None = None,
    currency: str = "",
) -> Response:
    """Read a form as the API reads a body, and do it; where that is refused, its page says why."""
    read: Mapping[str, Any] = {}
    errors = dict(wrong or {})
    try:
        read = schema.load({**body, "request_id": _typed("request_id")})
    except ValidationError as error:
        errors = {**errors_in(error), **errors}
    if errors:
        return award_page(award_id, Refusal(form, flask.request.form, errors))
    try:
        done(read)
    except (Refused, Conflict, Forbidden) as error:
        return award_page(award_id, _refusal(form, error, currency))
    return flask.redirect(flask.url_for("pages.show_award", award_id=award_id, done=word), HTTPStatus.SEE_OTHER)


def _refusal(form: str, error: LedgerError, currency: str) -> Refusal:
    errors = {each.pointer: each.detail for each in error.field_errors}
    if error.code in _FIELD_OF:
        errors[_FIELD_OF[error.code]] = _in_units(error, currency)
    status = problem_of(error, instance=flask.request.path).status
    alert = f"Nothing was recorded. {'' if errors else error.detail}".strip()
    return Refusal(form, flask.request.form, errors, alert, status)


def _in_units(error: LedgerError, currency: str) -> str:
    if error.code not in _IN_UNITS:
        return error.detail
    amounts = {name: minor(fact, currency) for name, fact in error.facts.items() if isinstance(fact, int)}
    return _IN_UNITS[error.code].format(**amounts)
