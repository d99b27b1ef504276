"""The evidence for a round's awards: what their payout tiers ask for, and what people recorded."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, look, principal, signed
from jackpot_service.api.schemas import AnswerSchema, IdentifiedSchema, Moment, described, listed, word
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.principals import Role
from jackpot_service.usecases.fields import Sha256, Text
from jackpot_service.usecases.record_evidence import RecordEvidence, RoundEvidence, evidence_of, record_evidence

RECORDERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)

blueprint = Blueprint(
    "evidence",
    __name__,
    url_prefix="/v1/tables/<id:table_id>/rounds/<id:round_id>/evidence",
    description="Evidence for awards that are not payable yet. A service account's is none.",
)


class EvidenceRequestSchema(IdentifiedSchema):
    """The statement of a person who saw something, and the hash of its file."""

    kind = fields.Enum(Evidence, by_value=True, required=True)
    statement = Text(required=True, metadata={"description": "For example the recording's reference."})
    sha256 = Sha256(load_default=None, metadata={"description": "Of a file that is kept elsewhere."})


class RequirementSchema(AnswerSchema):
    """The demands of the payout tiers that a round's waiting awards reach."""

    approvals = described(fields.Integer, "So many people approve, besides the one who requests it.")
    evidence = fields.List(word(Evidence), required=True)
    notify = fields.List(
        fields.String(), required=True, metadata={"description": "Desks or people; the ledger sends nothing."}
    )


class RecordedEvidenceSchema(AnswerSchema):
    """Evidence that a person recorded."""

    kind = word(Evidence)
    statement = fields.String(required=True)
    sha256 = fields.String(required=True, allow_none=True)
    principal = described(fields.String, "Null for a key with a casino.", allow_none=True)
    recorded_at = Moment(required=True)
    act = described(fields.Integer, "The act that recorded it: its seq.", attribute="act_seq")


class RoundEvidenceSchema(AnswerSchema):
    """The evidence for the awards of a round."""

    jackpot_id = fields.String(required=True, attribute="round.jackpot_id")
    table_id = fields.String(required=True, attribute="round.table_id")
    round_id = fields.String(required=True, attribute="round.round_id")
    requirement = fields.Nested(
        RequirementSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Null where no award of the round is held or rejected."},
    )
    missing = fields.List(word(Evidence), required=True)
    recorded = listed(RecordedEvidenceSchema)


@blueprint.route("", methods=["GET"])
@allow(*RECORDERS)
@refused_with("no-jackpot", "round-unknown", "table-unknown")
@blueprint.response(200, RoundEvidenceSchema())
def get_evidence(table_id: str, round_id: str) -> RoundEvidence:
    """Show what the waiting awards of a round need, and what was recorded."""
    return look(lambda session: evidence_of(session, principal(), table_id, round_id))


@blueprint.route("", methods=["POST"])
@allow(*RECORDERS)
@refused_with(
    "award-state", "key-maker", "no-jackpot", "request-conflict", "round-unknown", "table-unknown", "user-required"
)
@blueprint.arguments(EvidenceRequestSchema())
@blueprint.response(201, RoundEvidenceSchema())
@blueprint.alt_response(200, schema=RoundEvidenceSchema(), description="The same request again.")
def post_evidence(body: Mapping[str, Any], table_id: str, round_id: str) -> tuple[RoundEvidence, int]:
    """Record evidence for the awards of a settled round: those that wait, or those of a correction to come."""
    command = RecordEvidence(signed(body), table_id, round_id, body["kind"], body["statement"], body["sha256"])
    done = act(lambda session: record_evidence(session, command))
    return done, 200 if done.is_replay else 201
