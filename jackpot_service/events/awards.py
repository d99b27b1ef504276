"""Events about awards: which awards a settlement made, and what an event says of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardStep, first_step
from jackpot_service.domain.money import plain
from jackpot_service.events.event import Data, EventType, Payload

# Rows are looked up by their keys. OFFSET keeps it so while the table is not analysed. The planner then thinks that
# settlements made few of the awards, and would go through all of them for each round.
_OF_SETTLEMENTS = text(
    """
    SELECT a.*
    FROM unnest(CAST(:books AS text[]), CAST(:round_keys AS bigint[])) AS k (book, round_key)
    CROSS JOIN LATERAL (
        SELECT o.jackpot_id, o.round_key, o.bet_id, o.tier, o.correction
        FROM awards o
        WHERE o.jackpot_id = k.book AND o.round_key = k.round_key AND o.correction = 0
        OFFSET 0  -- Each by its key: before an analysis the planner would go through all awards.
    ) AS a
    ORDER BY a.bet_id COLLATE "C", a.tier COLLATE "C"
    """
)

_NAMED = text(
    """
    SELECT a.jackpot_id, a.round_key, a.bet_id, a.tier, a.correction, r.*, a.award_id, b.*,
           a.amount_minor, a.currency, a.cost, a.funded_by, a.steps
    FROM unnest(CAST(:books AS text[]), CAST(:round_keys AS bigint[]), CAST(:bet_ids AS text[]),
                CAST(:tiers AS text[]), CAST(:corrections AS int[]))
         AS k (book, round_key, bet_id, tier, correction)
    CROSS JOIN LATERAL (
        SELECT o.*, ARRAY(SELECT s.step FROM award_steps s
                          WHERE s.jackpot_id = o.jackpot_id AND s.round_key = o.round_key AND s.bet_id = o.bet_id
                            AND s.tier = o.tier AND s.correction = o.correction) AS steps
        FROM awards o
        WHERE o.jackpot_id = k.book AND o.round_key = k.round_key AND o.bet_id = k.bet_id AND o.tier = k.tier
          AND o.correction = k.correction
        LIMIT 1
    ) AS a
    CROSS JOIN LATERAL (
        SELECT o.table_id, o.round_id, o.casino_id
        FROM rounds o
        WHERE o.jackpot_id = k.book AND o.round_key BETWEEN k.round_key AND k.round_key
        ORDER BY o.round_key
        LIMIT 1
    ) AS r
    CROSS JOIN LATERAL (
        SELECT o.player_id, o.hand
        FROM bets o
        WHERE o.jackpot_id = k.book AND o.round_key = k.round_key AND o.bet_id = k.bet_id
        LIMIT 1
    ) AS b
    """
)


class AwardName(NamedTuple):
    """An award as the books know it; `correction` numbers the verdict that made it, 0 for the settlement."""

    book: str
    round_key: int
    bet_id: str
    tier: str
    correction: int


@dataclass(frozen=True, slots=True)
class AwardEvent:
    """An event about one award, which is read only if a page has room for it; `more` is what the event adds."""

    type: EventType
    name: AwardName
    more: Mapping[str, Any] = field(default_factory=dict)
    act: Data | None = None


Unplaced = Payload | AwardEvent
"""One event of an entry, in the order of their numbers."""


def awards_of_settlements(
    session: Session, rounds: Iterable[tuple[str, int]]
) -> Mapping[tuple[str, int], list[AwardName]]:
    """Name the awards that settlements made, by book and round key."""
    keys = sorted(rounds)
    by_round: dict[tuple[str, int], list[AwardName]] = {key: [] for key in keys}
    parameters = {"books": [book for book, _ in keys], "round_keys": [round_key for _, round_key in keys]}
    for row in session.execute(_OF_SETTLEMENTS, parameters) if keys else ():
        name = AwardName(*row)
        by_round[name.book, name.round_key].append(name)
    return by_round


def payloads(
    session: Session, events: Sequence[AwardEvent], *, currencies: Mapping[str, str]
) -> Mapping[AwardName, Data]:
    """Read what events say of their awards, each as it was made; `currencies` are the base currencies of jackpots."""
    names = [event.name for event in events]
    if not names:
        return {}
    parameters = {
        "books": [name.book for name in names],
        "round_keys": [name.round_key for name in names],
        "bet_ids": [name.bet_id for name in names],
        "tiers": [name.tier for name in names],
        "corrections": [name.correction for name in names],
    }
    rows = session.execute(_NAMED, parameters)
    return {AwardName(*row[:5]): _data(row, currency=currencies[row.jackpot_id]) for row in rows}


def _data(row: Any, *, currency: str) -> Data:  # noqa: ANN401  a row of _NAMED
    return {
        "award_id": row.award_id,
        "jackpot_id": row.jackpot_id,
        "table_id": row.table_id,
        "round_id": row.round_id,
        "casino_id": row.casino_id,
        "correction": row.correction,
        "bet_id": row.bet_id,
        "player_id": row.player_id,
        "hand": row.hand,
        "tier": row.tier,
        "amount_minor": row.amount_minor,
        "currency": row.currency,
        "cost_base": plain(row.cost),
        "base_currency": currency,
        "funded_by": row.funded_by,
        "state": first_step([*map(AwardStep, row.steps)]).value,
    }


def payload_of(event: AwardEvent, award: Data) -> Payload:
    """Return an event's payload; only that of an award that was made says in which state it began."""
    stated = {name: value for name, value in award.items() if name != "state" or event.type is EventType.AWARD_MADE}
    return Payload(event.type, f"award {award['award_id']}", {**stated, **event.more}, event.act)
