"""Keys of people and machines: listed, created, revoked. A secret is in one answer, once."""

from collections.abc import Mapping
from typing import Any

import flask
from marshmallow import Schema, fields, validate

from jackpot_service.api import schemas
from jackpot_service.api.lists import ListQuerySchema, cursor
from jackpot_service.api.request_context import Blueprint, act, answer, look, now, principal
from jackpot_service.api.schemas import RequestSchema, described
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import LONGEST_NAME, Principal, Role
from jackpot_service.records import keys as records
from jackpot_service.records.keys import ListedKey
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.fields import BoundedList, Identifier, Text, Truth
from jackpot_service.usecases.keys import create_key, find, revoke_key

blueprint = Blueprint(
    "keys",
    __name__,
    url_prefix="/v1/keys",
    description=(
        "Who may speak to the ledger. A name stands for one person or machine, with one role; it has at most two live "
        "keys, while they rotate. A name that looks like another is refused. A revoked key is refused everywhere "
        "within 15 seconds. Who made a key neither approves nor records as paid what was won by it."
    ),
)

MOST_TABLES = 1000


class NewKeySchema(RequestSchema):
    """Whom a key is for. The first of a name makes the principal, every later one must agree with it."""

    request_id = schemas.request_id()
    principal = Text(required=True, metadata={"description": "Who it is.", "maxLength": LONGEST_NAME})
    role = fields.Enum(Role, by_value=True, required=True)
    casino_id = Identifier(load_default=None)
    table_ids = BoundedList(Identifier(), most=lambda: MOST_TABLES, load_default=list)
    machine = Truth(
        load_default=False, metadata={"description": "Nobody stands behind it who could approve something."}
    )
    reason = Text(required=True)


class RevocationSchema(RequestSchema):
    """Why."""

    request_id = schemas.request_id()
    reason = Text(required=True)


class KeySchema(Schema):
    """A key: never its secret, nor the hash of it."""

    key_id = fields.String(required=True)
    principal = fields.String(required=True)
    role = fields.String(required=True, validate=validate.OneOf([role.value for role in Role]))
    casino_id = described(fields.String, "What its principal is bound to.", allow_none=True)
    table_ids = described(
        fields.List, "What the key is bound to; all tables if empty.", cls_or_instance=fields.String()
    )
    is_machine = fields.Boolean(required=True)
    issuer = described(fields.String, "Of a person who shows tokens instead: whose.", allow_none=True)
    subject = described(fields.String, "And as whom.", allow_none=True)
    created_at = fields.DateTime(required=True)
    last_used_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "To the minute; null if it was never used."}
    )
    revoked_at = fields.DateTime(required=True, allow_none=True)


class CreatedKeySchema(KeySchema):
    """A key that was created."""

    key = described(fields.String, "The key itself: shown this once, null in every replay.", allow_none=True)


class KeysSchema(Schema):
    """A page of keys, by their principals' names; the oldest of each first."""

    items = fields.List(fields.Nested(KeySchema()), required=True)
    next = fields.String(required=True, allow_none=True)


@blueprint.route("", methods=["GET"])
@allow(Role.OPERATOR, Role.AUDITOR)
@blueprint.arguments(ListQuerySchema(), location="query")
@blueprint.response(200, KeysSchema())
def get_keys(query: Mapping[str, Any]) -> flask.Response:
    """List all keys, revoked ones too."""
    found = look(lambda session: records.by_name(session, limit=query["limit"] + 1, after=query["after"]))
    page, more = found[: query["limit"]], found[query["limit"] :]
    return answer({"items": [_shown(key) for key in page], "next": cursor(page[-1].seq if more else None)})


@blueprint.route("", methods=["POST"])
@allow(Role.OPERATOR)
@blueprint.arguments(NewKeySchema())
@blueprint.response(201, CreatedKeySchema(), description="The only answer with the key in it.")
@blueprint.alt_response(200, schema=CreatedKeySchema(), description="It was created before; `key` is null.")
def post_key(body: Mapping[str, Any]) -> flask.Response:
    """
    Create a key.

    Not one that approves changes, nor an operator's, unless it is your own: those are created on the machine itself. If
    the answer is lost, the same request again tells the key's id: revoke it, and create another.
    """
    done = Act(principal(), now(), request_id=body["request_id"], reason=body["reason"])
    whom = Principal(
        body["principal"], body["role"], body["casino_id"], frozenset(body["table_ids"]), is_automaton=body["machine"]
    )
    created = act(lambda session: create_key(session, done, whom))
    key = look(lambda session: find(session, created.key_id))
    return answer({**_shown(key), "key": created.key}, 200 if created.key is None else 201)


@blueprint.route("/<id:key_id>/revocation", methods=["POST"])
@allow(Role.OPERATOR)
@blueprint.arguments(RevocationSchema())
@blueprint.response(201, KeySchema(), description="No process believes in it for longer than 15 seconds.")
@blueprint.alt_response(200, schema=KeySchema(), description="This request revoked it before.")
def post_revocation(body: Mapping[str, Any], key_id: str) -> flask.Response:
    """Revoke a key, for good."""
    done = Act(principal(), now(), request_id=body["request_id"], reason=body["reason"])
    revoked = act(lambda session: revoke_key(session, done, key_id))
    return answer(_shown(revoked.key), 200 if revoked.is_replay else 201)


def _shown(key: ListedKey) -> dict[str, Any]:
    return {
        "key_id": key.key_id,
        "principal": key.principal.name,
        "role": key.principal.role.value,
        "casino_id": key.principal.casino_id,
        "table_ids": sorted(key.principal.table_ids),
        "is_machine": key.principal.is_machine,
        "issuer": key.issuer,
        "subject": key.subject,
        "created_at": instant(key.created_at),
        "last_used_at": instant(key.last_used_at),
        "revoked_at": instant(key.revoked_at),
    }
