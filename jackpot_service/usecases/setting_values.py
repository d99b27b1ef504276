"""How the value of a jackpot's setting is read and written: a text, null, or the list of payout tiers."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, cast

from marshmallow import ValidationError, fields, validate

from jackpot_service.domain import payout_tiers
from jackpot_service.domain.payout_tiers import MOST_APPROVALS, MOST_NOTIFIED, MOST_TIERS, Evidence, PayoutTier
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.settings import Setting
from jackpot_service.usecases.fields import Amount, Identifier, ListOf, ReadField, StrictSchema, each, require_at_most

MOST_ITEMS: Final = "must hold at most {max} items"


class _PayoutTierSchema(StrictSchema):
    """A payout tier: from which amount on, of which prizes, and what it asks for."""

    from_amount = Amount(data_key="from", required=True)
    approvals = fields.Integer(
        strict=True,
        load_default=1,
        validate=validate.Range(1, MOST_APPROVALS, error="must be a whole number from {min} to {max}"),
    )
    prizes = fields.List(
        fields.Enum(Tier, by_value=True), load_default=list, validate=validate.Length(max=len(Tier), error=MOST_ITEMS)
    )
    evidence = fields.List(
        fields.Enum(Evidence, by_value=True),
        load_default=list,
        validate=validate.Length(max=len(Evidence), error=MOST_ITEMS),
    )
    notify = ListOf(Identifier(), least=0, most=MOST_NOTIFIED, load_default=())


class SettingValue(ReadField[Setting]):
    """A setting's value: a text, or null to take it away; of `payout_tiers` a list, which may be empty."""

    described: ClassVar = {
        "type": ["string", "null", "array"],
        "maxItems": MOST_TIERS,
        "items": {
            "type": "object",
            "required": ["from"],
            "additionalProperties": False,
            "properties": {
                "from": {**Amount.described, "description": "The least cost of an award, in the base currency."},
                "approvals": {"type": "integer", "minimum": 1, "maximum": MOST_APPROVALS, "default": 1},
                "prizes": {"type": "array", "items": {"type": "string", "enum": [tier.value for tier in Tier]}},
                "evidence": {"type": "array", "items": {"type": "string", "enum": [kind.value for kind in Evidence]}},
                "notify": {"type": "array", "maxItems": MOST_NOTIFIED, "items": dict(Identifier.described)},
            },
        },
    }

    def read(self, value: object) -> Setting:
        """Raises: ValidationError, by place."""
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            require_at_most(value, MOST_TIERS)
            return tuple(each(_payout_tier, enumerate(value)).values())
        message = "must be a text, null to take the setting away, or for payout_tiers a list of objects"
        raise ValidationError(message)


def written(value: Setting) -> str | list[dict[str, Any]] | None:
    """Write a setting's value as a document that facts can hold."""
    return [payout_tiers.as_document(tier) for tier in value] if isinstance(value, tuple) else value


def _payout_tier(value: object) -> PayoutTier:
    stated: dict[str, Any] = _PayoutTierSchema().load(cast("Mapping[str, Any]", value))
    return PayoutTier(
        from_amount=stated["from_amount"],
        approvals=stated["approvals"],
        prizes=tuple(stated["prizes"]),
        evidence=tuple(stated["evidence"]),
        notify=tuple(stated["notify"]),
    )
