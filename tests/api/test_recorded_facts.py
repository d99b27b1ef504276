"""The contract describes the facts that a round's entries recorded, and the service shows them so."""

import pytest

from jackpot_client import BookEntry, RoundRecord
from jackpot_client.reading import decoded
from jackpot_service.api.recorded_facts import VerdictSchema
from tests.support import correcting
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.client_json import plain
from tests.support.contract import DOCUMENT, validator
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT_FLUSH, dead, hand
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

AT = "2026-11-20T09:00:00Z"


@pytest.fixture
def records(world: World) -> dict[str, Body]:
    """Play rounds that record every kind of fact, and recall them by what became of them."""
    world.open(base_amount="1000", stripes=1)
    limits = {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "90"}
    world.change("table-limits", limits, request_id="limits")
    world.post_bets(bet("a"), bet("b", hand="2"), bet("c"), round_id="hit", game_number="7").ok(201)
    world.void("c", "unknown", round_id="hit")
    world.put_closing(round_id="hit", bet_count=2, occurred_at=AT).ok(201)
    world.settle(hand("1", ROYAL_FLUSH), dead("2", ("2c",)), round_id="hit")
    world.bet(bet("a"), bet("b", hand="2", currency="GBP"), round_id="corrected")
    world.put_result(
        hand("1", NOTHING), hand("2", FLUSH), round_id="corrected", bet_count=2, game_number="8", dealer=["2h"]
    ).ok(201)
    correcting.correct(world, hand("1", FLUSH), dead("2"), round_id="corrected")
    world.bet(bet("a"), round_id="cancelled")
    world.put_cancellation(round_id="cancelled", hands=[hand("1", FLUSH)], occurred_at=AT).ok(201)
    world.open(CYBER, jackpot_id="j2", tables=("C1",), stripes=1)
    world.bet(bet("a"), round_id="owned", table_id="C1")
    world.settle(hand("1", STRAIGHT_FLUSH), round_id="owned", table_id="C1")
    of_live = {name: world.round(name) for name in ("hit", "corrected", "cancelled")}
    return {**of_live, "owned": world.round("owned", "C1")}


def test_the_record_of_a_round_is_of_its_schema(records: dict[str, Body]) -> None:
    wrong = {name: [str(error) for error in validator("RoundRecord").iter_errors(records[name])] for name in records}

    assert wrong == {name: [] for name in records}
    assert [entry["stated"] is not None for entry in records["hit"]["entries"]] == [False, True, True, False]
    assert records["owned"]["settlement"]["entitlements"]


def test_the_client_types_a_record_and_its_entries_to_the_last_member(world: World, records: dict[str, Body]) -> None:
    """The same members and values, whatever their types: written as JSON again they are the same."""
    for record in records.values():
        assert plain(decoded(RoundRecord, record)) == record
        for step in record["entries"]:
            place = f"{record['round']['jackpot_id']}/{step['stripe']}/{step['seq']}"
            entry = world.get(f"/v1/entries/{place}").ok()
            assert plain(decoded(BookEntry, entry)) == entry


def test_each_entry_is_of_its_schema_with_the_facts_of_its_kind(world: World, records: dict[str, Body]) -> None:
    schema_of_kind = {
        "bets": "BetsFacts",
        "voids": "VoidsFacts",
        "closing": "StatedCount",
        "result": "ResultFacts",
        "cancellation": "CancellationFacts",
    }
    seen = set[tuple[str, str]]()
    for record in records.values():
        for step in record["entries"]:
            entry = world.get(f"/v1/entries/{record['round']['jackpot_id']}/{step['stripe']}/{step['seq']}").ok()
            assert validator("BookEntry").is_valid(entry), entry
            if entry["facts"] is not None:
                validator(schema_of_kind[entry["kind"]]).validate(entry["facts"])
                seen.update((entry["kind"], member) for member in entry["facts"])

    schemas = DOCUMENT["components"]["schemas"]
    described = {(kind, member) for kind, name in schema_of_kind.items() for member in schemas[name]["properties"]}
    assert seen == described


def test_a_verdict_has_every_member_that_is_described(records: dict[str, Body]) -> None:
    (correction,) = records["corrected"]["corrections"]

    assert correction["verdict"].keys() == VerdictSchema().fields.keys()
    for name in ("awards", "reversed", "refunds", "postings", "charged_to"):
        assert correction["verdict"][name], name
