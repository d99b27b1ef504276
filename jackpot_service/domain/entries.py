"""What is to be booked as one entry of a jackpot's books."""

from dataclasses import dataclass, field
from datetime import datetime

from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.rounds import Round
from jackpot_service.domain.tallies import NOTHING, Tally

REFERENCE_BOOK = "-"
"""The book of what belongs to no jackpot: casinos, tables, keys, rate sheets. It has one stripe and no postings."""


@dataclass(frozen=True, slots=True)
class RoundStep:
    """The place of an entry in its round, by its own count of entries: the round's ids, whose it is, and its rules."""

    casino_id: str
    table_id: str
    round_id: str
    round_key: int
    step: int
    rules_version: int

    @classmethod
    def of(cls, round_: Round) -> "RoundStep":
        """The place of the entry that brought a round to where it is."""
        ids = round_.casino_id, round_.table_id, round_.round_id
        return cls(*ids, round_.round_key, round_.steps, round_.rules_version)


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One request's change of a jackpot's record: what it recorded (`facts`), and the postings, perhaps none.

    `received_at` is the service's clock when the request came in; when it is booked, the books say. `tally` is what the
    daily rollups keep of an entry of a round and its postings do not show.
    """

    book: str
    kind: EntryKind
    principal: str
    received_at: datetime
    facts: Facts
    postings: Postings = field(default_factory=Postings)
    round_step: RoundStep | None = None
    tally: Tally = NOTHING
