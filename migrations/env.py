"""Run by Alembic. The engine comes from the caller (`schema/migrate.py`); nothing is imported."""

from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy
from alembic import context
from alembic.runtime.migration import MigrationContext, MigrationInfo
from alembic.script import Script

APPLIED = """
INSERT INTO schema_versions (revision, compatible_from) VALUES (:revision, :since)
ON CONFLICT (revision) DO UPDATE SET compatible_from = EXCLUDED.compatible_from
"""
TAKEN_BACK = "DELETE FROM schema_versions WHERE revision = :revision"


def note(ctx: MigrationContext, step: MigrationInfo, heads: Collection[Any], run_args: Mapping[str, Any]) -> None:  # noqa: ARG001  Alembic's
    """Keep with which older revisions one is compatible, in its transaction."""
    connection, script = ctx.connection, step.up_revision
    if connection is None or not isinstance(script, Script):
        return
    if not sqlalchemy.inspect(connection).has_table("schema_versions"):
        return
    if not step.is_upgrade:
        connection.execute(sqlalchemy.text(TAKEN_BACK), {"revision": script.revision})
        return
    since = getattr(script.module, "compatible_from", script.revision)
    connection.execute(sqlalchemy.text(APPLIED), {"revision": script.revision, "since": since})


def run() -> None:
    """Apply the revisions in one transaction each, on one connection."""
    with context.config.attributes["engine"].connect() as connection:
        context.configure(
            connection=connection,
            transaction_per_migration=True,
            on_version_apply=note,
        )
        with context.begin_transaction():
            context.run_migrations()


run()
