"""What the rows of rounds say that events are made of: read for many rounds at once, all of it append-only."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import text

from jackpot_service.database.transactions import Session

# Each round's rows are looked up by its key. These statements are planned at every execution, by the size that a table
# has then: so a join is planned the other way round only while a table is one page long.
_SETTLEMENTS = text(
    """
    SELECT k.book, k.round_key, s.*, c.rules_version, r.occurred_at
    FROM unnest(CAST(:books AS text[]), CAST(:round_keys AS bigint[])) AS k (book, round_key)
    CROSS JOIN LATERAL (
        SELECT o.cycle, o.policy, o.meter_before, o.weight, o.meter_after, o.reserve_after, o.prize_fund_after,
               o.overflow, o.carried, o.house_seed, o.cycle_after
        FROM settlements o
        WHERE o.jackpot_id = k.book AND o.round_key = k.round_key
        LIMIT 1
    ) AS s
    CROSS JOIN LATERAL (
        SELECT o.rules_version FROM cycles o WHERE o.jackpot_id = k.book AND o.cycle = s.cycle_after LIMIT 1
    ) AS c
    CROSS JOIN LATERAL (
        SELECT o.occurred_at FROM results o WHERE o.jackpot_id = k.book AND o.round_key = k.round_key LIMIT 1
    ) AS r
    """
)

_CANCELLATIONS = text(
    """
    SELECT k.book, k.round_key, c.*
    FROM unnest(CAST(:books AS text[]), CAST(:round_keys AS bigint[])) AS k (book, round_key)
    CROSS JOIN LATERAL (
        SELECT o.reason, o.cycle, o.occurred_at
        FROM cancellations o
        WHERE o.jackpot_id = k.book AND o.round_key = k.round_key
        LIMIT 1
    ) AS c
    """
)

# The live bets of rounds that are over, so none of it changes any more; those on dead hands, given back, apart. A round
# is summed by itself (LATERAL, GROUP BY).
_STAKES = text(
    """
    SELECT k.book, k.round_key, s.*
    FROM unnest(CAST(:books AS text[]), CAST(:round_keys AS bigint[])) AS k (book, round_key)
    CROSS JOIN LATERAL (
        SELECT b.currency, h.is_dead, sum(b.stake_minor), count(*)
        FROM bets b
        LEFT JOIN LATERAL (
            SELECT true AS is_void
            FROM voids o
            WHERE o.jackpot_id = k.book AND o.round_key = k.round_key AND o.bet_id = b.bet_id
            LIMIT 1
        ) AS v ON true
        CROSS JOIN LATERAL (
            SELECT coalesce(max(o.status) = 'dead', false) AS is_dead
            FROM hands o
            WHERE o.jackpot_id = k.book AND o.round_key = k.round_key AND o.hand = b.hand
        ) AS h
        WHERE b.jackpot_id = k.book AND b.round_key = k.round_key AND v.is_void IS NULL
        GROUP BY b.currency, h.is_dead
    ) AS s
    """
)

_VOIDS = text(
    """
    SELECT k.book, k.round_key, k.step, v.*, b.currency, b.stake_minor
    FROM unnest(CAST(:books AS text[]), CAST(:round_keys AS bigint[]), CAST(:steps AS int[]))
         AS k (book, round_key, step)
    CROSS JOIN LATERAL (
        SELECT o.bet_id, o.is_tombstone, o.occurred_at
        FROM voids o
        WHERE o.jackpot_id = k.book AND o.round_key = k.round_key AND o.step = k.step
    ) AS v
    LEFT JOIN LATERAL (
        SELECT o.currency, o.stake_minor
        FROM bets o
        WHERE o.jackpot_id = k.book AND o.round_key = k.round_key AND o.bet_id = v.bet_id
        LIMIT 1
    ) AS b ON true
    ORDER BY v.bet_id COLLATE "C"
    """
)


class RoundName(NamedTuple):
    """A round as the books know it."""

    book: str
    round_key: int


class Step(NamedTuple):
    """An entry of a round."""

    round: RoundName
    step: int


class Total(NamedTuple):
    """A sum of whole minor units of a currency, and how many they were."""

    currency: str
    amount_minor: int
    how_many: int


@dataclass(slots=True)
class Totals:
    """Sums of money, a currency each."""

    _by_currency: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, currency: str, amount_minor: int, count: int = 1) -> None:
        """Add an amount, of so many."""
        before = self._by_currency.get(currency, (0, 0))
        self._by_currency[currency] = before[0] + amount_minor, before[1] + count

    def listed(self) -> list[Total]:
        """The sums, by currency."""
        return [Total(currency, *sums) for currency, sums in sorted(self._by_currency.items())]


@dataclass(frozen=True, slots=True)
class SettledRound:
    """What a settlement says of its round, in the base currency; `rules_version` is that of the cycle after it."""

    cycle: int
    policy: str
    meter_before: Decimal
    weight: Decimal
    meter_after: Decimal
    reserve_after: Decimal
    prize_fund_after: Decimal
    overflow: Decimal
    carried: Decimal | None
    house_seed: Decimal
    cycle_after: int
    rules_version: int
    occurred_at: datetime | None

    @property
    def is_hit(self) -> bool:
        """Whether it won the jackpot."""
        return self.cycle_after > self.cycle


@dataclass(frozen=True, slots=True)
class CancelledRound:
    """What a cancellation says."""

    reason: str
    cycle: int
    occurred_at: datetime | None


@dataclass(slots=True)
class Stakes:
    """The live stakes of a round that is over; and once more those on dead hands, which were given back."""

    live: Totals = field(default_factory=Totals)
    dead: Totals = field(default_factory=Totals)


@dataclass(slots=True)
class Voids:
    """What one call made void: bets, with the sums of their stakes, and ids of bets that were not known."""

    bet_ids: list[str] = field(default_factory=list)
    tombstones: list[str] = field(default_factory=list)
    refunds: Totals = field(default_factory=Totals)
    occurred_at: datetime | None = None


def columns(rounds: Sequence[RoundName]) -> dict[str, Any]:
    """Write rounds as the parameters of a statement on several."""
    return {"books": [name.book for name in rounds], "round_keys": [name.round_key for name in rounds]}


def settlements(session: Session, rounds: Sequence[RoundName]) -> Mapping[RoundName, SettledRound]:
    """Read the settlements of rounds."""
    rows = session.execute(_SETTLEMENTS, columns(rounds)) if rounds else ()
    return {RoundName(*row[:2]): SettledRound(*row[2:]) for row in rows}


def cancellations(session: Session, rounds: Sequence[RoundName]) -> Mapping[RoundName, CancelledRound]:
    """Read the cancellations of rounds."""
    rows = session.execute(_CANCELLATIONS, columns(rounds)) if rounds else ()
    return {RoundName(*row[:2]): CancelledRound(*row[2:]) for row in rows}


def stakes(session: Session, rounds: Sequence[RoundName]) -> Mapping[RoundName, Stakes]:
    """Sum the live stakes of rounds that are over; a round without any is not in it."""
    found: defaultdict[RoundName, Stakes] = defaultdict(Stakes)
    rows = session.execute(_STAKES, columns(rounds)) if rounds else ()
    for book, round_key, currency, is_dead, amount_minor, count in rows:
        of_round = found[RoundName(book, round_key)]
        of_round.live.add(currency, int(amount_minor), count)
        if is_dead:
            of_round.dead.add(currency, int(amount_minor), count)
    return found


def voids(session: Session, steps: Sequence[Step]) -> Mapping[Step, Voids]:
    """Read what some entries made void."""
    found: defaultdict[Step, Voids] = defaultdict(Voids)
    parameters = {**columns([step.round for step in steps]), "steps": [step.step for step in steps]}
    for row in session.execute(_VOIDS, parameters) if steps else ():
        of_step = found[Step(RoundName(row.book, row.round_key), row.step)]
        of_step.occurred_at = row.occurred_at
        if row.is_tombstone:
            of_step.tombstones.append(row.bet_id)
        else:
            of_step.bet_ids.append(row.bet_id)
            of_step.refunds.add(row.currency, row.stake_minor)
    return found
