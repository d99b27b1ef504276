"""Long reports sent by the real server: whoever goes away in the midst of one leaves nothing behind."""

import httpx
import psycopg
import pytest
import sqlalchemy

from jackpot_service.database import embedded
from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.faults.processes import wait_until
from tests.faults.service import Service
from tests.races import scene

pytestmark = pytest.mark.long

BATCHES, BETS_OF_A_BATCH = 25, 2000
"""More bytes than the sockets between both ends hold."""

BETS = "/v1/reports/rounds?format=csv&section=bets"


def key_on(engine: sqlalchemy.Engine) -> str:
    """Have many bets on the books, and a key of finance."""
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=["T1"])
    for number in range(BATCHES):
        scene.bet(engine, "T1", f"r{number}", *(scene.euro(f"b{bet}") for bet in range(BETS_OF_A_BATCH)))
    act = Act(SYSTEM_OPERATOR, scene.now())
    return transact(engine, lambda session: create_key(session, act, Principal("Fay", Role.FINANCE))).whole


def readers(durable: embedded.Cluster) -> int:
    """How many connections have a transaction open."""
    question = """
    SELECT FROM pg_stat_activity
    WHERE xact_start IS NOT NULL AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    """
    with psycopg.connect(durable.conninfo("jackpot"), autocommit=True) as connection:
        return connection.execute(question).rowcount


def test_a_caller_that_goes_away_keeps_no_connection_and_no_place(
    service: Service, durable: embedded.Cluster, engine: sqlalchemy.Engine
) -> None:
    headers = {"Authorization": f"Bearer {key_on(engine)}"}
    engine.dispose()
    with httpx.Client(base_url=service.base_url, headers=headers, trust_env=False, timeout=60) as client:
        for _ in range(8):
            with client.stream("GET", BETS) as response:
                assert response.status_code == httpx.codes.OK
                next(response.iter_raw())
            # There are fewer places than that, and one is free again only when the service has noticed.
            wait_until(lambda: not readers(durable))

        assert client.head(BETS).status_code == httpx.codes.OK
        whole = client.get(BETS)

    assert whole.headers["Content-Type"].startswith("text/csv")
    assert whole.content.count(b"\r\n") == 1 + BATCHES * BETS_OF_A_BATCH
    assert whole.content.endswith(b"\r\n")
