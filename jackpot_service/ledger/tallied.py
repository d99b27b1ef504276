"""Entries of rounds that tell what they add to their day's sums: one that does not is refused before it is booked."""

from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.errors import BooksBroken
from jackpot_service.domain.journal import EntryKind, Movement


class TallyMissing(BooksBroken):
    """An entry of a round was about to be booked without what it adds to its day's sums."""

    code = "tally-missing"


def round_of(entry: Entry) -> RoundStep:
    """The round of an entry that tells all that its day sums up. Raises: TallyMissing."""
    step, tally = entry.round_step, entry.tally
    if entry.kind is EntryKind.BETS:
        is_whole = bool(tally.bets)
    else:
        movements = {line.movement for line in entry.postings.lines}
        is_whole = (Movement.REVERSAL in movements) is bool(tally.refunds) and (
            (Movement.AWARD in movements) is bool(tally.awards)
        )
    if step is None or not is_whole:
        message = f"An entry of {entry.kind} tells its round, and what it comes to by currency."
        raise TallyMissing(message)
    return step
