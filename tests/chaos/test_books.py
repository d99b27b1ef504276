"""The books as the checker reads them are what the service booked, and every sum of theirs is what the rules say."""

from collections.abc import Iterator

import pytest

from jackpot_service.database.connections import create_engine
from jackpot_service.domain.bets import Bet as Placed
from tests.chaos.books import read_all, read_rounds
from tests.chaos.calls import Bet, Hand, RoundName
from tests.chaos.program import plain
from tests.chaos.sums import sums
from tests.races import scene
from tests.races.processes import CONFIG
from tests.support.reading import past_the_service

SETTLED, CANCELLED, OPEN = (RoundName("t1", name) for name in ("settled", "cancelled", "open"))


@pytest.fixture
def played_url(database_url: str) -> Iterator[str]:
    """Give the test a database in which rounds of every kind were played, one of them a hit."""
    engine = create_engine(CONFIG, database_url)
    scene.open_house(engine)
    scene.open_live(engine, "live-1", tables=["t1"], base_amount="1000")
    pound = Placed("b2", "player-of-b2", "2", "GBP", 250)
    for name in (SETTLED, CANCELLED, OPEN):
        scene.void(engine, *name, "never")
        scene.bet(engine, *name, scene.euro("b1"), pound, scene.euro("b3", hand="3"))
        scene.void(engine, *name, "b3")
    scene.bet(engine, *SETTLED, scene.euro("b4"))
    scene.close(engine, *SETTLED, 3)
    scene.bet(engine, *SETTLED, scene.euro("b1"))
    scene.void(engine, *SETTLED, "b4", reason="disconnected")
    scene.settle(engine, *SETTLED, 2, {"1": scene.ROYAL, "2": scene.NOTHING, "3": "dead"})
    scene.cancel(engine, *CANCELLED)
    yield plain(database_url)
    engine.dispose()


def test_rounds_are_read_with_all_that_they_hold(played_url: str) -> None:
    there = read_all(played_url)

    assert there.rounds.keys() == {SETTLED, CANCELLED, OPEN}
    assert (there.doubled, there.ahead) == ((), {})
    settled, cancelled = there.rounds[SETTLED], there.rounds[CANCELLED]
    assert (settled.jackpot_id, settled.casino_id, settled.state) == ("live-1", scene.CASINO, "settled")
    assert settled.bets["b2"] == Bet("b2", "player-of-b2", "2", "GBP", 250)
    assert settled.voids == {"never": True, "b3": False, "b4": False}
    assert (settled.closed_with, settled.late, settled.reasons) == (3, (), {"b4": "disconnected"})
    assert {bet.bet_id for bet in settled.live} == {"b1", "b2"}
    assert settled.bet_count == 2
    assert Hand("3", "dead", ()) in settled.hands
    assert {key: award.funded_by for key, award in settled.awards.items()} == {
        ("b1", "royal_flush"): "meter",
        ("b2", "royal_flush"): "meter",
    }
    assert (cancelled.state, cancelled.reason, cancelled.bet_count) == ("cancelled", "misdeal", None)
    assert (there.rounds[OPEN].state, there.rounds[OPEN].closed_with) == ("open", None)


def test_a_bet_that_was_booked_after_the_closing_is_read_as_late(played_url: str, database_url: str) -> None:
    past_the_service(database_url, "UPDATE bets SET step = 99 WHERE bet_id = 'b1'")

    assert [value.late for value in read_all(played_url).rounds.values() if value.late] == [("b1",)]


def test_a_closing_that_stands_twice_is_doubled(played_url: str, database_url: str) -> None:
    past_the_service(
        database_url,
        "UPDATE entries SET kind = 'closing', facts = jsonb_build_object('bet_count', 3) "
        "WHERE kind = 'voids' AND facts ->> 'reason' IS NOT NULL",
    )

    assert read_all(played_url).doubled == (f"closing of {SETTLED}",)


def test_some_rounds_are_read_by_their_names(played_url: str) -> None:
    there = read_rounds(played_url, [OPEN, RoundName("t1", "nowhere")])

    assert there.rounds == {OPEN: read_all(played_url).rounds[OPEN]}


def test_the_sums_of_what_the_service_booked_are_right(played_url: str) -> None:
    assert sums(read_all(played_url)) == ()


def test_a_stripe_beyond_the_bound_is_seen(played_url: str) -> None:
    assert list(read_all(played_url, lead_s=-3600).ahead) == ["-", "live-1"]
