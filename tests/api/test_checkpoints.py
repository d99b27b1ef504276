"""The last verification, seal and closed period over HTTP, and how far each jackpot's book is reconciled."""

import hashlib
from datetime import timedelta
from typing import Final

import pytest

from jackpot_service import signing
from jackpot_service.domain import seals
from jackpot_service.domain.principals import Role
from jackpot_service.ledger.verification import Reached
from jackpot_service.records import checkpoints
from jackpot_service.reports.reconciling import reconcile_next
from jackpot_service.signing import SigningKey
from jackpot_service.usecases.seal_books import SealBooks, seal_books
from tests.support import everything
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

KEY: Final[SigningKey] = signing.new_key()


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000", stripes=2)
    return world


def verify(world: World, *, is_whole: bool = True, entries: int = 7, continues: int | None = None) -> int:
    """Note where a verification stands; returns the number of the note."""
    reached = Reached({}, is_whole=is_whole, entries=entries, rounds=1, bets=2, awards=0)
    return world.transact(
        lambda session: checkpoints.add_verification(
            session,
            reached,
            begun_at=world.clock(),
            noted_at=world.clock(),
            service_version="1.2",
            continues=continues,
        )
    )


def seal(world: World) -> int:
    return world.transact(lambda session: seal_books(session, SealBooks(world.act(), KEY, "1.2"))).number


def test_books_that_nobody_looked_at_have_no_checkpoints(opened: World) -> None:
    shown = opened.get("/v1/checkpoints").ok()

    (book,) = shown.pop("books")
    assert shown == {
        "last_verification": None,
        "last_whole_verification": None,
        "last_seal": None,
        "last_closed_period": None,
    }
    assert (book["jackpot_id"], book["positions"], book["reconciled_to"]) == ("j1", [1, 0], None)


def test_the_last_checkpoint_of_each_kind_is_shown(opened: World) -> None:
    whole, under_way = verify(opened), verify(opened, is_whole=False, entries=3)
    seal(opened)
    sealed = seal(opened)
    everything.close_a_period(opened.engine, opened.clock())
    opened.bet(bet())
    opened.clock.advance(timedelta(days=2))
    while reconcile_next(opened.engine, now=opened.clock()):
        pass

    shown = opened.get("/v1/checkpoints").ok()

    assert shown["last_verification"] | {"begun_at": None, "noted_at": None} == {
        "number": under_way,
        "begun_at": None,
        "noted_at": None,
        "is_whole": False,
        "continues": None,
        "service_version": "1.2",
        "entries": 3,
        "rounds": 1,
        "bets": 2,
        "awards": 0,
    }
    assert shown["last_whole_verification"]["number"] == whole
    assert shown["last_seal"]["number"] == sealed
    assert shown["last_closed_period"]["from"] is None
    (book,) = shown["books"]
    assert (sum(book["positions"]), book["reconciled_to"]) == (2, "2026-11-20")


def test_verifications_are_listed_the_latest_first_in_pages(opened: World) -> None:
    numbers = [verify(opened, continues=None) for _ in range(3)]

    first = opened.get("/v1/verifications?limit=2").ok()
    second = opened.get(f"/v1/verifications?limit=2&after={first['next']}").ok()

    assert [seal["number"] for seal in (*first["items"], *second["items"])] == numbers[::-1]
    assert second["next"] is None
    opened.get("/v1/verifications?after=zzz").problem(422, "validation", "?after")


def test_a_seal_is_read_byte_by_byte_as_its_file_has_it(opened: World) -> None:
    for _ in range(3):
        seal(opened)
        opened.bet(bet(), round_id=f"r{opened.clock.at:%H%M%S}")

    listed = opened.get("/v1/seals").ok()["items"]
    contents = {seal["number"]: opened.get(f"/v1/seals/{seal['number']}").text.encode() for seal in listed}

    assert list(contents) == [3, 2, 1]
    for head in listed:
        content = contents[head["number"]]
        read = seals.read(content)
        assert head["sha256"] == hashlib.sha256(content).hexdigest()
        assert head["public_key_id"] == read.public_key_id == KEY.public.key_id
        assert head["public_key"] == KEY.public.raw.hex()
        assert read.sealed_at == head["booked_at"]
        assert KEY.public.signed(read.signed_bytes, read.signature)
        assert (read.previous is None) == (head["number"] == 1)
    assert opened.get("/v1/seals?limit=1").ok()["next"] is not None
    assert opened.get("/v1/seals/1").media_type == "application/json"


def test_the_heads_of_stripes_are_those_of_the_table_in_pages(opened: World) -> None:
    opened.open(jackpot_id="j2", base_amount="1000", stripes=3, tables=())
    opened.bet(bet())
    rows = opened.books.rows(
        "SELECT jackpot_id AS book, stripe_no AS stripe, seq, encode(head, 'hex') AS head FROM stripes ORDER BY 1, 2"
    )

    whole = opened.get("/v1/stripe-heads").ok()
    paged, after = [], ""
    while after is not None:
        part = opened.get(f"/v1/stripe-heads?limit=2{after}").ok()
        paged += part["items"]
        after = part["next"] and f"&after={part['next']}"

    assert whole["next"] is None
    assert whole["items"] == paged
    assert [{name: head[name] for name in ("book", "stripe", "seq", "head")} for head in paged] == [
        dict(row) for row in rows
    ]
    assert [head["book"] for head in paged] == ["-", *["j1"] * 2, *["j2"] * 3]
    opened.get("/v1/stripe-heads?after=zzz").problem(422, "validation", "?after")


@pytest.mark.parametrize("number", ["0", "9", "999999999999999999"])
def test_a_seal_that_is_not_there_is_unknown(opened: World, number: str) -> None:
    opened.get(f"/v1/seals/{number}").problem(404, "seal-unknown")


def test_checkpoints_are_the_houses(opened: World) -> None:
    seal(opened)
    of_casino = opened.key(Role.FINANCE, casino_id="c1")
    for path in ("/v1/checkpoints", "/v1/verifications", "/v1/stripe-heads", "/v1/verification-runs"):
        opened.get(path, key=of_casino).problem(403, "role-forbidden")
        for role in (Role.FINANCE, Role.OPERATOR, Role.AUDITOR):
            opened.get(path, role=role).ok()
        for role in set(Role) - {Role.FINANCE, Role.OPERATOR, Role.AUDITOR}:
            opened.get(path, role=role).problem(403, "role-forbidden")
    for path in ("/v1/seals", "/v1/seals/1"):
        for role in set(Role) - {Role.OPERATOR, Role.AUDITOR}:
            opened.get(path, role=role).problem(403, "role-forbidden")
        for role in (Role.OPERATOR, Role.AUDITOR):
            opened.get(path, role=role).ok()
