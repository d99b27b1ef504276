"""The errors that a call may end with instead of an answer; each says what a table server may do next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with a request: where (a JSON pointer into its body), which code, in which words."""

    pointer: str
    code: str
    detail: str


class ClientError(Exception):
    """Anything that a call to the service ends with instead of an answer."""


class Refusal(ClientError):
    """
    The service refused, definitely: the same request sent again is refused again, so it is not.

    `facts` are the problem's further members (of a `bet-count-mismatch` the ledger's count and ids). With
    `earlier_attempts_unknown` > 0 earlier sendings of the same request got no answer. A replay is recognised before a
    round's state is looked at, but after the key: a 401, 403 or 404 then says nothing about those.
    """

    def __init__(
        self,
        *,
        status: int,
        code: str,
        detail: str,
        errors: tuple[FieldError, ...] = (),
        facts: Mapping[str, Any],
        request_id: str | None = None,
        earlier_attempts_unknown: int = 0,
    ) -> None:
        field_errors = "".join(f"; {error.pointer}: {error.detail}" for error in errors)
        super().__init__(f"{status} {code}: {detail}{field_errors}")
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.facts = facts
        self.request_id = request_id
        self.earlier_attempts_unknown = earlier_attempts_unknown


class NoAnswer(ClientError):
    """The deadline passed without an answer; of a call that only reads, so nothing was changed."""

    def __init__(self, detail: str, *, attempts: int) -> None:
        super().__init__(detail)
        self.attempts = attempts


class OutcomeUnknown(NoAnswer):
    """
    The deadline passed without an answer: what was asked may have been booked, or not.

    Never send it anew under other ids: repeat it with exactly `table_id`, `round_id`, `bet_ids` and the same content
    until there is an answer.
    """

    def __init__(
        self, detail: str, *, attempts: int, table_id: str, round_id: str, bet_ids: tuple[str, ...] = ()
    ) -> None:
        bets = f", bet_ids={', '.join(bet_ids)}" if bet_ids else ""
        super().__init__(
            f"{detail}; it may have been booked or not: repeat it with table_id={table_id}, round_id={round_id}{bets}",
            attempts=attempts,
        )
        self.table_id = table_id
        self.round_id = round_id
        self.bet_ids = bet_ids


class ProtocolError(ClientError):
    """
    An answer came that is not the contract's (a missing field, a float for money, a proxy's page).

    The request may have been booked; the same ids may be repeated once the cause is mended.
    """
