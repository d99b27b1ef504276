"""Lists and reports are read at a standby, which may be behind; answers say so, and a caller reads its own."""

import re
import threading
from dataclasses import replace
from decimal import Decimal

import psycopg
import pytest

from jackpot_service.database import replica
from jackpot_service.domain.principals import Role
from jackpot_service.reports.finance.registry import REPORTS
from tests.replica.worlds import (
    LONGEST_WAIT_S,
    Opening,
    outcomes,
    play,
    replica_of,
    send,
    since,
    state,
    tables,
    wait_until,
    wait_until_in_use,
)
from tests.support import equations
from tests.support.bets import bet
from tests.support.drivers import round_trips, warm
from tests.support.finance_pages import PANELS
from tests.support.shown_reports import over_http
from tests.support.standby import Standby
from tests.support.visitor import Visitor
from tests.support.world import World

SOON_STALE_S = 1.0


def test_a_list_is_read_at_the_replica_and_says_how_old_it_is(world: World, standby: Standby) -> None:
    with standby.paused():
        world.add_table("T2", jackpot_id="j1")
        listed = world.get("/v1/tables")

    assert tables(listed) == ["T1"]
    assert 0 < float(listed.headers["Replica-Age"]) <= world.config.replica_stale_after_s
    wait_until(lambda: tables(world.get("/v1/tables")) == ["T1", "T2"])


def test_a_single_thing_is_read_at_the_primary(world: World, standby: Standby) -> None:
    with standby.paused():
        world.add_table("T2", jackpot_id="j1")
        shown = world.get("/v1/tables/T2")

    assert shown.ok()["table_id"] == "T2"
    assert "Replica-Age" not in shown.headers


def test_a_replica_that_is_further_behind_than_is_allowed_is_not_read(opening: Opening, standby: Standby) -> None:
    world = opening(replica_stale_after_s=SOON_STALE_S)
    visitor = Visitor(world).sign_in(Role.AUDITOR)
    with standby.paused():
        world.add_table("T2")
        wait_until(lambda: state(world) is replica.ReplicaState.BEHIND)
        before = outcomes()
        listed = world.get("/v1/tables")
        assert since(before) == {"behind": 1}
        ready = world.call("GET", "/readyz", key=None).ok()
        metrics = world.get("/metrics").text
        health = visitor.open("/health").text

    assert tables(listed) == ["T2"]
    assert "Replica-Age" not in listed.headers
    assert (ready["status"], ready["replica"]["state"]) == ("ready", "behind")
    assert ready["replica"]["lag_s"] > Decimal("1.0")
    assert "The replica is behind: lists, reports and feeds are read at the primary." in ready["warnings"]
    assert "jackpot_replica_in_use 0.0" in metrics
    lag = re.search(r"^jackpot_replica_lag_seconds (\S+)$", metrics, re.MULTILINE)
    assert lag is not None
    assert float(lag[1]) > SOON_STALE_S
    assert "Lists, reports and feeds are read at the primary." in health
    wait_until_in_use(world)
    replica_of(world)._stale_after_s = LONGEST_WAIT_S  # From here on it is not late because the machine is busy.
    wait_until_in_use(world)
    assert "Lists, reports and feeds are read there." in visitor.open("/health").text
    assert "Replica-Age" in world.get("/v1/tables").headers
    assert "jackpot_replica_in_use 1.0" in world.get("/metrics").text


def test_a_caller_reads_what_it_wrote_by_the_position_of_the_answer(
    world: World, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The primary answers if the replica does not come so far in time; else the replica does, which is waited for."""
    body = {"table_id": "T2", "casino_id": "c1", "game": "caribbean-stud", "jackpot_id": "j1"}
    new = {**body, "request_id": "t2", "reason": "new"}
    with standby.paused():
        answer = send(world, "POST", "/v1/tables", new, world.key(Role.OPERATOR), **{"Want-Log-Position": "1"})
        answer.ok(201)
        position = {"Log-Position": answer.headers["Log-Position"]}
        assert tables(world.get("/v1/tables")) == ["T1"]
        before = outcomes()
        by_primary = world.get("/v1/tables", headers=position)
        assert since(before) == {"not-reached": 1}
        monkeypatch.setattr(replica, "LONGEST_WAIT_S", 60)
        resuming = threading.Timer(0.1, standby.resume)
        resuming.start()
        by_replica = world.get("/v1/tables", headers=position)
        resuming.join()

    assert tables(by_primary) == tables(by_replica) == ["T1", "T2"]
    assert "Replica-Age" not in by_primary.headers
    assert "Replica-Age" in by_replica.headers


def test_bets_have_a_position_for_a_caller_that_wants_it_and_take_no_round_trip_more_for_any_other(
    world: World,
) -> None:
    def post(round_id: str, **headers: str) -> None:
        path = f"/v1/tables/T1/rounds/{round_id}/bets"
        answer = send(world, "POST", path, {"bets": [bet()]}, world.key(Role.TABLE), **headers)
        answer.ok(201)
        positions.append(answer.headers.get("Log-Position"))

    positions: list[str | None] = []
    warm(world)
    before = outcomes()
    assert round_trips(world, lambda: post("plain")) == 2  # As without a replica: tests/usecases/test_round_trips.py.
    post("wants", **{"Want-Log-Position": "1"})

    assert since(before) == {}
    assert positions[0] is None
    assert positions[1] is not None
    rounds = world.get("/v1/rounds?table_id=T1", headers={"Log-Position": positions[1]}).ok()["items"]
    assert {round_["round_id"] for round_ in rounds} == {"before", "plain", "wants"}


def test_a_position_that_no_answer_had_is_refused(world: World) -> None:
    refused = world.get("/v1/tables", headers={"Log-Position": "0/16B3748"})

    assert refused.problem(422, "validation")["errors"][0]["parameter"] == "Log-Position"


def test_a_refused_call_and_a_look_have_no_position(world: World) -> None:
    wants = {"Want-Log-Position": "1"}

    assert "Log-Position" not in send(world, "POST", "/v1/tables", {}, world.key(Role.OPERATOR), **wants).headers
    assert "Log-Position" not in world.get("/v1/tables", headers=wants).headers


def test_a_browser_that_sent_a_form_shows_what_was_written(world: World, standby: Standby) -> None:
    new = "/set-up/casinos/new"
    visitor, colleague = (Visitor(world).sign_in(Role.OPERATOR) for _ in range(2))
    standby.catch_up()
    with standby.paused():
        request_id = re.search(r'name="request_id" value="([^"]+)"', visitor.open(new).text)
        assert request_id is not None
        form = {"casino_id": "c2", "name": "Two", "zone": "UTC", "day_starts": "00:00", "reason": "new"}
        assert visitor.submit(new, {**form, "request_id": request_id[1]}).status == 303
        own, seen = visitor.open("/set-up/casinos"), colleague.open("/set-up/casinos")

    assert "/casinos/c2" in own.text
    assert "Read from a replica" not in own.text
    assert "/casinos/c2" not in seen.text
    assert "Read from a replica, at most" in seen.text


def test_a_browser_shows_what_was_written_though_nobody_could_say_how_far_the_log_went(
    world: World, standby: Standby, database: str
) -> None:
    """The position of the form before it would be reached, and lack what this one wrote."""
    new = "/set-up/casinos/new"
    visitor = Visitor(world).sign_in(Role.OPERATOR)

    def add(casino_id: str) -> None:
        request_id = re.search(r'name="request_id" value="([^"]+)"', visitor.open(new).text)
        assert request_id is not None
        form = {"casino_id": casino_id, "name": casino_id, "zone": "UTC", "day_starts": "00:00", "reason": "new"}
        assert visitor.submit(new, {**form, "request_id": request_id[1]}).status == 303

    add("c2")
    with standby.paused():
        with psycopg.connect(standby.primary.conninfo(database), autocommit=True) as administrator:
            administrator.execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
        assert "/casinos/c2" in visitor.open("/set-up/casinos").text
        add("c3")
        own = visitor.open("/set-up/casinos")

    assert "/casinos/c3" in own.text
    assert "Read from a replica" not in own.text


def test_a_revoked_key_is_refused_at_once_however_far_the_replica_is_behind(world: World, standby: Standby) -> None:
    key = world.person("Rita", Role.AUDITOR)
    assert world.get("/v1/tables", key=key).status == 200
    known_to, world.app = world.app, world.start()  # Another process, which has not seen the key.
    wait_until_in_use(world)
    with standby.paused():
        revoking = {"request_id": "rev", "reason": "left"}
        send(world, "POST", f"/v1/keys/{key.split('_')[1]}/revocation", revoking, world.key(Role.OPERATOR)).ok(201)
        listed, refused = world.get("/v1/tables"), world.get("/v1/tables", key=key)
        replica_of(world).close()
        world.app = known_to

    assert "Replica-Age" in listed.headers
    assert refused.status == 401


def test_a_report_is_read_at_the_replica_once_its_instant_is_fixed_there_too(world: World, standby: Standby) -> None:
    """It is fixed at the primary, which alone can keep anything from being booked before it."""
    play(world)
    client, key = world.app.test_client(), world.key(Role.FINANCE)
    now = world.clock()
    standby.catch_up()
    with standby.paused():
        before = outcomes()
        by_primary = over_http(client, key, "trial-balance", end=now)
        assert since(before) == {"answered": 1, "not-reached": 1}  # Its parameters were found at the replica.

    standby.catch_up()
    wait_until_in_use(world)
    with standby.paused():
        play(world, "later")
        before = outcomes()
        assert over_http(client, key, "trial-balance", end=now) == by_primary
        assert since(before) == {"answered": 2}


def test_every_report_is_the_same_from_the_replica_as_from_the_primary(world: World, standby: Standby) -> None:
    play(world)
    key, now = world.key(Role.FINANCE), world.clock()
    client = world.app.test_client()
    world.config = replace(world.config, replica_url=None)
    alone = world.start().test_client()
    standby.catch_up()
    before, shown = outcomes(), {}
    for name in REPORTS:
        by_primary = over_http(alone, key, name, end=now)
        standby.catch_up()
        shown[name] = over_http(client, key, name, end=now)
        assert shown[name] == by_primary

    assert since(before) == {"answered": 2 * len(REPORTS)}
    equations.require_one_balance({name: report.rows for name, report in shown.items()})


def test_panels_as_of_now_are_the_same_as_at_the_primary_though_the_replica_has_not_come_so_far(
    world: World, standby: Standby
) -> None:
    play(world)
    visitor = Visitor(world).sign_in(Role.FINANCE)
    world.config = replace(world.config, replica_url=None)
    alone = Visitor(world, app=world.start()).sign_in(Role.FINANCE)
    standby.catch_up()
    with standby.paused():
        play(world, "later")
        as_of = f"{world.clock():%Y-%m-%dT%H:%M:%S.000000Z}"
        for name in PANELS:
            address = f"/finance/{name}?jackpot=j1&days=1&as_of={as_of}"
            by_either = [each.open(address, **{"HX-Request": "true"}) for each in (visitor, alone)]
            assert [answer.status for answer in by_either] == [200, 200]
            assert by_either[0].text == by_either[1].text


def test_an_hour_without_a_commit_is_no_lag(world: World, standby: Standby) -> None:
    """A replica's last replayed transaction would be an hour old; what counts is that it has all there is."""
    standby.catch_up()
    passed_s = [0.0]
    watched = replica_of(world)
    idle = replica.Replica(
        watched.engine,
        watched=watched._watched,
        primary=watched._primary,
        stale_after_s=SOON_STALE_S,
        monotonic=lambda: passed_s[0],
    )
    for hour in range(3):
        passed_s[0] = 3600.0 * hour
        assert idle.look().lag_s == 0.0

    with standby.paused():
        world.add_table("T2")
        passed_s[0] += 0.5
        idle.look()
        passed_s[0] += 0.4
        assert (idle.look().state, idle.last.lag_s) == (replica.ReplicaState.IN_USE, 0.9)
        passed_s[0] += 0.2
        assert (idle.look().state, idle.last.lag_s) == (replica.ReplicaState.BEHIND, 1.1)
