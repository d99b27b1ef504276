"""For how long awards can be claimed at a casino, and where forfeited ones go."""

from marshmallow import fields

from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, look, principal
from jackpot_service.api.schemas import AnswerSchema, described, word
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.claims import ForfeitedTo
from jackpot_service.domain.principals import Role
from jackpot_service.reports.claims import ClaimsOfCasino, claims_of_casino

READERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)

blueprint = Blueprint(
    "claims",
    __name__,
    url_prefix="/v1/casinos/<id:casino_id>",
    description="Claims. Two people set those of a casino by a change request of kind `casino-claims`.",
)


class CasinoClaimsSchema(AnswerSchema):
    """For how long awards can be claimed at a casino, and where forfeited ones go."""

    casino_id = fields.String(required=True)
    version = described(fields.Integer, "Counts the changes; 0 if nobody set it.", attribute="claims.version")
    claim_days = described(
        fields.Integer,
        "Days of 24 hours since an award's last step. Null: no award becomes unclaimed.",
        attribute="claims.claim_days",
        allow_none=True,
    )
    forfeited_to = word(
        ForfeitedTo,
        "Where forfeited awards go: to `statutory:<casino>`, or back to the jackpot.",
        attribute="claims.forfeited_to",
    )


@blueprint.route("/claims", methods=["GET"])
@allow(*READERS)
@refused_with("casino-unknown")
@blueprint.response(200, CasinoClaimsSchema())
def get_casino_claims(casino_id: str) -> ClaimsOfCasino:
    """Show for how long awards can be claimed at a casino; a key with a casino sees that one's."""
    return look(lambda session: claims_of_casino(session, principal(), casino_id))
