"""
The audit trail: acts, found by who, what, which request and when; and each act on a page of its own.

A part of the list, which htmx requests, is the history of an object on that object's page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.audit import KINDS, READERS, AuditQuerySchema, query_of
from jackpot_service.api.lists import cursor, page
from jackpot_service.api.request_context import look, principal
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Role
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.choices import choices_of
from jackpot_service.pages.lists import ReadQuery, address_with, any_of, days_to_instants, read_query
from jackpot_service.pages.shown_changes import Difference, differences_of_states
from jackpot_service.records import references
from jackpot_service.reports.audit import AuditedAct, shown, visible_act, visible_acts
from jackpot_service.reports.entries import ShownEntry, entry_at

FIELDS: Final = (
    ("principal", "Person", 100),
    ("subject", "Object", 200),
    ("casino_id", "Casino", 64),
    ("jackpot_id", "Jackpot", 64),
    ("request_id", "Request", 64),
)
"""The fields of the search that are typed: name, label, and the most characters. All acts of an operator are theirs."""

_KNOWN: Final = frozenset({name for name, *_ in FIELDS} | {"kind", "from", "to", "after"})


@dataclass(frozen=True, slots=True)
class ShownAct:
    """An act as a list shows it: without secrets, when it was booked, and what it made another."""

    act: Mapping[str, Any]
    booked_at: datetime
    differences: tuple[Difference, ...]


@blueprint.route("/audit", methods=["GET"])
@people(*READERS)
def show_audit() -> Response:
    """List acts, the latest first, by the filters in the address; a part of it for the page of an object."""
    typed = {name: value.strip() for name, value in flask.request.args.items() if name in _KNOWN and value.strip()}
    query = _read(typed)
    listed = {"items": (), "next": None} if query.errors else _find(query.values)
    filters = {name: value for name, value in typed.items() if name != "after"}
    is_part = "HX-Request" in flask.request.headers
    fields = FIELDS if principal().role is Role.AUDITOR else FIELDS[1:]
    html = flask.render_template(
        "_acts.html" if is_part else "audit.html",
        query=query,
        fields=fields,
        choices={} if is_part else choices_of(name for name, *_ in fields),
        kinds=any_of(KINDS),
        acts=listed["items"],
        next_page=address_with(filters, after=listed["next"]) if listed["next"] else None,
        first_page=address_with(filters) if "after" in typed else None,
        is_filtered=bool(filters),
        is_part=is_part,
        sees_all=principal().role is Role.AUDITOR,
    )
    return flask.Response(html, HTTPStatus.UNPROCESSABLE_ENTITY if query.errors else HTTPStatus.OK)


@blueprint.route("/audit/<number:seq>", methods=["GET"])
@people(*READERS)
def show_act(seq: int) -> str:
    """Show an act: who, when, why, before and after, and the entries that it booked. Raises: UnknownAct."""
    audited = look(lambda session: visible_act(session, principal(), seq))
    act = shown(audited)
    is_of_change = act["kind"] == EntryKind.CHANGE_REQUESTED
    base = look(lambda session: _base_of(session, audited))
    return flask.render_template(
        "act.html",
        act=act,
        recorded=audited.act,
        differences=differences_of_states(act["before"], act["after"], base),
        change_id=act["request_id"] if is_of_change else act["decides"],
        entries=look(lambda session: _entries_of(session, audited)),
        own_entry=look(lambda session: _own_entry(session, audited)) if principal().role is Role.AUDITOR else None,
        sees_all=principal().role is Role.AUDITOR,
    )


def shown_act(audited: AuditedAct) -> ShownAct:
    """Return an act as a list shows it."""
    act = shown(audited)
    return ShownAct(act, audited.act.booked_at, tuple(differences_of_states(act["before"], act["after"])))


def _read(typed: Mapping[str, str]) -> ReadQuery:
    """Read the filters in the words of the API; days are those of UTC."""
    fields = dict(typed)
    errors = days_to_instants(fields)
    read = read_query(AuditQuerySchema(), fields)
    errors = {**read.errors, **errors}
    return ReadQuery(typed, {} if errors else read.values, errors)


def _find(values: Mapping[str, Any]) -> Mapping[str, Any]:
    filters = query_of(values)
    return page(
        values,
        lambda session, limit: [
            shown_act(audited)
            for audited in visible_acts(session, principal(), filters, limit=limit, before=values["after"])
        ],
        lambda listed: cursor(listed.act["seq"]),
    )


def _base_of(session: Session, audited: AuditedAct) -> str | None:
    """Return the base currency of the jackpot of an act, in which its amounts are; None where it is of none."""
    jackpot_id = audited.act.jackpot_id
    return None if jackpot_id is None else references.jackpot_base(session, jackpot_id)


def _entries_of(session: Session, audited: AuditedAct) -> list[ShownEntry]:
    """Read the entries that an act booked in jackpots' books: each is on stripe 0."""
    return [
        entry_at(session, principal(), book=effect["book"], stripe_no=0, seq=effect["seq"])
        for effect in audited.act.effects
    ]


def _own_entry(session: Session, audited: AuditedAct) -> ShownEntry:
    return entry_at(session, principal(), book=REFERENCE_BOOK, stripe_no=0, seq=audited.act.seq)
