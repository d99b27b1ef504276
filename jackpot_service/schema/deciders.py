"""Who may decide which kind of change, as the database's triggers hold it: the table learns new kinds from the code."""

from collections.abc import Iterable, Mapping

from sqlalchemy.dialects.postgresql import insert

from jackpot_service.database.connections import create_owners_engine
from jackpot_service.records.deciding_schema import ChangeDeciderRow
from jackpot_service.schema import migrate
from jackpot_service.schema.migrate import LOCK_TIMEOUT_MS, SchemaState


def add(url: str, roles: Mapping[str, Iterable[str]]) -> None:
    """
    Add the roles that decide each kind to the table of deciders, by the owner's login; removing one takes a revision.

    On the schema of a newer version nothing is added: that version says who decides.
    """
    engine = create_owners_engine(url, lock_timeout_ms=LOCK_TIMEOUT_MS)
    rows = [{"kind": kind, "role": role} for kind, of_kind in roles.items() for role in of_kind]
    if rows and migrate.state(engine) is SchemaState.CURRENT:
        with engine.begin() as connection:
            connection.execute(insert(ChangeDeciderRow).on_conflict_do_nothing(), rows)
