"""Keys of users and service accounts: listed, created, revoked. A secret is in one answer, once."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from jackpot_service.api.lists import ListQuerySchema, cursor, page, page_schema
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, look, signed
from jackpot_service.api.schemas import (
    AnswerSchema,
    Moment,
    ReasonedSchema,
    RequestSchema,
    SortedTexts,
    described,
    word,
)
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.principals import LONGEST_NAME, Principal, Role
from jackpot_service.records import keys as records
from jackpot_service.records.keys import ListedKey
from jackpot_service.usecases.fields import BoundedList, Department, Identifier, Text, Truth
from jackpot_service.usecases.keys import create_key, find, revoke_key
from jackpot_service.usecases.sign_out import SignedOut, sign_out

blueprint = Blueprint(
    "keys",
    __name__,
    url_prefix="/v1/keys",
    description=(
        "The keys by which users and service accounts call. A name stands for one of them, with one role and one "
        "department. It has at most two live keys, while they rotate. A name that looks like another is refused. A "
        "revoked key is refused everywhere within 15 seconds. The maker of a key neither approves nor records as paid "
        "any prize that was won by it."
    ),
)

MOST_TABLES = 1000


class NewKeySchema(ReasonedSchema):
    """The principal of a new key. The first of a name makes the principal, every later one must agree with it."""

    principal = Text(required=True, metadata={"description": "The name of the principal.", "maxLength": LONGEST_NAME})
    role = fields.Enum(Role, by_value=True, required=True)
    casino_id = Identifier(load_default=None)
    department = Department(
        load_default=str, metadata={"description": "The department, for ever; without it one named as the role."}
    )
    table_ids = BoundedList(Identifier(), most=lambda: MOST_TABLES, load_default=list)
    service_account = Truth(
        load_default=False, metadata={"description": "No person stands behind it: it approves nothing."}
    )


class RevocationSchema(ReasonedSchema):
    """Why."""


class SignOutSchema(RequestSchema):
    """Why."""

    reason = Text(required=True)


class SignedOutSchema(AnswerSchema):
    """Somebody who was signed out of the pages."""

    principal = fields.String(required=True)
    sessions = described(fields.Integer, "So many sessions were ended.")


class KeySchema(AnswerSchema):
    """A key: never its secret, nor the hash of it."""

    key_id = fields.String(required=True)
    principal = fields.String(required=True, attribute="principal.name")
    role = word(Role, attribute="principal.role")
    casino_id = described(
        fields.String, "The casino that its principal is bound to.", attribute="principal.casino_id", allow_none=True
    )
    department = fields.String(required=True, attribute="principal.department")
    table_ids = SortedTexts(
        required=True,
        attribute="principal.table_ids",
        metadata={"description": "The tables that the key is bound to; all if empty."},
    )
    is_service_account = fields.Boolean(required=True, attribute="principal.is_service_account")
    issuer = described(fields.String, "Of a user who shows tokens instead: their issuer.", allow_none=True)
    subject = described(fields.String, "Of a user who shows tokens: the `sub` of these.", allow_none=True)
    created_at = Moment(required=True)
    last_used_at = Moment(
        required=True, allow_none=True, metadata={"description": "To the minute; null if it was never used."}
    )
    revoked_at = Moment(required=True, allow_none=True)


class CreatedKeySchema(KeySchema):
    """A key that was created, with its secret."""

    key = described(fields.String, "The key itself: shown this once, null in every replay.", allow_none=True)

    def get_attribute(self, obj: tuple[ListedKey, str | None], attr: str, default: Any) -> Any:  # noqa: ANN401  as the base
        """Read all but the secret from the listed key."""
        listed, secret = obj
        return secret if attr == "key" else super().get_attribute(listed, attr, default)


@blueprint.route("", methods=["GET"])
@allow(Role.OPERATOR, Role.AUDITOR)
@blueprint.arguments(ListQuerySchema(), location="query")
@blueprint.response(200, page_schema(KeySchema, "Keys"))
def get_keys(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List all keys, revoked ones too."""
    return page(
        query,
        lambda session, limit: records.by_name(session, limit=limit, after=query["after"]),
        lambda key: cursor(key.seq),
    )


@blueprint.route("", methods=["POST"])
@allow(Role.OPERATOR)
@refused_with(
    "casino-unknown",
    "key-forbidden",
    "key-limit-reached",
    "principal-conflict",
    "principal-invalid",
    "request-conflict",
    "table-unknown",
)
@blueprint.arguments(NewKeySchema())
@blueprint.response(201, CreatedKeySchema(), description="The only answer with the key in it.")
@blueprint.alt_response(200, schema=CreatedKeySchema(), description="It was created before; `key` is null.")
def post_key(body: Mapping[str, Any]) -> tuple[tuple[ListedKey, str | None], int]:
    """
    Create a key.

    Not one that asks for changes or approves them, unless it is your own: the owner of the database makes those. If the
    answer is lost, the same request again shows the key's id: revoke it, and create another.
    """
    owner = Principal(
        body["principal"],
        body["role"],
        body["casino_id"],
        frozenset(body["table_ids"]),
        is_automaton=body["service_account"],
        department=body["department"],
    )
    created = act(lambda session: create_key(session, signed(body), owner))
    key = look(lambda session: find(session, created.key_id))
    return (key, created.key), 200 if created.key is None else 201


@blueprint.route("/<id:key_id>/revocation", methods=["POST"])
@allow(Role.OPERATOR)
@refused_with("key-revoked", "key-unknown", "request-conflict")
@blueprint.arguments(RevocationSchema())
@blueprint.response(201, KeySchema(), description="No process believes in it for longer than 15 seconds.")
@blueprint.alt_response(200, schema=KeySchema(), description="This request revoked it before.")
def post_key_revocation(body: Mapping[str, Any], key_id: str) -> tuple[ListedKey, int]:
    """Revoke a key, for good."""
    revoked = act(lambda session: revoke_key(session, signed(body), key_id))
    return revoked.key, 200 if revoked.is_replay else 201


@blueprint.route("/<id:key_id>/sign-out", methods=["POST"])
@allow(Role.OPERATOR)
@refused_with("key-unknown")
@blueprint.arguments(SignOutSchema())
@blueprint.response(200, SignedOutSchema())
def post_key_sign_out(body: Mapping[str, Any], key_id: str) -> SignedOut:
    """
    Sign the owner of a key out of the pages everywhere, by whichever key or account they have signed in.

    They can sign in again: a revocation keeps them out, and ends the sessions of its key too. Sessions are no part of
    the books, so the reason stands in the log, and not in the audit trail.
    """
    return act(lambda session: sign_out(session, signed(body), key_id))
