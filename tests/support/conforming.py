"""The operations of openapi.yaml as schemathesis sees them, each to be called with a key that may call it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, Final

import schemathesis
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from jackpot_service.domain.principals import Role
from tests.support.contract import DOCUMENT
from tests.support.world import World

Operation = APIOperation[Any, Any, Any, Any]


def operations() -> Mapping[str, Operation]:
    schema = schemathesis.openapi.from_dict(deepcopy(DOCUMENT))  # Tests change examples that it shows.
    return {result.ok().label: result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)}


OPERATIONS: Final = operations()

CLOSING: Final = "PUT /v1/tables/{table_id}/rounds/{round_id}/closing"
EVIDENCE: Final = "POST /v1/tables/{table_id}/rounds/{round_id}/evidence"
PERIODS: Final = "POST /v1/closed-periods"

PASSKEYS: Final = "POST /v1/passkeys"
SIGNING: Final = "POST /v1/change-requests/{request_id}/approval/options"
OF_OTHERS: Final = frozenset({"POST /v1/passkeys/{passkey_id}/revocation"})
"""Calls about what is somebody else's, which an operator may do to it."""

NAMES: Final = {Role.RATES: "Bob", Role.OPERATOR: "Olga", Role.FINANCE: "Fay"}


def key_for(world: World, operation: Operation) -> str:
    """A key of a role that may call an operation; Bob's, where it is for a person."""
    if operation.label in OF_OTHERS:
        return world.person(NAMES[Role.OPERATOR], Role.OPERATOR)
    roles = operation.definition.raw.get("x-roles", [Role.AUDITOR])
    if Role.TABLE in roles and operation.method.upper() != "GET":
        return world.key(Role.TABLE)
    role = next(role for role in (Role.AUDITOR, *NAMES) if role in roles)
    return world.key(role) if role is Role.AUDITOR else world.person(NAMES[role], role)


@contextmanager
def world_with_issuer(database_url: str) -> Iterator[World]:
    """A world that names an issuer of tokens, which nobody asks for anything."""
    world = World(database_url, oidc_issuer="https://issuer.invalid", oidc_audience="jackpot")
    try:
        yield world
    finally:
        world.close()
