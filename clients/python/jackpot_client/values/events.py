"""Events of the books, as CloudEvents 1.0."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias

from jackpot_client.choosing import chosen_by
from jackpot_client.values.award_events import (
    AwardData,
    AwardForfeitedData,
    AwardMadeData,
    AwardPaidData,
    AwardReinstatedData,
    AwardRejectedData,
    PaymentReversedData,
)
from jackpot_client.values.jackpot_events import (
    AmountMovedData,
    JackpotAdjustedData,
    JackpotOpenedData,
    JackpotRetiredData,
    JackpotStateData,
    RulesChangedData,
    StatementSettledData,
    TableLimitsChangedData,
    TransferReceivedData,
)
from jackpot_client.values.reference_events import (
    CasinoAddedData,
    CasinoClaimsChangedData,
    ChangePolicyChangedData,
    RatesPublishedData,
    TableAddedData,
    WithholdingChangedData,
)
from jackpot_client.values.round_events import (
    BetsVoidedData,
    BettingClosedData,
    CompensationDeclinedData,
    EvidenceRecordedData,
    JackpotHitData,
    JackpotResetData,
    RoundCancelledData,
    RoundCompensatedData,
    RoundCorrectedData,
    RoundSettledData,
)
from jackpot_client.values.words import EventType

EventData: TypeAlias = (
    RoundSettledData
    | RoundCancelledData
    | RoundCorrectedData
    | RoundCompensatedData
    | CompensationDeclinedData
    | BetsVoidedData
    | BettingClosedData
    | JackpotHitData
    | JackpotResetData
    | AwardData
    | EvidenceRecordedData
    | JackpotOpenedData
    | JackpotStateData
    | JackpotRetiredData
    | RulesChangedData
    | TableLimitsChangedData
    | AmountMovedData
    | TransferReceivedData
    | StatementSettledData
    | RatesPublishedData
    | ChangePolicyChangedData
    | WithholdingChangedData
    | CasinoClaimsChangedData
    | CasinoAddedData
    | TableAddedData
)
"""The data of an event; that of an award's event is an `AwardData`, or a kind of it."""

DATA: Final[Mapping[str, type]] = {
    EventType.ROUND_SETTLED: RoundSettledData,
    EventType.ROUND_CANCELLED: RoundCancelledData,
    EventType.ROUND_CORRECTED: RoundCorrectedData,
    EventType.ROUND_COMPENSATED: RoundCompensatedData,
    EventType.COMPENSATION_DECLINED: CompensationDeclinedData,
    EventType.BETS_VOIDED: BetsVoidedData,
    EventType.BETTING_CLOSED: BettingClosedData,
    EventType.HIT: JackpotHitData,
    EventType.RESET: JackpotResetData,
    EventType.AWARD_MADE: AwardMadeData,
    EventType.AWARD_APPROVED: AwardData,
    EventType.AWARD_REJECTED: AwardRejectedData,
    EventType.AWARD_REINSTATED: AwardReinstatedData,
    EventType.AWARD_STOPPED: AwardData,
    EventType.EVIDENCE_RECORDED: EvidenceRecordedData,
    EventType.AWARD_RELEASED: AwardData,
    EventType.AWARD_FORFEITED: AwardForfeitedData,
    EventType.AWARD_PAID: AwardPaidData,
    EventType.AWARD_PAYMENT_REVERSED: PaymentReversedData,
    EventType.AWARD_REVERSED: AwardData,
    EventType.OPENED: JackpotOpenedData,
    EventType.SUSPENDED: JackpotStateData,
    EventType.RESUMED: JackpotStateData,
    EventType.RETIRED: JackpotRetiredData,
    EventType.RULES_CHANGED: RulesChangedData,
    EventType.TABLE_LIMITS_CHANGED: TableLimitsChangedData,
    EventType.ADJUSTED: JackpotAdjustedData,
    EventType.SEED_RECOVERED: AmountMovedData,
    EventType.PRIZE_FUND_TRUED_UP: AmountMovedData,
    EventType.TRANSFER_RECEIVED: TransferReceivedData,
    EventType.STATEMENT_SETTLED: StatementSettledData,
    EventType.RATES_PUBLISHED: RatesPublishedData,
    EventType.CHANGE_POLICY_CHANGED: ChangePolicyChangedData,
    EventType.WITHHOLDING_CHANGED: WithholdingChangedData,
    EventType.CASINO_ADDED: CasinoAddedData,
    EventType.CASINO_CLAIMS_CHANGED: CasinoClaimsChangedData,
    EventType.TABLE_ADDED: TableAddedData,
}
"""The dataclass of each type's data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudEvent:
    """
    An event; one that comes again has the same `id` and the same content.

    More types may come: ignore those that are not known. Their `data` is the JSON as it came, with no float in it,
    since this client cannot know its members.
    """

    specversion: str
    id: str
    source: str
    type: EventType | str
    subject: str
    time: datetime
    datacontenttype: str
    data: EventData | Mapping[str, Any] = field(metadata=chosen_by("type", DATA))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """Some events, and the cursor to store with their results; it is never None. `has_more` needs no waiting."""

    items: tuple[CloudEvent, ...]
    next: str
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(CloudEvent):
    """
    An event of an iterator, with a cursor to store once the event is handled.

    Events that follow this one are all returned after the cursor, perhaps with some that came before. None is the
    very beginning.
    """

    cursor: str | None
