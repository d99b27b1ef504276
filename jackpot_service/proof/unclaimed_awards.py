"""Whether each exception of an unclaimed award states an award that can have been unclaimed when it was noted."""

from collections.abc import Iterator
from datetime import datetime
from itertools import accumulate
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain.awards import AwardStep, state_by_steps
from jackpot_service.domain.claims import claimable_until, facts_of_unclaimed, is_unclaimed
from jackpot_service.domain.exceptions import AWARD_UNCLAIMED
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.proof.decoding import is_written_alike
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.proof.payments import key_of


def unclaimed_awards_were_unclaimed(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """
    Each exception states an award after some of its steps and payments, whose claim period was over; each award once.

    The books do not say which steps, payments and claims its transaction saw: any that there are may have been seen.
    They do not say when a job looked either, so an award without an exception is no mismatch.
    """
    remaining = round_.of("awards")
    for noted in round_.noted(AWARD_UNCLAIMED):
        stated = noted.detail.get("request")
        award = next((row for row in remaining if _can_have_been(row, stated, noted.noticed_at, round_, jackpot)), None)
        if award is None:
            detail = (
                f"exception {noted.exception_id} states {stated}, which was no unclaimed award, or was noted before"
            )
            yield Mismatch(Code.AWARD_UNCLAIMED, jackpot.jackpot_id, round_.place, detail)
        else:
            remaining = [row for row in remaining if row is not award]


def _can_have_been(
    award: Row[Any], stated: object, noticed_at: datetime, round_: RoundDocuments, jackpot: Jackpot
) -> bool:
    if not isinstance(stated, dict) or stated.get("award_id") != award.award_id:
        return False
    payments = [row for row in round_.of("payments") if key_of(row) == key_of(award)]
    paid = accumulate((row.amount_minor for row in sorted(payments, key=_act_seq)), initial=0)
    periods = [until for until in _ends_of_periods(award, round_, jackpot) if is_unclaimed(until, now=noticed_at)]
    return any(
        is_written_alike(
            stated,
            facts_of_unclaimed(
                award_id=award.award_id,
                bet_id=award.bet_id,
                unpaid_minor=award.amount_minor - paid_minor,
                currency=award.currency,
                until=until,
            ),
        )
        for paid_minor in paid
        if paid_minor < award.amount_minor
        for until in periods
    )


def _ends_of_periods(award: Row[Any], round_: RoundDocuments, jackpot: Jackpot) -> Iterator[datetime | None]:
    """Say until when the award could be claimed, after each of its steps and by each of its casino's settings."""
    steps = [row for row in round_.of("award_steps") if key_of(row) == key_of(award)]
    in_order = sorted(steps, key=_act_seq)
    for count, last_step_at in enumerate(accumulate((row.taken_at for row in in_order), max), 1):
        state = state_by_steps([AwardStep(row.step) for row in in_order[:count]])
        for claims in jackpot.references.casino_claims:
            if claims.casino_id == round_.round.casino_id:
                yield claimable_until(state, last_step_at=last_step_at, claim_days=claims.claim_days)


def _act_seq(row: Row[Any]) -> int:
    """Return the act that wrote a row; 0 of what the settlement wrote."""
    return row.act_seq or 0


CHECKS = (unclaimed_awards_were_unclaimed,)
