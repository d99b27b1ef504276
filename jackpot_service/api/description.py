"""The API's description: openapi.yaml is written from here and from the schemas, and a test fails when it drifts."""

import inspect
from collections.abc import Callable
from typing import Any

import flask
import flask_smorest

from jackpot_service.api import problems, written
from jackpot_service.api.contract import words
from jackpot_service.api.paths import LARGEST_NUMBER, IdentifierConverter, NumberConverter
from jackpot_service.config.settings import Config
from jackpot_service.domain.shapes import IDENTIFIER_PATTERN


class Api(problems.ProblemMixin, flask_smorest.Api):  # type: ignore[misc]
    """flask-smorest with our problems, described as what they are, when somebody asks."""

    def __init__(self, app: flask.Flask) -> None:
        self._undescribed: list[Callable[[], None]] = []
        super().__init__(app)

    def describe_later(self, describe: Callable[[], None]) -> None:
        """Put off what only `described` needs: a server, which is started more often, never shows the description."""
        self._undescribed.append(describe)

    def described(self) -> dict[str, Any]:
        """The whole description, of all that was registered."""
        self.ma_plugin.converter.add_attribute_function(words.name_of_enum)
        self.ma_plugin.converter.add_attribute_function(written.described_by_itself)
        while self._undescribed:
            self._undescribed.pop(0)()
        document: dict[str, Any] = self.spec.to_dict()
        return document

    def describe_schemas(self) -> None:
        """Add to each schema the first paragraph of what its class says of itself."""
        for (schema, *_), name in self.ma_plugin.converter.refs.items():
            summary = (inspect.getdoc(schema) or "").partition("\n\n")[0]
            self.spec.components.schemas.get(name, {}).setdefault("description", " ".join(summary.split()))

    def _register_responses(self) -> None:
        self.describe_later(self._describe_responses)

    def _describe_responses(self) -> None:
        # flask-smorest would describe errors under the media type of answers.
        self.DEFAULT_RESPONSE_CONTENT_TYPE = problems.MEDIA_TYPE
        super()._register_responses()
        del self.DEFAULT_RESPONSE_CONTENT_TYPE


def options(config: Config) -> dict[str, Any]:
    """Return the options that flask-smorest reads from the application's configuration."""
    return {
        "API_TITLE": "Jackpot ledger",
        "API_VERSION": "v1",
        "OPENAPI_VERSION": "3.1.0",
        "API_SPEC_OPTIONS": {
            "info": {
                "description": _spaced(config),
                "contact": {"name": "The jackpot ledger's authors"},
                "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
            },
            "servers": [
                {"url": "/", "description": "The service that this description comes from."},
                {"url": "http://127.0.0.1:8000", "description": "The service that `make run` starts."},
            ],
            "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
            "security": [{"key": []}],
        },
    }


def describe_paths(api: Api) -> None:
    """Say in the description what ids and numbers in a path are; before any route is registered."""
    api.register_converter(IdentifierConverter, lambda _: {"type": "string", "pattern": IDENTIFIER_PATTERN})
    api.register_converter(NumberConverter, lambda _: {"type": "integer", "minimum": 0, "maximum": LARGEST_NUMBER})


def _spaced(config: Config) -> str:
    """Return what the whole API has in common, a paragraph a line."""
    paragraphs = _DESCRIPTION.format(config=config).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


_DESCRIPTION = """\
The ledger of record for progressive jackpots at poker tables.

Every call can be repeated with the same ids and has the same effect; a 2xx means committed and flushed. Money that a
player pays or gets is whole minor units in fields ending in `_minor`; pool amounts and rates are decimal texts, exact.
Times are RFC 3339 in UTC. Errors are RFC 9457 problems with a stable `code` (`GET /problems`); `retryable` says whether
the same call may be sent again, after `Retry-After`. Every answer carries `X-Request-Id`. `x-roles` names the roles
whose keys may call an operation; what a key may not see is answered as if it were not there.

Limits: {config.max_batch} bets or voids a batch, {config.max_body_bytes} bytes a body. Time: {config.pool_timeout_s:g}
s for a connection, {config.lock_timeout_ms} ms waiting for a lock, {config.statement_timeout_ms} ms a statement,
{config.request_timeout_s:g} s until a lost race is given up. A key may make {config.key_rate:g} calls a second of a
worker; above that it is answered 429 with `Retry-After`, as is an address whose sign-ins fail too often.
"""
