"""
The catalogue: every code that the service answers with, by subject.

`docs/errors.md`, `GET /problems` and the schemas of problems are made of it; tests hold every error to it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from jackpot_service.api.problem_catalogue import awards, changes, house, http, keys, looking, play, service
from jackpot_service.api.problem_catalogue.rows import Row, Section, row, text
from jackpot_service.domain.errors import NotFound


class UnknownProblem(NotFound, code="problem-unknown", title="Unknown problem"):
    """The catalogue has no such code."""


_REQUESTS: Final = Section.of(
    "Requests",
    *http.ROWS,
    row(UnknownProblem, "Look for the code in `GET /problems`.", problem=text("The code that was asked for.")),
)

SECTIONS: Final = (
    _REQUESTS,
    keys.KEYS,
    play.BETS,
    play.ENDS,
    awards.AWARDS,
    changes.DECISIONS,
    changes.CONTENTS,
    house.HOUSE,
    looking.REPORTS,
    looking.JOBS,
    looking.EXCEPTIONS,
    service.SERVICE,
)

ROWS: Final[Mapping[str, Row]] = MappingProxyType({row.code: row for section in SECTIONS for row in section.rows})
"""By code."""


def require_row(code: str) -> Row:
    """Find the row of a code. Raises: UnknownProblem."""
    if code not in ROWS:
        message = f"There is no problem {code}."
        raise UnknownProblem(message, problem=code)
    return ROWS[code]
