"""Each call of the client against the real service, by both clients; and what goes on over restarts of it."""

import itertools
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from jackpot_client import (
    AwardState,
    Bet,
    BetsFacts,
    EntryRound,
    FeedState,
    Hand,
    HandStatus,
    JackpotClient,
    Policy,
    ProtocolError,
    Refusal,
    ResultFacts,
    RoundSettledData,
    RoundState,
    StatedCount,
    VoidsFacts,
    new_round_id,
)
from jackpot_service.domain.principals import Role
from tests.faults.service import Service
from tests.races import scene
from tests.support.blocking import blocking_client

pytestmark = pytest.mark.long

LONGEST_S: Final = 120.0
ROYAL: Final = Hand(cards=tuple(scene.ROYAL.split()))
NOTHING: Final = Hand(cards=tuple(scene.NOTHING.split()))

Opened = Callable[..., AbstractContextManager[JackpotClient]]


@pytest.fixture(params=["threads", "asyncio"])
def opened(request: pytest.FixtureRequest) -> Opened:
    """Open a client of threads, or of asyncio."""
    return JackpotClient if request.param == "threads" else blocking_client


@pytest.fixture
def client(opened: Opened, own_service: Service, table_key: str) -> Iterator[JackpotClient]:
    with opened(own_service.base_url, table_key, deadline=LONGEST_S, timeout=30) as client:
        yield client


def euro(bet_id: str, **more: Any) -> Bet:
    return Bet(bet_id=bet_id, player_id=f"player-{bet_id}", currency="EUR", stake_minor=100, **more)


def test_a_round_with_everything_is_played_and_recalled(client: JackpotClient) -> None:
    where: dict[str, Any] = {"table_id": "T2", "round_id": new_round_id()}
    at = datetime.now(UTC)
    bets = [euro("a", occurred_at=at), euro("b", hand="2"), euro("c"), euro("d")]
    placed = client.place_bets(bets=bets, game_number="21:10:10", occurred_at=at, **where)
    assert (placed.accepted, placed.round.game_number, placed.round.state) == (4, "21:10:10", RoundState.OPEN)
    assert placed.payout_per_unit is not None
    assert client.payout_per_unit(**where).payout_per_unit == placed.payout_per_unit
    voided = client.void_bets(bet_ids=["d", "never"], occurred_at=at, **where)
    assert (voided.voided, voided.unknown) == (("d",), ("never",))
    assert client.close_betting(bet_count=3, occurred_at=at, **where).round.state is RoundState.CLOSED
    assert client.void_bets(bet_ids=["c"], reason="misdealt", **where).round.bet_count == 2
    (waiting,) = client.rounds(ended=False, table_id="T2")
    assert (waiting.round_id, waiting.state, waiting.bet_count) == (where["round_id"], RoundState.CLOSED, 2)
    hands = [ROYAL, Hand(hand="2", status=HandStatus.DEAD)]
    settled = client.put_result(
        bet_count=2, hands=hands, dealer=["2h"], game_number="21:10:10", occurred_at=at, **where
    )
    (award,) = settled.settlement.awards
    (refund,) = settled.settlement.refunds
    assert (award.bet_id, award.tier, award.state, refund.bet_id) == ("a", "royal_flush", AwardState.PAYABLE, "b")

    record = client.round(**where)
    assert {bet.bet_id: (bet.is_void, bet.occurred_at) for bet in record.bets} == {
        "a": (False, at),
        "b": (False, at),
        "c": (True, at),
        "d": (True, at),
    }
    assert (record.tombstones, record.dealer, len(record.entries)) == (("never",), ("2h",), 5)
    assert record.settlement is not None
    assert record.settlement.awards == settled.settlement.awards
    assert [bet.bet_id for bet in client.round(player_id="player-a", **where).bets] == ["a"]
    assert where["round_id"] in [round_.round_id for round_ in client.table_rounds(table_id="T2")]
    assert next(client.rounds(bet_id="a", ended=True, table_id="T2")).round_id == where["round_id"]
    for step in record.entries:
        entry = client.entry(book="live", stripe=step.stripe, seq=step.seq)
        assert (entry.kind, entry.digest != entry.head, entry.booked_at) == (step.kind, True, step.booked_at)
        assert entry.round == EntryRound(step=step.step, **where)
        assert sum(posting.amount for posting in entry.postings if posting.currency == "EUR") == 0
    facts = [client.entry(book="live", stripe=step.stripe, seq=step.seq).facts for step in record.entries]
    assert [type(part) for part in facts] == [BetsFacts, VoidsFacts, StatedCount, VoidsFacts, ResultFacts]
    assert [step.stated for step in record.entries] == [None, *facts[1:4], None]
    assert record.result == StatedCount(bet_count=2, occurred_at=at)
    assert (record.rules.policy, record.rate_sheet.base) == (Policy.SHARED_BY_STAKE, "EUR")
    hit = next(client.hits(jackpot_id="live"))
    assert (hit.round_id, hit.winners, hit.awards) == (where["round_id"], 1, (award,))
    assert client.award(award_id=award.award_id).payments == ()
    assert award.award_id in [award_.award_id for award_ in client.awards(jackpot_id="live")]


def test_a_round_is_cancelled_with_the_hands_that_were_dealt(client: JackpotClient) -> None:
    where: dict[str, Any] = {"table_id": "T3", "round_id": new_round_id()}
    client.place_bets(bets=[euro("a")], **where)
    at = datetime.now(UTC)
    cancelled = client.cancel_round(reason="misdeal", hands=[NOTHING], occurred_at=at, **where)
    assert [refund.bet_id for refund in cancelled.refunds] == ["a"]
    record = client.round(**where)
    assert record.cancellation is not None
    assert (record.cancellation.reason, record.cancellation.occurred_at) == ("misdeal", at)
    assert [hand.cards for hand in record.hands] == [NOTHING.cards]


def test_what_a_table_and_a_display_ask_is_answered(client: JackpotClient) -> None:
    me = client.me()
    assert (me.principal, me.role, me.casino_id, me.is_service_account) == ("server", "table", scene.CASINO, True)
    assert [casino.casino_id for casino in client.casinos()] == [scene.CASINO]
    table = client.table(table_id="T4")
    assert table.terms is not None
    assert [stakes.currency for stakes in table.terms.stakes] == ["EUR", *sorted(scene.RATES)]
    assert table.open_rounds.items == ()
    assert "T4" in [table_.table_id for table_ in client.tables(jackpot_id="live")]
    meter = client.meter(jackpot_id="live", currency=["EUR", "JPY"], max_age=1)
    assert [amount.currency for amount in meter.amounts] == ["EUR", "JPY"]
    assert client.meter(jackpot_id="live").amount_exact == client.meter(jackpot_id="live").amount_exact
    (jackpot,) = client.jackpots()
    assert client.jackpot(jackpot_id="live") == jackpot
    paytable = client.paytable(jackpot_id="live", currency="GBP")
    assert (paytable.currency, paytable.lines[0].tier) == ("GBP", "royal_flush")
    rules = client.rules(jackpot_id="live", currency="GBP", lang="de", stake_minor=100)
    assert (rules.lang, rules.stake_minor, len(rules.prizes)) == ("de", 100, len(paytable.lines))
    assert rules.rules.prizes.keys() == {line.tier for line in paytable.lines}
    assert client.table_limits(jackpot_id="live").tables == ()
    frame = client.feed_frame(jackpot_id="live", currency=["EUR", "GBP"])
    assert [amount.currency for amount in frame.amounts] == ["EUR", "GBP"]


@pytest.mark.parametrize("after", ["c1", "AAAA", "now!"])
def test_a_cursor_that_was_tampered_with_is_refused_in_clear_words(client: JackpotClient, after: str) -> None:
    with pytest.raises(Refusal, match=r"422 validation.*after") as raised:
        next(client.events(after=after))
    assert "unchanged" in str(raised.value)


def test_a_cursor_that_was_cut_is_refused(client: JackpotClient) -> None:
    cursor = client.event_page().next
    with pytest.raises(Refusal, match="422 validation"):
        client.event_page(after=cursor[:-2])


def test_a_call_that_the_service_does_not_have_names_its_version(opened: Opened, own_service: Service) -> None:
    with (
        opened(f"{own_service.base_url}/v2", "key") as client,
        pytest.raises(ProtocolError, match="knows no GET /v1/me"),
    ):
        client.me()


def played(client: JackpotClient, count: int) -> list[str]:
    """Play rounds to their end."""
    rounds = [new_round_id() for _ in range(count)]
    for round_id in rounds:
        client.place_bets(table_id="T5", round_id=round_id, bets=[euro("a")])
        client.put_result(table_id="T5", round_id=round_id, bet_count=1, hands=[NOTHING])
    return rounds


def test_events_over_restarts_skip_nothing(
    opened: Opened, own_service: Service, client: JackpotClient, standing_keys: dict[Role, str]
) -> None:
    heard: queue.Queue[str] = queue.Queue()
    with opened(own_service.base_url, standing_keys[Role.AUDITOR], first_backoff=0.05) as listener:
        start = listener.event_page(after="now").next

        def listen() -> None:
            for event in itertools.islice(listener.events(after=start), 6):
                heard.put(event.subject)

        follower = threading.Thread(target=listen, daemon=True)
        follower.start()
        rounds = played(client, 2)
        own_service.kill()
        own_service.start()
        rounds += played(client, 2)
        own_service.stop()
        own_service.start()
        rounds += played(client, 2)
        subjects = [heard.get(timeout=LONGEST_S) for _ in rounds]
        follower.join(LONGEST_S)

    assert subjects == [f"round T5/{round_id}" for round_id in rounds]


def test_a_consumer_that_is_killed_goes_on_from_its_cursor(client: JackpotClient) -> None:
    """Each stored cursor leads to all events that were not handled, whichever event it came with."""
    start = client.event_page(after="now").next
    played(client, 5)
    events = list(itertools.islice(client.events(after=start, limit=2), 5))
    assert {type(event.data) for event in events} == {RoundSettledData}
    ids = [event.id for event in events]
    for handled, event in enumerate(events[:-1], 1):
        followed = (followed_event.id for followed_event in client.events(after=event.cursor, limit=3))
        new = itertools.islice((id_ for id_ in followed if id_ not in ids[:handled]), 5 - handled)
        assert list(new) == ids[handled:]


def test_a_feed_over_a_restart_shows_the_meter_again(
    opened: Opened, own_service: Service, client: JackpotClient, table_key: str
) -> None:
    shown: queue.Queue[FeedState] = queue.Queue()
    with opened(own_service.base_url, table_key, first_backoff=0.05) as display:

        def show() -> None:
            """Show what is fed until the meter has moved, so that nobody listens any more when the client is closed."""
            amounts = None
            for state in display.feed(jackpot_id="live", stale_after=LONGEST_S):
                shown.put(state)
                if amounts not in {None, state.frame.amounts}:
                    return
                amounts = state.frame.amounts

        listener = threading.Thread(target=show, daemon=True)
        listener.start()
        before = shown.get(timeout=LONGEST_S).frame
        own_service.kill()
        own_service.start()
        client.place_bets(table_id="T6", round_id=new_round_id(), bets=[euro("a")])
        after = shown.get(timeout=LONGEST_S).frame
        while after.amounts == before.amounts:
            after = shown.get(timeout=LONGEST_S).frame
        listener.join(LONGEST_S)
        # Of EUR 1, 45 % go to the meter.
        assert after.amounts[0].amount_minor == before.amounts[0].amount_minor + 45
