"""Answers about rounds and their awards. Payable money is whole minor units; pool amounts are exact."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from jackpot_client.choosing import chosen_by
from jackpot_client.values.documents import DocumentSheet, JackpotRules
from jackpot_client.values.facts import STATED, Entitlement, StatedCount, Verdict, VoidsFacts
from jackpot_client.values.meters import Meter
from jackpot_client.values.words import AwardState, EntryKind, HandStatus, Policy, RoundState, Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundView:
    """
    A round as the ledger sees it; `bet_count` are its live bets, `total_stake_base` their value in the base currency.

    `cycle` is the running one; of a round that is over, the one it ended in.
    """

    jackpot_id: str
    table_id: str
    round_id: str
    state: RoundState
    cycle: int
    rules_version: int
    rate_sheet: int
    bet_count: int
    total_stake_base: Decimal
    game_number: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRound:
    """A round of a list over all tables."""

    jackpot_id: str
    casino_id: str
    table_id: str
    round_id: str
    state: RoundState
    opened_at: datetime
    game_number: str | None
    rules_version: int
    rate_sheet: int
    bet_count: int
    total_stake_base: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedBets:
    """The answer to a batch; `void` are its bets that are void, `payout_per_unit` is None where none is shared."""

    round: RoundView
    accepted: int
    replayed: int
    void: tuple[str, ...]
    meter: Meter
    payout_per_unit: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedRound:
    """The answer to a closing."""

    round: RoundView


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidedBets:
    """The answer to voids; an `unknown` bet is void too, whenever it should still come."""

    round: RoundView
    voided: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Award:
    """
    One bet's prize in its player's currency; `cost_base` is its cost to the pools, in the base currency.

    `player_id` is None for a bet of another casino.
    """

    award_id: str
    bet_id: str
    player_id: str | None
    hand: str
    tier: Tier | str
    amount_minor: int
    currency: str
    cost_base: Decimal
    state: AwardState


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """A stake that goes back to its player."""

    bet_id: str
    player_id: str
    amount_minor: int
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The verdict on a round, with the pools after it; on a hit, `carried` is the rest of the meter."""

    policy: Policy | str
    meter_before: Decimal
    total_stake_base: Decimal
    awards: tuple[Award, ...]
    refunds: tuple[Refund, ...]
    meter_after: Decimal
    reserve_after: Decimal
    prize_fund_after: Decimal
    carried: Decimal | None
    house_seed: Decimal
    cycle_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledRound:
    """The answer to a result."""

    round: RoundView
    settlement: Settlement


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelledRound:
    """The answer to a cancellation."""

    round: RoundView
    refunds: tuple[Refund, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundShare:
    """The part of the meter for one unit staked; None once the round is over, and where none is shared."""

    jackpot_id: str
    table_id: str
    round_id: str
    state: RoundState
    bet_count: int
    payout_per_unit: Decimal | None
    last_movement_at: datetime
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """A stake's value in the base currency, and its parts."""

    value: Decimal
    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal
    house: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class BookedBet:
    """A bet as the ledger keeps it."""

    bet_id: str
    player_id: str
    hand: str
    currency: str
    stake_minor: int
    occurred_at: datetime | None
    is_void: bool
    contribution: Contribution


@dataclass(frozen=True, slots=True, kw_only=True)
class BookedHand:
    """A hand as the ledger keeps it."""

    hand: str
    status: HandStatus | str
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CancellationView:
    """Why a round was cancelled."""

    reason: str
    occurred_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSettlement(Settlement):
    """A settlement with its calculation; `positions` are the seqs of all stripes as the pools were read."""

    overflow: Decimal
    entitlements: tuple[Entitlement, ...]
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A later verdict on a round; `awards` are those that it made, as they stand now."""

    number: int
    request_id: str | None
    act: int
    corrected_at: datetime
    verdict: Verdict
    awards: tuple[Award, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compensation:
    """An amount that the house granted to a player of the round."""

    bet_id: str
    player_id: str
    amount_minor: int
    currency: str
    cost_base: Decimal
    document: str
    act: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLimits:
    """Limits that a table has next to its jackpot's, in the base currency; None is no limit of its own."""

    token: Decimal | None
    least_stake: Decimal | None
    largest_stake: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """
    One entry of a round in the books; `limits` are the table's own that bets were taken under, if it had any.

    `stated` is what a closing or voids stated, and None of other kinds. Of a kind that this client does not know it is
    the JSON as it came.
    """

    step: int
    kind: EntryKind | str
    principal: str
    stripe: int
    seq: int
    received_at: datetime
    booked_at: datetime
    limits: TableLimits | None
    stated: StatedCount | VoidsFacts | Mapping[str, Any] | None = field(metadata=chosen_by("kind", STATED))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """
    The whole record of a round, with the rules and the rate sheet that were fixed at its opening.

    `result` is the number of bets that its first result stated.
    """

    round: RoundView
    opened_at: datetime
    bets: tuple[BookedBet, ...]
    tombstones: tuple[str, ...]
    hands: tuple[BookedHand, ...]
    dealer: tuple[str, ...]
    result: StatedCount | None
    cancellation: CancellationView | None
    settlement: RecordedSettlement | None
    corrections: tuple[Correction, ...]
    compensations: tuple[Compensation, ...]
    entries: tuple[Entry, ...]
    rules: JackpotRules
    rate_sheet: DocumentSheet
