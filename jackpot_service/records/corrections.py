"""Corrections of settled rounds: a row names the act that says all of it; awards stand among those of settlements."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, func, insert, select

from jackpot_service.database.models import ActRow, AwardStepRow, Base, CorrectionRow, PaymentRow
from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import facts
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.awards import AwardState, AwardStep, state_of
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.corrections import Correction, PastAward, VerdictInForce
from jackpot_service.domain.held_awards import AwardKey
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rounds import Round
from jackpot_service.domain.rules import FundedBy
from jackpot_service.domain.settlement import Award
from jackpot_service.records import verdicts
from jackpot_service.records.acts import RecordedAct, acts_of
from jackpot_service.records.verdicts import BookedAward


@dataclass(frozen=True, slots=True)
class BookedCorrection:
    """A correction as the books hold it: its number among those of its round, its act, and its awards as they stand."""

    number: int
    act: RecordedAct
    awards: tuple[BookedAward, ...]


def add(session: Session, round_: Round, correction: Correction, *, act_seq: int, now: datetime) -> None:
    """Write that an act corrected a round: the awards that it made, and the step of those that it took back."""
    key = {"jackpot_id": round_.jackpot_id, "round_key": round_.round_key}
    session.execute(insert(CorrectionRow).values(**key, number=correction.number, act_seq=act_seq))
    with pipelined(session) as pipe:
        verdicts.add_awards(pipe, round_, correction.awards, now=now, correction=correction.number, act_seq=act_seq)
    steps = [
        {
            **key,
            "bet_id": past.award.bet.bet_id,
            "tier": past.award.tier.value,
            "step": AwardState.REVERSED.value,
            "taken_at": now,
            "act_seq": act_seq,
            "correction": past.correction,
        }
        for past in correction.reversed_awards
    ]
    if steps:
        session.execute(insert(AwardStepRow), steps)


def corrections_of_round(session: Session, round_: Round) -> tuple[BookedCorrection, ...]:
    """Read a round's corrections, by number."""
    numbered = session.execute(
        select(CorrectionRow.number, CorrectionRow.act_seq)
        .where(CorrectionRow.jackpot_id == round_.jackpot_id, CorrectionRow.round_key == round_.round_key)
        .order_by(CorrectionRow.number)
    ).all()
    if not numbered:
        return ()
    # Acts stand in another book, so another statement asks for them.
    acts = {act.seq: act for act in acts_of(session, [seq for _, seq in numbered])}
    with pipelined(session) as pipe:
        cursors = [verdicts.send_awards(pipe, round_, correction=number) for number, _ in numbered]
    return tuple(
        BookedCorrection(number, acts[seq], verdicts.awards_of(cursor))
        for (number, seq), cursor in zip(numbered, cursors, strict=True)
    )


def count_steps(session: Session, round_: Round) -> int:
    """Count the steps that a round's awards have taken, and their payments."""
    return sum(
        session.scalar(
            select(func.count()).where(row.jackpot_id == round_.jackpot_id, row.round_key == round_.round_key)
        )
        or 0
        for row in (AwardStepRow, PaymentRow)
    )


def count(session: Session, round_: Round) -> int:
    """Count a round's corrections."""
    return (
        session.scalar(
            select(func.count()).where(
                CorrectionRow.jackpot_id == round_.jackpot_id, CorrectionRow.round_key == round_.round_key
            )
        )
        or 0
    )


def past_awards(session: Session, round_: Round) -> tuple[PastAward, ...]:
    """Read all awards that the verdicts on a round made, in the state they are in; by bet id, tier and verdict."""
    awards, steps, payments = (
        session.execute(
            select(table)
            .where(table.c.jackpot_id == round_.jackpot_id, table.c.round_key == round_.round_key)
            .order_by(*table.primary_key)
        ).all()
        for table in map(Base.metadata.tables.__getitem__, ("awards", "award_steps", "payments"))
    )
    return past_awards_of(awards, steps, payments)


def past_awards_of(
    awards: Sequence[Row[Any]], steps: Iterable[Row[Any]], payments: Iterable[Row[Any]]
) -> tuple[PastAward, ...]:
    """Put awards together with the steps that they had taken and their payments; all have their tables' columns."""
    paid: Counter[AwardKey] = Counter()
    for payment in payments:
        paid[payment.bet_id, payment.tier, payment.correction] += payment.amount_minor
    taken: dict[AwardKey, set[AwardStep]] = {}
    for step in steps:
        taken.setdefault((step.bet_id, step.tier, step.correction), set()).add(AwardStep(step.step))
    keys = [(row.bet_id, row.tier, row.correction) for row in awards]
    return tuple(_past_award(row, taken.get(key, set()), paid[key]) for row, key in zip(awards, keys, strict=True))


def _past_award(row: Row[Any], steps: Collection[AwardStep], paid_minor: int) -> PastAward:
    award = Award(
        bet=Bet(row.bet_id, player_id="", hand="", currency=row.currency, stake_minor=0),
        tier=Tier(row.tier),
        amount_minor=row.amount_minor,
        cost=row.cost,
        funded_by=FundedBy(row.funded_by),
        state=state_of(steps, amount_minor=row.amount_minor, paid_minor=paid_minor),
    )
    return PastAward(award, row.correction, is_part_paid=0 < paid_minor < row.amount_minor)


def last(session: Session, round_: Round) -> Mapping[str, Any] | None:
    """The facts of a round's last correction; None if it was never corrected."""
    recorded: Mapping[str, Any] | None = session.scalar(
        select(ActRow.after)
        .join(CorrectionRow, CorrectionRow.act_seq == ActRow.seq)
        .where(CorrectionRow.jackpot_id == round_.jackpot_id, CorrectionRow.round_key == round_.round_key)
        .order_by(CorrectionRow.number.desc())
        .limit(1)
    )
    return recorded


def in_force(first: VerdictInForce, last: Mapping[str, Any] | None) -> VerdictInForce:
    """Put what the last correction recorded, if there is one, in the place of a round's settlement."""
    if last is None:
        return first
    charged_to = {Account(account): Decimal(amount) for account, amount in last["charged_to"].items()}
    return replace(first, number=last["number"], result=facts.result_of(last["result"]), charged_to=charged_to)
