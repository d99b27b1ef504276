"""What the walls around the four eyes stand in: a world with changes to decide, and the application's login."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import psycopg
import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.bets import bet
from tests.support.hands import FOUR_OF_A_KIND, hand
from tests.support.logins import owner_conninfo
from tests.support.payouts import held_from
from tests.support.world import World

APPLICATION: Final = "jackpot_app"

OLGA: Final = Principal("Olga", Role.OPERATOR, department="night-shift")

LONG_AGO: Final = datetime(2020, 1, 1, tzinfo=UTC)

ADD_PRINCIPAL: Final = """
INSERT INTO principals (name, role, is_automaton, department, entry_seq) VALUES (%s, 'operator', false, 'operator', 1)
"""

HELD: Final = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"}


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """
    Furnish a world where Ann asked for held awards to be approved (`held`), and to be rejected (`rejection`).

    Olga, of another department, made a key of the server that played the round of the held awards.
    """
    world = World(database_url)
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250")})
    payload = {"principal": "a table", "role": "table", "casino_id": "c1", "request_id": "k1", "reason": "rotated"}
    world.post("/v1/keys", payload, key=world.key_of(OLGA)).ok(201)
    world.bet(bet("a"))
    world.settle(hand("1", FOUR_OF_A_KIND))
    world.ask("held-awards", HELD, request_id="held").ok(201)
    world.ask("held-awards", HELD | {"decision": "reject"}, request_id="rejection").ok(201)
    world.person("Otto", Role.FINANCE)
    world.person("Oskar", Role.OPERATOR)
    world.key_of(Principal("robot", Role.FINANCE, is_automaton=True))
    world.key_of(Principal("Carl", Role.FINANCE, "c1"))
    world.person("Rita", Role.RATES)
    yield world
    world.close()


@pytest.fixture
def application(world: World) -> Iterator[psycopg.Connection[Any]]:
    """Connect as the application's role does."""
    with psycopg.connect(world.database_url.replace("+psycopg", "")) as connection:
        connection.execute(f"SET ROLE {APPLICATION}")
        connection.commit()
        yield connection
        connection.rollback()


def have_olga_make_a_key_of_otto(world: World) -> None:
    """By plain SQL: by the service she makes none of an operator."""
    making = """
        INSERT INTO keys (key_id, secret_hash, principal, table_ids, entry_seq)
        SELECT '0b', sha256('0b'), 'Otto', '{}', max(seq) FROM entries WHERE jackpot_id = '-' AND principal = 'Olga'
    """
    with psycopg.connect(owner_conninfo(world.database_url)) as owner:
        owner.execute(making)
