"""Run by Alembic. The URL and the metadata come from the caller (`jackpot_service.migrate`); nothing is imported."""

import sqlalchemy
from alembic import context

LOCK_TIMEOUT_MS = 5_000
"""A migration that cannot get its lock gives up, rather than queue all ingest behind itself."""


def run() -> None:
    """Apply the revisions in one transaction each, on one connection."""
    engine = sqlalchemy.create_engine(
        context.config.attributes["url"],
        poolclass=sqlalchemy.pool.NullPool,
        connect_args={"options": f"-c lock_timeout={LOCK_TIMEOUT_MS} -c timezone=UTC -c search_path=public,pg_temp"},
    )
    with engine.connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=context.config.attributes.get("target_metadata"),
            transaction_per_migration=True,
        )
        with context.begin_transaction():
            context.run_migrations()


run()
