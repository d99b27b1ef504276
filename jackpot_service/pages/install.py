"""The pages as a part of the application: the third way in besides the API and the command line."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

import flask
import sqlalchemy
from werkzeug.exceptions import MethodNotAllowed, NotFound

from jackpot_service.auth.authenticator import Authenticator
from jackpot_service.auth.browser_sessions import BrowserSessions
from jackpot_service.auth.company_accounts import CompanyAccounts
from jackpot_service.config.settings import Config
from jackpot_service.pages import (
    account,
    account_book,
    assets,
    audit,
    award_acts,
    award_slips,
    awards,
    by_account,
    casinos,
    change,
    chips,
    closed_periods,
    entry,
    exceptions,
    exports,
    figures,
    finance,
    floor,
    frame,
    health,
    inbox,
    jackpots,
    new_change,
    new_sheet,
    one_award,
    one_round,
    passkeys,
    problems,
    proof,
    rate_import,
    rates,
    reports,
    rounds,
    set_up_jackpots,
    set_up_keys,
    set_up_passkeys,
    set_up_places,
    sign_in,
    statements,
    suspensions,
    wall,
)
from jackpot_service.pages.access import csrf
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.cached import Cache
from jackpot_service.pages.context import EXTENSION, Attempts, PagesContext
from jackpot_service.pages.cookies import Cookies

SCREENS = (
    account,
    account_book,
    audit,
    award_acts,
    award_slips,
    awards,
    by_account,
    casinos,
    change,
    closed_periods,
    entry,
    exceptions,
    exports,
    finance,
    floor,
    health,
    inbox,
    jackpots,
    new_change,
    new_sheet,
    one_award,
    one_round,
    passkeys,
    proof,
    rate_import,
    rates,
    reports,
    rounds,
    set_up_jackpots,
    set_up_keys,
    set_up_passkeys,
    set_up_places,
    sign_in,
    statements,
    suspensions,
    wall,
)
"""Modules whose views are pages; to import one is to add them to the blueprint."""


PUBLIC_KEY: Final = "The token that is signed is a secret by itself: see cookies."


def install(
    app: flask.Flask,
    config: Config,
    engine: sqlalchemy.Engine,
    authenticator: Authenticator,
    *,
    clock: Callable[[], datetime],
    monotonic: Callable[[], float],
) -> None:
    """Add the pages to an application."""
    app.session_interface = Cookies()
    app.config.update(
        WTF_CSRF_CHECK_DEFAULT=False,  # The API takes no cookie; `access.require` asks for each form of a page.
        WTF_CSRF_SSL_STRICT=False,  # A browser says itself whether a form is of this site: see `access.require`.
        WTF_CSRF_TIME_LIMIT=None,  # A form is good for as long as its session.
        WTF_CSRF_SECRET_KEY=PUBLIC_KEY,
    )
    csrf.init_app(app)
    app.extensions[EXTENSION] = PagesContext(
        BrowserSessions(engine, authenticator, clock),
        Attempts(monotonic=monotonic),
        CompanyAccounts.configured(config, authenticator.tokens, clock=clock),
        Cache(),
    )
    assets.read_all()
    app.context_processor(frame.values)
    app.jinja_env.filters.update({**figures.FILTERS, "chip_kind": chips.chip_kind})
    app.register_blueprint(blueprint)
    app.register_blueprint(assets.blueprint)
    for error in (NotFound, MethodNotAllowed):
        app.register_error_handler(error, problems.show_missing)
