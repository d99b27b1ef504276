"""The kind of job that exports a jackpot's journal as the text of another program; see `reports.export.journal`."""

from collections.abc import Generator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy
from marshmallow import ValidationError, fields, validate, validates_schema

from jackpot_service.database.transactions import read, reading
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.shapes import LARGEST_MINOR
from jackpot_service.exports.jobs.kinds import Asker, JobForbidden, Json, Kind, Piece, Settled
from jackpot_service.exports.journal import FORMS, PIECE_BYTES, JournalExport, Mark, journal_export, pieces
from jackpot_service.ledger.stripes import MOST_STRIPES
from jackpot_service.reports.making import positions_at
from jackpot_service.usecases.fields import Identifier, Instant, ListOf, Whole
from jackpot_service.usecases.payloads import Payload, load

MEDIA_TYPE = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Asked:
    """
    Whose journal, in which form, and up to where: up to positions, or what was booked before `as_of`.

    Neither of these two: everything committed by now.
    """

    jackpot_id: str
    form: str
    positions: tuple[int, ...] | None = None
    as_of: datetime | None = None


class JournalParameters(Payload):
    """Whose journal, in which form, and up to where."""

    makes = Asked

    jackpot_id = Identifier(required=True)
    form = fields.String(required=True, data_key="format", validate=validate.OneOf(list(FORMS)))
    positions = ListOf(Whole(most=LARGEST_MINOR), most=MOST_STRIPES)
    as_of = Instant()

    @validates_schema
    def _one_end(self, data: Mapping[str, Any], **_: object) -> None:
        if {"positions", "as_of"} <= data.keys():
            message = "Either positions or as_of says where the journal ends."
            raise ValidationError(message, "as_of")


def _read(parameters: Json) -> Asked:
    asked: Asked = load(JournalParameters, parameters, at="/parameters")
    return asked


def _require(principal: Principal, _asked: Asked) -> None:
    if principal.casino_id is not None:
        message = "A jackpot's whole journal is the house's; this key is a casino's."
        raise JobForbidden(message)


def _settle(engine: sqlalchemy.Engine, asked: Asked, asker: Asker) -> Settled:
    form, positions = FORMS[asked.form], asked.positions
    if asked.as_of is not None:
        positions = positions_at(engine, asked.jackpot_id, asked.as_of, now=asker.now)
    export = read(engine, lambda session: journal_export(session, asked.jackpot_id, form, positions=positions))
    return Settled(
        {
            "jackpot_id": export.jackpot_id,
            "base": export.base,
            "format": form.name,
            "as_of": instant(asked.as_of),
            "positions": list(export.positions),
        },
        export.total,
        f"journal-{export.jackpot_id}-{export.total}.{form.suffix}",
        MEDIA_TYPE,
    )


def journal(*, piece_bytes: int = PIECE_BYTES) -> Kind[Asked]:
    """The kind, with pieces of a size; a journal's pieces are the same only if their size is."""

    def make(engine: sqlalchemy.Engine, parameters: Json, position: Json | None) -> Generator[Piece, None, None]:
        export = JournalExport(
            parameters["jackpot_id"], parameters["base"], FORMS[parameters["format"]], tuple(parameters["positions"])
        )
        after = None if position is None else Mark(**{name: tuple(values) for name, values in position.items()})
        with reading(engine) as session:
            for piece in pieces(session, export, after=after, piece_bytes=piece_bytes):
                yield Piece(piece.content, asdict(piece.mark), sum(piece.mark.positions))

    return Kind("journal", _read, _require, _settle, make)
