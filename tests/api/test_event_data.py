"""The contract describes the data of each type of event, and the service writes it so."""

from dataclasses import is_dataclass

import pytest

from jackpot_client import CloudEvent
from jackpot_client.reading import decoded
from jackpot_service.api.event_data.schemas import SCHEMAS
from jackpot_service.domain.principals import Role
from jackpot_service.events.event import EventType
from tests.support import correcting, notifications
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.client_json import plain
from tests.support.contract import DOCUMENT, validator
from tests.support.hands import FLUSH, NOTHING, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


def variants() -> dict[str, str]:
    """Return the schema of each type of event."""
    mapping: dict[str, str] = DOCUMENT["components"]["schemas"]["CloudEvent"]["discriminator"]["mapping"]
    return {type_: reference.rpartition("/")[2] for type_, reference in mapping.items()}


def test_each_type_has_a_schema_of_its_own() -> None:
    schemas = DOCUMENT["components"]["schemas"]

    assert variants().keys() == SCHEMAS.keys() == set(EventType)
    for type_, name in variants().items():
        own = schemas[name]["allOf"][1]["properties"]
        described = SCHEMAS[EventType(type_)].__name__.removesuffix("Schema")
        assert (own["type"]["const"], own["data"]) == (type_, {"$ref": f"#/components/schemas/{described}"})


@pytest.fixture
def notified(world: World) -> list[Body]:
    """Let everything happen, and what adds members to its data; returns it as the house and as a casino sees it."""
    notifications.bring_about_everything(world)
    world.add_casino("c9", zone="Europe/Riga", day_starts="06:00")
    world.open(jackpot_id="j9", tables=("T9",), stripes=1)
    world.bet(bet("a"), round_id="corrected", table_id="T9")
    world.settle(hand("1", NOTHING), round_id="corrected", table_id="T9")
    right = correcting.payload(hand("1", FLUSH), round_id="corrected", table_id="T9")
    world.change("round-correction", right | {"jackpot_id": "j9"}, request_id="award-by-an-act")
    return notifications.follow(world) + notifications.follow(world, key=world.key(Role.FINANCE, casino_id="c1"))


def test_each_event_is_of_the_schema_of_its_type(notified: list[Body]) -> None:
    wrong = {
        event["id"]: str(error)
        for event in notified
        for error in validator(variants()[event["type"]]).iter_errors(event)
    }

    assert wrong == {}


def test_each_event_is_of_the_schema_of_its_type_alone(notified: list[Body]) -> None:
    """So that `oneOf` holds; and a member that is not described is none of the contract."""
    for event in notified:
        assert validator("CloudEvent").is_valid(event)
        assert not validator("CloudEvent").is_valid({**event, "data": {**event["data"], "more": 1}})


def test_every_member_that_is_described_comes(notified: list[Body]) -> None:
    schemas = DOCUMENT["components"]["schemas"]
    for type_, name in variants().items():
        data = schemas[name]["allOf"][1]["properties"]["data"]["$ref"].rpartition("/")[2]
        members = {member for event in notified if event["type"] == type_ for member in event["data"]}
        assert members == schemas[data]["properties"].keys(), type_


def test_the_client_types_each_event_to_its_last_member(notified: list[Body]) -> None:
    """The same members and values, whatever their types: written as JSON again they are the same."""
    for event in notified:
        data = decoded(CloudEvent, event).data
        assert is_dataclass(data)
        assert plain(data) == event["data"], event["type"]
