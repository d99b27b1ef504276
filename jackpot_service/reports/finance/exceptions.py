"""
Exceptions: what somebody has to look into, what came of it, and the rounds that were open for too long at the end.

Refusals are kept beside the books: one belongs to the instant at which it was noticed, and is written right after.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from jackpot_service.database.transactions import Session
from jackpot_service.domain.exceptions import NotedException
from jackpot_service.records import noted_exceptions
from jackpot_service.records.noted_exceptions import Wanted
from jackpot_service.reports.documents import Column, Row, Section, Sort
from jackpot_service.reports.finance import open_rounds
from jackpot_service.reports.finance.figures import Of
from jackpot_service.reports.finance.frame import Asked, Report, Scope, Takes

_ACKNOWLEDGED = (
    Column("acknowledged_at", "Acknowledged at", Sort.INSTANT),
    Column("acknowledged_by", "Acknowledged by"),
    Column("reason", "What came of it"),
)

KINDS = (
    Column("kind", "Kind"),
    Column("exceptions", "Exceptions", Sort.COUNT),
    Column("acknowledged", "Acknowledged", Sort.COUNT),
    Column("unacknowledged", "Not acknowledged", Sort.COUNT),
)

EXCEPTIONS = (
    Column("noticed_at", "Noticed at", Sort.INSTANT),
    Column("kind", "Kind"),
    Column("jackpot_id", "Jackpot"),
    Column("casino_id", "Casino"),
    Column("table_id", "Table"),
    Column("round_id", "Round"),
    Column("principal", "Whose call, or approval"),
    Column("detail", "What happened"),
    *_ACKNOWLEDGED,
    Column("exception_id", "Exception"),
)

OPEN_ROUNDS = (
    Column("opened_at", "Open since", Sort.INSTANT),
    Column("minutes", "Minutes open", Sort.COUNT),
    Column("jackpot_id", "Jackpot"),
    Column("casino_id", "Casino"),
    Column("table_id", "Table"),
    Column("round_id", "Round"),
    Column("bets", "Bets", Sort.COUNT),
    *_ACKNOWLEDGED,
)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """List the exceptions of the period by kind and one by one, and the open rounds."""
    wanted, acts_end = _wanted(scope.asked), scope.acts_end
    counts = noted_exceptions.counts_between(session, wanted, acts_end=acts_end)
    kinds = [(kind, count, acknowledged, count - acknowledged) for kind, count, acknowledged in counts]
    listed = map(_row, noted_exceptions.between(session, wanted, acts_end=acts_end))
    count = sum(count for _, count, _ in counts)
    minutes = scope.asked.longest_open // timedelta(minutes=1)
    left_open = f"Rounds that were open for more than {minutes} minutes at the end"
    return (
        Section("kinds", "Exceptions of the period, by kind", KINDS, kinds),
        Section("exceptions", "Exceptions of the period", EXCEPTIONS, listed, lambda: count),
        Section("open_rounds", left_open, OPEN_ROUNDS, _open_rounds(session, scope)),
    )


def _wanted(asked: Asked) -> Wanted:
    return Wanted(
        jackpot_id=asked.jackpot_id,
        casino_id=asked.casino_id,
        table_id=asked.table_id,
        noticed_from=asked.start,
        noticed_to=asked.end,
    )


def _row(one: NotedException) -> Row:
    noted = one.acknowledgement
    looked = (None, None, None) if noted is None else (noted.acknowledged_at, noted.principal, noted.reason)
    place = (one.jackpot_id, one.casino_id, one.table_id, one.round_id)
    return (one.noticed_at, one.kind, *place, one.principal, one.detail, *looked, one.exception_id)


def _open_rounds(session: Session, scope: Scope) -> Iterator[Row]:
    end = scope.asked.end or scope.made_at
    of = Of(scope.asked.casino_id, scope.asked.table_id)
    for stand in scope.stands:
        found = open_rounds.at_end(
            session, stand, end=end, longest_open=scope.asked.longest_open, acts_end=scope.acts_end, of=of
        )
        for one in found:
            minutes = (end - one.opened_at) // timedelta(minutes=1)
            place = (stand.jackpot_id, one.casino_id, one.table_id, one.round_id)
            looked = (one.acknowledged_at, one.acknowledged_by, one.reason)
            yield (one.opened_at, minutes, *place, one.bets, *looked)


REPORT = Report(
    "exceptions",
    "Exceptions",
    make,
    takes=frozenset({Takes.CASINO, Takes.TABLE}),
    sections=("kinds", "exceptions", "open_rounds"),
    is_for_casinos=True,
    is_kept=False,
)
