"""The version of the service, and where people sign in. For command lines, before they have a key."""

from collections.abc import Mapping
from typing import Any, Final

from marshmallow import fields, validate

from jackpot_service.api.request_context import Blueprint, context
from jackpot_service.api.schemas import AnswerSchema, described
from jackpot_service.auth.authenticator import anyone
from jackpot_service.config.settings import Config
from jackpot_service.version import service_version

NAME: Final = "jackpot-ledger"

blueprint = Blueprint(
    "service",
    __name__,
    url_prefix="/v1/service",
    description="The version of the service; no key.",
)


class SignInSchema(AnswerSchema):
    """Where people sign in, and as which client a command line asks for their tokens."""

    issuer = described(fields.String, "The issuer of OpenID Connect.")
    client_id = described(fields.String, "The client that command lines are, for the flow of devices (RFC 8628).")
    audience = described(fields.String, "The audience of the tokens that are taken.")


class ServiceSchema(AnswerSchema):
    """The service, its version, and where people sign in."""

    service = fields.String(required=True, validate=validate.OneOf([NAME]))
    version = described(fields.String, "A command line of another version may not understand it.")
    sign_in = fields.Nested(
        SignInSchema(), required=True, allow_none=True, metadata={"description": "Null where people have keys only."}
    )


@blueprint.route("", methods=["GET"])
@anyone
@blueprint.response(200, ServiceSchema())
def get_service() -> Mapping[str, Any]:
    """Show which version this is, and where people sign in."""
    return {"service": NAME, "version": service_version(), "sign_in": _sign_in(context().config)}


def _sign_in(config: Config) -> Mapping[str, Any] | None:
    if config.oidc_issuer is None or config.oidc_audience is None:
        return None
    client_id = (*config.oidc_authorized_parties, config.oidc_audience)[0]
    return {"issuer": config.oidc_issuer, "client_id": client_id, "audience": config.oidc_audience}
