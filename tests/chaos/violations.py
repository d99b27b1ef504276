"""What may be found wrong, by kind: each is one sentence that the campaign's table counts."""

from enum import StrEnum
from typing import NamedTuple


class Fact(StrEnum):
    """The kinds of what is wrong."""

    LOST = "acknowledged and not in the books"
    DIFFERS = "in the books with another content"
    TORN = "partly in the books"
    NEVER_SENT = "in the books and never sent"
    DOUBLED = "an id stands twice"
    BOOKED_TWICE = "accepted twice by the answers"
    BOOKED_LATE = "a bet booked after its round's betting was closed"
    DENIED_AND_DONE = "booked, and answered that nothing was written"
    ANSWERS_DIFFER = "the same call was answered in two ways"
    ANSWER_WRONG = "the answer is not what is in the books"
    AWARDS_WRONG = "the awards are not those of the rules"
    WRONGLY_ACCEPTED = "accepted and had to be refused"
    WRONGLY_REFUSED = "refused without a reason"
    UNKNOWN_STATUS = "a status outside the contract"
    HUNG = "no answer in time"
    POOL_DIFFERS = "a pool is not its contributions less its awards"
    CASINO_DIFFERS = "a casino's balance is not its stakes less its awards"
    UNBALANCED = "the accounts of a currency do not sum to zero"
    AHEAD = "booked in the future"
    NOT_VERIFIED = "`jackpot verify` found a mismatch"
    NOT_RECOVERED = "not every table server was acknowledged again"


LOSSES = frozenset({Fact.LOST, Fact.DIFFERS, Fact.TORN})
"""What a caller loses by."""

ANSWERS = frozenset({Fact.HUNG, Fact.UNKNOWN_STATUS, Fact.WRONGLY_REFUSED, Fact.NOT_RECOVERED})
"""What is wrong with the service, and not with its books."""


class Violation(NamedTuple):
    """Something that is wrong, and where."""

    fact: Fact
    place: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.fact}: {self.place}" + (f" ({self.detail})" if self.detail else "")
