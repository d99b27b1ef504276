"""
Exceptions: events that somebody has to look into, the result, and the rounds that were open for too long at the end.

Refusals are kept outside of the books: one belongs to the instant at which it was noticed, and is written right after.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.exceptions import ROUND_OPEN, NotedException
from jackpot_service.domain.rounds import first_key_at
from jackpot_service.ledger.long_rounds import ENDED, LIFE, LONG, LONG_LIVED
from jackpot_service.records import noted_exceptions
from jackpot_service.records.noted_exceptions import ExceptionFilters
from jackpot_service.reports.documents import NamedRow, Row, Section, rows_of
from jackpot_service.reports.finance.columns import columns, counts, instants, texts
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.questions import MINUTE, Parameter, Parameters

_ACKNOWLEDGED = (
    *instants(acknowledged_at="Acknowledged at"),
    *texts(acknowledged_by="Acknowledged by", reason="Outcome"),
)

KINDS = columns(
    "kind",
    counts(
        exceptions="Exceptions",
        refusals="Refusals",
        acknowledged="Acknowledged",
        unacknowledged="Not acknowledged",
    ),
)

EXCEPTIONS = columns(
    instants(noticed_at="Noticed at"),
    "kind jackpot_id casino_id table_id round_id",
    texts(principal="Caller or approver", detail="Case"),
    counts(refusals="Refusals"),
    texts(denied="Denied, in minor units", granted="Granted for it, in minor units"),
    _ACKNOWLEDGED,
    texts(resolution="Resolution", exception_id="Exception"),
)

OPEN_ROUNDS = columns(
    instants(opened_at="Open since"),
    counts(minutes="Minutes open"),
    "jackpot_id casino_id table_id round_id bets",
    _ACKNOWLEDGED,
)

_UP_TO_THE_END = "coalesce((CAST(:ends AS bigint[]))[{stripe_no} + 1], 0)"

# Open at the end are those that are open still, and those whose ending stands after it. Of the latter an index holds
# those that lived long; rounds of the last minutes before the end are looked at one by one: see `ledger/long_rounds`.
# MATERIALIZED leaves no other way to the long ones: by their keys, all rounds that there were before might be read.
# Acknowledgements are acts, of another book: they are looked up for the rounds that are listed, by a part of their own.
_OPEN = text(
    f"""
    WITH long_lived AS MATERIALIZED (
        SELECT jackpot_id, round_key, stripe_no, seq
        FROM entries
        WHERE {LONG_LIVED} AND {LIFE} @> CAST(:end AS timestamptz)
    ),
    ended_since AS (
        SELECT round_key
        FROM long_lived
        WHERE jackpot_id = :jackpot_id AND round_key < :long_before
          AND seq > {_UP_TO_THE_END.format(stripe_no="stripe_no")}
        UNION ALL
        SELECT round_key
        FROM entries
        WHERE jackpot_id = :jackpot_id AND round_key >= :long_before AND round_key < :opened_before AND {ENDED}
          AND seq > {_UP_TO_THE_END.format(stripe_no="stripe_no")}
    ),
    open_since AS (
        SELECT r.*
        FROM rounds r
        WHERE r.state IN ('open', 'closed') AND r.jackpot_id = :jackpot_id AND r.round_key < :opened_before
        UNION ALL
        SELECT r.*
        FROM ended_since e
        JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = e.round_key
    ),
    listed AS MATERIALIZED (
        SELECT r.jackpot_id, r.round_key, r.table_id, r.round_id, r.casino_id, r.opened_at, known.bets,
               exception_id(r.opened_at, concat_ws(' ', '{ROUND_OPEN}', r.table_id, r.round_id)) AS exception_id
        FROM open_since r
        JOIN entries o ON o.jackpot_id = :jackpot_id AND o.round_key = r.round_key AND o.step = 1
                      AND o.seq <= {_UP_TO_THE_END.format(stripe_no="o.stripe_no")}
        CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE w.bet_id IS NULL OR v.seq IS NULL) AS bets
            FROM bets b
            JOIN entries e ON e.jackpot_id = :jackpot_id AND e.round_key = b.round_key AND e.step = b.step
                          AND e.seq <= {_UP_TO_THE_END.format(stripe_no="e.stripe_no")}
            LEFT JOIN voids w ON w.jackpot_id = :jackpot_id AND w.round_key = b.round_key AND w.bet_id = b.bet_id
            LEFT JOIN entries v ON v.jackpot_id = :jackpot_id AND v.round_key = w.round_key AND v.step = w.step
                               AND v.seq <= {_UP_TO_THE_END.format(stripe_no="v.stripe_no")}
            WHERE b.jackpot_id = :jackpot_id AND b.round_key = r.round_key
        ) AS known
        WHERE (CAST(:casino_id AS text) IS NULL OR r.casino_id = :casino_id)
          AND (CAST(:table_id AS text) IS NULL OR r.table_id = :table_id)
    ),
    acknowledged AS MATERIALIZED (
        SELECT k.exception_id, act.booked_at, act.principal, a.reason
        FROM exception_acknowledgements k
        JOIN acts a ON a.seq = k.entry_seq
        JOIN entries act ON act.jackpot_id = '-' AND act.stripe_no = 0 AND act.seq = k.entry_seq
        WHERE k.exception_id IN (SELECT exception_id FROM listed) AND k.entry_seq <= :acts_end
    )
    SELECT r.jackpot_id, r.table_id, r.round_id, r.casino_id, r.opened_at, r.bets,
           k.booked_at AS acknowledged_at, k.principal AS acknowledged_by, k.reason
    FROM listed r
    LEFT JOIN acknowledged k ON k.exception_id = r.exception_id
    ORDER BY r.round_key
    """  # noqa: S608  conditions that other modules have as constants
)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """List the exceptions of the period by kind and one by one, and the open rounds."""
    parameters, acts_end = scope.parameters, scope.acts_end
    noticed = ExceptionFilters(
        jackpot_id=parameters.jackpot_id,
        casino_id=parameters.casino_id,
        table_id=parameters.table_id,
        noticed_from=parameters.start,
        noticed_to=parameters.end,
    )
    counted = noted_exceptions.counts_between(session, noticed, acts_end=acts_end)
    kinds = [
        (
            counted_kind.kind,
            counted_kind.exceptions,
            counted_kind.refusals,
            counted_kind.acknowledged,
            counted_kind.exceptions - counted_kind.acknowledged,
        )
        for counted_kind in counted
    ]
    listed = _rows(noted_exceptions.between(session, noticed, acts_end=acts_end))
    count = sum(counted_kind.exceptions for counted_kind in counted)
    left_open = f"Rounds that were open for more than {parameters.longest_open // MINUTE} minutes at the end"
    return (
        Section("kinds", "Exceptions of the period, by kind", KINDS, kinds),
        Section("exceptions", "Exceptions of the period", EXCEPTIONS, listed, lambda: count),
        Section("open_rounds", left_open, OPEN_ROUNDS, rows_of(OPEN_ROUNDS, _open_rounds(session, scope))),
    )


def _rows(noted: Generator[NotedException, None, None]) -> Iterator[Row]:
    """Yield the rows; who leaves them closes the cursor that they come from."""
    with closing(noted):
        yield from map(_row, noted)


def _row(exception: NotedException) -> Row:
    noted = exception.acknowledgement
    looked = (None,) * 4 if noted is None else (noted.acknowledged_at, noted.principal, noted.reason, noted.resolution)
    place = (exception.jackpot_id, exception.casino_id, exception.table_id, exception.round_id)
    prize = (None, None) if exception.granted is None else (_denied(exception), _listed(exception.granted))
    return (
        exception.noticed_at,
        exception.kind,
        *place,
        exception.principal,
        exception.detail,
        exception.count,
        *prize,
        *looked,
        exception.exception_id,
    )


def _denied(exception: NotedException) -> str:
    return _listed({exception.facts["currency"]: exception.facts["amount_minor"]})


def _listed(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{minor} {currency}" for currency, minor in sorted(amounts.items())) or "nothing"


def _open_rounds(session: Session, scope: Scope) -> Iterator[NamedRow]:
    end = scope.parameters.end or scope.made_at
    for book in scope.books:
        for open_round in open_at_end(session, book, scope.parameters, end=end, acts_end=scope.acts_end):
            yield {**open_round, "minutes": (end - open_round["opened_at"]) // MINUTE}


def open_at_end(
    session: Session, book: BookPeriod, parameters: Parameters, *, end: datetime, acts_end: int
) -> Iterable[NamedRow]:
    """
    List rounds that were open for longer than `longest_open`, the longest open first, whatever became of them since.

    Acts up to `acts_end` count. `end` is the instant at whose positions the book's period ends; where it ends with all
    that is booked, any will do.
    """
    opened_before = end - parameters.longest_open
    query = {
        **book.bounds,
        "end": end,
        "opened_before": first_key_at(opened_before),
        "long_before": first_key_at(min(opened_before, end - LONG)),
        "acts_end": acts_end,
        **parameters.in_sql,
    }
    return session.execute(_OPEN, query).mappings()


REPORT = Report(
    "exceptions",
    "Exceptions",
    make,
    frozenset({Parameter.CASINO, Parameter.TABLE}),
    sections=("kinds", "exceptions", "open_rounds"),
    is_for_casinos=True,
    is_kept=False,
    report_version=2,
)
