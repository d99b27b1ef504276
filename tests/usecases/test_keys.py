"""People and keys: a name is one person or machine, keys rotate by two, and nobody gets a second name that approves."""

from dataclasses import replace
from typing import Final

import pytest

from jackpot_service.domain import facts
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import (
    SYSTEM_OPERATOR,
    BadPrincipal,
    KeyForbidden,
    KeyLimitReached,
    Principal,
    PrincipalConflict,
    Role,
)
from jackpot_service.records import keys
from jackpot_service.records.keys import Subject
from jackpot_service.usecases.acts import Act, AlreadyExists, RequestConflict
from jackpot_service.usecases.keys import (
    KeyCreated,
    KeyRevoked,
    Revocation,
    UnknownKey,
    add_user,
    create_key,
    revoke_key,
)
from tests.support.bets import bet
from tests.support.world import World

pytestmark = pytest.mark.slow

ANN = Principal("Ann", Role.OPERATOR)
ISSUER = "https://sign-in.example"


def create(world: World, principal: Principal = ANN, *, by: Principal = SYSTEM_OPERATOR, **act: str) -> KeyCreated:
    done = Act(by, world.clock(), **act)
    return world.transact(lambda session: create_key(session, done, principal))


def revoke(world: World, key_id: str, **act: str) -> Revocation:
    done = Act(SYSTEM_OPERATOR, world.clock(), **act)
    return world.transact(lambda session: revoke_key(session, done, key_id))


def add(world: World, subject: str = "sub-1", principal: Principal = ANN, *, by: Principal = SYSTEM_OPERATOR) -> bool:
    done = Act(by, world.clock())
    return world.transact(lambda session: add_user(session, done, principal, Subject(ISSUER, subject))).is_new


def test_the_first_key_of_a_name_makes_the_principal_and_the_second_only_a_key(world: World) -> None:
    before = world.books.counts()
    create(world)
    create(world)
    after = world.books.counts()

    assert {table: after[table] - before[table] for table in ("principals", "keys", "acts")} == {
        "principals": 1,
        "keys": 2,
        "acts": 3,
    }
    assert world.books.mismatches() == ()


OTHERS: Final[tuple[Principal, ...]] = (
    replace(ANN, role=Role.RATES),
    replace(ANN, role=Role.FINANCE, casino_id="c1"),
    replace(ANN, is_automaton=True),
    replace(ANN, department="night-shift"),
    replace(ANN, name="ann"),
    replace(ANN, name="ANN"),
)


def test_a_name_stands_for_one_person_with_one_role(world: World, subtests: pytest.Subtests) -> None:
    create(world)

    for other in OTHERS:
        with subtests.test(other=other):
            before = world.books.counts()

            with pytest.raises(PrincipalConflict):
                create(world, other)

            assert world.books.counts() == before


@pytest.mark.parametrize(("name", "other"), [("Élise", "élise"), ("Иван", "ИВАН"), ("Strauß", "STRAUSS")])
def test_a_name_is_the_same_in_whatever_letters_of_whatever_alphabet(world: World, name: str, other: str) -> None:
    create(world, replace(ANN, name=name))

    with pytest.raises(PrincipalConflict):
        create(world, replace(ANN, name=other))


def test_a_server_of_a_casino_is_no_server_of_another(world: World) -> None:
    world.add_casino("c2")
    server = Principal("server", Role.TABLE, "c1")
    create(world, server)

    with pytest.raises(PrincipalConflict):
        create(world, replace(server, casino_id="c2"))


def test_which_tables_it_may_see_each_key_of_a_server_says(world: World) -> None:
    world.open(tables=("T1", "T2"))
    server = Principal("server", Role.TABLE, "c1")
    key = create(world, replace(server, table_ids=frozenset({"T1"}))).whole
    two = create(world, replace(server, table_ids=frozenset({"T2"}))).whole

    world.send("POST", "T1", "r1/bets", {"bets": [bet()]}, key=key).ok(201)
    world.send("POST", "T1", "r2/bets", {"bets": [bet()]}, key=two).problem(404, "table-unknown")


NO_NAMES: Final[tuple[str, ...]] = (
    "",
    " ",
    " Ann",
    "Ann ",
    "Ann  Bee",
    "Ann\tBee",
    "Ann\nBee",
    "Ann\0",
    "Ann\u200b",
    "Ann\u034f",
    "Ann\u1160",
    "Ann\u2800",
    "Ann\ufe0f",
    "Ann\U000e0100",
    "\uff21nn",
    "e\u0301ve",
    "x" * 101,
    "cli",
    "CLI",
    "\uff43li",
)


def test_a_name_that_could_be_taken_for_another_is_refused(world: World, subtests: pytest.Subtests) -> None:
    for name in NO_NAMES:
        with subtests.test(name=name):
            before = world.books.counts()

            with pytest.raises(BadPrincipal):
                create(world, replace(ANN, name=name))

            assert world.books.counts() == before


LOOK_ALIKES: Final[tuple[tuple[str, str], ...]] = (
    ("Ann", "\N{CYRILLIC CAPITAL LETTER A}nn"),
    ("Ann", "\N{GREEK CAPITAL LETTER ALPHA}NN"),
    ("Alice", "AIice"),
    ("Bob", "B0b"),
    ("Arne", "Ame"),
    ("Nina", "\N{GREEK CAPITAL LETTER NU}ina"),
    ("\N{CYRILLIC SMALL LETTER ES}\N{CYRILLIC SMALL LETTER O}n", "con"),
)


@pytest.mark.parametrize(("name", "other"), LOOK_ALIKES)
def test_a_name_that_looks_like_another_is_refused_and_its_own_gets_a_second_key(
    world: World, name: str, other: str
) -> None:
    create(world, replace(ANN, name=name))
    before = world.books.counts()

    with pytest.raises(PrincipalConflict):
        create(world, replace(ANN, name=other))
    with pytest.raises(PrincipalConflict):
        add(world, principal=replace(ANN, name=other))
    with pytest.raises(PrincipalConflict):  # Also where its key would approve nothing.
        create(world, Principal(other, Role.AUDITOR))

    assert world.books.counts() == before
    create(world, replace(ANN, name=name))


def test_names_that_differ_to_the_eye_are_different_people(world: World) -> None:
    for name in ("Ann", "Anna", "\xc1nn", "Anne", "An n", "Jan", "J\xe1n", "Jo", "Joe"):
        create(world, replace(ANN, name=name))


def test_what_looks_like_the_command_line_is_refused(world: World) -> None:
    with pytest.raises(PrincipalConflict):
        create(world, replace(ANN, name="c\N{CYRILLIC SMALL LETTER PALOCHKA}i"))


def test_a_name_in_letters_of_which_it_is_not_known_what_they_look_like_is_refused(world: World) -> None:
    with pytest.raises(BadPrincipal):
        create(world, replace(ANN, name="\N{CHEROKEE LETTER GO}nn"))


def test_keys_rotate_by_two_and_a_third_waits_for_a_revocation(world: World) -> None:
    old, new = create(world), create(world)
    with pytest.raises(KeyLimitReached):
        create(world)

    revoke(world, old.key_id, reason="rotated")

    third = create(world)
    assert [world.get("/v1/jackpots", key=key.whole).status for key in (old, new, third)] == [401, 200, 200]


def test_the_same_request_creates_one_key_and_its_secret_is_told_once(world: World) -> None:
    first = create(world, request_id="k1", reason="she began today")
    before = world.books.counts()
    again = create(world, request_id="k1", reason="she began today")

    assert (again.key_id, again.key) == (first.key_id, None)
    with pytest.raises(LookupError):
        _ = again.whole
    for other in (replace(ANN, name="Bea"), replace(ANN, role=Role.AUDITOR), replace(ANN, is_automaton=True)):
        with pytest.raises(RequestConflict):
            create(world, other, request_id="k1", reason="she began today")
    with pytest.raises(RequestConflict):
        create(world, request_id="k1", reason="another")
    assert world.books.counts() == before
    assert first.whole.split("_", 2)[2] not in repr(first)


def test_an_act_is_shown_without_the_hash_of_a_secret(world: World) -> None:
    created = create(world)

    (act,) = world.books.rows("SELECT after FROM acts WHERE subject = :key", key=f"key {created.key_id}")
    shown = facts.without_hashes(act["after"])

    assert act["after"]["secret_hash"] not in str(shown)
    assert {"secret_hash": act["after"]["secret_hash"], **shown} == act["after"]


def test_a_revocation_is_booked_at_its_time_and_the_same_again_changes_nothing(world: World) -> None:
    key_id = create(world).key_id
    done = revoke(world, key_id, request_id="v1", reason="it was lost")
    before = world.books.counts()

    again = revoke(world, key_id, request_id="v1", reason="it was lost")
    assert (again.is_replay, again.key.revoked_at) == (True, done.key.revoked_at)
    with pytest.raises(RequestConflict):
        revoke(world, key_id, request_id="v1", reason="another")
    with pytest.raises(KeyRevoked):
        revoke(world, key_id, request_id="v2", reason="it was lost")
    with pytest.raises(UnknownKey):
        revoke(world, "0a", request_id="v3", reason="it was lost")
    assert world.books.counts() == before
    assert world.books.mismatches() == ()


APPROVING = (Principal("Bob", Role.OPERATOR), Principal("Bob", Role.RATES), Principal("Bob", Role.FINANCE))
NOT_APPROVING = (
    Principal("Bob", Role.FINANCE, "c1"),
    Principal("Bob", Role.AUDITOR),
    Principal("Bob", Role.TABLE, "c1"),
    Principal("robot", Role.AUDITOR, is_automaton=True),
)


@pytest.mark.parametrize("principal", APPROVING, ids=str)
def test_nobody_creates_a_key_that_could_approve_but_the_machines_own_command_line(
    world: World, principal: Principal
) -> None:
    create(world)
    before = world.books.counts()

    with pytest.raises(KeyForbidden):
        create(world, principal, by=ANN)
    with pytest.raises(KeyForbidden):
        add(world, principal=principal, by=ANN)
    assert world.books.counts() == before

    create(world, principal)
    with pytest.raises(KeyForbidden):  # Nor a second key of somebody else: it would show its secret.
        create(world, principal, by=ANN)


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.FINANCE, Role.RATES])
def test_no_operator_creates_a_machine_that_asks_for_what_operators_may_approve(world: World, role: Role) -> None:
    """Whoever saw the machine's secret could ask under its name, and approve under the own one."""
    robot = Principal("robot", role, is_automaton=True)
    create(world)
    before = world.books.counts()

    with pytest.raises(KeyForbidden):
        create(world, robot, by=ANN)
    assert world.books.counts() == before

    create(world, robot)
    with pytest.raises(KeyForbidden):  # Nor a second key of it.
        create(world, robot, by=ANN)


def test_a_machine_of_an_operator_rotates_the_own_key(world: World) -> None:
    robot = Principal("robot", Role.OPERATOR, is_automaton=True)
    create(world, robot)

    assert create(world, robot, by=robot).key is not None


def test_somebody_who_approves_rotates_the_own_key(world: World) -> None:
    create(world)
    create(world, by=ANN)

    assert len(world.transact(lambda session: keys.live_ids(session, "Ann", of_subjects=False))) == 2


@pytest.mark.parametrize("principal", NOT_APPROVING, ids=str)
def test_one_operator_creates_any_key_that_gives_nobody_a_second_name(world: World, principal: Principal) -> None:
    create(world)

    assert create(world, principal, by=ANN).key is not None


def test_a_person_may_show_tokens_as_well_as_keys_and_stays_one_principal(world: World) -> None:
    create(world)

    assert add(world) is True
    assert add(world) is False
    (row,) = world.books.rows("SELECT count(*) AS people FROM principals WHERE name = 'Ann'")
    assert row["people"] == 1
    assert world.books.mismatches() == ()


def test_a_subject_is_one_person(world: World) -> None:
    add(world)

    with pytest.raises(AlreadyExists):
        add(world, principal=replace(ANN, name="Bea"))
    with pytest.raises(PrincipalConflict):
        add(world, "sub-2", replace(ANN, role=Role.RATES))


def test_a_subject_that_was_revoked_may_be_registered_anew(world: World) -> None:
    add(world)
    (key_id,) = world.transact(lambda session: keys.live_ids(session, "Ann", of_subjects=True))
    revoke(world, key_id, reason="left")

    assert add(world) is True
    assert world.books.mismatches() == ()


def test_a_subject_that_no_issuer_could_name_is_refused(world: World, subtests: pytest.Subtests) -> None:
    for subject in ("", " ", "x" * 256, "\xe9", "a\nb", "\0"):
        with subtests.test(subject=subject), pytest.raises(BadPrincipal):
            add(world, subject)


@pytest.mark.parametrize("account", [replace(ANN, is_automaton=True), Principal("server", Role.TABLE, "c1")], ids=str)
def test_service_accounts_show_keys_and_no_tokens(world: World, account: Principal) -> None:
    with pytest.raises(LedgerError, match="Tokens are for users"):
        add(world, principal=account)
