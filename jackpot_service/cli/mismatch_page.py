"""The findings of the proof as a page of the documentation: what `docs/mismatches.md` holds."""

import textwrap
from typing import Final

from jackpot_service.ledger.mismatches import Code

_WIDTH: Final = 120

_HEAD: Final = """\
# Mismatches: what `jackpot verify` can find

<!-- Written by `jackpot openapi`; `make check-openapi` compares it with the code. -->

A mismatch has a code, the book and the place where it is, and how that differs from what was expected. None is ever
mended by itself: the entries are what was booked, and nobody changes them. If there is a mismatch:

- Suspend the jackpot if its money is in doubt, and keep a [base backup](runbook.md#base-backups) of the books as they
  are.
- Find when it came: the last [seal](seals.md) or backup in which the same place is right. Compare the rows with it.
- A row that the service would not write was changed past the service: find by whom, by the logs of the database.
- Money that is wrong for a player or a casino is put right by a [change](changes.md) of two people, never by a row.

The codes are stable. A proof that finds a mismatch exits with 1. For those that a job has found,
[an alert](runbook.md#alerts) fires.
"""


def page() -> str:
    """Write the page."""
    return "\n".join([_HEAD, *(_line(code) for code in Code)]) + "\n"


def _line(code: Code) -> str:
    text = f"- `{code.value}`: {code.meaning}"
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
