"""Meters: the amount each jackpot has on offer and in its pools at the end, and why its meter rose and fell."""

from collections.abc import Iterator, Sequence

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import METER_HOUSE, METER_PLAYERS
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.rules import from_document
from jackpot_service.reports.documents import NamedRow, Section, rows_of
from jackpot_service.reports.finance import pools
from jackpot_service.reports.finance.columns import amounts, columns, counts, numbers, texts
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod

METERS = columns(
    "jackpot_id currency cycle",
    amounts(display="Display", meter="Booked meter", overflow="Overflow", reserve="Reserve", prize_fund="Prize fund"),
    amounts(in_="In", reversed="Reversed"),
    counts(hits="Number of hits"),
    amounts(wins="Wins", returned="Wins returned", adjustments="Adjustments", corrections="Corrections"),
    amounts(reset_amount="Reset amount", limit="Limit"),
)

PARAMETERS = columns(
    "jackpot_id",
    counts(version="Version"),
    "booked_at",
    texts(requested_by="Requested by", done_by="Done by"),
    "reason",
    counts(from_cycle="In force from cycle"),
    numbers(meter_rate="To the meter", reserve_rate="To the reserve", prize_fund_rate="To the prize fund"),
    numbers(house_rate="To the house"),
    "currency",
    amounts(base_amount="Base amount", reset_amount="Reset amount", limit="Limit", largest_stake="Largest stake"),
    amounts(least_stake="Least stake"),
    amounts(token="Token"),  # noqa: S106  the stake of a side bet, no secret
    texts(payout_tiers="Payout tiers"),
    "policy",
)

# The entry that wrote a version is of stripe 0; the act that booked it names it among its effects.
_VERSIONS = text(
    """
    SELECT v.version, e.booked_at, request.maker AS requested_by, e.principal AS done_by,
           coalesce(request.reason, t.reason) AS reason, v.document,
           (SELECT min(c.cycle) FROM cycles c
            WHERE c.jackpot_id = :jackpot_id AND c.rules_version = v.version
              AND c.seq <= coalesce((CAST(:ends AS bigint[]))[c.stripe_no + 1], 0)) AS from_cycle,
           CASE v.version WHEN 1 THEN (SELECT coalesce(sum(p.amount), 0) FROM unnest(e.accounts, e.amounts)
                                       AS p (account, amount) WHERE p.account = :meter_house) END AS base_amount
    FROM rules_versions v
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.stripe_no = 0 AND e.seq = v.entry_seq
    LEFT JOIN acts t ON t.jackpot_id = :jackpot_id
                    AND t.effects @> jsonb_build_array(jsonb_build_object('book', v.jackpot_id, 'seq', v.entry_seq))
    LEFT JOIN change_requests request ON request.request_id = t.decides
    WHERE v.jackpot_id = :jackpot_id AND v.entry_seq <= (CAST(:ends AS bigint[]))[1]
    ORDER BY v.version
    """
)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Show each jackpot's meters, and the parameters under which they ran, as of the end."""
    meters = (_meters(session, book) for book in scope.books)
    parameters = (version for book in scope.books for version in _parameters(session, book))
    return (
        Section("meters", "Meters", METERS, list(rows_of(METERS, meters))),
        Section(
            "parameters", "Parameters, with every change of them", PARAMETERS, list(rows_of(PARAMETERS, parameters))
        ),
    )


def _meters(session: Session, book: BookPeriod) -> NamedRow:
    running = pools.running_at_end(session, book)
    moved = pools.movements(session, book)
    held = pools.opening_pools(session, book) + pools.pools_of(moved)
    by = {movement: pools.put_into(moved, METER_PLAYERS, METER_HOUSE, by=movement) for movement in Movement}
    limit = running.rules.limit
    return {
        "jackpot_id": book.jackpot_id,
        "currency": book.base,
        "cycle": running.cycle,
        "display": held.on_offer(limit),
        "meter": held.meter,
        "overflow": held.overflow(limit),
        "reserve": held.reserve,
        "prize_fund": held.prize_fund,
        "in": by[Movement.CONTRIBUTION],
        "reversed": -by[Movement.REVERSAL],
        "hits": len(pools.opened_by_hits(session, book)),
        "wins": -by[Movement.AWARD],
        "returned": by[Movement.RETURN] + by[Movement.FORFEITURE],
        "adjustments": by[Movement.ADJUSTMENT],
        "corrections": by[Movement.CORRECTION],
        "reset_amount": running.rules.reset_amount,
        "limit": limit,
    }


def _parameters(session: Session, book: BookPeriod) -> Iterator[NamedRow]:
    query = {"jackpot_id": book.jackpot_id, "ends": list(book.end), "meter_house": METER_HOUSE}
    for version in session.execute(_VERSIONS, query).mappings():
        rules = from_document(version["document"])
        rates = {f"{name}_rate": getattr(rules.split, name) for name in ("meter", "reserve", "prize_fund", "house")}
        names = ("reset_amount", "limit", "largest_stake", "least_stake", "token")
        amounts_of_rules = {name: getattr(rules, name) for name in names}
        tiers = "; ".join(tier.in_words(rules.base) for tier in rules.payout_tiers) or None
        terms = {
            "jackpot_id": book.jackpot_id,
            "currency": rules.base,
            "payout_tiers": tiers,
            "policy": rules.policy.value,
        }
        yield {**version, **rates, **amounts_of_rules, **terms}


REPORT = Report("meters", "Meters", make, sections=("meters", "parameters"), report_version=2)
