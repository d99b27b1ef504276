"""A jackpot's rounds with all that was written of them, a page of rounds at a time."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, cast

from sqlalchemy import ColumnElement, Row, Text, and_, bindparam, func, select, tuple_
from sqlalchemy.dialects.postgresql import ARRAY

from jackpot_service.database.models import (
    AwardRow,
    AwardStepRow,
    BetRow,
    CompensationRow,
    CorrectionRow,
    ExceptionRow,
    PaymentRow,
    RoundRow,
    VoidRow,
)
from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.bets import Bet, Bets, BookedBet
from jackpot_service.domain.exceptions import AWARD_UNCLAIMED, LATE_VOID, PRIZE_DENIED
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.outcomes import Result
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.domain.rules import FundedBy
from jackpot_service.domain.settlement import Award
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry, Within
from jackpot_service.proof.decoding import Decoder

PAGE = 750
"""
How many rounds are in memory at a time, with everything of theirs. There are ten questions for each page.
"""

MOST_BETS = 5000
"""How many bets, as the rounds count them; but one round at least."""

HIGHEST_KEY = 2**63 - 1

_TABLES = (
    BetRow,
    VoidRow,
    AwardRow,
    AwardStepRow,
    PaymentRow,
    CompensationRow,
    CorrectionRow,
)

_BETS = frozenset({BetRow.__tablename__})

_FIRST_STATES = (AwardState.PAYABLE, AwardState.HELD)
"""How an award begins."""

ENDINGS = frozenset({EntryKind.RESULT, EntryKind.CANCELLATION})

CHECKED = (LATE_VOID, PRIZE_DENIED, AWARD_UNCLAIMED)
"""The kinds of exceptions that are compared with the documents of their round."""

# Two arrays: to write, and to read, a tuple of parameters for each round took longer than all else of this question.
_NAMES = (
    func.unnest(bindparam("table_ids", type_=ARRAY(Text)), bindparam("round_ids", type_=ARRAY(Text)))
    .table_valued("table_id", "round_id", name="named")
    .render_derived()
)
_EXCEPTIONS = (
    select(ExceptionRow.__table__)
    .where(
        ExceptionRow.kind.in_(CHECKED),
        tuple_(ExceptionRow.table_id, ExceptionRow.round_id).in_(select(_NAMES.c.table_id, _NAMES.c.round_id)),
    )
    .order_by(ExceptionRow.number)
)

Rows = list[Row[Any]]


@dataclass(frozen=True)
class RoundDocuments:
    """
    A round as it is now, its entries by step, and its rows by table; each row has the columns of its table.

    `rows` lacks a table that holds nothing of the round. `exceptions` are those that are compared with it. Several
    checks ask for what is read or chosen of them; it is the same each time, and made once.
    """

    round: Round
    entries: tuple[BookedEntry, ...]
    bets: tuple[BookedBet, ...]
    rows: Mapping[str, Rows]
    exceptions: Rows
    _live: dict[int, tuple[Bet, ...]] = field(default_factory=dict, init=False)
    _batches: dict[int | None, Bets] = field(default_factory=dict, init=False)

    @property
    def place(self) -> str:
        """Which round it is, in words."""
        return f"round {self.round.table_id}/{self.round.round_id}"

    @cached_property
    def ending(self) -> BookedEntry | None:
        """The entry that ended the round; the first of several."""
        return next((entry for entry in self.entries if entry.kind in ENDINGS), None)

    @property
    def ended(self) -> Facts:
        """The facts of the round's result or cancellation. Raises: LookupError if there is none."""
        if self.ending is None:
            message = "the round has neither a result nor a cancellation"
            raise LookupError(message)
        return self.ending.facts

    @cached_property
    def result(self) -> Result:
        """The round's result. Raises: LookupError, TypeError, ValueError."""
        return facts.result_of(self.ended["result"])

    @cached_property
    def awards(self) -> tuple[Award, ...]:
        """The awards of the round's settlement as they began, by bet id and tier. Raises: ValueError."""
        if not self.of("awards"):
            return ()
        steps = {(row.bet_id, row.tier, row.step) for row in self.of("award_steps") if not row.correction}
        return tuple(
            Award(
                bet=Bet(row.bet_id, player_id="", hand="", currency=row.currency, stake_minor=0),
                tier=Tier(row.tier),
                amount_minor=row.amount_minor,
                cost=row.cost,
                funded_by=FundedBy(row.funded_by),
                state=_first_state(row.bet_id, row.tier, steps),
            )
            for row in sorted(self.of("awards"), key=lambda row: (row.bet_id, row.tier))
            if not row.correction
        )

    @property
    def denied(self) -> Rows:
        """The exceptions for prizes that were denied in the round."""
        return self.noted(PRIZE_DENIED)

    def noted(self, kind: str) -> Rows:
        """The exceptions of one kind, in the order in which they were kept."""
        return [row for row in self.exceptions if row.kind == kind]

    def of(self, table: str) -> Rows:
        """The round's rows of a table, in the order of their keys."""
        return self.rows.get(table, [])

    @property
    def has_bets_alone(self) -> bool:
        """Whether no other of `_TABLES` than bets has a row of the round."""
        return self.rows.keys() <= _BETS

    def accepted(self, *, step: int | None) -> tuple[Bet, ...]:
        """The bets that a step accepted, by bet id."""
        return self._accepted.get(step, ())

    def batch(self, *, step: int | None) -> Bets:
        """As `accepted`, column by column. Raises: ValueError if there is none."""
        if step not in self._batches:
            self._batches[step] = Bets.of(self.accepted(step=step))
        return self._batches[step]

    @cached_property
    def _accepted(self) -> Mapping[int | None, tuple[Bet, ...]]:
        by_step: defaultdict[int | None, list[Bet]] = defaultdict(list)
        for bet, step, _ in self.bets:
            by_step[step].append(bet)
        return {step: tuple(accepted) for step, accepted in by_step.items()}

    def live(self, *, before_step: int) -> tuple[Bet, ...]:
        """The bets accepted before a step and not void before it, by bet id."""
        if before_step not in self._live:
            self._live[before_step] = tuple(
                bet
                for bet, step, void_step in self.bets
                if step < before_step and (void_step is None or void_step >= before_step)
            )
        return self._live[before_step]


def _first_state(bet_id: str, tier: str, steps: set[tuple[str, str, str]]) -> AwardState:
    """How an award began; rejected, as none begins, where no such step is there."""
    begun = (state for state in _FIRST_STATES if (bet_id, tier, state.value) in steps)
    return next(begun, AwardState.REJECTED)


@dataclass(frozen=True, slots=True)
class Page:
    """Some rounds, and what was found to belong to no round."""

    rounds: tuple[RoundDocuments, ...]
    mismatches: tuple[Mismatch, ...]


def shares(session: Session, book: str, *, after: int, rounds: int) -> tuple[int, ...]:
    """Divide a jackpot's rounds after a key into shares of so many: up to which key each goes, the last beyond all."""
    number = func.row_number().over(order_by=RoundRow.round_key)
    keys = (
        select(RoundRow.round_key, number.label("number"))
        .where(RoundRow.jackpot_id == book, RoundRow.round_key > after)
        .subquery()
    )
    ends = session.scalars(select(keys.c.round_key).where(keys.c.number % rounds == 0).order_by(keys.c.round_key))
    return (*ends, HIGHEST_KEY)


def pages(session: Session, decoder: Decoder, book: str, *, after: int, upto: int = HIGHEST_KEY) -> Iterator[Page]:
    """Read a jackpot's rounds between two keys in their order, with every row after the first and up to the second."""
    while after < upto:
        within = (RoundRow.jackpot_id == book, RoundRow.round_key > after, RoundRow.round_key <= upto)
        rounds, is_end = _rounds(session, *within)
        last = upto if is_end else rounds[-1].round_key
        yield _page(session, decoder, book, rounds, _between(after, last))
        after = last


def these(session: Session, decoder: Decoder, book: str, keys: Iterable[int]) -> Iterator[Page]:
    """Read a jackpot's rounds of some keys, in the order of their keys, with every row of theirs."""
    remaining = sorted(keys)
    while remaining:
        page = remaining[:PAGE]
        rounds, is_end = _rounds(session, RoundRow.jackpot_id == book, RoundRow.round_key.in_(page))
        upto = page[-1] if is_end else rounds[-1].round_key
        page = [key for key in page if key <= upto]
        yield _page(session, decoder, book, rounds, _one_of(page))
        remaining = remaining[len(page) :]


def keys_there(session: Session, book: str, keys: Collection[int]) -> set[int]:
    """Find which of some keys are those of a jackpot's rounds."""
    question = select(RoundRow.round_key).where(RoundRow.jackpot_id == book, RoundRow.round_key.in_(keys))
    return set(session.scalars(question))


def _between(after: int, upto: int) -> Within:
    return lambda key: and_(key > after, key <= upto)


def _one_of(keys: Sequence[int]) -> Within:
    return lambda key: key.in_(keys)


def _rounds(session: Session, *conditions: ColumnElement[bool]) -> tuple[list[Round], bool]:
    """Read the first rounds that are such, as many as make a page; and return whether there are no more."""
    rows = session.execute(
        select(
            RoundRow.jackpot_id,
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
            RoundRow.game_number,
            RoundRow.round_key,
        )
        .where(*conditions)
        .order_by(RoundRow.round_key)
        .limit(PAGE)
    ).all()
    so_far = accumulate(row.bet_count for row in rows)
    fitting = rows[: max(1, sum(bets <= MOST_BETS for bets in so_far))]
    return [_round(row) for row in fitting], len(fitting) == len(rows) < PAGE


def _round(row: Any) -> Round:  # noqa: ANN401  a row of these columns
    return Round(
        jackpot_id=row.jackpot_id,
        round_key=row.round_key,
        table_id=row.table_id,
        round_id=row.round_id,
        casino_id=row.casino_id,
        state=_state(row.state),
        rules_version=row.rules_version,
        rate_sheet=row.rate_sheet,
        steps=row.steps,
        bet_count=row.bet_count,
        weight=row.weight,
        opened_at=row.opened_at,
        game_number=row.game_number,
    )


def _state(text: str) -> RoundState:
    """A word that is no state stays as it is: it differs from what is derived, and is named for that."""
    try:
        return RoundState(text)
    except ValueError:
        return cast("RoundState", text)


def _page(session: Session, decoder: Decoder, book: str, rounds: Sequence[Round], within: Within) -> Page:
    entries: defaultdict[int, list[BookedEntry]] = defaultdict(list)
    for entry in replay.entries_within(session, book, within):
        entries[entry.round_key or 0].append(entry)
    rows: defaultdict[int, dict[str, Rows]] = defaultdict(dict)
    for model in _TABLES:
        name = model.__tablename__
        for row in decoder.rows(name, session.execute(_select(model, book, within)).all()):
            rows[row.round_key].setdefault(name, []).append(row)
    exceptions = _exceptions(session, decoder, rounds)
    known = {round_.round_key for round_ in rounds}
    return Page(
        tuple(
            RoundDocuments(
                round_,
                tuple(entries[round_.round_key]),
                _bets(rows[round_.round_key]),
                rows[round_.round_key],
                exceptions[round_.table_id, round_.round_id],
            )
            for round_ in rounds
        ),
        tuple(
            Mismatch(Code.ROUND_MISSING, book, f"round key {key}", f"has rows in {table}, and is not there")
            for key in sorted((entries.keys() | rows.keys()) - known)
            for table in [*rows.get(key, {}), *(["entries"] if key in entries else [])]
        ),
    )


def _exceptions(session: Session, decoder: Decoder, rounds: Sequence[Round]) -> defaultdict[tuple[str, str], Rows]:
    """Read the exceptions that are compared with their rounds, by table and round."""
    names = {
        "table_ids": [round_.table_id for round_ in rounds],
        "round_ids": [round_.round_id for round_ in rounds],
    }
    by_round: defaultdict[tuple[str, str], Rows] = defaultdict(list)
    for row in decoder.rows(ExceptionRow.__tablename__, session.execute(_EXCEPTIONS, names).all()):
        by_round[row.table_id, row.round_id].append(row)
    return by_round


def _select(model: Any, book: str, within: Within) -> Any:  # noqa: ANN401  any of the tables, all its columns
    table = model.__table__
    return (
        select(table).where(table.c.jackpot_id == book, within(table.c.round_key)).order_by(*table.primary_key.columns)
    )


def _bets(rows: Mapping[str, Rows]) -> tuple[BookedBet, ...]:
    void_steps = {row.bet_id: row.step for row in rows.get("voids", [])}
    bets: Iterable[Any] = rows.get("bets", ())  # Unpacked at once, not column by column: nothing else is as many.
    return tuple(
        BookedBet(Bet(bet_id, player_id, hand, currency, stake_minor, occurred_at), step, void_steps.get(bet_id))
        for _, _, bet_id, step, player_id, hand, currency, stake_minor, occurred_at in bets
    )
