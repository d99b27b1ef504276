"""Health on a page: what readiness and metrics say, in words."""

from datetime import timedelta

import pytest

from jackpot_service import signing
from jackpot_service.domain.principals import Role
from jackpot_service.reports.reconciling import reconcile_next
from jackpot_service.usecases.seal_books import SealBooks, seal_books
from tests.support.page_text import content_of, links_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow


def shown(world: World, role: Role = Role.OPERATOR) -> str:
    answer = Visitor(world).sign_in(role).open("/health")
    assert answer.status == 200, answer.text
    return content_of(answer.text)


@pytest.mark.parametrize("role", [Role.FINANCE, Role.RATES])
def test_it_is_for_operators_and_auditors(world: World, role: Role) -> None:
    visitor = Visitor(world).sign_in(role)
    assert visitor.open("/health").status == 404
    assert "/health" not in links_of(visitor.open("/account").text)


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.AUDITOR])
def test_a_service_that_is_well_says_so_with_the_warnings_of_readyz(world: World, role: Role) -> None:
    world.open()
    page = shown(world, role)
    ready = world.call("GET", "/readyz", key=None).ok()
    assert ready["status"] == "ready"
    assert "takes bets" in page
    assert "Database primary It accepts entries." in page
    assert "Schema current" in page
    assert ready["warnings"]
    for warning in ready["warnings"]:
        assert warning in page
    assert f"Version {world.call('GET', '/v1/service', key=None).ok()['version']}" in page


def test_jobs_that_nobody_does_are_wrong(world: World) -> None:
    world.open(base_amount="1000")
    assert "Jobs idle 0 wait, 0 under way." in shown(world)
    world.ask_job({"jackpot_id": "j1", "format": "hledger"}).ok(201)
    assert "Jobs busy 1 wait, 0 under way." in shown(world)
    world.clock.advance(timedelta(minutes=20))
    page = shown(world)
    assert "Jobs not done 1 wait, 0 under way." in page
    assert "no job worker seems to run" in page
    world.runner().run_next()
    assert "Jobs idle" in shown(world)


def test_the_last_proof_and_the_last_seal_are_due_every_day(world: World) -> None:
    world.open(base_amount="1000")
    assert "Verification none yet" in shown(world)
    assert "Seal none yet" in shown(world)
    world.transact(lambda session: seal_books(session, SealBooks(world.act(), signing.new_key(), "1.2")))
    world.ask_job({"from": "zero"}, kind="verification").ok(201)
    world.runner().run_next()
    page = shown(world)
    assert "Seal of late The last is number 1." in page
    assert "Verification of late The last verification that ended found nothing wrong, from zero." in page
    world.clock.advance(timedelta(days=2))
    assert "Seal late The last is number 1." in shown(world)


def test_a_rate_sheet_that_is_old_and_days_that_wait_stand_out(world: World) -> None:
    world.open(base_amount="1000")
    assert "Rates of EUR in force" in shown(world)
    assert "No day waits to be reconciled." in shown(world)
    world.clock.advance(timedelta(days=4))
    page = shown(world)
    assert "Rates of EUR look into it" in page
    assert "The first day that waits began 4 days ago." in page


def test_days_that_wait_where_the_service_has_just_begun_are_not_late_yet(world: World) -> None:
    """As in a demo, whose first weeks were played within a minute."""
    world.open(base_amount="1000")
    world.clock.advance(timedelta(days=4))
    up_for_s = 0.0
    world.app = world.start(lambda: up_for_s)
    waits = "The first day that waits began 4 days ago."
    assert f"Reconciliation catching up {waits} None was read yet." in shown(world)

    up_for_s = 3660.0
    assert f"Reconciliation late {waits}" in shown(world)

    assert reconcile_next(world.engine, now=world.clock())
    assert f"Reconciliation catching up {waits} A part was read" in shown(world)

    world.clock.advance(timedelta(minutes=61))
    assert f"Reconciliation late {waits}" in shown(world)
