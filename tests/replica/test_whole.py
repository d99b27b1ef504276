"""The service as a whole with a replica: every call and every page works, and nothing that writes goes there."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

import httpx
import pytest

from jackpot_client import Bet, Hand, JackpotClient
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.reports.finance.registry import REPORTS
from tests.faults.service import Service, served
from tests.replica.worlds import Opening, database_errors, outcomes, since, wait_until
from tests.support import notifications
from tests.support.answers import Answer
from tests.support.asking import stated
from tests.support.operations import Operation, make_objects, operations
from tests.support.standby import Standby
from tests.support.visitor import Visitor
from tests.support.walking import walk
from tests.support.world import World

SAFE: Final = {"GET", "HEAD", "OPTIONS"}

QUERIES: Final[Mapping[str, str]] = {
    "GET /v1/rates": "base=EUR",
    "GET /v1/rates/history": "base=EUR&currency=GBP",
    "GET /v1/rates/histories": "base=EUR",
    "GET /v1/rates/use": "base=EUR",
    "GET /v1/rate-sheets": "base=EUR",
    "GET /v1/jackpots/{jackpot_id}/paytable": "currency=EUR",
}
"""What a call must state."""


class Watching(World):
    """A world that looks, at each call that is to write, that nothing of it was read at the replica."""

    def call(self, method: str, path: str, **more: Any) -> Answer:
        before = outcomes()
        answer = super().call(method, path, **more)
        if method not in SAFE:
            assert since(before) == {}, f"{method} {path}"
        return answer


@pytest.fixture
def watching(opening: Opening) -> World:
    """A world in which everything has happened by calls, and that looks at each."""
    world = opening(Watching)
    notifications.bring_about_everything(world)
    return world


def test_every_look_of_the_api_works_and_no_call_that_writes_reads_at_the_replica(
    opening: Opening, standby: Standby
) -> None:
    before, errors = outcomes(), database_errors()
    world = opening(Watching)
    objects = make_objects(world)
    standby.catch_up()
    looks = [operation for operation in operations() if operation.method == "GET"]
    at_replica = [operation.label for operation in looks if "Replica-Age" in looked(world, operation, objects).headers]

    assert len(at_replica) > 20
    assert since(before)["answered"] >= len(at_replica)
    assert since(before).keys() <= {"answered", "not-reached"}  # Of lag, there may be some.
    assert database_errors() == errors


def looked(world: World, operation: Operation, objects: Mapping[str, str]) -> Answer:
    """Look by a key that may, an auditor's where there is a choice."""
    roles = operation.roles
    key = None if roles is None else world.key(Role.AUDITOR if Role.AUDITOR in roles else min(roles))
    query = QUERIES.get(operation.label, "")
    if operation.path == "/v1/audit/{seq}":
        objects = {"seq": world.get("/v1/audit?limit=1").ok()["items"][0]["seq"]}
    if operation.path == "/v1/reports/{name}":
        query = urlencode(stated(REPORTS[objects["name"]]))
    answer = world.call("GET", f"{operation.path.format(**objects)}?{query}".rstrip("?"), key=key)
    assert answer.status in {200, 409}, (operation.label, answer.text)  # 409: the job is not done, and the like.
    return answer


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR, Role.AUDITOR, Role.RATES])
def test_every_page_is_read_at_the_replica(watching: World, standby: Standby, role: Role) -> None:
    standby.catch_up()
    before, errors = outcomes(), database_errors()
    visitor = Visitor(watching).sign_in(key=watching.key_of(Principal(f"the {role}", role)))
    visitor.cookies.pop("jackpot-log-position")
    standby.catch_up()
    statuses = walk(visitor, most_of_a_view=2)

    assert {path: status for path, status in statuses.items() if status not in {200, 303}} == {}
    assert since(before)["answered"] > len(statuses)
    assert "broken-off" not in since(before)
    assert database_errors() == errors


def test_a_server_with_a_replica_serves_through_its_death(
    opening: Opening, standby: Standby, database: str, tmp_path: Any
) -> None:
    """`jackpot serve`, with workers and a job worker, as production runs it."""
    world = opening()
    world.open(base_amount="1000")
    keys = {role: world.key(role) for role in (Role.TABLE, Role.AUDITOR)}
    settings = {"JACKPOT_REPLICA_URL": standby.cluster.service_url(database)}
    with served(standby.primary.service_url(database), tmp_path / "log", settings=settings) as service:
        wait_until(lambda: state_of(service) == "in-use")
        with JackpotClient(service.base_url, keys[Role.TABLE]) as client:
            play(client, "first")
            standby.catch_up()
            wait_until(lambda: "Replica-Age" in listed(service, keys[Role.AUDITOR]).headers)
            job = begin_job(service, keys[Role.AUDITOR], "before")
            standby.kill()
            try:
                for number in range(5):
                    play(client, f"dead-{number}")
                    rounds = listed(service, keys[Role.AUDITOR]).json()["items"]
                    assert f"dead-{number}" in {round_["round_id"] for round_ in rounds}
                wait_until(lambda: state_of(service) == "away")
                another = begin_job(service, keys[Role.AUDITOR], "away")
                for each in (job, another):
                    wait_until(lambda each=each: job_state(service, keys[Role.AUDITOR], each) == "done")  # type: ignore[misc]
            finally:
                standby.start()
            wait_until(lambda: "Replica-Age" in listed(service, keys[Role.AUDITOR]).headers)
            play(client, "again")
        log = (tmp_path / "log").read_text()
    assert '"state": "away"' in log.replace('":"', '": "')
    assert "Traceback" not in log


def state_of(service: Service) -> str:
    """The replica's, as readiness has it, of whichever worker answers."""
    state: str = httpx.get(f"{service.base_url}/readyz", trust_env=False, timeout=5).json()["replica"]["state"]
    return state


def listed(service: Service, key: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx.get(f"{service.base_url}/v1/rounds?limit=200", headers=headers, trust_env=False, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer


def play(client: JackpotClient, name: str) -> None:
    bet = Bet(bet_id="b", player_id="p", currency="EUR", stake_minor=100)
    client.place_bets(table_id="T1", round_id=name, bets=[bet])
    hand = Hand(hand="1", cards=("2c", "3d", "4h", "7s", "9c"))
    client.put_result(table_id="T1", round_id=name, bet_count=1, hands=[hand])


def begin_job(service: Service, key: str, request_id: str) -> str:
    parameters = {"name": "rounds", "format": "csv", "section": "bets"}
    body = {"request_id": request_id, "kind": "report", "parameters": parameters}
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx.post(f"{service.base_url}/v1/jobs", json=body, headers=headers, trust_env=False, timeout=30)
    assert answer.status_code == 201, answer.text
    job_id: str = answer.json()["job_id"]
    return job_id


def job_state(service: Service, key: str, job_id: str) -> str:
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx.get(f"{service.base_url}/v1/jobs/{job_id}", headers=headers, trust_env=False, timeout=30)
    state: str = answer.json()["state"]
    assert state != "failed", answer.text
    return state
