"""Awards with the steps they took: one by its id, those of a round, or a list; and taking further steps."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    CTE,
    ColumnElement,
    Row,
    Select,
    Text,
    and_,
    any_,
    bindparam,
    cast,
    column,
    insert,
    literal,
    not_,
    or_,
    select,
    table,
    text,
    tuple_,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from jackpot_service.database.models import AwardStepRow, BetRow, EntryRow
from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.awards import AwardState, AwardStep, steps_after, steps_into
from jackpot_service.domain.claims import claimable_until, is_unclaimed
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.held_awards import AwardKey, MadeAward
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import KeyRange, Round, spans_back
from jackpot_service.domain.withholding import Withholding, WithholdingRule, withholding_of
from jackpot_service.records import open_awards, players, verdicts, withholding_rules
from jackpot_service.records.award_filters import AwardFilters, Position
from jackpot_service.records.payments import RecordedPayment, recorded_payments
from jackpot_service.records.verdicts import BookedAward

_RECORDS: Final = table(
    "award_records",
    *map(
        column,
        (
            "jackpot_id",
            "round_key",
            "table_id",
            "round_id",
            "casino_id",
            "award_id",
            "bet_id",
            "player_id",
            "hand",
            "tier",
            "amount_minor",
            "currency",
            "cost",
            "funded_by",
            "steps",
            "times",
            "acts",
            "correction",
            "paid_minor",
            "payments",
            "stake_minor",
            "in_force_from",
            "least_multiple",
            "report_at_minor",
            "withhold_at_minor",
            "percent",
            "claim_days",
            "last_step_at",
        ),
    ),
)
"""The view of awards with their rounds, bets, steps and payments, and the withholding rules that they stand under."""

_ALL: Final = _RECORDS.c

Columns = ReadOnlyColumnCollection[str, Any]

# As the view `verdict_days`, with the jackpot at each level.
_BOOKED_ON = text("""
    SELECT 0, (e.booked_at AT TIME ZONE 'UTC')::date
    FROM entries e
    WHERE e.jackpot_id = :jackpot_id AND e.round_key = :round_key AND e.kind = 'result'
    UNION ALL
    SELECT d.number, (e.booked_at AT TIME ZONE 'UTC')::date
    FROM corrections d
    JOIN acts a ON a.seq = d.act_seq
    CROSS JOIN LATERAL jsonb_to_recordset(a.effects) AS f (book text, seq bigint)
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.stripe_no = 0 AND e.seq = f.seq
    WHERE d.jackpot_id = :jackpot_id AND d.round_key = :round_key AND f.book = :jackpot_id
""")

_KEYS: Final = ("jackpot_id", "round_key", "bet_id", "tier", "correction")
"""The key of an award."""

_KEY_OF_BET: Final = _KEYS[:3]

_LEAST_PAGE: Final = 500
"""So many open awards at least are looked at for a key that sees those of some tables alone."""

_OUT_OF_THE_ORDINARY = frozenset({AwardState.REJECTED, AwardState.FORFEITED, AwardState.REVERSED})


class UnknownAward(NotFound, code="award-unknown", title="Unknown award"):
    """No award of this id, or not for this caller."""


class TakenStep(NamedTuple):
    """A step that an award took, when, and by which act; by none, if its settlement took it."""

    step: AwardStep
    taken_at: datetime
    act_seq: int | None


@dataclass(frozen=True, slots=True)
class AwardRecord:
    """
    An award with its round, whose it is, and what became of it; payments that were reversed are there, too.

    `stake_minor` is its bet's. `withholding_rule` is the one that was in force when its round was opened.
    Once `claimable_until` is past, its unpaid rest is unclaimed. It is None where its casino sets no period now,
    and where nothing of the award is to be paid.
    """

    jackpot_id: str
    round_key: int
    table_id: str
    round_id: str
    casino_id: str
    award: BookedAward
    steps: tuple[TakenStep, ...]
    payments: tuple[RecordedPayment, ...]
    stake_minor: int
    withholding_rule: WithholdingRule | None
    last_step_at: datetime
    claimable_until: datetime | None

    @property
    def withholding(self) -> Withholding | None:
        """Whether it is reportable, and its due amount, by the rule for its round; None where its casino had none."""
        if self.withholding_rule is None:
            return None
        return withholding_of(self.withholding_rule, amount_minor=self.award.amount_minor, stake_minor=self.stake_minor)

    @property
    def withheld_minor(self) -> int:
        """How much of it the payments that stand withheld, in minor units of its currency."""
        return sum(payment.payment.withheld_minor for payment in self.payments if payment.reversed_by is None)

    @property
    def payable_since(self) -> datetime:
        """When it became payable first. Raises: ValueError if it never was."""
        into = steps_into(AwardState.PAYABLE)
        return min(step.taken_at for step in self.steps if step.step in into)

    def state_at(self, now: datetime) -> AwardState:
        """Where the award stands at an instant, with the claim period that is in force now."""
        return AwardState.UNCLAIMED if is_unclaimed(self.claimable_until, now=now) else self.award.state

    @property
    def last_act(self) -> int:
        """The act that last did anything to it: its seq; 0 where nothing came after its settlement."""
        paid = (payment.reversed_by or payment.act_seq for payment in self.payments)
        return max(0, *paid, *(step.act_seq or 0 for step in self.steps))

    @property
    def position(self) -> Position:
        """Where it stands in the list of all."""
        return Position(self.round_key, self.award.award_id)


def visible(session: Session, principal: Principal, award_id: str) -> AwardRecord:
    """Find an award. Raises: UnknownAward, also for one that the principal may not see."""
    record = by_id(session, award_id)
    if record is None or not principal.sees_table(record.table_id, record.casino_id):
        message = f"There is no award {award_id}."
        raise UnknownAward(message, award_id=award_id)
    return record


def by_id(session: Session, award_id: str) -> AwardRecord | None:
    """Find an award; None if there is none."""
    return next(iter(_read(session, select(_RECORDS).where(_ALL.award_id == award_id).limit(1))), None)


def award_of_jackpot(session: Session, jackpot_id: str, award_id: str) -> AwardRecord:
    """Find an award of a jackpot. Raises: UnknownAward."""
    record = by_id(session, award_id)
    if record is None or record.jackpot_id != jackpot_id:
        message = f"There is no award {award_id} of jackpot {jackpot_id}."
        raise UnknownAward(message, award_id=award_id)
    return record


def latest(
    session: Session, principal: Principal, filters: AwardFilters, *, limit: int, now: datetime
) -> Sequence[AwardRecord]:
    """
    List awards that a principal may see, those of the latest rounds first unless the filters say otherwise.

    Raises: HistoryTookTooLong, for those of one player.
    """
    if filters.player_id is None and open_awards.is_asked_for(filters):
        return _latest_open(session, principal, filters, limit=limit, now=now)
    question = _listed(principal, filters, now=now)
    if filters.player_id is None:
        return _read(session, question.limit(limit))
    player_id = filters.player_id
    keys = KeyRange.between(None, None, upto=None if filters.after is None else filters.after.round_key)
    return players.gathered(
        spans_back(keys, now=now),
        lambda span, most: _read(session, _won_by(question, player_id, span).limit(most)),
        limit=limit,
    )


def _won_by(question: Select[Any], player_id: str, span: KeyRange) -> Select[Any]:
    """Look at the awards of a player's bets, which an index finds: not at those of all."""
    named = (getattr(BetRow, name) for name in _KEY_OF_BET)
    of_player = (BetRow.player_id == player_id, players.within(BetRow.round_key, span))
    played = select(*named).where(*of_player).cte("played").prefix_with("MATERIALIZED")
    return question.join(played, and_(*(_ALL[name] == played.c[name] for name in _KEY_OF_BET)))


def _listed(principal: Principal, filters: AwardFilters, *, now: datetime) -> Select[Any]:
    """Write the question for a list."""
    places = (_ALL.round_key, _ALL.award_id)
    question = select(_RECORDS).order_by(*(places if filters.is_oldest_first else [place.desc() for place in places]))
    if open_awards.is_asked_for(filters):
        question = question.join(keys := open_awards.keys(principal, filters, now=now), _are_one(keys))
    elif filters.state is not None:
        question = _in_state(question, filters.state)
    if filters.jackpot_id is not None:
        question = question.where(_ALL.jackpot_id == filters.jackpot_id)
    for casino_id in (filters.casino_id, principal.casino_id):
        if casino_id is not None:
            question = question.where(_ALL.casino_id == casino_id)
    if principal.table_ids:
        question = question.where(_ALL.table_id == any_(cast(sorted(principal.table_ids), ARRAY(Text))))
    if filters.after is not None:
        here, after = tuple_(*places), tuple_(*filters.after)
        question = question.where(here > after if filters.is_oldest_first else here < after)
    return question


def _latest_open(
    session: Session, principal: Principal, filters: AwardFilters, *, limit: int, now: datetime
) -> Sequence[AwardRecord]:
    """
    List open awards: their own table says which they are, and each is looked up by its id.

    One may leave the list between the two questions, and a key that is bound to tables sees some of them alone. So
    pages go on until there are enough.
    """
    seen: list[AwardRecord] = []
    after, at_once = filters, max(limit, _LEAST_PAGE) if principal.table_ids else limit
    while len(seen) < limit:
        positions = open_awards.positions(session, principal, after, now=now, limit=at_once)
        of_page = _read(session, _by_ids([place.award_id for place in positions])) if positions else ()
        records = {record.position: record for record in of_page}
        in_order = (records[place] for place in positions)
        seen += [
            record
            for record in in_order
            if principal.sees_table(record.table_id, record.casino_id) and _is_open(record, filters, now=now)
        ]
        if len(positions) < at_once:
            break
        after = replace(after, after=positions[-1])
    return seen[:limit]


def _is_open(record: AwardRecord, filters: AwardFilters, *, now: datetime) -> bool:
    """Whether an award is one that filters for open awards leave."""
    state = record.state_at(now)
    if filters.claimable_before is not None and not is_unclaimed(record.claimable_until, now=filters.claimable_before):
        return False
    return state in open_awards.STATES if filters.state is None else state is filters.state


def _by_ids(award_ids: Sequence[str]) -> Select[Any]:
    return select(_RECORDS).where(_ALL.award_id == any_(cast(award_ids, ARRAY(Text))))


def _in_state(question: Select[Any], state: AwardState) -> Select[Any]:
    """Look at the steps that each award of the list took, in the list's order: not at those of all awards first."""
    into = sorted(steps_into(AwardState.PAYABLE if state is AwardState.PAID else state))
    if state in _OUT_OF_THE_ORDINARY:
        question = question.join(taken := _those_that_took(into), _are_one(taken))
    steps = type_coerce(_ALL.steps, ARRAY(Text))
    question = question.where(or_(*(_stand_after(step, steps) for step in into)))
    return question.where(_ALL.paid_minor == _ALL.amount_minor) if state is AwardState.PAID else question


def _stand_after(step: AwardStep, steps: ColumnElement[Any]) -> ColumnElement[bool]:
    later = [next_step.value for next_step in sorted(steps_after(step))]
    return and_(literal(step.value, Text) == any_(steps), not_(steps.overlap(cast(later, ARRAY(Text)))))


def _those_that_took(steps: Collection[str]) -> CTE:
    """
    Find the awards that took one of some steps: the list starts there, since few ever did.

    An index holds just them. It is taken only if the steps are written into the statement, and the jackpot is not.
    While the table is new, the index of all steps of a jackpot seems to be as good.
    """
    written = bindparam("steps", steps, Text, expanding=True, literal_execute=True)
    columns = (getattr(AwardStepRow, name) for name in _KEYS)
    return select(*columns).where(AwardStepRow.step.in_(written)).cte("taken").prefix_with("MATERIALIZED")


def _are_one(keys: CTE) -> ColumnElement[bool]:
    return and_(*(_ALL[name] == keys.c[name] for name in _KEYS))


def _read(session: Session, question: Select[Any]) -> list[AwardRecord]:
    return [_record(row) for row in session.execute(question)]


def _record(row: Row[Any]) -> AwardRecord:
    steps = tuple(map(AwardStep, row.steps))
    award = _award(row)
    return AwardRecord(
        jackpot_id=row.jackpot_id,
        round_key=row.round_key,
        table_id=row.table_id,
        round_id=row.round_id,
        casino_id=row.casino_id,
        award=award,
        steps=tuple(map(TakenStep, steps, row.times, row.acts)),
        payments=recorded_payments(row.payments),
        stake_minor=row.stake_minor,
        withholding_rule=None if row.in_force_from is None else withholding_rules.rule_in(row),
        last_step_at=row.last_step_at,
        claimable_until=claimable_until(award.state, last_step_at=row.last_step_at, claim_days=row.claim_days),
    )


def _award(row: Row[Any]) -> BookedAward:
    return BookedAward(
        award_id=row.award_id,
        bet_id=row.bet_id,
        player_id=row.player_id,
        hand=row.hand,
        tier=row.tier,
        amount_minor=row.amount_minor,
        currency=row.currency,
        cost=row.cost,
        funded_by=row.funded_by,
        steps=frozenset(map(AwardStep, row.steps)),
        correction=row.correction,
        paid_minor=row.paid_minor,
    )


def awards_of_round(session: Session, round_: Round) -> tuple[BookedAward, ...]:
    """The awards of a round's settlement as they are now, by bet id and tier."""
    with pipelined(session) as pipe:
        cursor = verdicts.send_awards(pipe, round_, correction=0)
    return verdicts.awards_of(cursor)


def awards_of_verdicts(session: Session, round_: Round, *, corrections: int) -> tuple[BookedAward, ...]:
    """The awards of a round's settlement and of its corrections, of which there are so many, as they are now."""
    with pipelined(session) as pipe:
        cursors = [verdicts.send_awards(pipe, round_, correction=number) for number in range(corrections + 1)]
    return tuple(award for cursor in cursors for award in verdicts.awards_of(cursor))


def made(award: BookedAward) -> MadeAward:
    """The award as it was made."""
    return MadeAward(
        award.bet_id, award.tier, award.amount_minor, award.currency, award.cost, award.funded_by, award.correction
    )


def acts_of_step(session: Session, round_: Round, step: AwardStep) -> dict[AwardKey, int]:
    """The seq of the act by which each award of a round took a step, of those that took it by one."""
    rows = session.execute(
        select(AwardStepRow.bet_id, AwardStepRow.tier, AwardStepRow.correction, AwardStepRow.act_seq).where(
            AwardStepRow.jackpot_id == round_.jackpot_id,
            AwardStepRow.round_key == round_.round_key,
            AwardStepRow.step == step.value,
        )
    )
    return {(bet_id, tier, correction): act_seq for bet_id, tier, correction, act_seq in rows if act_seq is not None}


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
    rows = session.execute(_BOOKED_ON, {"jackpot_id": jackpot_id, "round_key": round_key})
    return dict(map(tuple, rows))


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
