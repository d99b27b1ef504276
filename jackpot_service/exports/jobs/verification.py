"""
The kind of job that proves the books: `jackpot verify`, started by somebody who has no login of the machine.

It reads one instant of the books, and notes once a minute how far it has come while nothing is wrong. A job that was
interrupted goes on from its last note, with the books as they are then. A mismatch comes after every note, so it is
found again. The file names the mismatches; the position keeps the first ones for as long as the job is there.
"""

import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

import orjson
import sqlalchemy
from marshmallow import fields, validate

from jackpot_service.database.reads import Reads
from jackpot_service.database.snapshots import cancel_statement, snapshot
from jackpot_service.database.transactions import Session, read
from jackpot_service.domain.jobs import VERIFICATION, Job
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.exports.files import file_name
from jackpot_service.exports.jobs.kinds import Json, Kind, Piece, Requester, Settled
from jackpot_service.exports.jobs.reporting import Report, reports_of
from jackpot_service.ledger.mismatches import Mismatch
from jackpot_service.ledger.verification import Progress, Reached, Verification
from jackpot_service.proof.notes import Notes
from jackpot_service.proof.proof import verify
from jackpot_service.records import checkpoints
from jackpot_service.reports.checkpoints import latest_verifications
from jackpot_service.usecases.payloads import Payload, load
from jackpot_service.version import service_version

NAME: Final = VERIFICATION

ZERO, LAST = "zero", "last"

NOTE_EVERY_S: Final = 60.0
"""As `jackpot verify` does: so much work is done again after an interruption."""

PIECE_EVERY_S: Final = 2.0
"""How often it is written down how far it is; between two pieces it does not look whether it is to stop."""

MOST_STORED: Final = 50
"""Mismatches that the job itself keeps; its file has all."""

MOST_IN_FILE: Final = 10_000
"""Mismatches that the file names; it counts all."""

MEDIA_TYPE: Final = "application/json"


@dataclass(frozen=True, slots=True)
class VerificationRequest:
    """Whether to begin at zero or to go on from the last note."""

    start: str


class VerificationParameters(Payload):
    """Where a verification begins: at zero, or at the last note, which is zero if there is none."""

    makes = VerificationRequest

    start = fields.String(required=True, data_key="from", validate=validate.OneOf([ZERO, LAST]))


@dataclass(frozen=True, slots=True)
class StoredMismatch:
    """A finding: its code, the book and the place, and what differs there."""

    code: str
    book: str
    place: str
    detail: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    The findings of a verification, the version of the service that did it, and how much it has looked at.

    `continues` is the note from which its last attempt went on, None if that began at zero; `note` is the note of its
    end, None if something is wrong. `mismatches` counts all, `codes` by code; `first` are the first of them.
    `not_compared` are reports of closed periods of another version: name, version then and now, and how many periods.
    """

    service_version: str
    continues: int | None
    note: int | None
    books: int
    entries: int
    rounds: int
    bets: int
    awards: int
    mismatches: int
    codes: Mapping[str, int]
    first: Sequence[StoredMismatch]
    not_compared: Sequence[Sequence[Any]]

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.mismatches


def outcome_of(job: Job) -> Outcome | None:
    """Return what a verification has found; None if it has not come to its end."""
    document = (job.position or {}).get("outcome")
    if document is None:
        return None
    return Outcome(**{**document, "first": tuple(StoredMismatch(**each) for each in document["first"])})


@dataclass(slots=True)
class _Place:
    """
    How far a job is: how much of how much is done, all its attempts together, and its position.

    The position is the last note of the job, with what was done by then; None before the first, and then it begins
    anew.
    """

    done: int = 0
    total: int | None = None
    position: Json | None = None

    def piece(self, content: bytes = b"") -> Piece:
        return Piece(content, self.position, self.done, self.total)


@dataclass(frozen=True, slots=True)
class _Pace:
    """How often a verification notes how far it is, and how often it says so to its job."""

    note_s: float
    piece_s: float


class _Work:
    """A verification in a thread: it reports progress, the numbers of its notes, and what it has found."""

    def __init__(self, engine: sqlalchemy.Engine, pace: _Pace, *, continues: int | None) -> None:
        self.continues = continues
        self._engine = engine
        self._pace = pace
        self.progress: Progress | None = None
        self._session: Session | None = None
        self._last = time.monotonic()

    def run(self, report: Report[Progress | int | Verification]) -> None:
        engine, number = self._engine, self.continues
        note = None if number is None else read(engine, partial(checkpoints.noted_verification, number=number))
        notes = Notes(engine, every_s=self._pace.note_s, continues=number)

        def advance(progress: Progress) -> None:
            self.progress = progress
            if time.monotonic() - self._last >= self._pace.piece_s:
                self._last = time.monotonic()
                report(progress)

        def reach(reached: Reached) -> None:
            noted = notes.take(reached)
            if noted is not None:
                report(noted)

        with snapshot(engine) as self._session:
            since = None if note is None else note.books
            report(verify(self._session, since=since, on_progress=advance, on_reached=reach))

    def cancel(self) -> None:
        if self._session is not None:
            cancel_statement(self._session)


def _read(parameters: Json) -> VerificationRequest:
    request: VerificationRequest = load(VerificationParameters, parameters, at="/parameters")
    return request


def _require(_principal: Principal, _request: VerificationRequest) -> None:
    """Everybody who has the role of the kind may."""


def _settle(engine: sqlalchemy.Engine, request: VerificationRequest, requester: Requester) -> Settled:
    notes = read(engine, partial(latest_verifications, limit=1)) if request.start == LAST else ()
    settled = {"from": request.start, "continues": notes[0].number if notes else None}
    return Settled(settled, None, file_name(NAME, requester.now, "json"), MEDIA_TYPE)


def _pieces(reads: Reads, parameters: Json, position: Json | None, pace: _Pace) -> Generator[Piece, None, None]:
    before = position or {"note": parameters["continues"], "done": 0}
    if before.get("outcome") is not None:
        return
    done_before, place = before["done"], _Place(before["done"], position=position)
    work = _Work(reads.primary, pace, continues=before["note"])
    with reports_of(work.run, cancel=work.cancel) as reports:
        for report in reports:
            if isinstance(report, Progress):
                place.done, place.total = done_before + report.done, done_before + report.total
            elif isinstance(report, int):
                place.position = {"note": report, "done": place.done}
            else:
                place.total = done_before + (0 if work.progress is None else work.progress.total)
                yield _last_piece(place, report, continues=work.continues)
                return
            yield place.piece()


def _last_piece(place: _Place, verification: Verification, *, continues: int | None) -> Piece:
    """The whole file in one piece, with what was found: a job that is taken up after it has nothing left to do."""
    note = None if place.position is None else place.position["note"]
    outcome = _outcome(verification, continues=continues, note=note if verification.is_clean else None)
    named = [_stored(mismatch) for mismatch in verification.mismatches[:MOST_IN_FILE]]
    whole = {**outcome, "mismatches": named, "mismatch_count": outcome["mismatches"]}
    del whole["first"]
    place.done = place.total = max(place.done, place.total or 0)
    place.position = {"note": note, "done": place.done, "outcome": outcome}
    return place.piece(orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _stored(mismatch: Mismatch) -> dict[str, str]:
    return asdict(StoredMismatch(mismatch.code.value, mismatch.book, mismatch.place, mismatch.detail))


def _outcome(verification: Verification, *, continues: int | None, note: int | None) -> dict[str, Any]:
    """Write an `Outcome` as the position keeps it."""
    mismatches = verification.mismatches
    return {
        "service_version": service_version(),
        "continues": continues,
        "note": note,
        "books": verification.books,
        "entries": verification.entries,
        "rounds": verification.rounds,
        "bets": verification.bets,
        "awards": verification.awards,
        "mismatches": len(mismatches),
        "codes": dict(Counter(mismatch.code.value for mismatch in mismatches)),
        "first": [_stored(mismatch) for mismatch in mismatches[:MOST_STORED]],
        "not_compared": [[*item, periods] for item, periods in sorted(verification.not_compared.items())],
    }


def verification(
    *, note_every_s: float = NOTE_EVERY_S, piece_every_s: float = PIECE_EVERY_S
) -> Kind[VerificationRequest]:
    """Return the kind. One is under way at a time, and auditors alone start and end it."""
    pieces = partial(_pieces, pace=_Pace(note_every_s, piece_every_s))
    return Kind(NAME, _read, _require, _settle, pieces, roles=frozenset({Role.AUDITOR}), is_alone=True)
