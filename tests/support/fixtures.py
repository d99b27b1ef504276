"""Fixtures of tests that use a world; a folder's conftest.py takes what it needs."""

from collections.abc import Iterator

import pytest

from tests.support.world import World


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """Give the test a world of its own."""
    world = World(database_url)
    yield world
    world.close()


@pytest.fixture(autouse=True)
def books_obey_their_laws(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test with a world: no law of the books is broken."""
    if "world" not in request.fixturenames:
        yield
        return
    world: World = request.getfixturevalue("world")
    yield
    broken = world.books.broken_laws()
    assert not broken, "\n".join(map(str, broken))


@pytest.fixture(autouse=True)
def books_verify(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test with a world: everything booked can be derived again; in `make quick`, no law is broken."""
    if "world" not in request.fixturenames:
        yield
        return
    world: World = request.getfixturevalue("world")
    yield
    look = world.books.broken_laws if request.config.getoption("--without-proof") else world.books.mismatches
    mismatches = look()
    assert not mismatches, "\n".join(map(str, mismatches))


@pytest.fixture(autouse=True)
def open_awards_follow(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test with a world: the table of open awards is as steps and payments say, and so is each meter."""
    if "world" not in request.fixturenames:
        yield
        return
    world: World = request.getfixturevalue("world")
    yield
    assert world.books.wrong_open_awards() == []
    for jackpot_id, (by_meter, by_awards) in world.books.payments_of_last_hits().items():
        assert by_meter is by_awards, jackpot_id
