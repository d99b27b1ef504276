"""The inbox of change requests: those that wait for somebody, their own, all that wait, and those that are over."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import flask

from jackpot_service.api.lists import ListQuerySchema, cursor, page
from jackpot_service.api.request_context import look, now, principal
from jackpot_service.database.transactions import Session
from jackpot_service.domain.change_policy import ChangePolicy, is_of_roles
from jackpot_service.domain.changes import Change, ChangeState
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.pages import chips
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.change_forms.registry import forms_for
from jackpot_service.pages.lists import address_with, read_place
from jackpot_service.pages.shown_changes import in_a_line
from jackpot_service.records import change_inbox, change_policies, references
from jackpot_service.usecases.changes.rate_sheet import ChangeRates

DECIDERS: Final = (Role.FINANCE, Role.OPERATOR, Role.RATES)
READERS: Final = (*DECIDERS, Role.AUDITOR)

TABS: Final = {"you": "Waiting for you", "yours": "Yours", "waiting": "All that wait", "decided": "Decided"}
"""By their words in the address; the first is that of who can decide, and an auditor can not."""

EMPTY: Final = {
    "you": "Nothing waits for you. A change that somebody else asks for, and that you may decide, is here.",
    "yours": "You have asked for no change. What you ask for is here until somebody else decides it, and after.",
    "waiting": "Nothing waits. A change that needs two people is here from its request until it is decided.",
    "decided": "Nothing was decided yet. Changes that were approved, rejected or have expired are here.",
}

CHIPS: Final = {
    ChangeState.PENDING: chips.GOLD,
    ChangeState.APPROVED: chips.GOOD,
    ChangeState.REJECTED: chips.WRONG,
    ChangeState.EXPIRED: chips.QUIET,
}


@blueprint.route("/changes", methods=["GET"])
@people(*READERS, of_house=True)
def show_changes() -> str:
    """List change requests, the latest first, of the tab in the address."""
    tabs = tabs_of(principal())
    named = flask.request.args.get("tab", "")
    tab = named if named in tabs else next(iter(tabs))
    at = now()
    query = read_place(ListQuerySchema())
    listed = page(
        query.values,
        lambda session, limit: _rows(session, tab, at=at, limit=limit, before=query.values["after"]),
        lambda row: cursor(row[0]),
    )
    return flask.render_template(
        "changes.html",
        tabs=tabs,
        tab=tab,
        changes=_shown([change for _, change in listed["items"]], at=at),
        at=at,
        empty_sentence=EMPTY[tab],
        may_ask=_may_ask(),
        next_page=address_with({"tab": tab}, after=listed["next"]) if listed["next"] else None,
        first_page=address_with({"tab": tab}) if query.values["after"] is not None else None,
    )


def tabs_of(person: Principal) -> Mapping[str, str]:
    """Return the tabs that somebody has: who decides nothing has none of their own."""
    return TABS if person.role in DECIDERS else {tab: TABS[tab] for tab in ("waiting", "decided")}


def kinds_seen(person: Principal, policy: ChangePolicy) -> Collection[str]:
    """Return the kinds of change that somebody sees: people of rates see those that they ask for or decide."""
    if person.role is not Role.RATES:
        return policy.kinds.keys()
    return [name for name, kind in policy.kinds.items() if is_of_roles(person, kind.requested_by | kind.decided_by)]


def _rows(session: Session, tab: str, *, at: datetime, limit: int, before: int | None) -> Sequence[tuple[int, Change]]:
    person, policy = principal(), change_policies.in_force(session)
    if tab == "you":
        return change_inbox.waiting_for(session, person, policy, at=at, limit=limit, before=before)
    if tab == "yours":
        return change_inbox.made_by(session, person.name, limit=limit, before=before)
    return change_inbox.all_of(
        session, kinds_seen(person, policy), at=at, is_over=tab == "decided", limit=limit, before=before
    )


def _shown(changes: Sequence[Change], *, at: datetime) -> Sequence[Mapping[str, Any]]:
    jackpot_ids = {change.jackpot_id for change in changes if change.jackpot_id is not None}
    bases = look(lambda session: references.bases_of(session, jackpot_ids))
    states = [change.state(at=at) for change in changes]
    return [
        {
            "change": change,
            "line": in_a_line(change.payload, bases.get(change.jackpot_id or "")),
            "state": state,
            "chip": CHIPS[state],
        }
        for change, state in zip(changes, states, strict=True)
    ]


def _may_ask() -> bool:
    """Whether somebody may ask for a change: by a form, or for a rate sheet, whose form is a page of the rates."""
    policy = look(change_policies.in_force)
    return bool(forms_for(principal(), policy)) or asks_for_rates(principal(), policy)


def asks_for_rates(person: Principal, policy: ChangePolicy) -> bool:
    """Whether somebody may ask for a rate sheet."""
    return is_of_roles(person, policy.kinds[ChangeRates.name].requested_by)
