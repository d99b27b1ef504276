"""How rounds ended: results with their hands, settlements with their awards, cancellations."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import orjson

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.domain import facts
from jackpot_service.domain.awards import AwardState, AwardStep, first_step, state_of
from jackpot_service.domain.cards import Card
from jackpot_service.domain.money import plain
from jackpot_service.domain.outcomes import Cancellation, Hand, HandStatus, Result
from jackpot_service.domain.rounds import Round
from jackpot_service.domain.settlement import Award, Settlement

_ADD_RESULT = """
INSERT INTO results (jackpot_id, round_key, step, bet_count, dealer, occurred_at)
VALUES (%(jackpot_id)s, %(round_key)s, %(step)s, %(bet_count)s, %(dealer)s, %(occurred_at)s)
"""

_ADD_CANCELLATION = """
INSERT INTO cancellations (jackpot_id, round_key, step, reason, cycle, occurred_at)
VALUES (%(jackpot_id)s, %(round_key)s, %(step)s, %(reason)s, %(cycle)s, %(occurred_at)s)
"""

_ADD_HANDS = """
INSERT INTO hands (jackpot_id, round_key, hand, status, cards)
SELECT %(jackpot_id)s, %(round_key)s::bigint, hand, status, coalesce(string_to_array(nullif(cards, ''), ' '), '{}')
FROM unnest(%(hands)s::text[], %(statuses)s::text[], %(cards)s::text[]) AS new (hand, status, cards)
"""

_ADD_SETTLEMENT = """
INSERT INTO settlements (jackpot_id, round_key, step, cycle, policy, positions, meter_before, weight, entitlements,
                         meter_after, reserve_after, prize_fund_after, overflow, carried, house_seed, cycle_after)
VALUES (%(jackpot_id)s, %(round_key)s, %(step)s, %(cycle)s, %(policy)s, %(positions)s, %(meter_before)s, %(weight)s,
        %(entitlements)s::jsonb, %(meter_after)s, %(reserve_after)s, %(prize_fund_after)s, %(overflow)s, %(carried)s,
        %(house_seed)s, %(cycle_after)s)
"""

# Thousands of awards may be written while a hit holds all stripes: so their columns travel as texts, as bets' do.
_ADD_AWARDS = """
INSERT INTO awards (jackpot_id, round_key, bet_id, tier, award_id, amount_minor, currency, cost, funded_by, correction)
SELECT %(jackpot_id)s, %(round_key)s::bigint, bet_id, tier, award_id, amount_minor, currency, cost, funded_by,
       %(correction)s
FROM unnest(string_to_array(%(bet_ids)s, ' '), string_to_array(%(tiers)s, ' '),
            string_to_array(%(award_ids)s, ' '), string_to_array(%(amounts_minor)s, ' ')::bigint[],
            string_to_array(%(currencies)s, ' '), string_to_array(%(costs)s, ' ')::numeric[],
            string_to_array(%(funded_by)s, ' '))
     AS new (bet_id, tier, award_id, amount_minor, currency, cost, funded_by)
"""

_ADD_AWARD_STEPS = """
INSERT INTO award_steps (jackpot_id, round_key, bet_id, tier, step, taken_at, act_seq, correction)
SELECT %(jackpot_id)s, %(round_key)s::bigint, bet_id, tier, step, %(taken_at)s, %(act_seq)s, %(correction)s
FROM unnest(string_to_array(%(bet_ids)s, ' '), string_to_array(%(tiers)s, ' '), string_to_array(%(steps)s, ' '))
     AS new (bet_id, tier, step)
"""

_RESULT = """
SELECT bet_count, dealer, occurred_at, step FROM results
WHERE jackpot_id = %(jackpot_id)s AND round_key = %(round_key)s
"""

_CANCELLATION = """
SELECT reason, cycle, occurred_at, step FROM cancellations
WHERE jackpot_id = %(jackpot_id)s AND round_key = %(round_key)s
"""

_HANDS = """
SELECT hand, status, cards FROM hands
WHERE jackpot_id = %(jackpot_id)s AND round_key = %(round_key)s
ORDER BY hand
"""

_SETTLEMENT = """
SELECT cycle, policy, meter_before, weight, entitlements, meter_after, reserve_after, prize_fund_after, overflow,
       carried, house_seed, cycle_after, positions, step
FROM settlements
WHERE jackpot_id = %(jackpot_id)s AND round_key = %(round_key)s
"""

_CLOSING_CYCLES = """
SELECT round_key, cycle FROM settlements WHERE jackpot_id = %(jackpot_id)s AND round_key = ANY(%(round_keys)s)
UNION ALL
SELECT round_key, cycle FROM cancellations WHERE jackpot_id = %(jackpot_id)s AND round_key = ANY(%(round_keys)s)
"""

_AWARDS = """
SELECT a.award_id, a.bet_id, b.player_id, b.hand, a.tier, a.amount_minor, a.currency, a.cost, a.funded_by,
       ARRAY(SELECT s.step FROM award_steps s
             WHERE s.jackpot_id = %(jackpot_id)s AND s.round_key = a.round_key AND s.bet_id = a.bet_id
               AND s.tier = a.tier AND s.correction = a.correction),
       a.correction
FROM awards a
CROSS JOIN LATERAL (
    SELECT o.player_id, o.hand
    FROM bets o
    WHERE o.jackpot_id = %(jackpot_id)s AND o.round_key = %(round_key)s AND o.bet_id = a.bet_id
    LIMIT 1
) AS b
WHERE a.jackpot_id = %(jackpot_id)s AND a.round_key = %(round_key)s AND a.correction = %(correction)s
ORDER BY a.bet_id COLLATE "C", a.tier COLLATE "C"
"""


@dataclass(frozen=True, slots=True)
class BookedAward:
    """An award as the books hold it, with the steps it took until now; `correction` is the verdict that made it."""

    award_id: str
    bet_id: str
    player_id: str
    hand: str
    tier: str
    amount_minor: int
    currency: str
    cost: Decimal
    funded_by: str
    steps: frozenset[AwardStep]
    correction: int = 0

    @property
    def state(self) -> AwardState:
        """Where it stands now."""
        return state_of(self.steps)

    def as_it_began(self) -> "BookedAward":
        """The award as its settlement made it."""
        return replace(self, steps=frozenset({first_step(self.steps)}))


@dataclass(frozen=True, slots=True)
class BookedSettlement:
    """A settlement as the books hold it; see `domain.settlement.Settlement`."""

    cycle: int
    policy: str
    meter_before: Decimal
    weight: Decimal
    entitlements: list[dict[str, str]]
    meter_after: Decimal
    reserve_after: Decimal
    prize_fund_after: Decimal
    overflow: Decimal
    carried: Decimal | None
    house_seed: Decimal
    cycle_after: int
    positions: list[int]
    step: int


def award_id(round_: Round, award: Award, *, correction: int = 0) -> str:
    """
    Name an award by what it is for, so that it has the same id wherever and whenever it is derived.

    `correction` numbers the verdict that made it; 0 is the settlement.
    """
    natural = f"{round_.jackpot_id}/{round_.table_id}/{round_.round_id}/{award.bet.bet_id}/{award.tier}"
    if correction:
        natural += f"/{correction}"
    return "aw_" + hashlib.sha256(natural.encode()).hexdigest()[:32]


def _key(round_: Round) -> dict[str, Any]:
    return {"jackpot_id": round_.jackpot_id, "round_key": round_.round_key}


def add_result(pipe: Pipeline, round_: Round, result: Result) -> None:
    """Write a result and its hands, by the round's current step."""
    dealer = sorted(result.dealer)
    remark = {"bet_count": result.bet_count, "dealer": dealer, "occurred_at": result.occurred_at}
    pipe.send(_ADD_RESULT, {**_key(round_), "step": round_.steps, **remark})
    _add_hands(pipe, round_, result.hands)


def add_cancellation(pipe: Pipeline, round_: Round, cancellation: Cancellation, *, cycle: int) -> None:
    """Write a cancellation and the hands it may name, by the round's current step."""
    remark = {"reason": cancellation.reason, "cycle": cycle, "occurred_at": cancellation.occurred_at}
    pipe.send(_ADD_CANCELLATION, {**_key(round_), "step": round_.steps, **remark})
    _add_hands(pipe, round_, cancellation.hands)


def _add_hands(pipe: Pipeline, round_: Round, hands: Sequence[Hand]) -> None:
    if not hands:
        return
    columns = {
        "hands": [hand.hand for hand in hands],
        "statuses": [hand.status.value for hand in hands],
        "cards": [" ".join(sorted(hand.cards)) for hand in hands],
    }
    pipe.send(_ADD_HANDS, {**_key(round_), **columns})


def add_settlement(
    pipe: Pipeline, round_: Round, settlement: Settlement, *, cycle: int, positions: Sequence[int], now: datetime
) -> None:
    """Write a settlement, its awards and the first step of each."""
    amounts = {
        "cycle": cycle,
        "policy": settlement.policy,
        "positions": list(positions),
        "meter_before": settlement.meter_before,
        "weight": settlement.weight,
        "entitlements": orjson.dumps(facts.of_entitlements(settlement.entitlements)).decode(),
        "meter_after": settlement.meter_after,
        "reserve_after": settlement.reserve_after,
        "prize_fund_after": settlement.prize_fund_after,
        "overflow": settlement.overflow,
        "carried": settlement.carried,
        "house_seed": settlement.house_seed,
        "cycle_after": settlement.cycle_after,
    }
    pipe.send(_ADD_SETTLEMENT, {**_key(round_), "step": round_.steps, **amounts})
    add_awards(pipe, round_, settlement.awards, now=now)


def add_awards(
    pipe: Pipeline,
    round_: Round,
    awards: Sequence[Award],
    *,
    now: datetime,
    correction: int = 0,
    act_seq: int | None = None,
) -> None:
    """Write the awards of a verdict and the first step of each; those of a correction name its act."""
    if not awards:
        return
    names = {
        "bet_ids": " ".join([award.bet.bet_id for award in awards]),
        "tiers": " ".join([award.tier.value for award in awards]),
    }
    columns = {
        "award_ids": " ".join([award_id(round_, award, correction=correction) for award in awards]),
        "amounts_minor": " ".join([str(award.amount_minor) for award in awards]),
        "currencies": " ".join([award.bet.currency for award in awards]),
        "costs": " ".join([plain(award.cost) for award in awards]),
        "funded_by": " ".join([award.funded_by.value for award in awards]),
    }
    key = {**_key(round_), "correction": correction}
    pipe.send(_ADD_AWARDS, {**key, **names, **columns})
    steps = " ".join([award.state.value for award in awards])
    pipe.send(_ADD_AWARD_STEPS, {**key, **names, "steps": steps, "taken_at": now, "act_seq": act_seq})


def as_booked(
    round_: Round, settlement: Settlement, *, cycle: int, positions: Sequence[int]
) -> tuple[BookedSettlement, tuple[BookedAward, ...]]:
    """Tell what `settlement_of` will read of a settlement that was just written, without reading it."""
    booked = BookedSettlement(
        cycle=cycle,
        policy=settlement.policy,
        meter_before=settlement.meter_before,
        weight=settlement.weight,
        entitlements=facts.of_entitlements(settlement.entitlements),
        meter_after=settlement.meter_after,
        reserve_after=settlement.reserve_after,
        prize_fund_after=settlement.prize_fund_after,
        overflow=settlement.overflow,
        carried=settlement.carried,
        house_seed=settlement.house_seed,
        cycle_after=settlement.cycle_after,
        positions=list(positions),
        step=round_.steps,
    )
    awards = sorted(settlement.awards, key=lambda award: (award.bet.bet_id, award.tier.value))
    return booked, tuple(_as_booked(round_, award) for award in awards)


def _as_booked(round_: Round, award: Award) -> BookedAward:
    return BookedAward(
        award_id=award_id(round_, award),
        bet_id=award.bet.bet_id,
        player_id=award.bet.player_id,
        hand=award.bet.hand,
        tier=award.tier.value,
        amount_minor=award.amount_minor,
        currency=award.bet.currency,
        cost=award.cost,
        funded_by=award.funded_by.value,
        steps=frozenset({AwardStep(award.state.value)}),
    )


def send_result(pipe: Pipeline, round_: Round) -> tuple[Cursor, Cursor]:
    """Send the questions for a round's result; `result_of` reads the answers."""
    return pipe.send(_RESULT, _key(round_)), pipe.send(_HANDS, _key(round_))


def result_of(cursors: tuple[Cursor, Cursor]) -> Result:
    """Read the answers. The round must be settled."""
    bet_count, dealer, occurred_at, _ = _only(cursors[0])
    return Result(bet_count, _hands(cursors[1]), tuple(map(Card, dealer)), occurred_at)


def send_cancellation(pipe: Pipeline, round_: Round) -> tuple[Cursor, Cursor]:
    """Send the questions for a round's cancellation; `cancellation_of` reads the answers."""
    return pipe.send(_CANCELLATION, _key(round_)), pipe.send(_HANDS, _key(round_))


def cancellation_of(cursors: tuple[Cursor, Cursor]) -> tuple[Cancellation, int]:
    """Read the answers: the cancellation and its cycle. The round must be cancelled."""
    reason, cycle, occurred_at, _ = _only(cursors[0])
    return Cancellation(reason, _hands(cursors[1]), occurred_at), cycle


def _hands(cursor: Cursor) -> tuple[Hand, ...]:
    return tuple(Hand(hand, HandStatus(status), tuple(map(Card, cards))) for hand, status, cards in cursor)


def send_settlement(pipe: Pipeline, round_: Round) -> tuple[Cursor, Cursor]:
    """Send the questions for a round's settlement and awards; `settlement_of` reads the answers."""
    return pipe.send(_SETTLEMENT, _key(round_)), send_awards(pipe, round_, correction=0)


def send_awards(pipe: Pipeline, round_: Round, *, correction: int) -> Cursor:
    """Send the question for the awards that one verdict on a round made; `awards_of` reads the answer."""
    return pipe.send(_AWARDS, {**_key(round_), "correction": correction})


def awards_of(cursor: Cursor) -> tuple[BookedAward, ...]:
    """Read the answer, by bet id and tier."""
    return tuple(_award(row) for row in cursor)


def _award(row: tuple[Any, ...]) -> BookedAward:
    *made, steps, correction = row
    return BookedAward(*(*made, frozenset(map(AwardStep, steps)), correction))


def settlement_of(
    cursors: tuple[Cursor, Cursor],
) -> tuple[BookedSettlement, tuple[BookedAward, ...]]:
    """Read the answers: the settlement with its awards, as they are now, by bet id and tier. It must be settled."""
    settlement = BookedSettlement(*_only(cursors[0]))
    return settlement, awards_of(cursors[1])


def send_closing_cycles(pipe: Pipeline, rounds: Sequence[Round]) -> Cursor | None:
    """Send the question in which cycles rounds of one jackpot ended; `closing_cycles_of` reads the answer."""
    if not rounds:
        return None
    keys = [round_.round_key for round_ in rounds]
    return pipe.send(_CLOSING_CYCLES, {"jackpot_id": rounds[0].jackpot_id, "round_keys": keys})


def closing_cycles_of(cursor: Cursor | None) -> dict[int, int]:
    """Read the answer: by round key; a round that is open is not in it."""
    return {} if cursor is None else dict(cursor.fetchall())


def _only(cursor: Cursor) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = cursor.fetchone()
    if row is None:
        message = "A round that is over has no document saying so."
        raise LookupError(message)
    return row
