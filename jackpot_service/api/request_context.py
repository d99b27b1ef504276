"""The context of a request: all that a view of the API has at hand, and how it answers."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

import flask
import flask.json.provider
import flask_smorest
import orjson
import sqlalchemy

from jackpot_service.api.bet_groups import BetGroups
from jackpot_service.api.description import Api
from jackpot_service.api.event_stream import EventStream
from jackpot_service.api.feeds import Feeds
from jackpot_service.api.parsing import Parser
from jackpot_service.api.places import Caller, Places, Turns
from jackpot_service.api.readiness import Readiness
from jackpot_service.api.reading import note_fresh, read_at_primary, reads_of_call
from jackpot_service.api.recent import Recent
from jackpot_service.config.settings import Config
from jackpot_service.database.reads import Reading, Reads
from jackpot_service.database.replica import Holds
from jackpot_service.database.transactions import Session, rehearse, transact
from jackpot_service.domain.principals import Principal
from jackpot_service.reports.jackpots import JackpotState
from jackpot_service.usecases.acts import Act

T = TypeVar("T")
View = TypeVar("View", bound=Callable[..., Any])

EXTENSION = "jackpot"

PRINCIPAL: Final = "jackpot.principal"
"""Under which the environment of a request holds who calls, if that was found before Flask was called."""

ADDRESS: Final = "jackpot.address"
"""Under which it holds where the caller of a page calls from."""

END_TURN: Final = "jackpot.end-turn"
"""Under which it holds what lets another call have this one's turn of a thread."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    """
    The wiring of the application: its database, its configuration, its clock, its bounds.

    `threads` do what the event loop leaves to a thread. Batches of `bets` take turns, and so do `calls` that Flask
    answers. Each of the `reports` that are made at once keeps a connection for as long as its caller
    reads. `reads` is where lists and reports are read. `meters` are read at the primary; `displays` are the same for
    feeds and walls, which may be a moment older. `displayed` reads which jackpots are open to all. Each listener holds
    one of the places of `listeners`. `up_for` says for how long the process has been there.
    """

    engine: sqlalchemy.Engine
    reads: Reads
    threads: Executor
    bet_groups: BetGroups
    meters: Recent[Reading[JackpotState]]
    displays: Recent[Reading[JackpotState]]
    events: EventStream
    config: Config
    clock: Callable[[], datetime]
    bets: Turns
    calls: Turns
    reports: Places
    readiness: Readiness
    feeds: Feeds
    displayed: Recent[frozenset[str]]
    listeners: Places
    up_for: Callable[[], timedelta]


class Json(flask.json.provider.JSONProvider):
    """Writes what Flask answers. Decimals must be texts by now: a number would be a float to many a reader."""

    def dumps(self, obj: object, **_: object) -> str:
        """Write a value."""
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **_: object) -> object:
        """Read a text."""
        return orjson.loads(s)


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """
    flask-smorest's blueprint with our parser, described when somebody asks.

    Views that take a query are marked, so that others can refuse one.
    """

    ARGUMENTS_PARSER = Parser()

    def register_views_in_doc(self, api: Api, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  as the base
        """Have the views described later; see flask-smorest."""
        api.describe_later(partial(super().register_views_in_doc, api, *args, **kwargs))

    def arguments(self, schema: Any, **kwargs: Any) -> Callable[[View], View]:  # noqa: ANN401  as the base
        """Read the arguments of a view; see flask-smorest."""
        decorate: Callable[[View], View] = super().arguments(schema, **kwargs)

        def mark(view: View) -> View:
            reading = decorate(view)
            reading.takes_query = kwargs.get("location") == "query"  # type: ignore[attr-defined]
            return reading

        return mark


def context() -> RequestContext:
    """Return the context of the application that handles this request."""
    context: RequestContext = flask.current_app.extensions[EXTENSION]
    return context


def now() -> datetime:
    """Return the time, which is read here and passed inward."""
    return context().clock()


def principal() -> Principal:
    """Return the caller, who is known before any view runs."""
    caller: Principal = flask.g.principal
    return caller


def signed(body: Mapping[str, Any]) -> Act:
    """Return the act, now, of the caller, by the id and the reason that a body may state."""
    return Act(principal(), now(), request_id=body.get("request_id"), reason=body.get("reason"))


def end_turn() -> None:
    """Let another call have this one's turn of a thread: this one has a place of another kind, and may take long."""
    flask.request.environ.get(END_TURN, _nothing)()


@contextmanager
def report_place() -> Iterator[None]:
    """Hold one of the places of reports. Raises: Busy."""
    with context().reports.place(Caller.of(principal())):
        end_turn()
        yield


def _nothing() -> None:
    pass


def act(use_case: Callable[[Session], T]) -> T:
    """Run a use case in a transaction of its own; see `transact`. The call reads there, too, from then on."""
    read_at_primary()
    return transact(context().engine, use_case)


def act_or_rehearse(use_case: Callable[[Session], T], *, dry_run: bool) -> T:
    """Run a use case in a transaction of its own, which a dry run takes back."""
    return rehearse(context().engine, use_case) if dry_run else act(use_case)


def look(report: Callable[[Session], T], *, holds: Holds | None = None) -> T:
    """
    Read a report, each of its statements by itself: at the replica in a view that is marked so (`api.reading`).

    The report relies there on what `holds` finds out; unless it holds, the primary is read.
    """
    reading = reads_of_call(context().reads).read(report, holds=holds)
    note_fresh(reading.fresh_at)
    return reading.value


def answer(body: Mapping[str, Any], status: int = 200) -> flask.Response:
    """Answer JSON. Decimals must be texts by now: a number would be a float to many a reader."""
    return flask.Response(orjson.dumps(body), status=status, mimetype="application/json")
