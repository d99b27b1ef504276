"""Answers about entries of the books. Amounts of postings are exact; what a figure has none of is None."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any


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
    movement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number or an amount that reports sum; `value` is in the base currency, `minor` in whole minor units."""

    kind: str
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

    `facts` are what a closing, a result, a cancellation or voids stated and came to, as the service writes them.
    """

    book: str
    stripe: int
    seq: int
    kind: str
    principal: str | None
    received_at: datetime
    booked_at: datetime
    round: EntryRound | None
    casino_id: str | None
    table_id: str | None
    rules_version: int | None
    postings: tuple[Posting, ...]
    figures: tuple[Figure, ...]
    facts: Mapping[str, Any] | None
    digest: str
    head: str
    head_before: str
