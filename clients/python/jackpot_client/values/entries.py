"""Answers about entries of the books. Amounts of postings are exact; what a figure has none of is None."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from jackpot_client.choosing import chosen_by
from jackpot_client.values.facts import FACTS, EntryFacts
from jackpot_client.values.words import EntryKind, FigureKind, Movement


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRound:
    """The round of an entry; `step` is the round's own count of its entries, from 1."""

    table_id: str
    round_id: str
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """An amount on an account, in units of its currency; below zero it lowers the balance."""

    account: str
    currency: str
    amount: Decimal
    movement: Movement | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number or an amount that reports sum; `value` is in the base currency, `minor` in whole minor units."""

    kind: FigureKind | str
    currency: str | None
    tier: str | None
    account: str | None
    detail: str | None
    made_on: date | None
    number: int | None
    minor: int | None
    value: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BookEntry:
    """
    An entry of a book, with its link in the stripe's chain: `head` is the hash over `head_before` and `digest`.

    `facts` are what a closing, a result, a cancellation or voids stated and came to. Of bets they are what these
    recorded besides themselves. They are None where there is nothing, and of all other kinds. Those of a kind that this
    client does not know are the JSON as it came.
    """

    book: str
    stripe: int
    seq: int
    kind: EntryKind | str
    principal: str | None
    received_at: datetime
    booked_at: datetime
    round: EntryRound | None
    casino_id: str | None
    table_id: str | None
    rules_version: int | None
    postings: tuple[Posting, ...]
    figures: tuple[Figure, ...]
    facts: EntryFacts | Mapping[str, Any] | None = field(metadata=chosen_by("kind", FACTS))
    digest: str
    head: str
    head_before: str
