"""Answers about awards: how each stands, the steps that it took, and its payments."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_client.values.rounds import Award
from jackpot_client.values.words import AwardStep, Channel, FundedBy


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step that an award took; the settlement's own has no act."""

    step: AwardStep | str
    taken_at: datetime
    act: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A payment of an award, in minor units of its currency; `withheld_minor` is a part of it."""

    amount_minor: int
    reference: str
    paid_at: datetime | None
    channel: Channel | str | None
    payer: str | None
    withheld_minor: int
    act: int
    reversed_by: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AwardRecord(Award):
    """An award as it stands now; amounts are minor units of its currency."""

    jackpot_id: str
    casino_id: str
    table_id: str
    round_id: str
    funded_by: FundedBy | str
    steps: tuple[Step, ...]
    paid_minor: int
    payments: tuple[Payment, ...]
    reportable: bool | None
    withholding_due_minor: int | None
    withheld_minor: int
    claimable_until: datetime | None
