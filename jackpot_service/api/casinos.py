"""Casinos: listed, shown and added."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from marshmallow import fields

from jackpot_service.api.lists import Cursor, ListQuerySchema, matching, page, page_schema
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, look, principal, signed
from jackpot_service.api.schemas import AnswerSchema, ReasonedSchema, described
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.casinos import MIDNIGHT, UTC_ZONE, Casino
from jackpot_service.domain.principals import Role
from jackpot_service.domain.shapes import IDENTIFIER
from jackpot_service.records import references
from jackpot_service.usecases.casinos import add_casino
from jackpot_service.usecases.fields import Identifier, Text, WallClock

READERS: Final = (Role.TABLE, Role.FINANCE, Role.OPERATOR, Role.AUDITOR)

blueprint = Blueprint(
    "casinos", __name__, url_prefix="/v1/casinos", description="Casinos: the companies that run gaming tables."
)


class ShownWallClock(fields.String):
    """A time of the day, as it is shown."""

    def _serialize(self, value: Any, *_: Any, **__: Any) -> str:  # noqa: ANN401  as the base
        return f"{value:%H:%M}"


class CasinosQuerySchema(ListQuerySchema):
    """Which casinos."""

    after = Cursor(matching(IDENTIFIER))


class NewCasinoSchema(ReasonedSchema):
    """A casino to add. Its gaming days never change."""

    casino_id = Identifier(required=True)
    name = Text(required=True)
    zone = Text(
        load_default=UTC_ZONE, metadata={"description": "Its time zone, as the IANA names it, such as Europe/Riga."}
    )
    day_starts = WallClock(
        load_default=MIDNIGHT,
        metadata={"description": "When its gaming days start there, such as 06:00.", "default": "00:00"},
    )


class CasinoSchema(AnswerSchema):
    """A casino."""

    casino_id = fields.String(required=True)
    name = fields.String(required=True)
    zone = described(fields.String, "Its time zone, as the IANA names it.")
    day_starts = described(ShownWallClock, "When its gaming days start there, by the clock on the wall.")


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(CasinosQuerySchema(), location="query")
@blueprint.response(200, page_schema(CasinoSchema, "Casinos"))
def get_casinos(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List the casinos, by id; a key with a casino sees its own."""
    return page(
        query,
        lambda session, limit: references.casinos(session, principal(), limit=limit, after=query["after"]),
        lambda casino: casino.casino_id,
    )


@blueprint.route("/<id:casino_id>", methods=["GET"])
@allow(*READERS)
@refused_with("casino-unknown")
@blueprint.response(200, CasinoSchema())
def get_casino(casino_id: str) -> Casino:
    """Show a casino."""
    return look(lambda session: references.visible_casino(session, principal(), casino_id))


@blueprint.route("", methods=["POST"])
@allow(Role.OPERATOR)
@refused_with("already-exists", "request-conflict", "zone-unknown")
@blueprint.arguments(NewCasinoSchema())
@blueprint.response(201, CasinoSchema())
@blueprint.alt_response(200, schema=CasinoSchema(), description="The very same casino was there already.")
def post_casino(body: Mapping[str, Any]) -> tuple[Casino, int]:
    """Add a casino. One operator does it alone."""
    new = {name: body[name] for name in ("casino_id", "name", "zone", "day_starts")}
    added = act(partial(add_casino, act=signed(body), **new))
    return Casino(**new), 201 if added else 200
