"""Fixtures of tests that use a house; a folder's conftest.py takes what it needs."""

from collections.abc import Iterator

import pytest

from tests.support.house import House


@pytest.fixture
def house(database_url: str) -> Iterator[House]:
    """Give the test a house of its own."""
    house = House(database_url)
    yield house
    house.engine.dispose()


@pytest.fixture(autouse=True)
def books_obey_their_laws(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test with a house: no law of the books is broken."""
    if "house" not in request.fixturenames:
        yield
        return
    house: House = request.getfixturevalue("house")
    yield
    broken = house.books.broken_laws()
    assert not broken, "\n".join(map(str, broken))


@pytest.fixture(autouse=True)
def books_verify(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test with a house: everything booked can be derived again; in `make quick`, no law is broken."""
    if "house" not in request.fixturenames:
        yield
        return
    house: House = request.getfixturevalue("house")
    yield
    look = house.books.broken_laws if request.config.getoption("--without-proof") else house.books.mismatches
    mismatches = look()
    assert not mismatches, "\n".join(map(str, mismatches))
