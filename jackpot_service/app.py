"""The only wiring: configuration, database, clock, API and pages become one Flask application."""

import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import flask
import sqlalchemy
from werkzeug.exceptions import HTTPException

from jackpot_service.api import (
    audit,
    award_totals,
    awards,
    browsing,
    casinos,
    changes,
    checkpoints,
    claims,
    counts,
    description,
    displays,
    entries,
    events,
    evidence,
    exceptions,
    jackpot_openings,
    jackpots,
    jobs,
    keys,
    me,
    meters,
    monitoring,
    parsing,
    passkeys,
    paths,
    periods,
    players,
    problem_pages,
    problems,
    rate_imports,
    rate_views,
    rates,
    reading,
    reconciliations,
    reports,
    round_records,
    round_search,
    rounds,
    rules,
    service,
    slips,
    table_limits,
    tables,
    unclaimed_awards,
    users,
    verification_runs,
    withholding_rules,
)
from jackpot_service.api.asgi import REQUEST_ID, InThreads, add_headers, by_thread, request_id
from jackpot_service.api.bet_groups import BetGroups
from jackpot_service.api.contract import document
from jackpot_service.api.entrance import Entrance
from jackpot_service.api.event_stream import EventStream
from jackpot_service.api.fast_path import FastPath, Routes
from jackpot_service.api.feeds import Feeds
from jackpot_service.api.places import Places, Turns
from jackpot_service.api.readiness import Readiness
from jackpot_service.api.recent import Recent
from jackpot_service.api.request_context import EXTENSION, PRINCIPAL, Json, RequestContext
from jackpot_service.api.shown import Shown
from jackpot_service.auth.authenticator import Authenticator, require_role
from jackpot_service.config.settings import Config
from jackpot_service.database.async_executor import AsyncExecutor
from jackpot_service.database.clocks import utc_now
from jackpot_service.database.reads import Reading, Reads
from jackpot_service.database.replica import Replica
from jackpot_service.database.transactions import Session, clock_guard, guarded, read
from jackpot_service.domain.errors import LedgerError
from jackpot_service.pages import install, wall
from jackpot_service.reports.displays import DisplayedHit, displayed_hit, displayed_jackpots
from jackpot_service.reports.jackpots import JackpotState, jackpot_state

PLACES_FOR_BETS = 64
"""Of a process. A batch of a few bets holds one until its commit; more would make groups larger, and waiting longer."""

LONGEST_WAIT_FOR_BETS_S = 0.5
"""For a place, in a long queue. A call that is taken is answered within a second, however many come."""

THREADS = 16
"""
Of a process, for Flask's calls: twice as many as there are connections for them, since some also compute.

More would not do more: they share one interpreter, and the event loop would wait for its own turn among them.
"""

DISPLAYED_KNOWN_S = 2.0
"""For how long a process believes which jackpots are displayed to all."""

SPARE_THREADS = 8
"""For calls that are open to all, and for answers that are made while they are sent."""

REPLICA_THREADS = 4
"""For what feeds and events read at a replica: bets wait for none of them, should it fall silent."""

BLUEPRINTS = (
    service.blueprint,
    me.blueprint,
    casinos.blueprint,
    tables.blueprint,
    rounds.blueprint,
    round_records.blueprint,
    round_search.blueprint,
    jackpots.blueprint,
    jackpot_openings.blueprint,
    jackpots.suspensions,
    rules.blueprint,
    slips.blueprint,
    table_limits.blueprint,
    meters.blueprint,
    displays.blueprint,
    rates.blueprint,
    rate_imports.blueprint,
    rate_views.blueprint,
    changes.blueprint,
    changes.policies,
    audit.blueprint,
    exceptions.blueprint,
    counts.blueprint,
    keys.blueprint,
    passkeys.blueprint,
    users.blueprint,
    awards.blueprint,
    unclaimed_awards.blueprint,
    award_totals.blueprint,
    withholding_rules.blueprint,
    claims.blueprint,
    players.blueprint,
    evidence.blueprint,
    reports.blueprint,
    periods.blueprint,
    entries.blueprint,
    checkpoints.blueprint,
    reconciliations.blueprint,
    verification_runs.blueprint,
    events.blueprint,
    jobs.blueprint,
    problem_pages.blueprint,
    monitoring.health,
    monitoring.metrics,
)


class Application(flask.Flask):
    """A Flask application without asynchronous views, and `asgi`, as which a server calls it."""

    asgi: FastPath
    json_provider_class = Json

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Take every view as it is; Flask would inspect each of a request's functions again."""
        return func

    def dispatch_request(self) -> flask.typing.ResponseReturnValue:
        """Answer a call; one that the replica breaks off, or that is refused there, once more at the primary."""
        paths.require_parts(flask.request.view_args or {})  # All that must be known of the caller is known by now.
        try:
            return super().dispatch_request()
        except (LedgerError, HTTPException) as error:
            if not reading.may_be_late(error):
                raise
        reading.begin_again_at_primary()
        return super().dispatch_request()


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
    app.url_map.converters["id"] = paths.IdentifierConverter
    app.url_map.converters["number"] = paths.NumberConverter
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    threads = ThreadPoolExecutor(config.pool_size, "groups")
    shares = shares_of(config.pool_size)
    groups = BetGroups(engine, threads=threads, longest_wait_s=config.request_timeout_s, most_on_loop=shares.bets)
    reads = Reads(engine, Replica.configured(config, engine.url.render_as_string(hide_password=False)))
    of_reads = threads if reads.replica is None else ThreadPoolExecutor(REPLICA_THREADS, "replica")
    recent = _meters(config, engine, clock, threads, most_on_loop=shares.meters)
    shown = recent if reads.replica is None else _displays(config, reads, clock, of_reads)
    stream = EventStream(reads, threads=of_reads, longest_wait_s=config.request_timeout_s)
    displayed = Recent(
        lambda _: read(engine, displayed_jackpots),
        threads=threads,
        longest_wait_s=config.request_timeout_s,
        seconds=DISPLAYED_KNOWN_S,
    )
    feeds = Feeds(
        shown,
        partial(_last_hit, engine, threads),
        displayed,
        longest_wait_s=config.request_timeout_s,
    )
    context = app.extensions[EXTENSION] = RequestContext(
        engine=engine,
        reads=reads,
        threads=threads,
        bet_groups=groups,
        meters=recent,
        displays=shown,
        events=stream,
        config=config,
        clock=clock,
        bets=Turns(Places("bets", PLACES_FOR_BETS), longest_wait_s=LONGEST_WAIT_FOR_BETS_S),
        calls=Turns(Places("calls", THREADS), longest_wait_s=config.request_timeout_s),
        reports=Places("reports", shares.reports, at_most=shares.most_reports),
        readiness=Readiness(config, engine.url, groups, clock_guard(engine), clock, replica=reads.replica),
        feeds=feeds,
        displayed=displayed,
        listeners=Places("listeners", config.listeners, at_most=config.listeners + config.listeners // 4),
        up_for=_time_since(monotonic),
    )
    app.register_error_handler(LedgerError, problems.response_of)
    api = description.Api(app)
    description.describe_paths(api)
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    app.register_blueprint(browsing.blueprint)
    authenticator = Authenticator.configured(config, engine, monotonic=monotonic, clock=clock)
    install.install(app, config, engine, authenticator, clock=clock, monotonic=monotonic)
    routes = Routes(app)
    _guard(app, authenticator, routes)
    app.before_request_funcs.setdefault(None, []).insert(0, _name_request)
    app.after_request(partial(_add_headers, engine))
    app.asgi = FastPath(
        _in_threads(app, context, longest_s=config.request_timeout_s),
        context,
        entrance=Entrance(config, authenticator, monotonic=monotonic),
        routes=routes,
        calls=(rounds.bets_call(config), meters.METER_CALL),
        stream_calls=(displays.FEED_CALL, events.EVENTS_CALL),
        open_calls=monitoring.OPEN_CALLS,
        preflights=(displays.FEED_PREFLIGHT, wall.WALL_PREFLIGHT),
    )
    return app


def _in_threads(app: Application, context: RequestContext, *, longest_s: float) -> InThreads:
    """Have Flask called in threads, of which there are as many as may be held in all."""
    places = (context.calls.places, context.reports)
    threads = sum(kind.at_most for kind in places) + SPARE_THREADS
    return InThreads(app, ThreadPoolExecutor(threads, "flask"), longest_s=longest_s)


class Shares(NamedTuple):
    """
    Of a worker's connections: what the event loop keeps for bets and for meters, and what reports may have.

    Reports may have up to `most_reports` while callers share their places anew.
    """

    bets: int
    meters: int
    reports: int
    most_reports: int


def shares_of(connections: int) -> Shares:
    """Divide two connections or more: bets and meters take a third, reports a third; one at least is left to others."""
    a_third = connections // 3
    meters = min(1, a_third // 2)
    reports = max(1, a_third)
    return Shares(a_third - meters, meters, reports, min(2 * reports, connections - a_third - 1))


def _time_since(monotonic: Callable[[], float]) -> Callable[[], timedelta]:
    """Return what says how much time has passed since now, on the steady clock."""
    now_s = monotonic()
    return lambda: timedelta(seconds=monotonic() - now_s)


def _meters(
    config: Config, engine: sqlalchemy.Engine, clock: Callable[[], datetime], threads: Executor, *, most_on_loop: int
) -> Recent[Reading[JackpotState]]:
    by_itself = engine.execution_options(isolation_level="AUTOCOMMIT")
    async_executor = AsyncExecutor(by_itself, threads=threads, most=most_on_loop)

    def state(session: Session, jackpot_id: str) -> Reading[JackpotState]:
        return Reading(jackpot_state(session, jackpot_id, at=clock()))

    return Recent(
        lambda jackpot_id: read(engine, partial(state, jackpot_id=jackpot_id)),
        threads=threads,
        longest_wait_s=config.request_timeout_s,
        read_on_loop=lambda jackpot_id: async_executor.run(partial(state, jackpot_id=jackpot_id)),
    )


def _displays(
    config: Config, reads: Reads, clock: Callable[[], datetime], threads: Executor
) -> Recent[Reading[JackpotState]]:
    """As `_meters`, for those who are shown the replica's: by threads, which also find out whether it is fit."""
    return Recent(
        Shown(reads, clock).read,
        threads=threads,
        longest_wait_s=config.request_timeout_s,
    )


async def _last_hit(
    engine: sqlalchemy.Engine, threads: Executor, jackpot_id: str, running: int, ends_at: float
) -> DisplayedHit | None:
    look = partial(read, engine, partial(displayed_hit, jackpot_id=jackpot_id, running=running))
    return await by_thread(threads, look, ends_at=ends_at)


def _guard(app: flask.Flask, authenticator: Authenticator, routes: Routes) -> None:
    """
    Ask every request for its key before anything else is looked at; then refuse a query where none is taken.

    The caller is known already where the event loop has asked; by itself, Flask is as closed.
    """
    roles = routes.roles_of_endpoints
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
            flask.g.principal = flask.request.environ.get(PRINCIPAL) or authenticator.principal(
                flask.request.headers.get("Authorization")
            )
            require_role(flask.g.principal, allowed)
        if flask.request.query_string and flask.request.endpoint in without_query:
            parsing.refuse_query(flask.request.args)


def _takes_query(view: Callable[..., Any]) -> bool:
    return bool(getattr(view, "takes_query", False))


def _name_request() -> None:
    flask.g.request_id = request_id(flask.request.headers.get(REQUEST_ID, ""))


def _add_headers(engine: sqlalchemy.Engine, response: flask.Response) -> flask.Response:
    response.headers[REQUEST_ID] = flask.g.request_id
    add_headers(response.headers)
    reading.add_headers(response, engine)
    return response


def openapi_text(app: flask.Flask) -> str:
    """Write the OpenAPI description of an application, as openapi.yaml holds it."""
    api: description.Api = app.extensions["flask-smorest"]["apis"][""]["ext_obj"]
    return document.text(api, app)
