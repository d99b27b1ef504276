"""The server or its PostgreSQL killed at work: what table servers were told stays, and every retry converges."""

from collections.abc import Iterator
from decimal import Decimal

import httpx
import pytest
import sqlalchemy

from jackpot_client import Bet, Hand, PlacedBets
from jackpot_service.database import embedded
from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.faults.load import Ledger, client_for, load
from tests.faults.processes import wait_until
from tests.faults.service import Service
from tests.races import books, scene

pytestmark = pytest.mark.long

TABLES = ["live-1", "live-2", "cyber-1", "cyber-2"]
KILLS = 3
CALLS_BETWEEN = 60


@pytest.fixture
def key(engine: sqlalchemy.Engine) -> str:
    """Set the tables up, and give the test their server's key."""
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=TABLES[:2], base_amount="1000")
    scene.open_cyber(engine, "cyber", tables=TABLES[2:])
    act = Act(SYSTEM_OPERATOR, scene.now())
    principal = Principal("server", Role.TABLE, scene.CASINO)
    return transact(engine, lambda session: create_key(session, act, principal)).whole


def test_a_server_killed_under_load_loses_nothing_and_doubles_nothing(
    service: Service, engine: sqlalchemy.Engine, key: str
) -> None:
    with load(service.base_url, key, TABLES) as ledger:
        for _ in range(KILLS):
            ledger.wait_for_more(CALLS_BETWEEN)
            service.kill()
            service.start()
        ledger.wait_for_more(CALLS_BETWEEN)

    assert sum(ledger.retries.values()) > 0
    require_no_surprises(ledger)
    require_all_there(ledger, engine)
    require_answered_again_alike(ledger, service, key)
    require_all_there(ledger, engine)


def require_unready(service: Service) -> None:
    """Wait until a service says that it is not ready: what it found out a second ago it may say again."""
    wait_until(lambda: service.status_of("/readyz") == httpx.codes.SERVICE_UNAVAILABLE)


def test_a_database_stopped_under_load_loses_nothing_and_doubles_nothing(
    service: Service, durable: embedded.Cluster, engine: sqlalchemy.Engine, key: str
) -> None:
    with load(service.base_url, key, TABLES) as ledger:
        for _ in range(KILLS):
            ledger.wait_for_more(CALLS_BETWEEN)
            embedded.stop(durable, mode="immediate")
            assert service.status_of("/healthz") == httpx.codes.OK
            require_unready(service)
            embedded.start(durable)
        ledger.wait_for_more(CALLS_BETWEEN)

    wait_until(lambda: service.status_of("/readyz") == httpx.codes.OK)  # For a second it may say what it was before.
    assert any(reason.startswith("status 503") for reason in ledger.retries)
    require_no_surprises(ledger)
    engine.dispose()
    require_all_there(ledger, engine)
    require_answered_again_alike(ledger, service, key)
    require_all_there(ledger, engine)


def require_no_surprises(ledger: Ledger) -> None:
    """The server may have said that it could not now, never that something unexpected happened to it."""
    statuses = [reason for reason in ledger.retries if reason.startswith("status")]
    assert [reason for reason in statuses if reason.partition(" ")[2][:3] != "503"] == []


def require_all_there(ledger: Ledger, engine: sqlalchemy.Engine) -> None:
    """The books hold what was acknowledged, and nothing else; and they are right."""
    bets = books.ask(engine, "SELECT table_id, round_id, bet_id FROM bets JOIN rounds USING (jackpot_id, round_key)")
    assert sorted(bets) == sorted(ledger.stakes)
    awards = books.ask(engine, "SELECT table_id, round_id, bet_id, tier FROM awards JOIN rounds USING (round_key)")
    assert sorted(awards) == sorted((*bet, tier) for bet, tier in ledger.awards)
    assert books.ask(engine, "SELECT count(*) FROM rounds WHERE state = 'open'") == [(0,)]
    for currency, owed_minor in ledger.owed_minor().items():
        owed = Decimal(owed_minor) if currency == "JPY" else Decimal(owed_minor) / 100
        assert books.balance(engine, f"casino:{scene.CASINO}", currency) == owed
    books.require_clean(engine)


def require_answered_again_alike(ledger: Ledger, service: Service, key: str) -> None:
    """Every call that was ever answered, made again, has the same answer and no effect."""
    with client_for(service.base_url, key) as client:
        for call in ledger.calls:
            again = call.again(client)
            if isinstance(call.answer, PlacedBets):
                assert isinstance(again, PlacedBets)
                booked = call.answer.accepted + call.answer.replayed
                assert (again.accepted, again.replayed + len(again.void)) == (0, booked)
            else:
                assert again == call.answer


class LosesAnswer(httpx.BaseTransport):
    """Lets the server answer, and kills it before the client hears: the commit is made, its answer is lost."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._inner = httpx.HTTPTransport()
        self.is_armed = False
        self.lost: list[bytes] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        if not self.is_armed:
            return response
        self.is_armed = False
        self.lost.append(response.read())
        assert response.is_success
        self._service.kill()
        self._service.start()
        raise httpx.ReadError("the server was killed", request=request)

    def close(self) -> None:
        self._inner.close()


@pytest.fixture
def transport(service: Service) -> Iterator[LosesAnswer]:
    """Give the test a way to lose the next answer."""
    transport = LosesAnswer(service)
    yield transport
    transport.close()


@pytest.mark.long
def test_a_retry_after_a_kill_between_commit_and_answer_gets_the_committed_answer(
    service: Service, engine: sqlalchemy.Engine, key: str, transport: LosesAnswer
) -> None:
    """Scenario 19, for every call that writes."""
    bets = [Bet(bet_id=f"b{n}", player_id=f"p{n}", currency="EUR", stake_minor=100) for n in (1, 2)]
    hands = [Hand(cards=("As", "Ks", "Qs", "Js", "Ts"))]
    with client_for(service.base_url, key, transport=transport) as client:
        transport.is_armed = True
        placed = client.place_bets(table_id="live-1", round_id="r1", bets=bets)
        transport.is_armed = True
        voided = client.void_bets(table_id="live-1", round_id="r1", bet_ids=["b2"])
        transport.is_armed = True
        settled = client.put_result(table_id="live-1", round_id="r1", bet_count=1, hands=hands)
        client.place_bets(table_id="live-1", round_id="r2", bets=bets)
        transport.is_armed = True
        cancelled = client.cancel_round(table_id="live-1", round_id="r2", reason="misdeal")
        assert len(transport.lost) == 4
    # What was lost, read as if it had come, is what the retry was told.
    lost = iter(transport.lost[1:])
    replay = httpx.MockTransport(lambda _request: httpx.Response(200, content=next(lost)))
    with client_for(service.base_url, key, transport=replay) as client:
        assert client.void_bets(table_id="live-1", round_id="r1", bet_ids=["b2"]) == voided
        assert client.put_result(table_id="live-1", round_id="r1", bet_count=1, hands=hands) == settled
        assert client.cancel_round(table_id="live-1", round_id="r2", reason="misdeal") == cancelled

    assert (placed.accepted, placed.replayed) == (0, 2)
    assert [award.amount_minor for award in settled.settlement.awards] == [100_045]
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(4,)]
    assert books.ask(engine, "SELECT count(*) FROM awards") == [(1,)]
    assert books.ask(engine, "SELECT cycle FROM cycles WHERE jackpot_id = 'live' ORDER BY 1") == [(1,), (2,)]
    assert books.pools(engine, "live").meter == Decimal("0.05")
    assert books.balance(engine, f"casino:{scene.CASINO}") == Decimal("999.45")
    books.require_clean(engine)
