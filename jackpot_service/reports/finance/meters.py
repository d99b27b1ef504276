"""Meters: what each jackpot has on offer and in its pools at the end, and what made its meter rise and fall."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Row as Found
from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import METER_HOUSE, METER_PLAYERS
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import negated
from jackpot_service.domain.rules import from_document
from jackpot_service.reports.documents import Column, Row, Section, Sort
from jackpot_service.reports.finance import cycles, pool_sums
from jackpot_service.reports.finance.frame import Report, Scope, Stand

METERS = (
    Column("jackpot_id", "Jackpot"),
    Column("currency", "Currency"),
    Column("cycle", "Cycle", Sort.COUNT),
    Column("display", "Display", Sort.AMOUNT, currency_in="currency"),
    Column("meter", "Booked meter", Sort.AMOUNT, currency_in="currency"),
    Column("overflow", "Overflow", Sort.AMOUNT, currency_in="currency"),
    Column("reserve", "Reserve", Sort.AMOUNT, currency_in="currency"),
    Column("prize_fund", "Prize fund", Sort.AMOUNT, currency_in="currency"),
    Column("in", "In", Sort.AMOUNT, currency_in="currency"),
    Column("reversed", "Reversed", Sort.AMOUNT, currency_in="currency"),
    Column("hits", "Hits", Sort.COUNT),
    Column("wins", "Wins", Sort.AMOUNT, currency_in="currency"),
    Column("returned", "Wins returned", Sort.AMOUNT, currency_in="currency"),
    Column("adjustments", "Adjustments", Sort.AMOUNT, currency_in="currency"),
    Column("corrections", "Corrections", Sort.AMOUNT, currency_in="currency"),
    Column("reset_amount", "Reset amount", Sort.AMOUNT, currency_in="currency"),
    Column("limit", "Limit", Sort.AMOUNT, currency_in="currency"),
)

PARAMETERS = (
    Column("jackpot_id", "Jackpot"),
    Column("version", "Version", Sort.COUNT),
    Column("booked_at", "Booked at", Sort.INSTANT),
    Column("asked_by", "Asked by"),
    Column("done_by", "Done by"),
    Column("reason", "Reason"),
    Column("from_cycle", "In force from cycle", Sort.COUNT),
    Column("meter_rate", "To the meter", Sort.NUMBER),
    Column("reserve_rate", "To the reserve", Sort.NUMBER),
    Column("prize_fund_rate", "To the prize fund", Sort.NUMBER),
    Column("house_rate", "To the house", Sort.NUMBER),
    Column("currency", "Currency"),
    Column("base_amount", "Base amount", Sort.AMOUNT, currency_in="currency"),
    Column("reset_amount", "Reset amount", Sort.AMOUNT, currency_in="currency"),
    Column("limit", "Limit", Sort.AMOUNT, currency_in="currency"),
    Column("largest_stake", "Largest stake", Sort.AMOUNT, currency_in="currency"),
    Column("token", "Token", Sort.AMOUNT, currency_in="currency"),
    Column("held_threshold", "Held from", Sort.AMOUNT, currency_in="currency"),
    Column("policy", "Several winners"),
)

# The entry that wrote a version is of stripe 0; the act that booked it names it among its effects.
_VERSIONS = text(
    """
    SELECT v.version, e.booked_at, asked.maker AS asked_by, e.principal AS done_by, t.reason AS done_because,
           asked.reason AS asked_because, v.document,
           (SELECT min(c.cycle) FROM cycles c
            WHERE c.jackpot_id = v.jackpot_id AND c.rules_version = v.version
              AND c.seq <= coalesce((CAST(:ends AS bigint[]))[c.stripe_no + 1], 0)) AS from_cycle,
           CASE v.version WHEN 1 THEN (SELECT coalesce(sum(p.amount), 0) FROM unnest(e.accounts, e.amounts)
                                       AS p (account, amount) WHERE p.account = :meter_house) END AS base_amount
    FROM rules_versions v
    JOIN entries e ON e.jackpot_id = v.jackpot_id AND e.stripe_no = 0 AND e.seq = v.entry_seq
    LEFT JOIN acts t ON t.jackpot_id = v.jackpot_id
                    AND t.effects @> jsonb_build_array(jsonb_build_object('book', v.jackpot_id, 'seq', v.entry_seq))
    LEFT JOIN change_requests asked ON asked.request_id = t.decides
    WHERE v.jackpot_id = :jackpot_id AND v.entry_seq <= (CAST(:ends AS bigint[]))[1]
    ORDER BY v.version
    """
)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Show each jackpot's meters, and the parameters under which they ran, as of the end."""
    meters = [_meters(session, stand) for stand in scope.stands]
    parameters = [row for stand in scope.stands for row in _parameters(session, stand)]
    return (
        Section("meters", "Meters", METERS, meters),
        Section("parameters", "Parameters, with every change of them", PARAMETERS, parameters),
    )


def _meters(session: Session, stand: Stand) -> Row:
    running = cycles.running_at_end(session, stand)
    moved = pool_sums.movements(session, stand)
    pools = pool_sums.before(session, stand) + pool_sums.pools_of(moved)
    by = {movement: pool_sums.put_into(moved, METER_PLAYERS, METER_HOUSE, by=movement) for movement in Movement}
    limit = running.rules.limit
    return (
        stand.jackpot_id,
        stand.base,
        running.cycle,
        pools.on_offer(limit),
        pools.meter,
        pools.overflow(limit),
        pools.reserve,
        pools.prize_fund,
        by[Movement.CONTRIBUTION],
        negated(by[Movement.REVERSAL]),
        len(cycles.opened_by_hits(session, stand)),
        negated(by[Movement.AWARD]),
        by[Movement.RETURN],
        by[Movement.ADJUSTMENT],
        by[Movement.CORRECTION],
        running.rules.reset_amount,
        limit,
    )


def _parameters(session: Session, stand: Stand) -> Iterator[Row]:
    asked = {"jackpot_id": stand.jackpot_id, "ends": list(stand.end), "meter_house": METER_HOUSE}
    for found in session.execute(_VERSIONS, asked):
        yield (stand.jackpot_id, *_version(found))


def _version(found: Found[Any]) -> Row:
    rules = from_document(found.document)
    return (
        found.version,
        found.booked_at,
        found.asked_by,
        found.done_by,
        found.asked_because or found.done_because,
        found.from_cycle,
        rules.split.meter,
        rules.split.reserve,
        rules.split.prize_fund,
        rules.split.house,
        rules.base,
        found.base_amount,
        rules.reset_amount,
        rules.limit,
        rules.largest_stake,
        rules.token,
        rules.held_threshold,
        rules.policy.value,
    )


REPORT = Report("meters", "Meters", make, sections=("meters", "parameters"))
