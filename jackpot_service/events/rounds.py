"""Events of rounds, made from the facts and figures of entries: settled, hit and reset; cancelled; bets made void."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from jackpot_service.database.each_jackpot import by_jackpot, rows_of_each
from jackpot_service.database.transactions import Session
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.figures import Figure, FigureKind
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import ZERO, plain
from jackpot_service.domain.rules import FundedBy
from jackpot_service.events.awards import AwardEvent, AwardName, Unplaced
from jackpot_service.events.entries import EntryRound, NotifiedEntry
from jackpot_service.events.event import EventType, Payload, Place, Total, totals

# Entries, and the cycle that a hit opened, are looked up by their keys: LIMIT says so, however small a table is.
_RECORDED = """
    SELECT e.jackpot_id, e.stripe_no, e.seq, e.facts, CAST(e.figures AS text[]), c.rules_version
    FROM unnest(%(stripe_nos)s::int[], %(seqs)s::bigint[]) AS k (stripe_no, seq)
    CROSS JOIN LATERAL (
        SELECT o.jackpot_id, o.stripe_no, o.seq, o.facts, o.figures
        FROM entries o
        WHERE o.jackpot_id = %(book)s AND o.stripe_no = k.stripe_no AND o.seq = k.seq
        LIMIT 1
    ) AS e
    LEFT JOIN LATERAL (
        SELECT o.rules_version
        FROM cycles o
        WHERE o.jackpot_id = %(book)s AND o.cycle = CAST(e.facts #>> '{settlement,cycle_after}' AS int)
        LIMIT 1
    ) AS c ON true
"""

_REFUNDS: Final = frozenset({FigureKind.REFUNDS, FigureKind.LATE_REFUNDS})


@dataclass(frozen=True, slots=True)
class Recorded:
    """The facts and figures of a round's entry; `rules_version` is that of the cycle after a settlement."""

    facts: Facts
    figures: Sequence[Figure]
    rules_version: int | None

    @property
    def has_awards(self) -> bool:
        """Whether a settlement made any award."""
        return any(figure.kind is FigureKind.AWARDS for figure in self.figures)

    def sums(self, kinds: Iterable[FigureKind], *, counted: str) -> list[dict[str, Any]]:
        """Write the sums of some kinds of figures, a currency each."""
        of_kinds = (figure for figure in self.figures if figure.kind in kinds)
        return totals((Total(figure.currency, figure.minor, figure.number) for figure in of_kinds), counted=counted)


RecordedByPlace = Mapping[tuple[str, int, int], Recorded]
"""By book, stripe and seq."""


def recorded(session: Session, places: Sequence[Place]) -> RecordedByPlace:
    """Read what entries of rounds recorded."""
    questions = [
        {
            "book": book,
            "stripe_nos": [place.stripe_no for place in of_book],
            "seqs": [place.seq for place in of_book],
        }
        for book, of_book in by_jackpot(places, attrgetter("book")).items()
    ]
    return {
        (book, stripe_no, seq): Recorded(facts, [*map(Figure.read, figures)], rules_version)
        for book, stripe_no, seq, facts, figures, rules_version in rows_of_each(session, _RECORDED, questions)
    }


def events_of(
    entry: NotifiedEntry, round_: EntryRound, stated: Recorded, awards: Sequence[AwardName], *, currency: str
) -> list[Unplaced]:
    """Return the events of a round's entry; `currency` is the jackpot's base currency."""
    step = _Step(entry.place.book, currency, round_, stated)
    if entry.kind is EntryKind.RESULT:
        return step.settled(awards)
    if entry.kind is EntryKind.CLOSING:
        return [step.closed()]
    return [step.cancelled() if entry.kind is EntryKind.CANCELLATION else step.voided()]


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of a round, the jackpot that the round plays for, and the jackpot's base currency."""

    jackpot_id: str
    currency: str
    round: EntryRound
    stated: Recorded

    def payload(self, type_: EventType, data: Mapping[str, Any]) -> Payload:
        """Make the payload of an event about the round, for those who may see the round."""
        names = {
            "jackpot_id": self.jackpot_id,
            "table_id": self.round.table_id,
            "round_id": self.round.round_id,
            "casino_id": self.round.casino_id,
            "rules_version": self.round.rules_version,
            "rate_sheet": self.round.rate_sheet,
        }
        return Payload(type_, f"round {self.round.table_id}/{self.round.round_id}", {**names, **data})

    def settled(self, awards: Sequence[AwardName]) -> list[Unplaced]:
        """A result: the round, each award; and where it won the jackpot, the hit and the cycle that begins."""
        settlement = self.stated.facts["settlement"]
        is_hit = settlement["cycle_after"] > settlement["cycle"]
        after = {name: settlement[name] for name in ("meter_after", "reserve_after", "prize_fund_after", "house_seed")}
        data = {
            "cycle": settlement["cycle"],
            "occurred_at": self.stated.facts["result"]["occurred_at"],
            "stakes": totals((Total(*stakes_sum) for stakes_sum in settlement["stakes"]), counted="bets"),
            "refunds": self.stated.sums(_REFUNDS, counted="bets"),
            "awards": self.stated.sums((FigureKind.AWARDS,), counted="awards"),
            "currency": self.currency,
            "policy": settlement["policy"],
            "total_stake_base": settlement["weight"],
            "meter_before": settlement["meter_before"],
            **after,
            "is_hit": is_hit,
        }
        events: list[Unplaced] = [
            self.payload(EventType.ROUND_SETTLED, data),
            *(AwardEvent(EventType.AWARD_MADE, award) for award in awards),
        ]
        return [*events, self._hit(settlement), self._reset(settlement)] if is_hit else events

    def _hit(self, settlement: Facts) -> Payload:
        """The jackpot was won. The event names no casino and no player: every key sees it."""
        figures = self.stated.figures
        paid = (
            figure.value for figure in figures if figure.kind is FigureKind.AWARDS and figure.account == FundedBy.METER
        )
        data = {
            "jackpot_id": self.jackpot_id,
            "table_id": self.round.table_id,
            "round_id": self.round.round_id,
            "cycle": settlement["cycle"],
            "currency": self.currency,
            "meter_before": settlement["meter_before"],
            "paid": plain(sum(paid, ZERO)),
            **_after_a_hit(settlement),
        }
        return Payload(EventType.HIT, f"jackpot {self.jackpot_id}", data)

    def _reset(self, settlement: Facts) -> Payload:
        data = {
            "jackpot_id": self.jackpot_id,
            "cycle": settlement["cycle_after"],
            "rules_version": self.stated.rules_version,
            "currency": self.currency,
            "meter": settlement["meter_after"],
            "reserve": settlement["reserve_after"],
            **_after_a_hit(settlement),
        }
        return Payload(EventType.RESET, f"jackpot {self.jackpot_id}", data)

    def closed(self) -> Payload:
        """The end of a round's betting."""
        return self.payload(EventType.BETTING_CLOSED, dict(self.stated.facts))

    def cancelled(self) -> Payload:
        """A cancelled round: every live stake was given back."""
        facts = self.stated.facts
        data = {
            "cycle": facts["cycle"],
            "occurred_at": facts["occurred_at"],
            "reason": facts["reason"],
            "refunds": self.stated.sums(_REFUNDS, counted="bets"),
        }
        return self.payload(EventType.ROUND_CANCELLED, data)

    def voided(self) -> Payload:
        """Bets made void, before or after they came."""
        facts = self.stated.facts
        data = {
            "occurred_at": facts["occurred_at"],
            "bet_ids": facts["voided"],
            "tombstones": facts["tombstones"],
            "reason": facts["reason"],
            "refunds": self.stated.sums(_REFUNDS, counted="bets"),
        }
        return self.payload(EventType.BETS_VOIDED, data)


def _after_a_hit(settlement: Facts) -> Mapping[str, Any]:
    """The rest of the meter, and what came to it: from above the limit to the reserve, and from the house."""
    return {name: settlement[name] for name in ("carried", "overflow", "house_seed")}
