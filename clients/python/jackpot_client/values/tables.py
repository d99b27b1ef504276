"""Answers about the caller and its tables: which stakes they take, and which rounds wait for an end."""

from dataclasses import dataclass
from datetime import date as day
from datetime import datetime

from jackpot_client.values.lists import Page
from jackpot_client.values.rounds import FoundRound
from jackpot_client.values.words import JackpotState, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """The principal of the key: a casino of None is the house, no tables are all of its casino."""

    principal: str
    role: Role | str
    casino_id: str | None
    department: str
    table_ids: tuple[str, ...]
    is_service_account: bool
    requests: tuple[str, ...]
    decides: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Casino:
    """A casino; its gaming days begin at `day_starts` by the clock of its time zone, as the IANA names it."""

    casino_id: str
    name: str
    zone: str
    day_starts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A gaming table; without a jackpot it takes no jackpot bets."""

    table_id: str
    casino_id: str
    game: str
    jackpot_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The document that rates came from."""

    name: str
    date: day
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetHead:
    """A rate sheet; rates that were entered by hand have no source."""

    base: str
    number: int
    effective_at: datetime
    source: Source | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedStakes:
    """The stakes that a table takes in a currency, in whole minor units, both bounds included."""

    currency: str
    exponent: int
    least_minor: int
    largest_minor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTerms:
    """The terms of a round that the table opens now; a round that was opened before keeps its own."""

    state: JackpotState | str
    is_accepting: bool
    rules_version: int
    rate_sheet: SheetHead | None
    hands_per_player: int
    close_required: bool
    limits_version: int
    stakes: tuple[AcceptedStakes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTable(Table):
    """A table with its terms (None without a jackpot) and its rounds that wait for an end, the latest first."""

    terms: TableTerms | None
    open_rounds: Page[FoundRound]
