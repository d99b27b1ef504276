"""Awards with the steps they took: one by its id, those of a round, or a list; and taking further steps."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Row, insert, select, text

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.awards import AwardState, AwardStep, steps_beyond, steps_into
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.held_awards import AwardKey, MadeAward
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round
from jackpot_service.ledger.schema import EntryRow
from jackpot_service.records import verdicts
from jackpot_service.records.schema import AwardStepRow
from jackpot_service.records.verdicts import BookedAward

_SAME_AWARD = """s.jackpot_id = a.jackpot_id AND s.round_key = a.round_key AND s.bet_id = a.bet_id AND s.tier = a.tier
      AND s.correction = a.correction"""

# Rounds, bets and steps are looked up by their keys for each award (LATERAL, LIMIT): see `records.rounds`.
_SELECT = f"""
SELECT a.jackpot_id, a.round_key, r.table_id, r.round_id, r.casino_id, a.award_id, a.bet_id, b.player_id, b.hand,
       a.tier, a.amount_minor, a.currency, a.cost, a.funded_by, taken.steps, taken.times, taken.acts,
       a.correction, paid.after -> 'payment' AS payment
FROM {{awards}}
CROSS JOIN LATERAL (
    SELECT o.table_id, o.round_id, o.casino_id
    FROM rounds o
    WHERE o.jackpot_id = a.jackpot_id AND o.round_key = a.round_key
    LIMIT 1
) AS r
CROSS JOIN LATERAL (
    SELECT o.player_id, o.hand
    FROM bets o
    WHERE o.jackpot_id = a.jackpot_id AND o.round_key = a.round_key AND o.bet_id = a.bet_id
    LIMIT 1
) AS b
CROSS JOIN LATERAL (
    SELECT array_agg(s.step ORDER BY s.taken_at, s.act_seq NULLS FIRST) AS steps,
           array_agg(s.taken_at ORDER BY s.taken_at, s.act_seq NULLS FIRST) AS times,
           array_agg(s.act_seq ORDER BY s.taken_at, s.act_seq NULLS FIRST) AS acts,
           max(s.act_seq) FILTER (WHERE s.step = 'paid') AS paid_by
    FROM award_steps s
    WHERE {_SAME_AWARD}
) AS taken
LEFT JOIN acts paid ON paid.seq = taken.paid_by
WHERE {{conditions}}
ORDER BY a.round_key DESC, a.award_id DESC
LIMIT :limit
"""  # noqa: S608  a constant

# A correction and its entry in the jackpot's book are booked at the same time.
MADE_ON: Final = f"""
    (coalesce((SELECT e.booked_at
               FROM results d
               JOIN entries e ON e.jackpot_id = d.jackpot_id AND e.round_key = d.round_key AND e.step = d.step
               WHERE d.jackpot_id = a.jackpot_id AND d.round_key = a.round_key AND a.correction = 0),
              (SELECT e.booked_at
               FROM corrections d
               JOIN entries e ON e.jackpot_id = '{REFERENCE_BOOK}' AND e.stripe_no = 0 AND e.seq = d.act_seq
               WHERE d.jackpot_id = a.jackpot_id AND d.round_key = a.round_key AND d.number = a.correction))
     AT TIME ZONE 'UTC')::date
"""  # noqa: S608  a constant
"""SQL for the UTC day on which an award `a` was made, by its keys: its round's result was booked, or its correction."""

_BOOKED_ON = text("""
    SELECT 0, (e.booked_at AT TIME ZONE 'UTC')::date
    FROM results d
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.round_key = d.round_key AND e.step = d.step
    WHERE d.jackpot_id = :jackpot_id AND d.round_key = :round_key
    UNION ALL
    SELECT d.number, (e.booked_at AT TIME ZONE 'UTC')::date
    FROM corrections d
    JOIN entries e ON e.jackpot_id = '-' AND e.stripe_no = 0 AND e.seq = d.act_seq
    WHERE d.jackpot_id = :jackpot_id AND d.round_key = :round_key
""")

# Few awards ever took one of these steps, and an index holds just them: the list starts there (OFFSET 0 keeps it so).
_THOSE_THAT_TOOK = """
(SELECT jackpot_id, round_key, bet_id, tier, correction FROM award_steps WHERE step IN ({steps}) OFFSET 0) AS d
JOIN awards a ON a.jackpot_id = d.jackpot_id AND a.round_key = d.round_key AND a.bet_id = d.bet_id AND a.tier = d.tier
     AND a.correction = d.correction
"""

_OUT_OF_THE_ORDINARY = frozenset({AwardState.HELD, AwardState.REJECTED, AwardState.REVERSED})


class UnknownAward(NotFound):
    """No award of this id, or not for this caller."""

    code = "award-unknown"
    title = "Unknown award"


class Position(NamedTuple):
    """Where an award stands in the list of all: the latest rounds come first."""

    round_key: int
    award_id: str


class TakenStep(NamedTuple):
    """A step that an award took, when, and by which act; by none, if its settlement took it."""

    step: AwardStep
    taken_at: datetime
    act_seq: int | None


@dataclass(frozen=True, slots=True)
class AwardRecord:
    """An award with its round, whose it is, and what became of it; `payment` is what the casino said of having paid."""

    jackpot_id: str
    round_key: int
    table_id: str
    round_id: str
    casino_id: str
    award: BookedAward
    steps: tuple[TakenStep, ...]
    payment: Mapping[str, Any] | None

    @property
    def position(self) -> Position:
        """Where it stands in the list of all."""
        return Position(self.round_key, self.award.award_id)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which awards to list: None and nothing stand for all. `after` is the position of the last one before."""

    state: AwardState | None = None
    jackpot_id: str | None = None
    casino_id: str | None = None
    after: Position | None = None


def visible(session: Session, principal: Principal, award_id: str) -> AwardRecord:
    """Find an award. Raises: UnknownAward, also for one that the principal may not see."""
    found = _read(session, "awards a", ["a.award_id = :award_id"], {"award_id": award_id}, limit=1)
    if not found or not principal.sees_table(found[0].table_id, found[0].casino_id):
        message = f"There is no award {award_id}."
        raise UnknownAward(message, award_id=award_id)
    return found[0]


def latest(session: Session, principal: Principal, wanted: Wanted, *, limit: int) -> list[AwardRecord]:
    """List awards that a principal may see, those of the latest rounds first."""
    awards, conditions, values = "awards a", ["true"], dict[str, Any]()
    if wanted.state is not None:
        conditions += _in_state(wanted.state)
        if wanted.state in _OUT_OF_THE_ORDINARY:
            awards = _THOSE_THAT_TOOK.format(steps=_listed(steps_into(wanted.state)))
    if wanted.jackpot_id is not None:
        conditions.append("a.jackpot_id = :jackpot_id")
        values["jackpot_id"] = wanted.jackpot_id
    for name, casino_id in (("wanted", wanted.casino_id), ("own", principal.casino_id)):
        if casino_id is not None:
            conditions.append(f"r.casino_id = :{name}_casino_id")
            values[f"{name}_casino_id"] = casino_id
    if principal.table_ids:
        conditions.append("r.table_id = ANY(:table_ids)")
        values["table_ids"] = sorted(principal.table_ids)
    if wanted.after is not None:
        conditions.append("(a.round_key, a.award_id) < (:after_round_key, :after_award_id)")
        values |= {"after_round_key": wanted.after.round_key, "after_award_id": wanted.after.award_id}
    return _read(session, awards, conditions, values, limit=limit)


def _in_state(state: AwardState) -> list[str]:
    """Look at the steps that each award of the list took, in the list's order: not at those of all awards first."""
    return [
        f"taken.steps && ARRAY[{_listed(steps_into(state))}]",
        f"NOT taken.steps && ARRAY[{_listed(steps_beyond(state))}]::text[]",
    ]


def _listed(steps: Collection[AwardStep]) -> str:
    return ", ".join(f"'{step.value}'" for step in sorted(steps))


def _read(
    session: Session, awards: str, conditions: Iterable[str], values: Mapping[str, Any], *, limit: int
) -> list[AwardRecord]:
    statement = text(_SELECT.format(awards=awards, conditions=" AND ".join(conditions)))
    return [_record(row) for row in session.execute(statement, {**values, "limit": limit})]


def _record(row: Row[Any]) -> AwardRecord:
    steps = tuple(map(AwardStep, row.steps))
    return AwardRecord(
        jackpot_id=row.jackpot_id,
        round_key=row.round_key,
        table_id=row.table_id,
        round_id=row.round_id,
        casino_id=row.casino_id,
        award=BookedAward(
            award_id=row.award_id,
            bet_id=row.bet_id,
            player_id=row.player_id,
            hand=row.hand,
            tier=row.tier,
            amount_minor=row.amount_minor,
            currency=row.currency,
            cost=row.cost,
            funded_by=row.funded_by,
            steps=frozenset(steps),
            correction=row.correction,
        ),
        steps=tuple(map(TakenStep, steps, row.times, row.acts)),
        payment=row.payment,
    )


def of_round(session: Session, round_: Round) -> tuple[BookedAward, ...]:
    """The awards of a round's settlement as they are now, by bet id and tier."""
    with pipelined(session) as pipe:
        cursors = verdicts.send_settlement(pipe, round_)
    return verdicts.settlement_of(cursors)[1]


def made(award: BookedAward) -> MadeAward:
    """The award as it was made."""
    return MadeAward(
        award.bet_id, award.tier, award.amount_minor, award.currency, award.cost, award.funded_by, award.correction
    )


def acts_of_step(session: Session, round_: Round, step: AwardStep) -> dict[AwardKey, int]:
    """The seq of the act by which each award of a round took a step, of those that took it by one."""
    found = session.execute(
        select(AwardStepRow.bet_id, AwardStepRow.tier, AwardStepRow.correction, AwardStepRow.act_seq).where(
            AwardStepRow.jackpot_id == round_.jackpot_id,
            AwardStepRow.round_key == round_.round_key,
            AwardStepRow.step == step.value,
        )
    )
    return {(bet_id, tier, correction): act_seq for bet_id, tier, correction, act_seq in found if act_seq is not None}


def credited_at(session: Session, record: AwardRecord) -> datetime:
    """When the settlement that an award goes back to was booked; what acts made of it is booked in the acts' order."""
    booked_at: datetime = session.execute(
        select(EntryRow.booked_at).where(
            EntryRow.jackpot_id == record.jackpot_id,
            EntryRow.round_key == record.round_key,
            EntryRow.kind == EntryKind.RESULT.value,
        )
    ).scalar_one()
    return booked_at


def made_on(session: Session, jackpot_id: str, round_key: int) -> Mapping[int, date]:
    """The UTC day on which each verdict on a round was booked, by its number: 0 for the result, then corrections."""
    found = session.execute(_BOOKED_ON, {"jackpot_id": jackpot_id, "round_key": round_key})
    return dict(map(tuple, found))


def take_step(
    session: Session,
    step: AwardStep,
    awards: Iterable[AwardKey],
    *,
    jackpot_id: str,
    round_key: int,
    taken_at: datetime,
    act_seq: int,
) -> None:
    """Write a step that awards of a round take by an act."""
    rows = [
        {
            "jackpot_id": jackpot_id,
            "round_key": round_key,
            "bet_id": bet_id,
            "tier": tier,
            "step": step.value,
            "taken_at": taken_at,
            "act_seq": act_seq,
            "correction": correction,
        }
        for bet_id, tier, correction in awards
    ]
    session.execute(insert(AwardStepRow), rows)
