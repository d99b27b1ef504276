"""Passkeys over HTTP: listed, registered in two steps, revoked; and what an approval shows of one."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from marshmallow import ValidationError, fields, validate

from jackpot_service.api.lists import ListQuerySchema, cursor, page, page_schema
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, context, principal, signed
from jackpot_service.api.schemas import AnswerSchema, Moment, ReasonedSchema, RequestSchema, described
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.passkeys import LONGEST_NAME
from jackpot_service.domain.principals import Role
from jackpot_service.passkeys import Assertion, NewCredential, Site, bytes_of, site_at
from jackpot_service.records import passkeys as records
from jackpot_service.records.passkeys import ListedPasskey
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.fields import ReadField, Text
from jackpot_service.usecases.passkeys import (
    RegisterPasskey,
    begin_registration,
    register_passkey,
    revoke_passkey,
)

blueprint = Blueprint(
    "passkeys",
    __name__,
    url_prefix="/v1/passkeys",
    description=(
        "Passkeys of people (WebAuthn). A person who has one signs each approval of a change request with it. A "
        "service account has none."
    ),
)

PEOPLE: Final = (Role.FINANCE, Role.RATES, Role.OPERATOR, Role.AUDITOR)

MOST_BYTES: Final = 8 * 1024
"""Of a part of an authenticator's answer: those that there are have a few hundred."""


class Binary(ReadField[bytes]):
    """Bytes as base64url without padding."""

    described: ClassVar = {"type": "string", "format": "base64url", "minLength": 1, "maxLength": MOST_BYTES}

    def read(self, value: object) -> bytes:
        """Raises: ValidationError."""
        if isinstance(value, str) and len(value) > MOST_BYTES:
            message = f"must be at most {MOST_BYTES} characters"
            raise ValidationError(message)
        try:
            return bytes_of(value)
        except ValueError as error:
            message = "must be base64url without padding"
            raise ValidationError(message) from error


class _ResponseSchema(RequestSchema):
    """The response of an authenticator; what the ledger does not read is passed over, as browsers add to it."""

    class Meta:
        unknown = "exclude"


class CredentialResponseSchema(_ResponseSchema):
    """The response of an authenticator that has made a passkey."""

    client_data = Binary(required=True, data_key="clientDataJSON")
    attestation_object = Binary(required=True, data_key="attestationObject")


class AssertionResponseSchema(_ResponseSchema):
    """The response of an authenticator that has signed."""

    client_data = Binary(required=True, data_key="clientDataJSON")
    authenticator_data = Binary(required=True, data_key="authenticatorData")
    signature = Binary(required=True)


class _PublicKeyCredentialSchema(_ResponseSchema):
    """A credential as browsers write it, of which the ledger reads the bytes of its id and the response."""

    id = fields.String(metadata={"description": "As `rawId`."})
    type = fields.String(metadata={"description": "`public-key`."})


class CredentialSchema(_PublicKeyCredentialSchema):
    """A new credential, as a browser's `PublicKeyCredential.toJSON()` writes it."""

    credential_id = Binary(required=True, data_key="rawId")
    response = fields.Nested(CredentialResponseSchema(), required=True)


class AssertionSchema(_PublicKeyCredentialSchema):
    """An assertion, as a browser's `PublicKeyCredential.toJSON()` writes it."""

    credential_id = Binary(required=True, data_key="rawId")
    response = fields.Nested(AssertionResponseSchema(), required=True)


class OptionsSchema(AnswerSchema):
    """The options for a browser."""

    public_key = fields.Dict(
        required=True,
        data_key="publicKey",
        metadata={"description": "The options as WebAuthn has them in JSON: `parse…OptionsFromJSON` reads them."},
    )


class NewPasskeySchema(ReasonedSchema):
    """A new passkey of the caller."""

    name = Text(
        required=True,
        validate=validate.Length(max=LONGEST_NAME, error="must be at most {max} characters"),
        metadata={"description": "By which its person knows it.", "maxLength": LONGEST_NAME},
    )
    credential = fields.Nested(CredentialSchema(), required=True)


class PasskeyRevocationSchema(ReasonedSchema):
    """Why."""


class PasskeyQuerySchema(ListQuerySchema):
    """The person, if not all."""

    principal = fields.String(
        load_default=None, metadata={"description": "The person. Operators and auditors see all; others their own."}
    )


class PasskeySchema(AnswerSchema):
    """A passkey, and the public key with which its signatures are checked."""

    passkey_id = fields.String(required=True, attribute="passkey.passkey_id")
    principal = described(fields.String, "The person whom it shows.", attribute="passkey.principal")
    name = fields.String(required=True, attribute="passkey.name")
    credential_id = described(fields.String, "As base64url.", attribute="passkey.facts.credential_id")
    public_key = described(fields.String, "A COSE key, as base64url.", attribute="passkey.facts.public_key")
    rp_id = described(fields.String, "The domain for which it signs.", attribute="passkey.rp_id")
    registered_at = Moment(required=True)
    last_used_at = Moment(required=True, allow_none=True)
    revoked_at = Moment(required=True, allow_none=True)


@blueprint.route("", methods=["GET"])
@allow(*PEOPLE)
@blueprint.arguments(PasskeyQuerySchema(), location="query")
@blueprint.response(200, page_schema(PasskeySchema, "Passkeys"))
def get_passkeys(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List passkeys, revoked ones too, the latest first: of all people to operators and auditors, else one's own."""
    person = query["principal"] if principal().role in {Role.OPERATOR, Role.AUDITOR} else principal().name
    return page(
        query,
        lambda session, limit: records.latest(session, person, limit=limit, before=query["after"]),
        lambda listed: cursor(listed.seq),
    )


@blueprint.route("/options", methods=["POST"])
@allow(*PEOPLE)
@refused_with("passkey-limit-reached", "passkey-not-shown", "user-required")
@blueprint.response(200, OptionsSchema())
def post_passkey_options() -> Mapping[str, Any]:
    """
    Begin a registration: answer what `navigator.credentials.create` takes.

    The challenge in it waits for a quarter of an hour, and is good once.
    """
    asking = Act(principal(), context().clock())
    return {"public_key": act(lambda session: begin_registration(session, asking, site()))}


@blueprint.route("", methods=["POST"])
@allow(*PEOPLE)
@refused_with(
    "assertion-invalid",
    "passkey-invalid",
    "passkey-limit-reached",
    "passkey-not-shown",
    "passkey-taken",
    "request-conflict",
    "user-required",
)
@blueprint.arguments(NewPasskeySchema())
@blueprint.response(201, PasskeySchema(), description="From now on it signs each approval of its person.")
@blueprint.alt_response(200, schema=PasskeySchema(), description="It was registered before.")
def post_passkey(body: Mapping[str, Any]) -> tuple[ListedPasskey, int]:
    """
    Register the first passkey of the caller, by the answer of an authenticator to `POST /v1/passkeys/options`.

    People with a passkey add others on the pages, where they show it: 403 `passkey-not-shown`.
    """
    command = RegisterPasskey(signed(body), body["name"], credential_of(body["credential"]), site())
    done = act(lambda session: register_passkey(session, command))
    return done.listed, 200 if done.is_replay else 201


@blueprint.route("/<id:passkey_id>/revocation", methods=["POST"])
@allow(*PEOPLE)
@refused_with("passkey-last", "passkey-revoked", "passkey-unknown", "request-conflict", "user-required")
@blueprint.arguments(PasskeyRevocationSchema())
@blueprint.response(201, PasskeySchema(), description="It signs nothing any more.")
@blueprint.alt_response(200, schema=PasskeySchema(), description="This request revoked it before.")
def post_passkey_revocation(body: Mapping[str, Any], passkey_id: str) -> tuple[ListedPasskey, int]:
    """
    Revoke a passkey for good: one's own, or as an operator anybody's.

    The last one of a person is revoked by another person: 403 `passkey-last`.
    """
    done = act(lambda session: revoke_passkey(session, signed(body), passkey_id))
    return done.listed, 200 if done.is_replay else 201


def site() -> Site:
    """Return the site for which passkeys sign here."""
    return site_at(context().config.public_url)


def credential_of(body: Mapping[str, Any]) -> NewCredential:
    """Return the new credential that a body holds."""
    response = body["response"]
    return NewCredential(body["credential_id"], response["client_data"], response["attestation_object"])


def assertion_of(body: Mapping[str, Any]) -> Assertion:
    """Return the assertion that a body holds."""
    response = body["response"]
    return Assertion(
        body["credential_id"], response["authenticator_data"], response["client_data"], response["signature"]
    )
