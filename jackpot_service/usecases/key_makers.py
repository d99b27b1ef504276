"""Nobody who made a key releases, or records as paid, what was won by that key."""

from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import Forbidden
from jackpot_service.records import key_makers as records
from jackpot_service.usecases.acts import Act


class KeyMaker(Forbidden):
    """One person made a key by which the round was played, and is who acts now or made the key of who does."""

    code = "key-maker"
    title = "The maker of a key releases nothing that was won by it"


def require_another(session: Session, act: Act, *, jackpot_id: str, round_key: int) -> None:
    """Raises: KeyMaker if who acts, or made the key of who acts, made a key by which a round was played."""
    name = act.principal.name
    if records.is_on_both_sides(session, jackpot_id=jackpot_id, round_key=round_key, actor=name, at=act.now):
        # Whose keys those are is not for everybody who may pay.
        message = f"A key by which this round was played was made by {name}, or by who made a key of {name}."
        raise KeyMaker(message, principal=name)
