"""What acts on awards record, in the form that digests cover (see `domain.facts`)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from jackpot_service.domain.awards import AwardStep
from jackpot_service.domain.facts import Facts, instant
from jackpot_service.domain.held_awards import AwardKey, MadeAward, Origin
from jackpot_service.domain.money import plain


class OfRound(Protocol):
    """Whatever belongs to a round, or is one."""

    @property
    def jackpot_id(self) -> str: ...  # noqa: D102
    @property
    def table_id(self) -> str: ...  # noqa: D102
    @property
    def round_id(self) -> str: ...  # noqa: D102
    @property
    def round_key(self) -> int: ...  # noqa: D102
    @property
    def casino_id(self) -> str: ...  # noqa: D102


def of_round(round_: OfRound) -> Facts:
    """Which round it was."""
    return {
        "jackpot_id": round_.jackpot_id,
        "table_id": round_.table_id,
        "round_id": round_.round_id,
        "round_key": round_.round_key,
        "casino_id": round_.casino_id,
    }


def of_step(
    round_: OfRound, step: AwardStep, awards: Sequence[MadeAward], *, origin: Mapping[AwardKey, Origin] | None = None
) -> Facts:
    """
    A step that awards of a round took.

    `origin` tells to which accounts rejected ones returned, and from which reinstated ones are paid.
    """
    told = sorted(awards, key=lambda award: award.key)
    return {"round": of_round(round_), "step": step.value, "awards": [_of_award(award, step, origin) for award in told]}


_ORIGINS = {AwardStep.REJECTED: "returned_to", AwardStep.REINSTATED: "taken_from"}


def of_reinstatement(
    round_: OfRound, awards: Sequence[MadeAward], origin: Mapping[AwardKey, Origin], *, positions: Sequence[int]
) -> Facts:
    """Awards of a round reinstated, and the positions at which the pools were seen."""
    return {**of_step(round_, AwardStep.REINSTATED, awards, origin=origin), "positions": list(positions)}


def _of_award(award: MadeAward, step: AwardStep, origin: Mapping[AwardKey, Origin] | None) -> Facts:
    made = {
        "bet_id": award.bet_id,
        "tier": award.tier,
        "amount_minor": award.amount_minor,
        "currency": award.currency,
        "cost": plain(award.cost),
        "correction": award.correction,
    }
    if origin is None:
        return made
    return made | {_ORIGINS[step]: {account: plain(amount) for account, amount in origin[award.key].items()}}


def of_payment(*, reference: str | None, paid_at: datetime | None) -> Facts:
    """What a casino says of having paid an award."""
    return {"reference": reference, "paid_at": instant(paid_at)}
