"""Hits: every jackpot won in the period, how each payoff was arrived at, and the order in which they came."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from jackpot_service.database.transactions import Session
from jackpot_service.domain.statistics import rounded_down
from jackpot_service.reports.documents import Column, Row, Section, Sort, Value
from jackpot_service.reports.finance import payoffs, won
from jackpot_service.reports.finance.frame import Report, Scope, Stand
from jackpot_service.reports.finance.won import Won

SHARE_DECIMALS = 18

HITS = (
    Column("jackpot_id", "Jackpot"),
    Column("cycle", "Cycle", Sort.COUNT),
    Column("booked_at", "Booked at", Sort.INSTANT),
    Column("casino_id", "Casino"),
    Column("table_id", "Table"),
    Column("round_id", "Round"),
    Column("policy", "Several winners"),
    Column("currency", "Currency"),
    Column("meter", "Meter on offer, M", Sort.AMOUNT, currency_in="currency"),
    Column("overflow", "Overflow", Sort.AMOUNT, currency_in="currency"),
    Column("weight", "Weight of the round, W", Sort.AMOUNT, currency_in="currency"),
    Column("share", "Share of a unit, M / W", Sort.NUMBER),
    Column("entitled", "Entitled together", Sort.AMOUNT, currency_in="currency"),
    Column("awards", "Awards from the meter", Sort.COUNT),
    Column("paid", "Paid from the meter", Sort.AMOUNT, currency_in="currency"),
    Column("carried", "Carried", Sort.AMOUNT, currency_in="currency"),
    Column("house_seed", "House seed", Sort.AMOUNT, currency_in="currency"),
    Column("meter_after", "New meter", Sort.AMOUNT, currency_in="currency"),
    Column("reserve_after", "New reserve", Sort.AMOUNT, currency_in="currency"),
    Column("rules_version", "Rules version", Sort.COUNT),
    Column("rate_sheet", "Rate sheet", Sort.COUNT),
)

ORDER = (
    Column("jackpot_id", "Jackpot"),
    Column("cycle", "Cycle", Sort.COUNT),
    Column("position", "Position on stripe 0", Sort.COUNT),
    Column("stripe_no", "Booked on stripe", Sort.COUNT),
    Column("seq", "at position", Sort.COUNT),
    Column("table_id", "Table"),
    Column("round_id", "Round"),
    Column("received_at", "Received at", Sort.INSTANT),
    Column("booked_at", "Booked at", Sort.INSTANT),
    Column("entries", "Entries of its cycle", Sort.COUNT),
    Column("positions", "Positions of all stripes"),
)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Show hits in the order of the ledger; the payoffs of each are read while they are written out."""
    hits = [(stand, won.hits(session, stand)) for stand in scope.stands]
    return (
        Section("hits", "Hits", HITS, [_hit(stand, one) for stand, of_jackpot in hits for one in of_jackpot]),
        Section("payoffs", "How each payoff was arrived at", payoffs.PAYOFFS, _payoffs(session, hits)),
        Section("order", "The order of hits", ORDER, [row for one in hits for row in _order(*one)]),
    )


def _hit(stand: Stand, hit: Won) -> Row:
    return (
        stand.jackpot_id,
        hit.cycle,
        hit.booked_at,
        hit.casino_id,
        hit.table_id,
        hit.round_id,
        hit.policy,
        stand.base,
        hit.meter,
        hit.overflow,
        hit.weight,
        *_share_or_entitled(hit),
        hit.awards,
        hit.paid,
        hit.carried,
        hit.house_seed,
        hit.meter_after,
        hit.reserve_after,
        hit.rules_version,
        hit.rate_sheet,
    )


def _share_or_entitled(hit: Won) -> tuple[Value, Value]:
    """Where the round shares, every bettor has the same share; otherwise each winning hand its own entitlement."""
    if hit.entitlements:
        entitled = sum((Fraction(claim["amount"]) for claim in hit.entitlements), Fraction(0))
        return None, rounded_down(entitled, SHARE_DECIMALS)
    return rounded_down(Fraction(hit.meter) / Fraction(hit.weight), SHARE_DECIMALS), None


def _payoffs(session: Session, hits: Iterable[tuple[Stand, Sequence[Won]]]) -> Iterator[Row]:
    for stand, of_jackpot in hits:
        for hit in of_jackpot:
            yield from payoffs.rows(session, stand, hit)


def _order(stand: Stand, hits: Sequence[Won]) -> Iterator[Row]:
    """
    The first committed takes the meter: every hit holds all stripes, so its cut lies beyond the one before on each.

    Whatever the clocks say, stripe 0 tells the order of hits and of the acts that moved money by hand between them.
    """
    for hit in hits:
        positions = ".".join(map(str, hit.cut))
        yield (
            stand.jackpot_id,
            hit.cycle,
            hit.cut[0],
            hit.stripe_no,
            hit.seq,
            hit.table_id,
            hit.round_id,
            hit.received_at,
            hit.booked_at,
            hit.entries,
            positions,
        )


REPORT = Report("hits", "Hits", make, sections=("hits", "payoffs", "order"))
