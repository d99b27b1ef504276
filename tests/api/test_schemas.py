"""Answers are what their schemas dump: the description and the answer cannot differ."""

import inspect
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

import flask
import pytest
from marshmallow import fields

from jackpot_service.api.schemas import AnswerSchema, Moment, SortedTexts, decimal
from tests.support.world import World

WRITTEN_BY_HAND: Final = {
    "rounds.post_bets",
    "rounds.post_voids",
    "rounds.put_result",
    "rounds.put_cancellation",
    "rounds.put_closing",
    "meters.get_meter",
}
"""Calls that come by the thousand: tests hold their answers against the description."""

NO_OBJECTS: Final = {
    *("metrics.get_metrics", "jobs.get_job_file", "reports.get_report"),
    *("rules.get_rules_page", "slips.get_award_slip", "slips.post_award_slip"),
    *("browsing.show_viewer", "browsing.show_file", "browsing.show_description", "checkpoints.get_seal"),
}
"""Text, files and pages; rows of a report, which are dumped while the books are open."""


@dataclass(frozen=True, slots=True)
class Inner:
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Outer:
    inner: Inner | None
    at: datetime | None
    names: frozenset[str]


class OuterSchema(AnswerSchema):
    amount = decimal("An amount.", attribute="inner.amount", allow_none=True)
    at = Moment(required=True)
    names = SortedTexts(required=True)


def test_a_value_is_dumped_as_its_schema_says() -> None:
    at = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    assert OuterSchema().dump(Outer(Inner(Decimal("1.50")), at, frozenset("cab"))) == {
        "amount": "1.5",
        "at": "2026-11-20T09:30:00.000000Z",
        "names": ["a", "b", "c"],
    }


def test_nothing_of_nothing_is_null() -> None:
    assert OuterSchema().dump(Outer(None, None, frozenset())) == {"amount": None, "at": None, "names": []}


def test_a_value_that_lacks_a_field_is_an_error_never_an_answer_without_it() -> None:
    class MoreSchema(OuterSchema):
        more = fields.String(required=True)

    with pytest.raises(AttributeError, match="more"):
        MoreSchema().dump(Outer(None, None, frozenset()))
    with pytest.raises(KeyError, match="names"):
        OuterSchema().dump({"inner": None, "at": None})


def test_every_answer_but_those_that_are_named_is_dumped(world: World) -> None:
    returning_responses = {
        endpoint
        for endpoint, view in world.app.view_functions.items()
        if not endpoint.startswith(("assets.", "pages."))
        and inspect.signature(inspect.unwrap(view)).return_annotation is flask.Response
    }
    assert returning_responses == WRITTEN_BY_HAND | NO_OBJECTS
