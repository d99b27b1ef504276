"""One entry of a jackpot's books, as it is to be booked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from jackpot_service.domain.accounts import CASINO
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.figures import Figure
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.rounds import Round

REFERENCE_BOOK = "-"
"""The book of what belongs to no jackpot: casinos, tables, keys, rate sheets. It has one stripe and no postings."""


class RoundStep(NamedTuple):
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


class Attribution(NamedTuple):
    """The casino, the table and the rules version of an entry's figures; empty, and 0, where there is none."""

    casino_id: str = ""
    table_id: str = ""
    rules_version: int = 0

    @classmethod
    def of(cls, round_: Round) -> "Attribution":
        """Those of a round."""
        return cls(round_.casino_id, round_.table_id, round_.rules_version)


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One request's change of a jackpot's record: what it recorded, the postings, perhaps none, and `figures`.

    `facts` are stored in the entry: what a closing, a result, a cancellation or voids recorded. `in_rows` are the facts
    that are stored as rows: bets, awards, acts, what a round was opened with, a cycle that begins. The digest covers
    both.

    `received_at` is the service's clock when the request came in; when it is booked, the books say. `figures` are what
    it comes to, as far as its postings do not state it; `attributed_to` is their attribution, if not the round's.
    """

    book: str
    kind: EntryKind
    principal: str
    received_at: datetime
    facts: Facts = field(default_factory=dict)
    in_rows: Facts = field(default_factory=dict)
    postings: Postings = field(default_factory=Postings)
    round_step: RoundStep | None = None
    figures: Sequence[Figure] = ()
    attributed_to: Attribution | None = None

    @property
    def attribution(self) -> Attribution:
        """Its round's casino, table and rules; an entry of no round is of the casino whose account it moves."""
        step = self.round_step
        if step is not None:
            return Attribution(step.casino_id, step.table_id, step.rules_version)
        return self.attributed_to or Attribution(casino_of(line.account for line in self.postings.lines))


def casino_of(accounts: Iterable[str]) -> str:
    """The casino whose account is among these, of which there is never more than one; empty if there is none."""
    return next((account.removeprefix(CASINO) for account in accounts if account.startswith(CASINO)), "")
