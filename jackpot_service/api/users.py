"""Users who show tokens of the issuer: let in by an operator. They are listed among the keys, and revoked as these."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, validate

from jackpot_service.api.keys import KeySchema
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, context, look, signed
from jackpot_service.api.schemas import ReasonedSchema
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.principals import LONGEST_NAME, LONGEST_SUBJECT, MACHINES, Principal, Role
from jackpot_service.records.keys import ListedKey, Subject
from jackpot_service.usecases.fields import Department, Identifier, Text
from jackpot_service.usecases.keys import NoIssuer, add_user, find

blueprint = Blueprint(
    "users",
    __name__,
    url_prefix="/v1/users",
    description="Users who show tokens of the issuer instead of keys. `GET /v1/keys` lists them as well.",
)

OF_PEOPLE = [role.value for role in Role if role not in MACHINES]


class NewUserSchema(ReasonedSchema):
    """A subject of the issuer, and the principal that it is. The first of a name makes the principal."""

    principal = Text(required=True, metadata={"description": "The name of the principal.", "maxLength": LONGEST_NAME})
    role = fields.String(required=True, validate=validate.OneOf(OF_PEOPLE))
    casino_id = Identifier(load_default=None)
    department = Department(
        load_default=str, metadata={"description": "The department, for ever; without it one named as the role."}
    )
    subject = Text(
        required=True, metadata={"description": "The `sub` of the user's tokens.", "maxLength": LONGEST_SUBJECT}
    )


@blueprint.route("", methods=["POST"])
@allow(Role.OPERATOR)
@refused_with(
    "already-exists",
    "casino-unknown",
    "issuer-not-configured",
    "key-forbidden",
    "key-limit-reached",
    "principal-conflict",
    "principal-invalid",
    "request-conflict",
)
@blueprint.arguments(NewUserSchema())
@blueprint.response(201, KeySchema())
@blueprint.alt_response(200, schema=KeySchema(), description="The subject was this user already.")
def post_user(body: Mapping[str, Any]) -> tuple[ListedKey, int]:
    """
    Let a subject of the issuer call as a user.

    Not one who asks for changes or approves them, unless it is yourself: the owner of the database adds those.
    """
    issuer = context().config.oidc_issuer
    if issuer is None:
        message = "The service is configured without an issuer of tokens."
        raise NoIssuer(message)
    user = Principal(body["principal"], Role(body["role"]), body["casino_id"], department=body["department"])
    subject = Subject(issuer, body["subject"])
    added = act(lambda session: add_user(session, signed(body), user, subject))
    return look(lambda session: find(session, added.key_id)), 201 if added.is_new else 200
