"""The schema of the data of each type of event."""

from collections.abc import Mapping
from typing import Final

from marshmallow import Schema

from jackpot_service.api.event_data import awards, jackpots, reference, rounds
from jackpot_service.events.event import EventType

SCHEMAS: Final[Mapping[EventType, type[Schema]]] = {
    EventType.ROUND_SETTLED: rounds.RoundSettledDataSchema,
    EventType.ROUND_CANCELLED: rounds.RoundCancelledDataSchema,
    EventType.ROUND_CORRECTED: rounds.RoundCorrectedDataSchema,
    EventType.ROUND_COMPENSATED: rounds.RoundCompensatedDataSchema,
    EventType.COMPENSATION_DECLINED: rounds.CompensationDeclinedDataSchema,
    EventType.BETS_VOIDED: rounds.BetsVoidedDataSchema,
    EventType.BETTING_CLOSED: rounds.BettingClosedDataSchema,
    EventType.EVIDENCE_RECORDED: rounds.EvidenceRecordedDataSchema,
    EventType.HIT: rounds.JackpotHitDataSchema,
    EventType.RESET: rounds.JackpotResetDataSchema,
    EventType.AWARD_MADE: awards.AwardMadeDataSchema,
    EventType.AWARD_APPROVED: awards.AwardDataSchema,
    EventType.AWARD_REJECTED: awards.AwardRejectedDataSchema,
    EventType.AWARD_REINSTATED: awards.AwardReinstatedDataSchema,
    EventType.AWARD_STOPPED: awards.AwardDataSchema,
    EventType.AWARD_RELEASED: awards.AwardDataSchema,
    EventType.AWARD_FORFEITED: awards.AwardForfeitedDataSchema,
    EventType.AWARD_PAID: awards.AwardPaidDataSchema,
    EventType.PAYMENT_REVERSED: awards.PaymentReversedDataSchema,
    EventType.AWARD_REVERSED: awards.AwardDataSchema,
    EventType.OPENED: jackpots.JackpotOpenedDataSchema,
    EventType.SUSPENDED: jackpots.JackpotStateDataSchema,
    EventType.RESUMED: jackpots.JackpotStateDataSchema,
    EventType.RETIRED: jackpots.JackpotRetiredDataSchema,
    EventType.RULES_CHANGED: jackpots.RulesChangedDataSchema,
    EventType.TABLE_LIMITS_CHANGED: jackpots.TableLimitsChangedDataSchema,
    EventType.ADJUSTED: jackpots.JackpotAdjustedDataSchema,
    EventType.SEED_RECOVERED: jackpots.AmountMovedDataSchema,
    EventType.PRIZE_FUND_TRUED_UP: jackpots.AmountMovedDataSchema,
    EventType.TRANSFER_RECEIVED: jackpots.TransferReceivedDataSchema,
    EventType.STATEMENT_SETTLED: jackpots.StatementSettledDataSchema,
    EventType.RATES_PUBLISHED: reference.RatesPublishedDataSchema,
    EventType.CHANGE_POLICY_CHANGED: reference.ChangePolicyChangedDataSchema,
    EventType.WITHHOLDING_CHANGED: reference.WithholdingChangedDataSchema,
    EventType.CASINO_CLAIMS_CHANGED: reference.CasinoClaimsChangedDataSchema,
    EventType.CASINO_ADDED: reference.CasinoAddedDataSchema,
    EventType.TABLE_ADDED: reference.TableAddedDataSchema,
}
"""They describe what `events/` builds; events are written as they were built, and nothing of them is dumped."""
