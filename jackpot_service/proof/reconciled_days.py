"""Whether days that were reconciled still say what their documents and entries come to."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from itertools import zip_longest

from jackpot_service.database.transactions import Session
from jackpot_service.ledger import instants
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.verified import NOTHING, Verified
from jackpot_service.proof.days import first_day
from jackpot_service.proof.decoding import is_written_alike, unless_refused
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.records import reconciled_days
from jackpot_service.records.reconciled_days import DayPart
from jackpot_service.reports.finance import reconciled_sums
from jackpot_service.reports.finance.period import DAY, Part, is_same, midnight

Found = Iterator[Mismatch]


def of_book(session: Session, book: str) -> Sequence[DayPart]:
    """The days of a book that reports add up, in their order."""
    return reconciled_days.days(session, book, report_version=reconciled_sums.REPORT_VERSION)


def check(
    session: Session,
    jackpot: Jackpot,
    days: Sequence[DayPart],
    since: Verified = NOTHING,
    *,
    on_day: Callable[[], None] = lambda: None,
) -> Found:
    """
    Each day is what was booked in it, and comes to what was kept; nobody reads those of other report versions.

    Where the book was verified before, the days are read again that were reconciled since, or on which something was
    booked since. `on_day` is called after each.
    """
    if not days:
        return
    first = date.min if since == NOTHING else first_day(session, jackpot.jackpot_id, jackpot.stripes, since)
    for kept in days:
        if kept.day > since.reconciled_to or (first is not None and kept.day >= first):
            found = _of_day(session, jackpot, kept)
            yield from unless_refused(session, found, partial(_mismatch, jackpot.jackpot_id, kept.day))
        on_day()


def _of_day(session: Session, jackpot: Jackpot, kept: DayPart) -> Found:
    book, begins, ends = jackpot.jackpot_id, midnight(kept.day), midnight(kept.day + DAY)
    due = Part(instants.before(session, book, begins), instants.before(session, book, ends))
    if not instants.is_over(session, book, ends):
        yield _mismatch(book, kept.day, "was read, and is not over")
    if not (is_same(kept.starts, due.start) and is_same(kept.ends, due.end)):
        yield _mismatch(book, kept.day, f"was read after {kept.starts} up to {kept.ends}, and is {due}")
        return
    made = reconciled_sums.read_sums(session, book, jackpot.base, due)
    sums: object = reconciled_days.sums(session, book, report_version=reconciled_sums.REPORT_VERSION, day=kept.day)
    for was, is_ in zip_longest(sums if isinstance(sums, list) else [sums], (one.as_json() for one in made)):
        if not is_written_alike(was, is_):
            yield _mismatch(book, kept.day, f"was kept as {was}, and its documents and entries make {is_}")
            return


def _mismatch(book: str, day: date, detail: str) -> Mismatch:
    return Mismatch(Code.RECONCILED_DAY, book, f"reconciled day {day}", detail)
