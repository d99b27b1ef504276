"""How rounds ended: what their last entries recorded, and the awards of verdicts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.domain.awards import AwardState, AwardStep, first_step, id_of, state_of
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.money import plain
from jackpot_service.domain.rounds import Round
from jackpot_service.domain.settlement import Award

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

# A round that is over ended with its last step.
_ENDING = """
SELECT facts FROM entries
WHERE jackpot_id = %(jackpot_id)s AND round_key = %(round_key)s
ORDER BY step DESC
LIMIT 1
"""

_ENDING_CYCLES = """
SELECT asked.round_key, ended.cycle
FROM unnest(%(round_keys)s::bigint[]) AS asked (round_key)
CROSS JOIN LATERAL (
    SELECT kind, coalesce(facts #>> '{settlement,cycle}', facts ->> 'cycle')::int AS cycle
    FROM entries
    WHERE jackpot_id = %(jackpot_id)s AND round_key = asked.round_key
    ORDER BY step DESC
    LIMIT 1
) AS ended
WHERE ended.kind IN ('result', 'cancellation')
"""

_AWARDS = """
SELECT a.award_id, a.bet_id, b.player_id, b.hand, a.tier, a.amount_minor, a.currency, a.cost, a.funded_by,
       ARRAY(SELECT s.step FROM award_steps s
             WHERE s.jackpot_id = %(jackpot_id)s AND s.round_key = a.round_key AND s.bet_id = a.bet_id
               AND s.tier = a.tier AND s.correction = a.correction),
       a.correction,
       coalesce((SELECT sum(p.amount_minor) FROM payments p
                 WHERE p.jackpot_id = %(jackpot_id)s AND p.round_key = a.round_key AND p.bet_id = a.bet_id
                   AND p.tier = a.tier AND p.correction = a.correction), 0)::bigint
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
    """
    An award as the books hold it, with the steps it took until now, and how much of it was paid.

    `correction` is the verdict that made it.
    """

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
    paid_minor: int = 0

    @property
    def state(self) -> AwardState:
        """Where it stands now."""
        return state_of(self.steps, amount_minor=self.amount_minor, paid_minor=self.paid_minor)

    @property
    def unpaid_minor(self) -> int:
        """How much of it was not paid, whatever its state."""
        return self.amount_minor - self.paid_minor

    def as_it_began(self) -> "BookedAward":
        """The award as its settlement made it."""
        return replace(self, steps=frozenset({first_step(self.steps)}), paid_minor=0)


def award_id(round_: Round, award: Award, *, correction: int = 0) -> str:
    """Name an award of a round; `correction` numbers the verdict that made it, and 0 is the settlement."""
    return id_of(
        *(round_.jackpot_id, round_.table_id, round_.round_id),
        bet_id=award.bet.bet_id,
        tier=award.tier,
        correction=correction,
    )


def _key(round_: Round) -> dict[str, Any]:
    return {"jackpot_id": round_.jackpot_id, "round_key": round_.round_key}


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


def booked_awards(round_: Round, awards: Iterable[Award]) -> tuple[BookedAward, ...]:
    """Return what `awards_of` will read of awards that a settlement has just made, without reading them."""
    in_order = sorted(awards, key=lambda award: (award.bet.bet_id, award.tier.value))
    return tuple(_booked_award(round_, award) for award in in_order)


def _booked_award(round_: Round, award: Award) -> BookedAward:
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


def send_ending(pipe: Pipeline, round_: Round) -> Cursor:
    """Send the question what a round's result or cancellation recorded; `ending_of` reads the answer."""
    return pipe.send(_ENDING, _key(round_))


def ending_of(cursor: Cursor) -> Facts:
    """Read the answer. The round must be over."""
    row: tuple[Facts | None] | None = cursor.fetchone()
    if row is None or row[0] is None:
        message = "A round that is over has no entry saying so."
        raise LookupError(message)
    return row[0]


def send_awards(pipe: Pipeline, round_: Round, *, correction: int) -> Cursor:
    """Send the question for the awards that one verdict on a round made; `awards_of` reads the answer."""
    return pipe.send(_AWARDS, {**_key(round_), "correction": correction})


def awards_of(cursor: Cursor) -> tuple[BookedAward, ...]:
    """Read the answer, by bet id and tier."""
    return tuple(_award(row) for row in cursor)


def _award(row: tuple[Any, ...]) -> BookedAward:
    *made, steps, correction, paid_minor = row
    return BookedAward(*(*made, frozenset(map(AwardStep, steps)), correction, paid_minor))


def send_ending_cycles(pipe: Pipeline, rounds: Sequence[Round]) -> Cursor | None:
    """Send the question in which cycles rounds of one jackpot ended; `ending_cycles_of` reads the answer."""
    if not rounds:
        return None
    keys = [round_.round_key for round_ in rounds]
    return pipe.send(_ENDING_CYCLES, {"jackpot_id": rounds[0].jackpot_id, "round_keys": keys})


def ending_cycles_of(cursor: Cursor | None) -> dict[int, int]:
    """Read the answer: by round key; a round that is open is not in it."""
    return {} if cursor is None else dict(cursor.fetchall())
