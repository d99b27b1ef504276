"""Cursors that somebody made by hand, with the right checksum, which is no secret."""

import flask
from marshmallow import Schema

from jackpot_service.api.lists import LIST, with_checksum
from tests.support.world import World


def forged(world: World, path: str, schema: type[Schema], place: str) -> str:
    """Make a cursor of the list at a path, of any place."""
    with world.app.test_request_context(path):
        query = schema().load(flask.request.args.to_dict())
    return with_checksum(place, query[LIST])
