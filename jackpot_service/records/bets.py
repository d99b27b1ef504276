"""The bets' rows and their voids. A bet is written once; that it is void is a row of its own."""

from collections.abc import Collection, Mapping, Sequence

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.domain.bets import Bet, Bets, BookedBet
from jackpot_service.domain.rounds import Round
from jackpot_service.records.rounds import RoundName, name_columns

# Columns travel as one text each: the values of a round joined by spaces, the rounds by bars, which no value holds. The
# driver's own encoding of arrays costs more than everything else that is done to a bet.
_ADD = """
INSERT INTO bets (jackpot_id, round_key, bet_id, step, player_id, hand, currency, stake_minor, occurred_at)
SELECT %(jackpot_id)s, batch.round_key, bet_id, batch.step, player_id, hand, currency, stake_minor, occurred_at
FROM unnest(string_to_array(%(round_keys)s, '|')::bigint[], string_to_array(%(steps)s, '|')::int[],
            string_to_array(%(bet_ids)s, '|'), string_to_array(%(player_ids)s, '|'),
            string_to_array(%(hands)s, '|'), string_to_array(%(currencies)s, '|'),
            string_to_array(%(stakes_minor)s, '|'), string_to_array(%(occurred_at)s, '|'))
     AS batch (round_key, step, bet_ids, player_ids, hands, currencies, stakes_minor, times)
CROSS JOIN LATERAL
     unnest(string_to_array(batch.bet_ids, ' '), string_to_array(batch.player_ids, ' '),
            string_to_array(batch.hands, ' '), string_to_array(batch.currencies, ' '),
            string_to_array(batch.stakes_minor, ' ')::bigint[],
            string_to_array(batch.times, ' ', '-')::timestamptz[])
     AS bet (bet_id, player_id, hand, currency, stake_minor, occurred_at)
WHERE current_setting('jackpot.guess', true) IS DISTINCT FROM 'wrong'
"""

_BET_COLUMNS = ("bet_ids", "player_ids", "hands", "currencies", "stakes_minor", "occurred_at")

# A plan is kept for as long as its connection, also one that was made while the tables were empty. OFFSET keeps each
# round's lookup by itself in it; so do LATERAL and LIMIT each bet's void. A join would hold every bet of a round
# against every void of it, while the tables are thought to be small.
_BOOKED = """
SELECT booked.*
FROM unnest(string_to_array(%(table_ids)s, ' '), string_to_array(%(round_ids)s, ' ')) AS asked (table_id, round_id)
CROSS JOIN LATERAL (
    SELECT round_key
    FROM rounds
    WHERE jackpot_id = %(jackpot_id)s::text
      AND by_index(table_id || ' ' || round_id) = asked.table_id || ' ' || asked.round_id
    LIMIT 1
) AS r
CROSS JOIN LATERAL (
    SELECT b.round_key, b.bet_id, b.player_id, b.hand, b.currency, b.stake_minor, b.occurred_at, b.step, v.step
    FROM bets b
    LEFT JOIN LATERAL (
        SELECT w.step
        FROM voids w
        WHERE w.jackpot_id = %(jackpot_id)s AND w.round_key = b.round_key AND w.bet_id = b.bet_id
        LIMIT 1
    ) AS v ON true
    WHERE b.jackpot_id = %(jackpot_id)s AND b.round_key = r.round_key
    OFFSET 0  -- One round at a time: a plan may be kept from when the tables were empty.
) AS booked (round_key, bet_id, player_id, hand, currency, stake_minor, occurred_at, step, void_step)
"""

_OF_ROUND = f"{_BOOKED} ORDER BY booked.round_key, booked.bet_id"

# IN (SELECT …) is hashed once; = ANY(…) would split the text, and search all of it, for every bet.
_OF_BATCHES = f"""{_BOOKED}
WHERE booked.bet_id IN (SELECT unnest(string_to_array(%(bet_ids)s, ' ')))
   OR booked.player_id IN (SELECT unnest(string_to_array(%(player_ids)s, ' ')))
ORDER BY booked.round_key, booked.bet_id
"""

_TOMBSTONES = """
SELECT v.round_key, v.bet_id, v.step
FROM unnest(string_to_array(%(table_ids)s, ' '), string_to_array(%(round_ids)s, ' ')) AS asked (table_id, round_id)
CROSS JOIN LATERAL (
    SELECT round_key
    FROM rounds
    WHERE jackpot_id = %(jackpot_id)s::text
      AND by_index(table_id || ' ' || round_id) = asked.table_id || ' ' || asked.round_id
    LIMIT 1
) AS r
CROSS JOIN LATERAL (
    SELECT w.round_key, w.bet_id, w.step
    FROM voids w
    WHERE w.jackpot_id = %(jackpot_id)s AND w.round_key = r.round_key AND w.is_tombstone
    OFFSET 0  -- As the bets above: one round at a time, whatever the plan was made for.
) AS v
ORDER BY v.round_key, v.bet_id
"""

_ADD_VOIDS = """
INSERT INTO voids (jackpot_id, round_key, bet_id, step, is_tombstone)
SELECT %(jackpot_id)s, %(round_key)s::bigint, bet_id, %(step)s::int, is_tombstone
FROM unnest(%(bet_ids)s::text[], %(is_tombstone)s::bool[]) AS new (bet_id, is_tombstone)
"""

_PLACES = """
SELECT step, stripe_no, seq FROM entries WHERE jackpot_id = %(jackpot_id)s AND round_key = %(round_key)s ORDER BY step
"""


def add(pipe: Pipeline, batches: Sequence[tuple[Round, Mapping[str, str]]]) -> None:
    """
    Write accepted bets of rounds of one jackpot, each batch by its round's current step.

    The bets are columns as `facts.facts_of_bets` writes them: what an entry's digest covers is what is written.
    """
    ordered = sorted(batches, key=lambda batch: batch[0].round_key)
    columns = {name: "|".join([bets[name] for _, bets in ordered]) for name in _BET_COLUMNS}
    pipe.send(
        _ADD,
        {
            "jackpot_id": ordered[0][0].jackpot_id,
            "round_keys": "|".join([str(round_.round_key) for round_, _ in ordered]),
            "steps": "|".join([str(round_.steps) for round_, _ in ordered]),
            **columns,
        },
    )


def send_of_round(pipe: Pipeline, jackpot_id: str, name: RoundName) -> Cursor:
    """Send the question for all bets of a round; `booked_of` reads the answer."""
    return pipe.send(_OF_ROUND, {"jackpot_id": jackpot_id, **name_columns([name])})


def send_of_batches(pipe: Pipeline, jackpot_id: str, names: Sequence[RoundName], batches: Sequence[Bets]) -> Cursor:
    """Send the question for the bets that batches may meet in their rounds: of the same ids, or of the same players."""
    return pipe.send(
        _OF_BATCHES,
        {
            "jackpot_id": jackpot_id,
            **name_columns(names),
            "bet_ids": " ".join([" ".join(bets.bet_ids) for bets in batches]),
            "player_ids": " ".join([" ".join(bets.player_ids) for bets in batches]),
        },
    )


def booked_of(cursor: Cursor) -> tuple[BookedBet, ...]:
    """Read the answer for one round, in the order of bet ids."""
    return tuple(booked for bets in booked_by_round(cursor).values() for booked in bets)


def booked_by_round(cursor: Cursor) -> dict[int, list[BookedBet]]:
    """Read the answer for several rounds: by round key, in the order of bet ids."""
    by_round: dict[int, list[BookedBet]] = {}
    for round_key, *bet, step, void_step in cursor:
        by_round.setdefault(round_key, []).append(BookedBet(Bet(*bet), step, void_step))
    return by_round


def live(booked: Collection[BookedBet]) -> tuple[Bet, ...]:
    """The bets that are not void."""
    return tuple(booked_bet.bet for booked_bet in booked if not booked_bet.is_void)


def send_tombstones(pipe: Pipeline, jackpot_id: str, names: Sequence[RoundName]) -> Cursor:
    """Send the question for the voids of some rounds that came before their bets; `tombstones_of` reads the answer."""
    return pipe.send(_TOMBSTONES, {"jackpot_id": jackpot_id, **name_columns(names)})


def tombstones_of(cursor: Cursor) -> dict[int, dict[str, int]]:
    """Read the answer: by round key, the step of each tombstone by its bet id."""
    by_round: dict[int, dict[str, int]] = {}
    for round_key, bet_id, step in cursor:
        by_round.setdefault(round_key, {})[bet_id] = step
    return by_round


def add_voids(
    pipe: Pipeline,
    round_: Round,
    *,
    voided: Collection[str],
    tombstones: Collection[str],
) -> None:
    """Write voids of booked bets and tombstones of unknown ones, by the round's current step."""
    pipe.send(
        _ADD_VOIDS,
        {
            "jackpot_id": round_.jackpot_id,
            "round_key": round_.round_key,
            "step": round_.steps,
            "bet_ids": [*sorted(voided), *sorted(tombstones)],
            "is_tombstone": [False] * len(voided) + [True] * len(tombstones),
        },
    )


def send_places(pipe: Pipeline, round_: Round) -> Cursor:
    """Send the question where a round's entries stand; `places_of` reads the answer."""
    return pipe.send(_PLACES, {"jackpot_id": round_.jackpot_id, "round_key": round_.round_key})


def places_of(cursor: Cursor) -> dict[int, tuple[int, int]]:
    """Read the answer: for each step, the stripe and the seq of its entry."""
    return {step: (stripe_no, seq) for step, stripe_no, seq in cursor}
