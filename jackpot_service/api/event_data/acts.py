"""The part of an event's data that says who acted, for the house."""

from marshmallow import Schema, fields

from jackpot_service.api.schemas import described


class EventActSchema(Schema):
    """The principal who acted and why, with the act's place in the audit trail."""

    seq = described(fields.Integer, "The number of the act in the reference book.")
    principal = fields.String(required=True)
    reason = fields.String(required=True, allow_none=True)
    request_id = described(fields.String, "The caller's id of the act.", allow_none=True)
    decides = described(fields.String, "The change request that it carries out.", allow_none=True)


class ActDataSchema(Schema):
    """The data of an event of an act."""

    act = fields.Nested(EventActSchema(), metadata={"description": "Only for keys of the house."})
