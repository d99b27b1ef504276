"""Awards: what is to be paid or decided, the oldest first, with totals; all others by the filters in the address."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.awards import AwardsQuerySchema, filters_of
from jackpot_service.api.lists import cursor_at, page
from jackpot_service.api.request_context import look, now, principal
from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.shapes import DAY
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.choices import choices_of
from jackpot_service.pages.lists import ReadQuery, address_with, read_query
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.pages.shown_awards import SOON, ShownAward, total_rows
from jackpot_service.records import awards, open_awards
from jackpot_service.records.award_filters import AwardFilters

ANY: Final = "any"
"""As a state: awards in every state."""

STATES: Final[Mapping[str, str]] = {
    "": "open",
    **{state.value: state.value.replace("-", " ") for state in AwardState},
    ANY: "any",
}
"""The words of the field `state`, and what they say; without one the page lists what there is to do."""

FIELDS: Final[Mapping[str, str]] = {"jackpot_id": "Jackpot", "casino_id": "Casino", "player_id": "Player"}

UNTIL: Final = "claimable_before"

_KNOWN: Final = frozenset(FIELDS.keys() | {"state", UNTIL, "after"})

MOST_IN_PANEL: Final = 5
"""So many awards that are unclaimed, or soon are, stand above the list."""


@blueprint.route("/awards", methods=["GET"])
@people(*WATCHERS)
def show_awards() -> Response:
    """List awards by the filters in the address, with totals of what is open. Raises: HistoryTookTooLong."""
    at, query = now(), _read()
    filters = None if query.errors else filters_of(query.values)
    listed: Mapping[str, Any] = {"items": (), "next": None} if filters is None else _find(query, filters, at=at)
    typed = {name: value for name, value in query.typed.items() if name != "after"}
    begins = filters is not None and filters.is_open and filters.player_id is None and filters.after is None
    fields = {name: label for name, label in FIELDS.items() if name != "casino_id" or principal().casino_id is None}
    html = flask.render_template(
        "awards.html",
        query=query,
        fields=fields,
        choices=choices_of(fields),
        states=STATES,
        awards=listed["items"],
        at=at,
        is_oldest_first=filters is not None and filters.is_oldest_first,
        totals=_totals(filters, at=at) if filters and begins else (),
        ages=open_awards.AGES,
        unclaimed=_soon_unclaimed(filters, at=at) if filters and begins and not {"state", UNTIL} & typed.keys() else (),
        address_of=lambda **more: address_with(typed, **more),
        soon=(at + SOON).date().isoformat(),
        next_page=address_with(typed, after=listed["next"]) if listed["next"] else None,
        first_page=address_with(typed) if "after" in query.typed else None,
        is_filtered=bool(typed),
    )
    return flask.Response(html, HTTPStatus.UNPROCESSABLE_ENTITY if query.errors else HTTPStatus.OK)


def _read() -> ReadQuery:
    """Read the filters in the words of the API. Open awards come in the order in which they wait."""
    args = flask.request.args
    typed = {name: value.strip() for name, value in args.items() if name in _KNOWN and value.strip()}
    state, until, fields = typed.get("state", ""), typed.get(UNTIL, ""), dict(typed)
    if state in {"", ANY}:
        fields.pop("state", None)
    if DAY.fullmatch(until):
        fields[UNTIL] = f"{until}T00:00:00Z"
    is_open = not state or state in open_awards.STATES or UNTIL in fields
    fields["open"] = "true" if is_open else "false"
    fields["oldest_first"] = "true" if is_open and "player_id" not in fields else "false"
    read = read_query(AwardsQuerySchema(), fields)
    return ReadQuery(typed, read.values, read.errors)


def _find(query: ReadQuery, filters: AwardFilters, *, at: datetime) -> Mapping[str, Any]:
    def rows(session: Session, limit: int) -> Sequence[ShownAward]:
        records = awards.latest(session, principal(), filters, limit=limit, now=at)
        return [ShownAward(record, at) for record in records]

    return page(query.values, rows, lambda shown: cursor_at(*shown.record.position))


def _totals(filters: AwardFilters, *, at: datetime) -> Sequence[Any]:
    """Sum up what is open, whatever its state."""
    of_all = replace(filters, state=None, claimable_before=None)
    return total_rows(look(lambda session: open_awards.totals(session, principal(), of_all, now=at)))


def _soon_unclaimed(filters: AwardFilters, *, at: datetime) -> Sequence[ShownAward]:
    """The oldest awards whose claim period is over, or ends soon, and one more than the panel holds."""
    ending = replace(filters, state=None, claimable_before=at + SOON)
    records = look(lambda session: awards.latest(session, principal(), ending, limit=MOST_IN_PANEL + 1, now=at))
    return [ShownAward(record, at) for record in records]
