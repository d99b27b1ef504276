"""Problems of the service itself: it cannot do now what was asked, or its books are not what they must be."""

from typing import Final

from jackpot_service.api.problem_catalogue.rows import Section, row
from jackpot_service.database.clocks import ClockSkew
from jackpot_service.database.failures import Busy, OutcomeUnknown
from jackpot_service.domain.errors import BooksBroken
from jackpot_service.domain.journal import Unbalanced
from jackpot_service.ledger.digests import FiguresMissing
from jackpot_service.records.jobs import ChunkDamaged

_ALARM: Final = "Notify those who run the service: run `jackpot verify`, and see the runbook. Nothing was booked."

SERVICE: Final = Section.of(
    "The service",
    row(Busy, "Send the same call again, with the same ids, after `Retry-After`."),
    row(OutcomeUnknown, "Send the same call again, with the same ids: the answer says whether it was booked."),
    row(ClockSkew, "Send the same call again; those who run the service set its clock right."),
    row(BooksBroken, _ALARM),
    row(Unbalanced, _ALARM),
    row(FiguresMissing, _ALARM),
    row(ChunkDamaged, "Create the job again under another request id, and notify those who run the service."),
)
