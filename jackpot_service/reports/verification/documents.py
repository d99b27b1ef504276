"""A jackpot's rounds with all that was written of them, a page of rounds at a time."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, select

from jackpot_service.db import Session
from jackpot_service.domain.batches import BookedBet
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.records.schema import (
    AwardRow,
    AwardStepRow,
    BetRow,
    CancellationRow,
    CompensationRow,
    CorrectionRow,
    HandRow,
    ResultRow,
    RoundRow,
    SettlementRow,
    VoidRow,
)

PAGE = 250
"""How many rounds are in memory at a time, with everything of theirs."""

LOWEST_KEY, HIGHEST_KEY = -(2**63), 2**63 - 1

_TABLES = (
    BetRow,
    VoidRow,
    ResultRow,
    CancellationRow,
    HandRow,
    SettlementRow,
    AwardRow,
    AwardStepRow,
    CompensationRow,
    CorrectionRow,
)

Rows = list[Row[Any]]


@dataclass(frozen=True, slots=True)
class RoundDocuments:
    """
    A round as it is now, its entries by step, and its rows by table; each row has the columns of its table.

    `rows` lacks a table that holds nothing of the round.
    """

    round: Round
    entries: tuple[BookedEntry, ...]
    bets: tuple[BookedBet, ...]
    rows: Mapping[str, Rows]

    @property
    def place(self) -> str:
        """Which round it is, in words."""
        return f"round {self.round.table_id}/{self.round.round_id}"

    def of(self, table: str) -> Rows:
        """The round's rows of a table, in the order of their keys."""
        return self.rows.get(table, [])

    def only(self, table: str) -> Row[Any] | None:
        """The one row of a table whose key is the round, if it is there."""
        return next(iter(self.of(table)), None)

    def required(self, table: str) -> Row[Any]:
        """Raises: LookupError if the row is not there."""
        row = self.only(table)
        if row is None:
            message = f"the round has no row in {table}"
            raise LookupError(message)
        return row

    def live(self, *, before_step: int) -> tuple[BookedBet, ...]:
        """The bets accepted before a step and not void before it, by bet id."""
        return tuple(
            one
            for one in self.bets
            if one.step < before_step and (one.void_step is None or one.void_step >= before_step)
        )


@dataclass(frozen=True, slots=True)
class Page:
    """Some rounds, and what was found to belong to no round."""

    rounds: tuple[RoundDocuments, ...]
    mismatches: tuple[Mismatch, ...]


def pages(session: Session, book: str) -> Iterator[Page]:
    """Read a jackpot's rounds in the order of their keys, with every row up to the last, and beyond."""
    after = LOWEST_KEY
    while after < HIGHEST_KEY:
        rounds = _rounds(session, book, after=after)
        upto = rounds[-1].round_key if len(rounds) == PAGE else HIGHEST_KEY
        yield _page(session, book, rounds, after=after, upto=upto)
        after = upto


def _rounds(session: Session, book: str, *, after: int) -> list[Round]:
    rows = session.execute(
        select(
            RoundRow.table_id,
            RoundRow.round_id,
            RoundRow.casino_id,
            RoundRow.state,
            RoundRow.rules_version,
            RoundRow.rate_sheet,
            RoundRow.steps,
            RoundRow.bet_count,
            RoundRow.weight,
            RoundRow.opened_at,
            RoundRow.round_key,
        )
        .where(RoundRow.jackpot_id == book, RoundRow.round_key > after)
        .order_by(RoundRow.round_key)
        .limit(PAGE)
    )
    return [
        Round(
            jackpot_id=book,
            round_key=row.round_key,
            table_id=row.table_id,
            round_id=row.round_id,
            casino_id=row.casino_id,
            state=RoundState(row.state),
            rules_version=row.rules_version,
            rate_sheet=row.rate_sheet,
            steps=row.steps,
            bet_count=row.bet_count,
            weight=row.weight,
            opened_at=row.opened_at,
        )
        for row in rows
    ]


def _page(session: Session, book: str, rounds: list[Round], *, after: int, upto: int) -> Page:
    entries: defaultdict[int, list[BookedEntry]] = defaultdict(list)
    for entry in replay.entries_of_rounds(session, book, after=after, upto=upto):
        entries[entry.round_key or 0].append(entry)
    rows: defaultdict[int, dict[str, Rows]] = defaultdict(dict)
    for model in _TABLES:
        for row in session.execute(_select(model, book, after=after, upto=upto)):
            rows[row.round_key].setdefault(model.__tablename__, []).append(row)
    known = {round_.round_key for round_ in rounds}
    return Page(
        tuple(
            RoundDocuments(
                round_, tuple(entries[round_.round_key]), _bets(rows[round_.round_key]), rows[round_.round_key]
            )
            for round_ in rounds
        ),
        tuple(
            Mismatch(Code.ROUND_MISSING, book, f"round key {key}", f"has rows in {table}, and is not there")
            for key in sorted((entries.keys() | rows.keys()) - known)
            for table in [*rows.get(key, {}), *(["entries"] if key in entries else [])]
        ),
    )


def _select(model: Any, book: str, *, after: int, upto: int) -> Any:  # noqa: ANN401  any of the tables, all its columns
    table = model.__table__
    return (
        select(table)
        .where(table.c.jackpot_id == book, table.c.round_key > after, table.c.round_key <= upto)
        .order_by(*table.primary_key.columns)
    )


def _bets(rows: Mapping[str, Rows]) -> tuple[BookedBet, ...]:
    void_steps = {row.bet_id: row.step for row in rows.get("voids", [])}
    return tuple(
        BookedBet(
            Bet(row.bet_id, row.player_id, row.hand, row.currency, row.stake_minor, row.occurred_at),
            row.step,
            void_steps.get(row.bet_id),
        )
        for row in rows.get("bets", [])
    )
