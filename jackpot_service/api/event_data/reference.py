"""The data of events about rates, policies, rules of casinos, casinos and tables."""

from marshmallow import Schema, fields

from jackpot_service.api.event_data.acts import ActDataSchema
from jackpot_service.api.rates import SourceSchema
from jackpot_service.api.rules_document import DocumentSheetSchema
from jackpot_service.api.schemas import Moment, decimal, described, word
from jackpot_service.domain.claims import ForfeitedTo
from jackpot_service.domain.principals import Role


class RatesPublishedDataSchema(DocumentSheetSchema, ActDataSchema):
    """A rate sheet comes into force."""

    effective_at = Moment(required=True)
    source = fields.Nested(
        SourceSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "The document that the rates were taken from; null for figures by hand."},
    )


class PolicyOfKindSchema(Schema):
    """The policy of a kind of change."""

    requested_by = fields.List(word(Role), required=True, metadata={"description": "The roles that request."})
    decided_by = fields.List(word(Role), required=True, metadata={"description": "The roles that decide."})
    needs_other_department = described(fields.Boolean, "Whether the checker is of another department than the maker.")
    needs_other_role = described(fields.Boolean, "Whether the checker is of another role than the maker.")
    needs_passkey = described(fields.Boolean, "Whether a passkey signs every approval.")


class ChangePolicyChangedDataSchema(ActDataSchema):
    """Other roles request or decide kinds of change: the whole policy from now on."""

    version = fields.Integer(required=True)
    kinds = fields.Dict(
        keys=fields.String(),
        values=fields.Nested(PolicyOfKindSchema()),
        required=True,
        metadata={"description": "By kind of change."},
    )


class WithholdingChangedDataSchema(ActDataSchema):
    """A casino got a withholding rule in a currency, for rounds that are opened from then on."""

    casino_id = fields.String(required=True)
    currency = described(fields.String, "Amounts are whole minor units of it.")
    version = described(fields.Integer, "It counts the versions in this currency.")
    from_ = Moment(required=True, data_key="from")
    least_multiple = described(
        fields.Integer, "Only awards count that are at least so many times their bet's stake.", allow_none=True
    )
    report_at_minor = described(fields.Integer, "From here on an award is reportable.")
    withhold_at_minor = described(
        fields.Integer, "From here on a part of an award is withheld; null where nothing is.", allow_none=True
    )
    percent = decimal("Of all of such an award.", allow_none=True)


class CasinoClaimsChangedDataSchema(ActDataSchema):
    """Awards can be claimed at a casino for another time, or forfeited ones go elsewhere."""

    casino_id = fields.String(required=True)
    version = fields.Integer(required=True)
    claim_days = described(fields.Integer, "Of 24 hours; null: no award becomes unclaimed.", allow_none=True)
    forfeited_to = word(ForfeitedTo)


class CasinoAddedDataSchema(ActDataSchema):
    """A casino was added."""

    casino_id = fields.String(required=True)
    name = fields.String(required=True)
    zone = fields.String(metadata={"description": "The time zone of its gaming days, unless they are those of UTC."})
    day_starts = fields.String(metadata={"description": "Where `zone` is there: when they begin, such as `06:00`."})


class TableAddedDataSchema(ActDataSchema):
    """A gaming table was added."""

    table_id = fields.String(required=True)
    casino_id = fields.String(required=True)
    game = fields.String(required=True)
    jackpot_id = described(fields.String, "Null for a table without a jackpot bet.", allow_none=True)
