"""The parameters of jobs as they were settled when the jobs were created: what the answers show, by kind."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from marshmallow import fields, validate

from jackpot_service.api.periods import KeptReportSchema
from jackpot_service.api.schemas import AnswerSchema, Moment, described, word
from jackpot_service.domain.journal import Movement
from jackpot_service.exports.accounting import FORMS
from jackpot_service.exports.jobs import journal, report, verification
from jackpot_service.reports.questions import By


class SettledJournalSchema(AnswerSchema):
    """The jackpot of a journal, its format, and its end."""

    jackpot_id = fields.String(required=True)
    base = described(fields.String, "The jackpot's base currency.")
    format = fields.String(required=True, validate=validate.OneOf(list(FORMS)))
    as_of = described(Moment, "The instant before which it was booked; null where none was stated.", allow_none=True)
    positions = fields.List(
        fields.Integer(), required=True, metadata={"description": "The seq of each stripe's last entry, by stripe."}
    )


class SettledReportSchema(AnswerSchema):
    """A report, the question that it answers, and the format of its file."""

    name = fields.String(required=True)
    format = fields.String(required=True, validate=validate.OneOf(list(report.FORMS)))
    section = described(fields.String, "The one that a file of CSV holds; null for the first.", allow_none=True)
    start = described(Moment, "Included; null is the beginning of the books.", data_key="from", allow_none=True)
    end = described(Moment, "Not included.", data_key="to")
    jackpot_id = fields.String(required=True, allow_none=True)
    casino_id = fields.String(required=True, allow_none=True)
    table_id = fields.String(required=True, allow_none=True)
    round_id = fields.String(required=True, allow_none=True)
    account = fields.String(required=True, allow_none=True)
    currency = fields.String(required=True, allow_none=True)
    movement = word(Movement, allow_none=True)
    by = fields.List(word(By), required=True, metadata={"description": "The groupings."})
    open_round_minutes = described(fields.Integer, "A round that is open for longer is an exception.")
    made_at = described(Moment, "The time of the request.")
    kept = fields.Nested(
        KeptReportSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Of the same period, when it was closed; null if it was not."},
    )


class SettledVerificationSchema(AnswerSchema):
    """Where a verification begins."""

    start = fields.String(
        required=True, data_key="from", validate=validate.OneOf([verification.ZERO, verification.LAST])
    )
    continues = described(fields.Integer, "The note that it goes on from; null for one from zero.", allow_none=True)


SETTLED: Final[Mapping[str, type[AnswerSchema]]] = MappingProxyType(
    {"journal": SettledJournalSchema, "report": SettledReportSchema, "verification": SettledVerificationSchema}
)
"""By kind of job."""

STATED: Final = MappingProxyType(
    {
        "journal": journal.JournalParameters,
        "report": report.ReportParameters,
        "verification": verification.VerificationParameters,
    }
)
"""The schemas of what a request for a job states, by kind."""
