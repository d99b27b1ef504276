"""The catalogue as a page of the documentation: what `docs/errors.md` holds."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from jackpot_service.api.problem_catalogue.catalogue import SECTIONS
from jackpot_service.api.problem_catalogue.rows import Row, Section

_WIDTH: Final = 120

_HEAD: Final = """\
# Errors: each code, and what to do about it

<!-- Written by `jackpot openapi`; `make check-openapi` compares it with the code. -->

Each refusal and each failure is answered as a *problem* (RFC 9457, `application/problem+json`):

```json
{"type": "/problems/stake-out-of-range", "title": "The stake is out of range", "status": 422,
 "detail": "The largest stake is worth 100 EUR.", "instance": "/v1/tables/T1/rounds/r1/bets",
 "code": "stake-out-of-range", "retryable": false, "largest_stake": "100",
 "errors": [{"pointer": "/bets/3/stake_minor", "code": "stake-out-of-range",
             "detail": "The largest stake is worth 100 EUR: 10000 minor units of EUR."}]}
```

- A program relies on `code`, which is stable, and on the further members that the code has below. If it does not know a
  code, it goes by `status` and `retryable`. `title` and `detail` are for people.
- `type` is an address relative to the service's own, such as `http://127.0.0.1:8000/problems/stake-out-of-range`. There
  the service says the same as this page. `GET /problems` lists all codes. Both need no key, and answer a browser with a
  page, any other caller with JSON.
- `retryable` says that the same call may be sent again, with the same ids, after `Retry-After` seconds.
- `errors` names each place of the request that is wrong, by a JSON pointer (RFC 6901) into the body. In a name of a
  pointer, `~` is written `~0` and `/` is written `~1`. A parameter of the query, or a header, stands outside the body:
  then `parameter` has its name, and `pointer` is empty.
- A batch of bets is examined whole. The problem has the code of the first reason to refuse it, and `errors` names all
  that is wrong with any bet. A further reason that refuses the whole batch, such as a suspension, has an empty pointer
  there. If the round takes no more bets, only the identity of the bets is examined.
- If a bet has a wrong field, the code is `validation`. All that is true whatever that field would have said is named
  too: a wrong `hand` does not hide a stake above the limit. Some things cannot be decided, and are not named. A stake
  is held against its limits only if its currency is right. Hands of a player are counted only if the ids of bet and
  player are right, and a wrong hand may be one that the player has. A bet without a right `bet_id` may be booked or
  void already, so what it means is examined only if its batch opens the round.
  If the books do not answer within half a second, or the table takes no bets at all, only wrong fields are named.
- The command line prints the code and the detail, and exits with 1.

Refusals that finance must see are [exceptions](decisions/exceptions.md) whose kind is the code. Among them are
`jackpot-suspended`, `no-rate`, `hand-limit` and `currency-not-accepted`, counted by table and hour. If a batch is wrong
in several ways, finance sees an exception of each such kind: a suspension too, though it is the last reason to refuse
new bets. A bet for a round that takes no more bets is late, whether the jackpot is suspended or not. A batch with a
wrong field is no exception: its sender is at fault, and sends it again when that is corrected.
"""


def page(command_line: Iterable[Row]) -> str:
    """Write the page; `command_line` are the rows of errors that the command line alone has."""
    sections = [*_sections(SECTIONS), *_command_line(Section.of("Only on the command line", *command_line))]
    return "\n".join([_HEAD, *sections])


def _sections(sections: Sequence[Section]) -> Iterator[str]:
    for section in sections:
        yield f"## {section.title}\n"
        for row in section.rows:
            again = " The same call may be sent again." if row.retryable else ""
            yield from _entry(row, f"{row.status}: {row.title}.{again}")


def _command_line(section: Section) -> Iterator[str]:
    yield f"## {section.title}\n"
    for row in section.rows:
        yield from _entry(row, f"{row.title}.")


def _entry(row: Row, first: str) -> Iterator[str]:
    yield f"### {row.code}\n"
    yield f"{first}\n"
    yield _wrapped(f"{row.meaning} **What to do.** {row.remedy}") + "\n"
    for name, member in row.members.items():
        kind = member.kind if member.is_always else f"{member.kind}, not always"
        yield _wrapped(f"- `{name}` ({kind}): {member.description}", indent="  ")
    if row.members:
        yield ""


def _wrapped(text: str, *, indent: str = "") -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
