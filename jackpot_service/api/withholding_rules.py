"""The withholding rules of a casino: which of its awards are reported, and what is kept of them."""

from marshmallow import fields

from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, look, principal
from jackpot_service.api.schemas import AnswerSchema, Moment, decimal, described, listed
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.principals import Role
from jackpot_service.reports.withholding_rules import RulesOfCasino, rules_of_casino

READERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)

blueprint = Blueprint(
    "withholding",
    __name__,
    url_prefix="/v1/casinos/<id:casino_id>",
    description="Withholding rules. Two people set one by a change request of kind `casino-withholding`.",
)


class WithholdingRuleSchema(AnswerSchema):
    """A version of a casino's rule in a currency. Amounts are minor units of the currency."""

    currency = fields.String(required=True, attribute="rule.currency")
    version = described(fields.Integer, "It counts the versions in this currency.")
    from_ = Moment(required=True, attribute="rule.in_force_from", data_key="from")
    least_multiple = described(
        fields.Integer,
        "Only awards count that are at least so many times their bet's stake; null for all.",
        attribute="rule.least_multiple",
        allow_none=True,
    )
    report_at_minor = described(
        fields.Integer, "From here on an award is reportable.", attribute="rule.report_at_minor"
    )
    withhold_at_minor = described(
        fields.Integer,
        "From here on a part of an award is withheld; null where nothing is.",
        attribute="rule.withhold_at_minor",
        allow_none=True,
    )
    percent = decimal("Of all of such an award.", attribute="rule.percent", allow_none=True)


class WithholdingRulesSchema(AnswerSchema):
    """
    Every version of a casino's withholding rules, by currency.

    An award stands under the latest one that was in force when its round was opened.
    """

    casino_id = fields.String(required=True)
    rules = listed(WithholdingRuleSchema)


@blueprint.route("/withholding-rules", methods=["GET"])
@allow(*READERS)
@refused_with("casino-unknown")
@blueprint.response(200, WithholdingRulesSchema())
def get_withholding_rules(casino_id: str) -> RulesOfCasino:
    """List every version of a casino's withholding rules; a key with a casino sees its own."""
    return look(lambda session: rules_of_casino(session, principal(), casino_id))
