"""What the replica lacks is no refusal: the primary decides, and answers the rest of a call that it has begun."""

import re
from functools import partial

import pytest

from jackpot_service.domain.principals import Role
from tests.replica.worlds import outcomes, passing_over_once, play, replica_of, since, wait_until_in_use
from tests.support.standby import Standby
from tests.support.visitor import Visitor
from tests.support.world import World


def open_what_is_new(world: World) -> None:
    world.add_casino("c9")
    world.open(jackpot_id="j9", tables=("T9",), base_amount="100")


@pytest.mark.parametrize(
    "path",
    [
        "/v1/reports/awards?casino_id=c9",
        "/v1/reports/awards?jackpot_id=j9",
        "/v1/jackpots/j9/hits",
        "/v1/jackpots/j9/feed",
        "/jackpots/j9/hits",
        "/finance?jackpot=j9",
        "/finance/hits?jackpot=j9",
    ],
)
def test_what_is_new_is_found_however_far_the_replica_is_behind(world: World, standby: Standby, path: str) -> None:
    standby.catch_up()
    visitor = Visitor(world).sign_in(Role.FINANCE)
    ask = partial(world.get, role=Role.FINANCE) if path.startswith("/v1") else partial(visitor.open, **PART)
    with standby.paused():
        open_what_is_new(world)
        answer = ask(path)
        before = outcomes()
        missing = ask(path.replace("j9", "j8").replace("c9", "c8"))

    assert answer.status == 200, answer.text
    assert missing.status == 404
    assert "Replica-Age" not in missing.headers or not path.startswith("/v1")  # A page has more to show than a refusal.
    assert since(before).keys() <= {"answered", "refused"}
    wait_until_in_use(world)


PART = {"HX-Request": "true"}


def test_a_job_about_what_is_new_is_done(world: World, standby: Standby) -> None:
    play(world)
    standby.catch_up()
    with standby.paused():
        open_what_is_new(world)
        parameters = {"name": "awards", "format": "csv", "section": "awards", "casino_id": "c9"}
        job = world.ask_job(parameters, kind="report").ok(201)
        world.runner(replica=replica_of(world)).run_next()
        assert world.get(f"/v1/jobs/{job['job_id']}").ok()["state"] == "done"
    wait_until_in_use(world)


def test_a_call_waits_once_for_a_replica_that_does_not_come(world: World, standby: Standby) -> None:
    """From then on the primary answers all of it, though a page reads many things."""
    visitor = Visitor(world).sign_in(Role.OPERATOR)
    standby.catch_up()
    with standby.paused():
        new = "/set-up/casinos/new"
        request_id = re.search(r'name="request_id" value="([^"]+)"', visitor.open(new).text)
        assert request_id is not None
        form = {"casino_id": "c2", "name": "Two", "zone": "UTC", "day_starts": "00:00", "reason": "new"}
        assert visitor.submit(new, {**form, "request_id": request_id[1]}).status == 303
        for path in ("/floor", "/changes", "/awards", "/set-up/casinos"):
            before = outcomes()
            assert visitor.open(path).status == 200
            assert since(before) == {"not-reached": 1}
    wait_until_in_use(world)


def test_a_page_does_not_go_back_to_a_replica_that_lacks_what_it_has_read(
    world: World, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first reading is broken off there, and finds a jackpot at the primary; the next would find none."""
    visitor = Visitor(world).sign_in(Role.FINANCE)
    standby.catch_up()
    visitor.cookies.pop("jackpot-log-position", None)
    with standby.paused():
        world.open(jackpot_id="a2", tables=("T9",), base_amount="100")
        replica = replica_of(world)
        monkeypatch.setattr(replica, "require", passing_over_once(replica))
        before = outcomes()
        page = visitor.open("/finance")

    assert page.status == 200
    assert "Read from a replica" not in page.text
    assert since(before) == {"behind": 1}
    wait_until_in_use(world)
