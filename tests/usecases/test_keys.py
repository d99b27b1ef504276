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
    add_person,
    create_key,
    revoke_key,
)
from tests.support.bets import bet
from tests.support.house import House

ANN = Principal("Ann", Role.OPERATOR)
ISSUER = "https://sign-in.example"


def create(house: House, principal: Principal = ANN, *, by: Principal = SYSTEM_OPERATOR, **act: str) -> KeyCreated:
    done = Act(by, house.clock(), **act)
    return house.transact(lambda session: create_key(session, done, principal))


def revoke(house: House, key_id: str, **act: str) -> Revocation:
    done = Act(SYSTEM_OPERATOR, house.clock(), **act)
    return house.transact(lambda session: revoke_key(session, done, key_id))


def add(house: House, subject: str = "sub-1", principal: Principal = ANN, *, by: Principal = SYSTEM_OPERATOR) -> bool:
    done = Act(by, house.clock())
    return house.transact(lambda session: add_person(session, done, principal, Subject(ISSUER, subject)))


def test_the_first_key_of_a_name_makes_the_principal_and_the_second_only_a_key(house: House) -> None:
    before = house.books.counts()
    create(house)
    create(house)
    after = house.books.counts()

    assert {table: after[table] - before[table] for table in ("principals", "keys", "acts")} == {
        "principals": 1,
        "keys": 2,
        "acts": 3,
    }
    assert house.books.mismatches() == ()


OTHERS: Final[tuple[Principal, ...]] = (
    replace(ANN, role=Role.RATES),
    replace(ANN, role=Role.FINANCE, casino_id="c1"),
    replace(ANN, is_automaton=True),
    replace(ANN, name="ann"),
    replace(ANN, name="ANN"),
)


def test_a_name_stands_for_one_person_with_one_role(house: House, subtests: pytest.Subtests) -> None:
    create(house)

    for other in OTHERS:
        with subtests.test(other=other):
            before = house.books.counts()

            with pytest.raises(PrincipalConflict):
                create(house, other)

            assert house.books.counts() == before


@pytest.mark.parametrize(("name", "other"), [("Élise", "élise"), ("Иван", "ИВАН"), ("Strauß", "STRAUSS")])
def test_a_name_is_the_same_in_whatever_letters_of_whatever_alphabet(house: House, name: str, other: str) -> None:
    create(house, replace(ANN, name=name))

    with pytest.raises(PrincipalConflict):
        create(house, replace(ANN, name=other))


def test_a_server_of_a_casino_is_no_server_of_another(house: House) -> None:
    house.add_casino("c2")
    server = Principal("server", Role.TABLE, "c1")
    create(house, server)

    with pytest.raises(PrincipalConflict):
        create(house, replace(server, casino_id="c2"))


def test_which_tables_it_may_see_each_key_of_a_server_says(house: House) -> None:
    house.open(tables=("T1", "T2"))
    server = Principal("server", Role.TABLE, "c1")
    one = create(house, replace(server, table_ids=frozenset({"T1"}))).whole
    two = create(house, replace(server, table_ids=frozenset({"T2"}))).whole

    house.send("POST", "T1", "r1/bets", {"bets": [bet()]}, key=one).ok(201)
    house.send("POST", "T1", "r2/bets", {"bets": [bet()]}, key=two).problem(404, "table-unknown")


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


def test_a_name_that_could_be_taken_for_another_is_refused(house: House, subtests: pytest.Subtests) -> None:
    for name in NO_NAMES:
        with subtests.test(name=name):
            before = house.books.counts()

            with pytest.raises(BadPrincipal):
                create(house, replace(ANN, name=name))

            assert house.books.counts() == before


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
    house: House, name: str, other: str
) -> None:
    create(house, replace(ANN, name=name))
    before = house.books.counts()

    with pytest.raises(PrincipalConflict):
        create(house, replace(ANN, name=other))
    with pytest.raises(PrincipalConflict):
        add(house, principal=replace(ANN, name=other))
    with pytest.raises(PrincipalConflict):  # Also where its key would approve nothing.
        create(house, Principal(other, Role.AUDITOR))

    assert house.books.counts() == before
    create(house, replace(ANN, name=name))


def test_names_that_differ_to_the_eye_are_different_people(house: House) -> None:
    for name in ("Ann", "Anna", "\xc1nn", "Anne", "An n", "Jan", "J\xe1n", "Jo", "Joe"):
        create(house, replace(ANN, name=name))


def test_what_looks_like_the_command_line_is_refused(house: House) -> None:
    with pytest.raises(PrincipalConflict):
        create(house, replace(ANN, name="c\N{CYRILLIC SMALL LETTER PALOCHKA}i"))


def test_a_name_in_letters_of_which_it_is_not_known_what_they_look_like_is_refused(house: House) -> None:
    with pytest.raises(BadPrincipal):
        create(house, replace(ANN, name="\N{CHEROKEE LETTER GO}nn"))


def test_keys_rotate_by_two_and_a_third_waits_for_a_revocation(house: House) -> None:
    old, new = create(house), create(house)
    with pytest.raises(KeyLimitReached):
        create(house)

    revoke(house, old.key_id, reason="rotated")

    third = create(house)
    assert [house.get("/v1/jackpots", key=key.whole).status for key in (old, new, third)] == [401, 200, 200]


def test_the_same_request_creates_one_key_and_its_secret_is_told_once(house: House) -> None:
    first = create(house, request_id="k1", reason="she began today")
    before = house.books.counts()
    again = create(house, request_id="k1", reason="she began today")

    assert (again.key_id, again.key) == (first.key_id, None)
    with pytest.raises(LookupError):
        _ = again.whole
    for other in (replace(ANN, name="Bea"), replace(ANN, role=Role.AUDITOR), replace(ANN, is_automaton=True)):
        with pytest.raises(RequestConflict):
            create(house, other, request_id="k1", reason="she began today")
    with pytest.raises(RequestConflict):
        create(house, request_id="k1", reason="another")
    assert house.books.counts() == before
    assert first.whole.split("_", 2)[2] not in repr(first)


def test_an_act_is_shown_without_the_hash_of_a_secret(house: House) -> None:
    created = create(house)

    (act,) = house.books.rows("SELECT after FROM acts WHERE subject = :key", key=f"key {created.key_id}")
    shown = facts.without_hashes(act["after"])

    assert act["after"]["secret_hash"] not in str(shown)
    assert {"secret_hash": act["after"]["secret_hash"], **shown} == act["after"]


def test_a_revocation_is_booked_at_its_time_and_the_same_again_changes_nothing(house: House) -> None:
    key_id = create(house).key_id
    done = revoke(house, key_id, request_id="v1", reason="it was lost")
    before = house.books.counts()

    again = revoke(house, key_id, request_id="v1", reason="it was lost")
    assert (again.is_replay, again.key.revoked_at) == (True, done.key.revoked_at)
    with pytest.raises(RequestConflict):
        revoke(house, key_id, request_id="v1", reason="another")
    with pytest.raises(KeyRevoked):
        revoke(house, key_id, request_id="v2", reason="it was lost")
    with pytest.raises(UnknownKey):
        revoke(house, "0a", request_id="v3", reason="it was lost")
    assert house.books.counts() == before
    assert house.books.mismatches() == ()


APPROVING = (Principal("Bob", Role.OPERATOR), Principal("Bob", Role.RATES))
NOT_APPROVING = (
    Principal("Bob", Role.FINANCE),
    Principal("Bob", Role.AUDITOR),
    Principal("Bob", Role.TABLE, "c1"),
    Principal("robot", Role.RATES, is_automaton=True),
)


@pytest.mark.parametrize("principal", APPROVING, ids=str)
def test_nobody_creates_a_key_that_could_approve_but_the_machines_own_command_line(
    house: House, principal: Principal
) -> None:
    create(house)
    before = house.books.counts()

    with pytest.raises(KeyForbidden):
        create(house, principal, by=ANN)
    with pytest.raises(KeyForbidden):
        add(house, principal=principal, by=ANN)
    assert house.books.counts() == before

    create(house, principal)
    with pytest.raises(KeyForbidden):  # Nor a second key of somebody else: it would show its secret.
        create(house, principal, by=ANN)


def test_no_operator_creates_a_machine_that_asks_for_what_operators_approve(house: House) -> None:
    """It could ask under the machine's name, whose secret it has seen, and approve under its own."""
    robot = Principal("robot", Role.OPERATOR, is_automaton=True)
    create(house)
    before = house.books.counts()

    with pytest.raises(KeyForbidden):
        create(house, robot, by=ANN)
    assert house.books.counts() == before

    create(house, robot)
    with pytest.raises(KeyForbidden):  # Nor a second key of it.
        create(house, robot, by=ANN)
    assert create(house, robot, by=robot).key is not None


def test_somebody_who_approves_rotates_the_own_key(house: House) -> None:
    create(house)
    create(house, by=ANN)

    assert len(house.transact(lambda session: keys.live_ids(session, "Ann", of_subjects=False))) == 2


@pytest.mark.parametrize("principal", NOT_APPROVING, ids=str)
def test_one_operator_creates_any_key_that_gives_nobody_a_second_name(house: House, principal: Principal) -> None:
    create(house)

    assert create(house, principal, by=ANN).key is not None


def test_a_person_may_show_tokens_as_well_as_keys_and_stays_one_principal(house: House) -> None:
    create(house)

    assert add(house) is True
    assert add(house) is False
    (found,) = house.books.rows("SELECT count(*) AS people FROM principals WHERE name = 'Ann'")
    assert found["people"] == 1
    assert house.books.mismatches() == ()


def test_a_subject_is_one_person(house: House) -> None:
    add(house)

    with pytest.raises(AlreadyExists):
        add(house, principal=replace(ANN, name="Bea"))
    with pytest.raises(PrincipalConflict):
        add(house, "sub-2", replace(ANN, role=Role.RATES))


def test_a_subject_that_was_revoked_may_be_registered_anew(house: House) -> None:
    add(house)
    (key_id,) = house.transact(lambda session: keys.live_ids(session, "Ann", of_subjects=True))
    revoke(house, key_id, reason="left")

    assert add(house) is True
    assert house.books.mismatches() == ()


def test_a_subject_that_no_issuer_could_name_is_refused(house: House, subtests: pytest.Subtests) -> None:
    for subject in ("", " ", "x" * 256, "\xe9", "a\nb", "\0"):
        with subtests.test(subject=subject), pytest.raises(BadPrincipal):
            add(house, subject)


@pytest.mark.parametrize("machine", [replace(ANN, is_automaton=True), Principal("server", Role.TABLE, "c1")], ids=str)
def test_machines_show_keys_and_no_tokens(house: House, machine: Principal) -> None:
    with pytest.raises(LedgerError, match="Tokens are for people"):
        add(house, principal=machine)
