"""Whether the books still say what closed periods, reconciled days and seals say, those outside too."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import zip_longest
from typing import Any

from sqlalchemy import Row, text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import seals
from jackpot_service.domain.closed_periods import ClosedPeriod
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import instant
from jackpot_service.domain.seals import BadSeal, Seal, SealedStripe, SealLink
from jackpot_service.ledger import instants
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.verification import NOTHING, NotCompared, Verified
from jackpot_service.proof.days import first_day
from jackpot_service.proof.decoding import is_written_alike, unless_refused
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.records import checkpoints
from jackpot_service.records import checkpoints as records
from jackpot_service.records.checkpoints import DayPart
from jackpot_service.reports.documents import sha256_of
from jackpot_service.reports.finance import frame, reconciled_sums, registry
from jackpot_service.reports.finance.frame import Report
from jackpot_service.reports.finance.period import DAY, EIGHTH, Part, begin_of, is_same
from jackpot_service.reports.questions import Parameters
from jackpot_service.signing import PublicKey, public_key_of


def closed_periods_hold(session: Session, rows: Iterable[Row[Any]], *, not_compared: Counter[NotCompared]) -> Found:
    """
    Check every closed period, from its row, in their order.

    Reports of another version than the kept one cannot be compared, but counted.
    """
    begins = None
    for period in map(checkpoints.period_of, rows):
        if period.period.start != begins:
            yield _in_period(period, f"begins at {instant(period.period.start)}, not at {instant(begins)}")
        begins = period.period.end
        yield from _is_over(session, period)
        yield from _reports_are(session, period, not_compared)


def _is_over(session: Session, closed: ClosedPeriod) -> Found:
    """Nothing can be booked in it any more: every stripe of every book has passed its end."""
    for book, passed in instants.passed(session).items():
        if passed < closed.period.end:
            yield _in_period(closed, f"was closed, and book {book} has only passed {instant(passed)}")


def _reports_are(session: Session, closed: ClosedPeriod, not_compared: Counter[NotCompared]) -> Found:
    for name, stored in closed.reports.items():
        report = registry.REPORTS.get(name)
        if report is None or report.report_version != stored.report_version:
            not_compared[
                NotCompared(name, stored.report_version, None if report is None else report.report_version)
            ] += 1
            continue
        mismatches = _report_is(session, report, closed, stored.sha256)
        yield from unless_refused(session, mismatches, partial(_in_period, closed))


def _report_is(session: Session, report: Report, closed: ClosedPeriod, stored: str) -> Found:
    actual = _hash(session, report, closed)
    if actual != stored:
        yield _in_period(closed, f"{report.name} was kept as {stored}, and says {actual}")


def _hash(session: Session, report: Report, closed: ClosedPeriod) -> str | None:
    parameters = Parameters(start=closed.period.start, end=closed.period.end)
    document = frame.make(session, report, parameters, made_at=closed.period.end)
    return sha256_of(document)


def _in_period(closed: ClosedPeriod, detail: str) -> Mismatch:
    return Mismatch(Code.CLOSED_PERIOD, REFERENCE_BOOK, f"period to {instant(closed.period.end)}", detail)


def reconciled_days_of(session: Session, book: str) -> Sequence[DayPart]:
    """The eighths of a book's days that reports add up, in their order."""
    return checkpoints.reconciled_days(session, book, report_version=reconciled_sums.REPORT_VERSION)


def reconciled_days_hold(
    session: Session,
    jackpot: Jackpot,
    days: Sequence[DayPart],
    since: Verified = NOTHING,
    *,
    on_day: Callable[[], None] = lambda: None,
) -> Found:
    """
    Each eighth is what was booked in it, and comes to what was stored; nobody reads those of other report versions.

    Where the book was verified before, the days are read again that were reconciled since, or on which something was
    booked since. So is the last that was verified, of which there may be more. `on_day` is called after each eighth.
    """
    if not days:
        return
    first = date.min if since == NOTHING else first_day(session, jackpot.jackpot_id, jackpot.stripes, since)
    for stored in days:
        if stored.day >= since.reconciled_to or (first is not None and stored.day >= first):
            mismatches = _mismatches_of_part(session, jackpot, stored)
            yield from unless_refused(session, mismatches, partial(_in_part, jackpot.jackpot_id, stored))
        on_day()


def _mismatches_of_part(session: Session, jackpot: Jackpot, stored: DayPart) -> Found:
    if stored.eighth not in range(DAY // EIGHTH):
        yield _in_part(jackpot.jackpot_id, stored, "a day has eight eighths, from 0 to 7")
        return
    book, begins = jackpot.jackpot_id, begin_of(stored.day, stored.eighth)
    ends = begins + EIGHTH
    expected = Part(instants.before(session, book, begins), instants.before(session, book, ends))
    if not instants.is_over(session, book, ends):
        yield _in_part(book, stored, "was read, and is not over")
    if not (is_same(stored.starts, expected.start) and is_same(stored.ends, expected.end)):
        yield _in_part(book, stored, f"was read after {stored.starts} up to {stored.ends}, and is {expected}")
        return
    made = reconciled_sums.read_sums(session, book, jackpot.base, expected)
    sums: object = checkpoints.sums_of_part(session, book, stored, report_version=reconciled_sums.REPORT_VERSION)
    for was, is_ in zip_longest(sums if isinstance(sums, list) else [sums], (sum_.as_json() for sum_ in made)):
        if not is_written_alike(was, is_):
            yield _in_part(book, stored, f"was kept as {was}, and its documents and entries make {is_}")
            return


def _in_part(book: str, part: DayPart, detail: str) -> Mismatch:
    return Mismatch(Code.RECONCILED_DAY, book, f"reconciled day {part.day}, eighth {part.eighth}", detail)


# Of each stripe that was sealed: where it ends now, and the head of the entry at which it was sealed.
_NOW = text(
    """
    SELECT sealed.number, s.seq, e.head
    FROM unnest(CAST(:books AS text[]), CAST(:stripe_nos AS int[]), CAST(:seqs AS bigint[]), CAST(:heads AS bytea[]))
         WITH ORDINALITY AS sealed (book, stripe_no, seq, head, number)
    LEFT JOIN stripes s ON s.jackpot_id = sealed.book AND s.stripe_no = sealed.stripe_no
    LEFT JOIN entries e ON e.jackpot_id = sealed.book AND e.stripe_no = sealed.stripe_no AND e.seq = sealed.seq
    WHERE s.seq IS NULL OR s.seq < sealed.seq OR (sealed.seq > 0 AND e.head IS DISTINCT FROM sealed.head)
    ORDER BY sealed.number
    """
)


@dataclass(frozen=True, slots=True)
class GivenSeal:
    """A seal that was kept outside, and where: the name by which it is spoken of."""

    name: str
    seal: Seal


def kept_seals_hold(session: Session) -> Found:
    """The seals that the ledger kept are numbered from 1, signed, each names the last, and the books say the same."""
    previous: SealLink | None = None
    for stored in records.every_seal(session):
        name = f"seal {stored.number}"
        try:
            seal = seals.read(stored.content)
        except BadSeal as error:
            yield _in_seal(Code.SEAL_CHAIN, name, error.detail)
        else:
            expected = (1 if previous is None else previous.number + 1, previous)
            if (stored.number, seal.previous) != expected or seal.number != stored.number:
                yield _in_seal(Code.SEAL_CHAIN, name, "does not name the seal before it")
            key = public_key_of(stored.public_key)
            yield from _is_signed(GivenSeal(name, seal), {key.key_id: key})
            yield from stripes_stand(session, name, seal)
        previous = SealLink(stored.number, stored.sha256)


def given_seals_hold(session: Session, given_seals: Iterable[GivenSeal], keys: Mapping[str, PublicKey]) -> Found:
    """
    Seals from outside are signed by one of these keys, the ledger kept the same, and the books say so still.

    Each names the one before it, where that is given too, and no two have one number. `keys` are by their ids.
    """
    by_number: dict[int, _Known] = {}
    for given_seal in given_seals:
        yield from _is_signed(given_seal, keys)
        yield from _was_kept(session, given_seal)
        yield from stripes_stand(session, given_seal.name, given_seal.seal)
        known = _Known(given_seal.name, given_seal.seal.link, given_seal.seal.previous)
        other = by_number.setdefault(given_seal.seal.number, known)
        if other.link != known.link:
            yield _in_seal(
                Code.SEAL_CHAIN, given_seal.name, f"is another seal {given_seal.seal.number} than {other.name}"
            )
    for number, known in sorted(by_number.items()):
        before = by_number.get(number - 1)
        if before is not None and known.previous != before.link:
            yield _in_seal(Code.SEAL_CHAIN, known.name, f"does not name {before.name}, which is the seal before it")


@dataclass(frozen=True, slots=True)
class _Known:
    """The part of a seal that is kept when it was looked at: its chain."""

    name: str
    link: SealLink
    previous: SealLink | None


def _was_kept(session: Session, given_seal: GivenSeal) -> Found:
    stored = records.find_seal(session, given_seal.seal.number)
    if stored is None:
        yield _in_seal(Code.SEAL_CHAIN, given_seal.name, f"the ledger has no seal {given_seal.seal.number}")
    elif stored.sha256 != given_seal.seal.link.sha256:
        yield _in_seal(Code.SEAL_CHAIN, given_seal.name, f"the ledger kept another seal {given_seal.seal.number}")


def _is_signed(given_seal: GivenSeal, keys: Mapping[str, PublicKey]) -> Found:
    key = keys.get(given_seal.seal.public_key_id)
    if key is None:
        yield _in_seal(
            Code.SEAL_SIGNATURE, given_seal.name, f"says that key {given_seal.seal.public_key_id} signed it: not known"
        )
    elif not key.signed(given_seal.seal.signed_bytes, given_seal.seal.signature):
        yield _in_seal(
            Code.SEAL_SIGNATURE, given_seal.name, f"was not signed by key {key.key_id}, or was changed since"
        )


def stripes_stand(session: Session, name: str, seal: Seal) -> Found:
    """At every position that was sealed stands an entry with the head that was sealed, on a stripe that is there."""
    columns = {
        "books": [sealed.book for sealed in seal.stripes],
        "stripe_nos": [sealed.stripe_no for sealed in seal.stripes],
        "seqs": [sealed.seq for sealed in seal.stripes],
        "heads": [sealed.head for sealed in seal.stripes],
    }
    for number, end, head in session.execute(_NOW, columns):
        yield _differs(name, seal.stripes[number - 1], end, head)


def _differs(name: str, sealed: SealedStripe, end: int | None, head: bytes | None) -> Mismatch:
    where = f"{sealed.place}, seq {sealed.seq}"
    if end is None:
        return Mismatch(Code.SEAL_STRIPE, sealed.book, where, f"{name}: the stripe is not there")
    if end < sealed.seq or head is None:
        return Mismatch(
            Code.SEAL_STRIPE, sealed.book, where, f"{name}: the entry is not there; the stripe ends at {end}"
        )
    detail = f"{name}: head {sealed.head.hex()} was sealed, now it is {head.hex()}"
    return Mismatch(Code.SEAL_HEAD, sealed.book, where, detail)


def _in_seal(code: Code, name: str, detail: str) -> Mismatch:
    return Mismatch(code, REFERENCE_BOOK, name, detail)
