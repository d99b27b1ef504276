"""Run by Alembic. The engine and the metadata come from the caller (`jackpot_service.migrate`); nothing is imported."""

from alembic import context


def run() -> None:
    """Apply the revisions in one transaction each, on one connection."""
    with context.config.attributes["engine"].connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=context.config.attributes.get("target_metadata"),
            transaction_per_migration=True,
        )
        with context.begin_transaction():
            context.run_migrations()


run()
