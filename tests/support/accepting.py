"""A single batch of bets, as a group of its own."""

from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import LedgerError
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted, accept_group


def accept_bets(session: Session, command: AcceptBets) -> BetsAccepted:
    """Accept a batch. Commits. Raises: what the batch is refused by."""
    (outcome,) = accept_group(session, [command])
    if isinstance(outcome, LedgerError):
        raise outcome
    return outcome
