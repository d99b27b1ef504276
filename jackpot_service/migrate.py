"""Bringing a database to a revision of the schema, and telling whether it is there."""

from pathlib import Path

import alembic.command
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.config import Config as AlembicConfig
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from jackpot_service.connections import create_owners_engine
from jackpot_service.db import Base
from jackpot_service.ledger import instants_schema, rollups_schema
from jackpot_service.ledger import schema as ledger_schema
from jackpot_service.records import jobs_schema, periods_schema, reconciled_schema, seals_schema, verifications_schema
from jackpot_service.records import schema as record_schema

LOCK_TIMEOUT_MS = 5_000
"""A migration that cannot get its lock gives up, rather than queue all ingest behind itself."""

SCRIPTS = Path(__file__).resolve().parent / "migrations"

MODELS = (
    instants_schema,
    ledger_schema,
    rollups_schema,
    periods_schema,
    record_schema,
    jobs_schema,
    reconciled_schema,
    seals_schema,
    verifications_schema,
)
"""The modules whose import fills the metadata that a migrated database must equal."""


def upgrade(url: str, revision: str = "head") -> None:
    """Migrate a database up to a revision; does nothing if it is there already."""
    alembic.command.upgrade(_configuration(url), revision)


def downgrade(url: str, revision: str) -> None:
    """Migrate a database down to a revision; `base` leaves it empty."""
    alembic.command.downgrade(_configuration(url), revision)


def is_current(engine: sqlalchemy.Engine) -> bool:
    """Tell whether the database stands at the newest revision that this version knows."""
    with engine.connect() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
    return found == ScriptDirectory(str(SCRIPTS)).get_current_head()


def differences(url: str) -> list[str]:
    """List in what a migrated database differs from the models; empty is as it should be."""
    with create_owners_engine(url, lock_timeout_ms=LOCK_TIMEOUT_MS).connect() as connection:
        # Partitions are made as months come; what they are made of is their parent's, which has a model.
        partitions = set(connection.scalars(sqlalchemy.text("SELECT relname FROM pg_class WHERE relispartition")))
        options = {"include_name": lambda name, kind, _parents: kind != "table" or name not in partitions}
        found = compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata)
    return [str(difference) for difference in found]


def _configuration(url: str) -> AlembicConfig:
    configuration = AlembicConfig()
    configuration.set_main_option("script_location", str(SCRIPTS))
    configuration.attributes["engine"] = create_owners_engine(url, lock_timeout_ms=LOCK_TIMEOUT_MS)
    configuration.attributes["target_metadata"] = Base.metadata
    return configuration
