"""The only wiring: configuration, database, clock and doors become one Flask application."""

import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import datetime
from typing import Any, NamedTuple

import flask
import sqlalchemy

from jackpot_service.api import (
    audit,
    awards,
    changes,
    decided,
    description,
    doors,
    events,
    exceptions,
    health,
    jackpots,
    jobs,
    keys,
    meters,
    metrics,
    parsing,
    periods,
    problems,
    rates,
    reports,
    round_records,
    rounds,
    security_headers,
)
from jackpot_service.api.admission import MOST_AT_ONCE, Admission
from jackpot_service.api.asgi import InThreads
from jackpot_service.api.bet_groups import BetGroups
from jackpot_service.api.door import EXTENSION, Door
from jackpot_service.api.event_stream import MOST_WAITING, EventStream
from jackpot_service.api.lane import Lane
from jackpot_service.api.readiness import Readiness
from jackpot_service.api.recent import Recent
from jackpot_service.api.request_ids import REQUEST_ID, request_id
from jackpot_service.auth import Authenticator, require_role, roles_of
from jackpot_service.clocks import utc_now
from jackpot_service.config import Config
from jackpot_service.db import clock_guard, guarded, read
from jackpot_service.domain.errors import LedgerError
from jackpot_service.on_loop import OnLoop
from jackpot_service.reports.jackpots import JackpotState, jackpot_state

THREADS = MOST_AT_ONCE + MOST_WAITING + 8
"""Threads a process for Flask's calls: bets that the lane leaves to it, those that wait for events, some for others."""

BLUEPRINTS = (
    rounds.blueprint,
    round_records.blueprint,
    jackpots.blueprint,
    doors.blueprint,
    meters.blueprint,
    rates.blueprint,
    changes.blueprint,
    audit.blueprint,
    exceptions.blueprint,
    keys.blueprint,
    awards.blueprint,
    reports.blueprint,
    periods.blueprint,
    events.blueprint,
    jobs.blueprint,
    health.blueprint,
    metrics.blueprint,
)


class Application(flask.Flask):
    """A Flask application without asynchronous views, and `asgi`, as which a server calls it."""

    asgi: Lane

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Take every view as it is; Flask would inspect each of a request's functions again."""
        return func


def create_app(
    config: Config,
    engine: sqlalchemy.Engine,
    *,
    clock: Callable[[], datetime] = utc_now,
    monotonic: Callable[[], float] = time.monotonic,
    guards_clock: bool = True,
) -> Application:
    """
    Wire the application. It books nothing while its clock is not the database's, unless nothing guards that.

    Raises: LookupError if a route states no roles.
    """
    if guards_clock:
        engine = guarded(engine, clock)
    app = Application("jackpot_service", static_folder=None)
    app.config.update(description.options(config), PROPAGATE_EXCEPTIONS=False)
    app.config["MAX_CONTENT_LENGTH"] = config.max_body_bytes + 1  # `api.parsing` refuses the one byte more.
    app.url_map.converters["id"] = description.IdentifierConverter
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    threads = ThreadPoolExecutor(config.pool_size, "groups")
    shares = shares_of(config.pool_size)
    groups = BetGroups(engine, threads=threads, longest_wait_s=config.request_timeout_s, most_on_loop=shares.bets)
    recent = _meters(config, engine, clock, threads, most_on_loop=shares.meters)
    stream = EventStream(engine, threads=threads, longest_wait_s=config.request_timeout_s)
    places = Admission(shares.reports)
    readiness = Readiness(config, engine.url, groups, clock_guard(engine), clock)
    door = app.extensions[EXTENSION] = Door(engine, groups, recent, stream, config, clock, places, readiness)
    app.register_error_handler(LedgerError, problems.of_ledger_error)
    api = description.Api(app)
    description.describe_paths(api)
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    authenticator = Authenticator.configured(config, engine, monotonic=monotonic, clock=clock)
    _guard(app, authenticator)
    app.before_request_funcs.setdefault(None, []).insert(0, _name_request)
    app.after_request(_add_headers)
    calls = (rounds.bets_call(config), meters.METER_CALL)
    in_threads = InThreads(app, ThreadPoolExecutor(THREADS, "flask"), longest_s=config.request_timeout_s)
    app.asgi = Lane(in_threads, door, authenticator, calls, health.CALLS)
    return app


class Shares(NamedTuple):
    """Of a worker's connections: what the event loop keeps for bets and for meters, and what reports may have."""

    bets: int
    meters: int
    reports: int


def shares_of(connections: int) -> Shares:
    """Divide two connections or more: together they take a third each, and one at least is left to all others."""
    a_third = connections // 3
    meters = min(1, a_third // 2)
    return Shares(a_third - meters, meters, max(1, a_third))


def _meters(
    config: Config, engine: sqlalchemy.Engine, clock: Callable[[], datetime], threads: Executor, *, most_on_loop: int
) -> Recent[JackpotState]:
    by_itself = engine.execution_options(isolation_level="AUTOCOMMIT")
    on_loop = OnLoop(by_itself, threads=threads, most=most_on_loop)
    return Recent(
        lambda jackpot_id: read(engine, lambda session: jackpot_state(session, jackpot_id, at=clock())),
        threads=threads,
        longest_wait_s=config.request_timeout_s,
        read_on_loop=lambda jackpot_id: on_loop.run(lambda session: jackpot_state(session, jackpot_id, at=clock())),
    )


def _guard(app: flask.Flask, authenticator: Authenticator) -> None:
    """Ask every request for its key before anything else is looked at; then refuse a query where none is taken."""
    roles = {endpoint: roles_of(view) for endpoint, view in app.view_functions.items()}
    # Those open to all are asked by balancers, which may add whatever they like.
    without_query = {
        endpoint for endpoint, view in app.view_functions.items() if roles[endpoint] and not _takes_query(view)
    }

    @app.before_request
    def authenticate() -> None:
        if flask.request.endpoint is None:
            return
        allowed = roles[flask.request.endpoint]
        if allowed is not None:
            flask.g.principal = decided.caller_of(flask.request.environ) or authenticator.principal(
                flask.request.headers.get("Authorization")
            )
            require_role(flask.g.principal, allowed)
        if flask.request.query_string and flask.request.endpoint in without_query:
            parsing.refuse_query(flask.request.args)


def _takes_query(view: Callable[..., Any]) -> bool:
    return bool(getattr(view, "takes_query", False))


def _name_request() -> None:
    flask.g.request_id = request_id(flask.request.headers.get(REQUEST_ID, ""))


def _add_headers(response: flask.Response) -> flask.Response:
    response.headers[REQUEST_ID] = flask.g.request_id
    security_headers.add(response.headers)
    return response


def openapi_text(app: flask.Flask) -> str:
    """Write the OpenAPI description of an application, as openapi.yaml holds it."""
    api: description.Api = app.extensions["flask-smorest"]["apis"][""]["ext_obj"]
    return description.text(api, app)
