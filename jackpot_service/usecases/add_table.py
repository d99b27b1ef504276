"""Adding a gaming table. Its casino, game and jackpot never change."""

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.catalog.games import GAME_IDS
from jackpot_service.domain.catalog.jackpots import GAME
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import EntryKind
from jackpot_service.records import references as records
from jackpot_service.records.pinned import Table
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, AlreadyExists


class BadGame(Refused):
    """No such game, or one on which the jackpot is not played."""

    code = "game-invalid"
    title = "The game does not fit"


def add_table(session: Session, act: Act, new: Table) -> bool:
    """
    Add a table, once: the same again changes nothing. Returns whether it was added now.

    Raises: BadGame, UnknownCasino, UnknownJackpot; AlreadyExists if the id belongs to another table.
    """
    _require_game(new)
    acts.lock(session)
    found = records.table(session, new.table_id)
    if found == new:
        return False
    if found is not None:
        message = f"Table {new.table_id} exists, at casino {found.casino_id}; a table that moves gets a new id."
        raise AlreadyExists(message, table_id=new.table_id)
    records.require_casino(session, new.casino_id)
    if new.jackpot_id is not None:
        records.require_base(session, new.jackpot_id)
    recorded = facts.of_table(table_id=new.table_id, casino_id=new.casino_id, game=new.game, jackpot_id=new.jackpot_id)
    seq = acts.post(
        session,
        act,
        EntryKind.TABLE_ADDED,
        subject=f"table {new.table_id}",
        after=recorded,
        jackpot_id=new.jackpot_id,
    )
    records.add_table(session, new, entry_seq=seq)
    return True


def _require_game(new: Table) -> None:
    if new.game not in GAME_IDS:
        message = f"The games are {', '.join(GAME_IDS)}; {new.game} is none of them."
        raise BadGame(message, game=new.game)
    if new.jackpot_id is not None and new.game != GAME:
        message = f"No rulebook has a jackpot bet on {new.game}."
        raise BadGame(message, game=new.game)
