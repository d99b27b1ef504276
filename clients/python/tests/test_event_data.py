"""The data of events is typed by their type; what a later service adds is passed on or ignored, never an error."""

import json
import re
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pytest

from jackpot_client import (
    AwardData,
    AwardMadeData,
    AwardState,
    CasinoAddedData,
    ChangePolicyChangedData,
    EventAct,
    EventType,
    JackpotClient,
    JackpotHitData,
    JackpotOpenedData,
    ProtocolError,
    Role,
    RulesChangedData,
    StatementSettledData,
    Tier,
)
from tests.support.scripted import Content, Reply, Scripted

pytestmark = pytest.mark.slow

PAGE: Final = (Path(__file__).resolve().parents[3] / "docs" / "events.md").read_text(encoding="utf-8")
EXAMPLES: Final[dict[str, Content]] = {
    example["type"]: example for example in map(json.loads, re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
}
ENVELOPE: Final[Content] = {
    "specversion": "1.0",
    "id": "live/0/1/1",
    "source": "urn:jackpot:book:live",
    "subject": "jackpot live",
    "time": "2026-01-02T03:04:05.678901Z",
    "datacontenttype": "application/json",
}


def read_data(client: JackpotClient, service: Scripted, type_: str, data: object) -> Any:
    """Read one event, and return its data."""
    event = {**ENVELOPE, "type": type_, "data": data}
    service.script = [Reply(200, {"items": [event], "next": "c1", "has_more": False})]
    (item,) = client.event_page().items
    assert item.type == type_
    return item.data


def data_of(type_: str, **changes: object) -> Content:
    return {**EXAMPLES[type_]["data"], **changes}


@pytest.mark.parametrize("type_", list(EventType))
def test_each_documented_event_is_typed_to_its_last_member(
    client: JackpotClient, service: Scripted, type_: EventType
) -> None:
    data = read_data(client, service, type_, data_of(type_))
    assert isinstance(data, AwardData) is type_.startswith("jackpot.award.")
    names = {field.name.removesuffix("_") for field in fields(data)}
    assert names >= EXAMPLES[type_]["data"].keys()
    absent = {field.name for field in fields(data)} - {"from_"} - EXAMPLES[type_]["data"].keys()
    assert {getattr(data, name) for name in absent} <= {None}


def test_a_consumer_reads_members_of_their_types(client: JackpotClient, service: Scripted) -> None:
    made = read_data(client, service, "jackpot.award.made", data_of("jackpot.award.made"))
    assert isinstance(made, AwardMadeData)
    assert (made.tier, made.state, made.amount_minor) == (Tier.FLUSH, AwardState.HELD, 2500)
    assert (made.cost_base, made.act) == (Decimal(25), None)
    changed = read_data(client, service, "jackpot.rules.changed", data_of("jackpot.rules.changed"))
    assert isinstance(changed, RulesChangedData)
    assert changed.fixed_prizes.cost == Fraction(206909, 649740)
    assert changed.rules.prizes["flush"].stake_multiple == 25
    assert changed.rules.prizes["royal_flush"].meter_part == 1
    (tier,) = changed.rules.payout_tiers
    assert (tier.from_, tier.approvals) == (Decimal(200), 1)
    assert (changed.rules.close_required, changed.rules.largest_stakes) == (False, {})
    assert changed.act == EventAct(seq=48, principal="Bob", reason="checked", request_id=None, decides="rules")
    settled = read_data(client, service, "jackpot.statement.settled", data_of("jackpot.statement.settled"))
    assert isinstance(settled, StatementSettledData)
    assert settled.from_ == datetime(2026, 10, 1, tzinfo=UTC)
    policy = read_data(client, service, "jackpot.change-policy.changed", data_of("jackpot.change-policy.changed"))
    assert isinstance(policy, ChangePolicyChangedData)
    assert policy.kinds["rate-sheet"].decided_by == (Role.RATES,)


def test_settings_that_a_jackpot_states_are_read(client: JackpotClient, service: Scripted) -> None:
    rules = {
        **data_of("jackpot.opened")["rules"],
        "largest_stakes": {"JPY": "10000"},
        "least_stake": "0.5",
        "close_required": True,
        "dead_hand": "play-on",
        "displayed": True,
    }
    opened = read_data(client, service, "jackpot.opened", data_of("jackpot.opened", rules=rules))
    assert isinstance(opened, JackpotOpenedData)
    assert opened.rules.largest_stakes == {"JPY": Decimal(10000)}
    assert (opened.rules.least_stake, opened.rules.close_required) == (Decimal("0.5"), True)
    assert (opened.rules.dead_hand, opened.rules.displayed) == ("play-on", True)


def test_a_type_that_is_new_is_passed_on_as_it_came(client: JackpotClient, service: Scripted) -> None:
    data = {"amount_minor": 1, "parts": [{"any": None}]}
    assert read_data(client, service, "jackpot.moon.risen", data) == data


def test_members_that_are_new_are_ignored(client: JackpotClient, service: Scripted) -> None:
    hit = read_data(client, service, "jackpot.hit", data_of("jackpot.hit", later={"any": 1}))
    assert isinstance(hit, JackpotHitData)
    added = read_data(client, service, "jackpot.casino.added", data_of("jackpot.casino.added", zone="Europe/Riga"))
    assert isinstance(added, CasinoAddedData)
    assert (added.zone, added.day_starts) == ("Europe/Riga", None)


def test_words_that_are_new_are_passed_on_as_texts(client: JackpotClient, service: Scripted) -> None:
    data = data_of("jackpot.award.made", tier="two_pairs", state="resting", funded_by="the moon")
    made = read_data(client, service, "jackpot.award.made", data)
    assert (made.tier, made.state, made.funded_by) == ("two_pairs", "resting", "the moon")


@pytest.mark.parametrize(
    ("type_", "changes", "named"),
    [
        ("jackpot.hit", {"paid": 1}, "/items/0/data/paid is not a decimal string"),
        ("jackpot.round.corrected", {"charged_to": {"a": 1}}, "/items/0/data/charged_to/a is not a decimal string"),
        ("jackpot.round.corrected", {"charged_to": []}, "/items/0/data/charged_to is not an object"),
        ("jackpot.rules.changed", {"rules": {}}, "lacks /items/0/data/rules/rulebook"),
        ("jackpot.award.made", {"tier": 7}, "/items/0/data/tier is a word"),
        ("jackpot.casino.added", {"zone": 7}, "/items/0/data/zone is not a string"),
    ],
)
def test_data_of_another_shape_is_an_error_that_names_the_place(
    client: JackpotClient, service: Scripted, type_: str, changes: Content, named: str
) -> None:
    with pytest.raises(ProtocolError, match=named):
        read_data(client, service, type_, data_of(type_, **changes))


@pytest.mark.parametrize("data", [None, [], "text"])
def test_data_that_is_no_object_is_an_error_of_any_type(client: JackpotClient, service: Scripted, data: object) -> None:
    for type_ in ("jackpot.hit", "jackpot.moon.risen"):
        with pytest.raises(ProtocolError, match="/items/0/data is not an object"):
            read_data(client, service, type_, data)
