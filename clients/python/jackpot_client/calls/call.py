"""A call: what is sent, how its answer is read, and what identifies it. The same for both clients."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

from jackpot_client.errors import Ids
from jackpot_client.ids import checked_id
from jackpot_client.reading import Content, decoded
from jackpot_client.steps import Request
from jackpot_client.values.lists import Page
from jackpot_client.values.sending import time_text

T = TypeVar("T")

Parameter = str | int | bool | datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """
    One call of the contract.

    `ids` are there if it writes. `waits_seconds` is how long the service may keep it waiting on purpose. One that
    `is_revalidated` is asked for with the ETag of its last answer.
    """

    request: Request
    read: Callable[[Content], T]
    ids: Ids | None = None
    waits_seconds: int = 0
    is_revalidated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[T]):
    """A list of the contract, page by page."""

    first: Call[Page[T]]

    def after(self, cursor: str) -> Call[Page[T]]:
        """Return the call for the page after a cursor."""
        request = self.first.request
        return replace(self.first, request=replace(request, params={**request.params, "after": cursor}))


def reading(path: str, kind: type[T], **params: Parameter) -> Call[T]:
    """Return a call that only reads; parameters of None are left out."""
    return Call(request=Request(method="GET", path=path, params=written(params)), read=partial(decoded, kind))


def listing(path: str, kind: type[T], **params: Parameter) -> Listing[T]:
    """Return a list of values of a kind."""
    # A generic class with its parameter is a type, which mypy does not take for one of its class.
    page: Any = Page[kind]  # type: ignore[valid-type]
    return Listing(first=reading(path, page, **params))


def writing(
    method: str,
    path: str,
    content: Mapping[str, object],
    *,
    ids: Ids,
    read: Callable[[Content], T],
) -> Call[T]:
    """Return a call that writes. Its body is spelled once, so that each retry carries the same bytes."""
    return Call(
        request=Request(
            method=method,
            path=path,
            body=json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii"),
            headers={"Content-Type": "application/json"},
        ),
        read=read,
        ids=ids,
    )


def written(params: Mapping[str, Parameter]) -> dict[str, str]:
    """
    Return the parameters of a query as it spells them; a trailing `_` of a name is left out (`from_`).

    Raises: ValueError for a time without an offset.
    """
    return {
        name.removesuffix("_"): _text(name.removesuffix("_"), value)
        for name, value in params.items()
        if value is not None
    }


def _text(name: str, value: str | int | datetime) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return time_text(value, name=name)
    return str(value)


def joined(currency: str | Iterable[str] | None) -> str | None:
    """Return one or several currencies as a query names them."""
    return currency if currency is None or isinstance(currency, str) else ",".join(currency) or None


def jackpot_path(jackpot_id: str) -> str:
    """Return the path of a jackpot. Raises: ValueError for what is no id."""
    return f"/v1/jackpots/{checked_id(jackpot_id, name='jackpot_id')}"


def round_path(table_id: str, round_id: str) -> str:
    """Return the path of a round. Raises: ValueError for what is no id."""
    return f"{table_path(table_id)}/rounds/{checked_id(round_id, name='round_id')}"


def table_path(table_id: str) -> str:
    """Return the path of a table. Raises: ValueError for what is no id."""
    return f"/v1/tables/{checked_id(table_id, name='table_id')}"
