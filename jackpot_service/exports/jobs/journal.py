"""The kind of job that exports a jackpot's journal as the text of another program; see `exports/journal.py`."""

from collections.abc import Generator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy
from marshmallow import ValidationError, fields, validate, validates_schema

from jackpot_service.database.reads import Reads
from jackpot_service.database.snapshots import reading
from jackpot_service.database.transactions import read
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.shapes import LARGEST_MINOR
from jackpot_service.exports.accounting import FORMS
from jackpot_service.exports.jobs.kinds import JobForbidden, Json, Kind, Piece, Requester, Settled
from jackpot_service.exports.journal import PIECE_BYTES, JournalExport, Mark, journal_export, pieces
from jackpot_service.ledger.stripes import MOST_STRIPES
from jackpot_service.reports.making import positions_at
from jackpot_service.usecases.fields import Identifier, Instant, ListOf, Whole
from jackpot_service.usecases.payloads import Payload, load

MEDIA_TYPE = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class JournalRequest:
    """
    The jackpot of a journal, its format, and its end: positions, or the instant `as_of` before which it was booked.

    Without these two it has everything committed by now.
    """

    jackpot_id: str
    form: str
    positions: tuple[int, ...] | None = None
    as_of: datetime | None = None


class JournalParameters(Payload):
    """The jackpot of a journal, its format, and its end."""

    makes = JournalRequest

    jackpot_id = Identifier(required=True)
    form = fields.String(required=True, data_key="format", validate=validate.OneOf(list(FORMS)))
    positions = ListOf(Whole(most=LARGEST_MINOR), most=MOST_STRIPES)
    as_of = Instant()

    @validates_schema
    def _one_end(self, data: Mapping[str, Any], **_: object) -> None:
        if {"positions", "as_of"} <= data.keys():
            message = "Either positions or as_of says where the journal ends."
            raise ValidationError(message, "as_of")


def _read(parameters: Json) -> JournalRequest:
    request: JournalRequest = load(JournalParameters, parameters, at="/parameters")
    return request


def _require(principal: Principal, _request: JournalRequest) -> None:
    if principal.casino_id is not None:
        message = "A jackpot's whole journal is the house's; this key is a casino's."
        raise JobForbidden(message)


def _settle(engine: sqlalchemy.Engine, request: JournalRequest, requester: Requester) -> Settled:
    form, positions = FORMS[request.form], request.positions
    if request.as_of is not None:
        positions = positions_at(engine, request.jackpot_id, request.as_of, now=requester.now)
    export = read(engine, lambda session: journal_export(session, request.jackpot_id, form, positions=positions))
    return Settled(
        {
            "jackpot_id": export.jackpot_id,
            "base": export.base,
            "format": form.name,
            "as_of": instant(request.as_of),
            "positions": list(export.positions),
        },
        export.total,
        f"journal-{export.jackpot_id}-{export.total}.{form.suffix}",
        MEDIA_TYPE,
    )


def journal(*, piece_bytes: int = PIECE_BYTES) -> Kind[JournalRequest]:
    """Return the kind, with pieces of a size; a journal's pieces are the same only if their size is."""

    def make(reads: Reads, parameters: Json, position: Json | None) -> Generator[Piece, None, None]:
        export = JournalExport(
            parameters["jackpot_id"], parameters["base"], FORMS[parameters["format"]], tuple(parameters["positions"])
        )
        after = None if position is None else Mark(**{name: tuple(values) for name, values in position.items()})
        with reading(reads.primary) as session:
            for piece in pieces(session, export, after=after, piece_bytes=piece_bytes):
                yield Piece(piece.content, asdict(piece.mark), sum(piece.mark.positions))

    return Kind("journal", _read, _require, _settle, make)
