"""A database begins with the change policy that the service is shipped with, and learns new kinds of change from it."""

from typing import Any, Final

import psycopg

from jackpot_service.domain.change_policy import OPERATORS_ALONE, RATES_ALONE, KindPolicy
from jackpot_service.schema import migrate
from jackpot_service.usecases.changes.registry import SHIPPED_POLICY
from tests.support.logins import owner_conninfo

FOUND: Final = """
    SELECT kind, requested_by, decided_by, needs_other_department, needs_other_role, needs_passkey
    FROM change_policies WHERE version = 1
"""


def _stored_policies(url: str) -> dict[str, dict[str, Any]]:
    with psycopg.connect(owner_conninfo(url)) as owner:
        rows = owner.execute(FOUND).fetchall()
    return {
        kind: {
            "requested_by": requested_by,
            "decided_by": decided_by,
            "needs_other_department": needs_other_department,
            "needs_other_role": needs_other_role,
            "needs_passkey": needs_passkey,
        }
        for kind, requested_by, decided_by, needs_other_department, needs_other_role, needs_passkey in rows
    }


def _facts(policies: dict[str, KindPolicy]) -> dict[str, dict[str, Any]]:
    return {kind: dict(policy.facts) for kind, policy in policies.items()}


def test_a_new_database_has_the_shipped_policy(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)

    assert _stored_policies(empty_database_url) == _facts(dict(SHIPPED_POLICY))


def test_a_new_kind_is_added_once_and_what_was_there_stays(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    before = _stored_policies(empty_database_url)

    for _ in range(2):
        migrate.add_change_policies(empty_database_url, {"new-kind": OPERATORS_ALONE, "rules": RATES_ALONE})

    assert _stored_policies(empty_database_url) == before | _facts({"new-kind": OPERATORS_ALONE})


def test_on_an_older_schema_nothing_is_added(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    migrate.downgrade(empty_database_url, "-1")
    before = _stored_policies(empty_database_url)

    migrate.add_change_policies(empty_database_url, {"new-kind": OPERATORS_ALONE})

    assert _stored_policies(empty_database_url) == before
