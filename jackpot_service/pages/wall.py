"""
The wall: a jackpot as everybody in a casino sees it on a display, where the jackpot's rules say that it is displayed.

The page holds the figures of its first moment. Its script listens to the feed of the API, and does not compute any.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import flask
from marshmallow import fields, validate
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import NotFound

from jackpot_service.api import cross_origin, fast_path
from jackpot_service.api.displays import take_preflight
from jackpot_service.api.feeds import ALL, frame_of
from jackpot_service.api.parsing import read_query
from jackpot_service.api.reading import note_fresh
from jackpot_service.api.request_context import context, now
from jackpot_service.api.schemas import RequestSchema
from jackpot_service.database.transactions import read
from jackpot_service.domain.lives import Life
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.paytables import PaytableLine, paytable
from jackpot_service.domain.prizes import Tier
from jackpot_service.pages import figures
from jackpot_service.pages.access import open_to_all
from jackpot_service.pages.blueprint import POLICY, blueprint
from jackpot_service.reports.displays import DisplayedHit, displayed_hit
from jackpot_service.reports.jackpots import JackpotState
from jackpot_service.usecases.fields import MOST_CURRENCIES, CurrencyCode, CurrencyCodes

THEMES: Final = ("felt", "night", "plain")

USUAL_OTHERS: Final = ("EUR", "GBP", "USD", "SEK", "JPY", "CHF", "NOK", "DKK", "CAD", "AUD")
"""Currencies that are shown next to the large one if none are named: the first of these that the rate sheet has."""

MOST_USUAL_OTHERS: Final = 4

TIMES: Final = "\N{MULTIPLICATION SIGN}"

HITS: Final = "jackpot-wall-hits"
"""Under which the application keeps last hits: that before a running cycle never changes."""


class Others(CurrencyCodes):
    """Currencies, with commas between; an empty text for none."""

    def read(self, value: object) -> tuple[str, ...]:
        """Raises: ValidationError."""
        return () if value == "" else super().read(value)


class WallQuerySchema(RequestSchema):
    """In which currencies, and how it looks."""

    currency = CurrencyCode(load_default=None)
    others = Others(load_default=None)
    theme = fields.String(load_default=THEMES[0], validate=validate.OneOf(THEMES))


_QUERY: Final = WallQuerySchema()


@dataclass(frozen=True, slots=True)
class Prize:
    """A fixed prize as it is printed: of which hand, the figure, and a sign behind it."""

    hand: str
    figure: str
    sign: str


@blueprint.route("/wall/<id:jackpot_id>", methods=["GET"])
@open_to_all
def show_wall(jackpot_id: str) -> flask.Response:
    """
    Show a jackpot that is displayed, in one currency large and in others small.

    Raises: NotFound, also for one that is not displayed or is retired; NoRate; Invalid; Unavailable.
    """
    if jackpot_id not in context().displayed.get(ALL):
        raise NotFound
    query = read_query(_QUERY, _own_part(flask.request.args))
    shown_state = context().displays.get(jackpot_id)
    note_fresh(shown_state.fresh_at)
    state = shown_state.value
    if state.life is Life.RETIRED:
        raise NotFound
    flask.after_this_request(_shared)
    currencies = _currencies(state, query["currency"], query["others"])
    hit = _hit_before(state)
    frame = frame_of(state, hit, currencies)
    shown, *others = frame["amounts"]
    feed = flask.url_for("displays.get_feed", jackpot_id=jackpot_id, currency=",".join(currencies))
    page = flask.render_template(
        "wall.html",
        name=figures.title(state.rules.rulebook),
        theme=query["theme"],
        frame=frame,
        shown=shown,
        others=others,
        hit=hit,
        feed=feed.replace("%2C", ","),
        royal_flush=_royal_flush(state),
        prizes=tuple(_prizes(state, shown["currency"])),
        base=state.rules.base,
        at=now(),
    )
    return _embeddable(flask.Response(page))


def _own_part(args: MultiDict[str, str]) -> bytes:
    """Return the part of a query that is ours: a player of signage may add what it likes."""
    return urlencode([item for item in args.items(multi=True) if item[0] in _QUERY.fields]).encode()


def _embeddable(response: flask.Response) -> flask.Response:
    """Let pages of the configured origins show it within their own; without any, nobody may."""
    origins = " ".join(context().config.public_origins) or "'none'"
    response.headers["Content-Security-Policy"] = POLICY.replace("frame-ancestors 'none'", f"frame-ancestors {origins}")
    return response


WALL_PREFLIGHT: Final = fast_path.Preflight(re.compile(f"/wall/{fast_path.ID}"), take_preflight)


def _shared(response: flask.Response) -> flask.Response:
    """Let pages of the configured origins read it, as they may read the feed."""
    response.vary.add(cross_origin.VARIES)
    origin = flask.request.headers.get("Origin", "")
    for name, value in cross_origin.allowing(origin, context().config.public_origins):
        response.headers[name.decode()] = value.decode()
    return response


def _currencies(state: JackpotState, currency: str | None, others: tuple[str, ...] | None) -> tuple[str, ...]:
    """Choose the currencies, the large one first, and no more than the feed takes."""
    first = currency or state.rules.base
    named = _usual_others(state.sheet, first) if others is None else others
    return (first, *[other for other in named if other != first][: MOST_CURRENCIES - 1])


def _usual_others(sheet: RateSheet, first: str) -> tuple[str, ...]:
    there = [currency for currency in USUAL_OTHERS if currency in sheet.rates and currency != first]
    return tuple(there[:MOST_USUAL_OTHERS])


def _hit_before(state: JackpotState) -> DisplayedHit | None:
    """Return the hit before the running cycle; it is read once a cycle, however many strangers ask."""
    cache: dict[str, tuple[int, DisplayedHit | None]] = flask.current_app.extensions.setdefault(HITS, {})
    jackpot_id, cycle = state.jackpot_id, state.meter.cycle
    if cache.get(jackpot_id, (0, None))[0] != cycle:
        cache[jackpot_id] = cycle, _read_hit(jackpot_id, cycle)
    return cache[jackpot_id][1]


def _read_hit(jackpot_id: str, running: int) -> DisplayedHit | None:
    """Read it at the primary: the replica may not have it when another process has read the cycle after it."""
    return read(context().engine, lambda session: displayed_hit(session, jackpot_id, running=running))


def _royal_flush(state: JackpotState) -> str:
    """Say in words what a royal flush wins."""
    if state.rules.is_shared:
        return "shared by every jackpot bettor of the round"
    line = _lines(state, state.rules.base)[0]
    if line.meter_part == 1:
        return "wins the whole jackpot"
    prize = _prize(line, state.rules.base, state.sheet)
    return f"wins {prize.figure}{prize.sign}{' of the jackpot' if line.meter_part else ''}"


def _prizes(state: JackpotState, currency: str) -> Iterator[Prize]:
    for line in _lines(state, currency):
        if line.tier is not Tier.ROYAL_FLUSH:
            yield _prize(line, currency, state.sheet)


def _lines(state: JackpotState, currency: str) -> tuple[PaytableLine, ...]:
    return paytable(state.rules, meter=state.meter, sheet=state.sheet, currency=currency)


def _prize(line: PaytableLine, currency: str, sheet: RateSheet) -> Prize:
    hand = figures.label(line.tier.value).capitalize()
    if line.meter_part is not None:
        return Prize(hand, figures.number(line.meter_part * 100), "%")
    if line.stake_multiple is not None:
        return Prize(hand, figures.number(line.stake_multiple), TIMES)
    amount = figures.in_units(line.amount_minor, sheet.rate(currency).exponent, without_zeros=True)
    return Prize(hand, f"{figures.sign(currency)}{amount}", "")
