"""Hits: every jackpot won in the period, how each payoff was arrived at, and the order in which they came."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import POOL_DECIMALS, RateSheet, from_minor
from jackpot_service.domain.payoffs import Basis, payoff_of
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.domain.statistics import rounded_down
from jackpot_service.records import immutable
from jackpot_service.reports.documents import NamedRow, Section, rows_of
from jackpot_service.reports.finance import pools
from jackpot_service.reports.finance.columns import amounts, base_amounts, columns, counts, numbers, texts
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod

SHARE_DECIMALS = 18

# A hit is the entry that opened a cycle after the first. Its settlement never changes. `cut` is the position of every
# stripe, the hit included; `entries` counts all of the cycle, with the hit; `awards` are those that the meter paid.
_HITS = text(
    """
    SELECT s.jackpot_id, CAST(:base AS text) AS currency, CAST(:base AS text) AS base, s.cycle, e.stripe_no, e.seq,
           c.cut, e.received_at, e.booked_at, r.round_key, r.table_id, r.round_id, r.casino_id, r.rules_version,
           r.rate_sheet, s.policy,
           s.meter_before AS meter, s.weight AS total_stake_base, s.overflow, s.carried, s.house_seed, s.meter_after,
           s.reserve_after, s.entitlements, paid.awards, paid.cost AS paid,
           CAST((SELECT sum(position) FROM unnest(c.cut) AS position) - before.positions AS bigint) AS entries
    FROM cycles c
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.stripe_no = c.stripe_no AND e.seq = c.seq
    JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = e.round_key
    JOIN settlements s ON s.jackpot_id = :jackpot_id AND s.round_key = e.round_key
    CROSS JOIN LATERAL (
        SELECT count(*) AS awards, coalesce(sum(a.cost), 0) AS cost
        FROM awards a
        WHERE a.jackpot_id = :jackpot_id AND a.round_key = s.round_key AND a.correction = 0 AND a.funded_by = 'meter'
    ) AS paid
    CROSS JOIN LATERAL (
        SELECT sum(position) AS positions
        FROM cycles o CROSS JOIN LATERAL unnest(o.cut) AS position
        WHERE o.jackpot_id = :jackpot_id AND o.cycle = c.cycle - 1
    ) AS before
    WHERE c.jackpot_id = :jackpot_id AND c.cycle = ANY(:cycles)
    ORDER BY c.cycle
    """
)

_AWARDS = text(
    """
    WITH dealt AS MATERIALIZED (
        SELECT hand, array_to_string(cards, ' ') AS cards
        FROM hands
        WHERE jackpot_id = :jackpot_id AND round_key = :round_key
    )
    SELECT a.bet_id, b.player_id, b.hand, dealt.cards, a.tier, a.funded_by, a.currency, b.stake_minor, a.amount_minor,
           a.cost AS cost_base
    FROM awards a
    CROSS JOIN LATERAL (
        SELECT o.player_id, o.hand, o.stake_minor
        FROM bets o
        WHERE o.jackpot_id = :jackpot_id AND o.round_key = a.round_key AND o.bet_id = a.bet_id
        LIMIT 1
    ) AS b
    JOIN dealt ON dealt.hand = b.hand
    WHERE a.jackpot_id = :jackpot_id AND a.round_key = :round_key AND a.correction = 0
    ORDER BY a.bet_id, a.tier
    """
)

HITS = columns(
    "jackpot_id cycle booked_at casino_id table_id round_id policy currency",
    amounts(meter="Meter on offer, M", overflow="Overflow", total_stake_base="Total stake, W"),
    numbers(payout_per_unit="Payout per unit, M / W"),
    amounts(entitled="Entitled together"),
    counts(awards="Number of awards from the meter"),
    amounts(paid="Paid from the meter", carried="Carried", house_seed="House seed"),
    amounts(meter_after="New meter", reserve_after="New reserve"),
    "rules_version rate_sheet",
)

PAYOFFS = columns(
    "jackpot_id cycle table_id round_id bet_id player_id hand",
    texts(cards="Cards"),
    "tier paid_from currency",
    amounts(stake="Stake"),
    numbers(rate="Rate"),
    "base",
    base_amounts(stake_value="Stake x rate", meter="Meter M", total_stake_base="Total stake W"),
    texts(formula="Due by", due_exact="Due, as a fraction"),
    amounts(due="Due", payable="Payable"),
    base_amounts(cost_base="Cost"),
)

ORDER = columns(
    "jackpot_id cycle",
    counts(position="Position on stripe 0", stripe_no="Booked on stripe", seq="at position"),
    "table_id round_id received_at booked_at",
    counts(entries="Entries of its cycle"),
    texts(positions="Positions of all stripes"),
)

Hit = NamedRow
"""A row of `_HITS`, with the columns of the report that are computed from it."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """The basis of a hit's awards; `claims` are the entitlements of winning hands, where the round does not share."""

    hit: Hit
    rules: JackpotRules
    sheet: RateSheet
    claims: Mapping[tuple[str, str], Fraction]


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Show hits in the order of the ledger; the payoffs of each are read while they are written out."""
    hits = [hit for book in scope.books for hit in hits_of(session, book)]
    payoffs = (payoff for hit in hits for payoff in _payoffs(session, hit))
    return (
        Section("hits", "Hits", HITS, list(rows_of(HITS, hits))),
        Section("payoffs", "How each payoff was arrived at", PAYOFFS, rows_of(PAYOFFS, payoffs)),
        Section("order", "The order of hits", ORDER, list(rows_of(ORDER, hits))),
    )


def hits_of(session: Session, book: BookPeriod) -> list[Hit]:
    """
    Return the hits of a period, in the order of the ledger.

    The first committed takes the meter: every hit holds all stripes, so its cut lies beyond the one before on each.
    Stripe 0 has the order of hits and of the acts that moved money by hand between them, whatever the clocks show.
    """
    opened = [cycle.cycle for cycle in pools.opened_by_hits(session, book)]
    rows = session.execute(_HITS, {"jackpot_id": book.jackpot_id, "base": book.base, "cycles": opened}).mappings()
    return [
        {**row, **_share(row), "position": row["cut"][0], "positions": ".".join(map(str, row["cut"]))} for row in rows
    ]


def _share(hit: Hit) -> Hit:
    """Where the round shares, every bettor has the same share; otherwise each winning hand its own entitlement."""
    if hit["entitlements"]:
        entitled = sum((Fraction(claim["amount"]) for claim in hit["entitlements"]), Fraction(0))
        return {"payout_per_unit": None, "entitled": rounded_down(entitled, SHARE_DECIMALS)}
    share = Fraction(hit["meter"]) / Fraction(hit["total_stake_base"])
    return {"payout_per_unit": rounded_down(share, SHARE_DECIMALS), "entitled": None}


def _payoffs(session: Session, hit: Hit) -> Iterator[NamedRow]:
    """Show the awards of a hit by bet and tier, those that the prize fund paid too."""
    rules = immutable.rules(session, hit["jackpot_id"], hit["rules_version"])
    sheet = immutable.sheet(session, hit["base"], hit["rate_sheet"])
    claims = {(claim["bet_id"], claim["tier"]): Fraction(claim["amount"]) for claim in hit["entitlements"]}
    terms = _Terms(hit, rules, sheet, claims)
    awards = session.execute(_AWARDS, {"jackpot_id": hit["jackpot_id"], "round_key": hit["round_key"]}).mappings()
    for award in awards:
        yield {**hit, **award, **_calculation(award, terms)}


def _calculation(award: NamedRow, terms: _Terms) -> NamedRow:
    hit, rate = terms.hit, terms.sheet.rate(award["currency"])
    stake = from_minor(award["stake_minor"], rate.exponent)
    entitled = None if terms.rules.is_shared else terms.claims.get((award["bet_id"], award["tier"]))
    basis = Basis(hit["meter"], hit["total_stake_base"], hit["policy"], entitled)
    payoff = payoff_of(
        Tier(award["tier"]), award["funded_by"], basis, terms.rules, stake=stake, rate=rate.base_per_unit
    )
    return {
        "paid_from": award["funded_by"].replace("_", " "),
        "stake": stake,
        "rate": rate.base_per_unit,
        "stake_value": stake * rate.base_per_unit,
        "formula": payoff.formula,
        "due_exact": str(payoff.due),
        "due": rounded_down(payoff.due, POOL_DECIMALS),
        "payable": from_minor(award["amount_minor"], rate.exponent),
    }


REPORT = Report("hits", "Hits", make, sections=("hits", "payoffs", "order"), report_version=2)
