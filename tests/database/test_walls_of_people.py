"""The walls around the four eyes, which the schema builds: what the database itself refuses, asked by plain SQL."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import psycopg
import pytest
from psycopg import errors

from jackpot_service.domain.principals import NAME_LETTERS, BadPrincipal, Principal, Role, require_legible
from jackpot_service.usecases.changes.registry import KINDS
from tests.support.bets import bet
from tests.support.hands import FOUR_OF_A_KIND, forfeited, hand
from tests.support.logins import owner_conninfo
from tests.support.payouts import held_from
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = pytest.mark.long

APPLICATION: Final = "jackpot_app"

DECIDE: Final = """
INSERT INTO change_decisions (request_id, maker, checker, outcome, reason, confirmed, is_emergency, is_final,
                              decided_at, entry_seq)
VALUES (%s, 'Ann', %s, %s, 'checked', '{}', %s, %s, coalesce(%s, now()), 1)
"""

SET_APPROVALS_DUE: Final = "UPDATE change_requests SET approvals_due = {} WHERE request_id = 'held'"

LONG_AGO: Final = datetime(2020, 1, 1, tzinfo=UTC)

ADD_PRINCIPAL: Final = "INSERT INTO principals (name, role, is_automaton, entry_seq) VALUES (%s, 'operator', false, 1)"

HELD: Final = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"}


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """
    Furnish a world where Ann asked for held awards to be approved (`held`), and to be rejected (`rejection`).

    Olga made a key of the server that played the round of the held awards.
    """
    world = World(database_url)
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250")})
    asked = {"principal": "a table", "role": "table", "casino_id": "c1", "request_id": "k1", "reason": "rotated"}
    world.post("/v1/keys", asked, key=world.person("Olga", Role.OPERATOR)).ok(201)
    world.bet(bet("a"))
    world.settle(hand("1", FOUR_OF_A_KIND))
    world.ask("held-awards", HELD, request_id="held").ok(201)
    world.ask("held-awards", HELD | {"decision": "reject"}, request_id="rejection").ok(201)
    world.person("Otto", Role.OPERATOR)
    world.key_of(Principal("robot", Role.OPERATOR, is_automaton=True))
    world.key(Role.FINANCE)
    world.person("Rita", Role.RATES)
    yield world
    world.engine.dispose()


@pytest.fixture
def application(world: World) -> Iterator[psycopg.Connection[Any]]:
    """Connect as the application's role does."""
    with psycopg.connect(world.database_url.replace("+psycopg", "")) as connection:
        connection.execute(f"SET ROLE {APPLICATION}")
        connection.commit()
        yield connection
        connection.rollback()


def decide(
    connection: psycopg.Connection[Any],
    checker: str,
    *,
    request_id: str = "held",
    outcome: str = "approved",
    is_emergency: bool = False,
    is_final: bool = True,
    decided_at: datetime | None = None,
) -> None:
    """Decide what Ann asked for, by plain SQL, and take it back."""
    try:
        connection.execute(DECIDE, [request_id, checker, outcome, is_emergency, is_final, decided_at])
    finally:
        connection.rollback()


def test_the_table_of_who_decides_is_that_of_the_code(application: psycopg.Connection[Any]) -> None:
    found = application.execute("SELECT kind, role FROM change_deciders").fetchall()

    assert sorted(found) == sorted((kind.name, role.value) for kind in KINDS.values() for role in kind.roles)


def test_another_person_whose_role_decides_it_is_let(application: psycopg.Connection[Any]) -> None:
    for outcome in ("approved", "rejected"):
        decide(application, "Otto", outcome=outcome)


@pytest.mark.parametrize("outcome", ["approved", "rejected"])
@pytest.mark.parametrize("checker", ["robot", "a table", "cli"])
def test_a_service_account_decides_nothing(application: psycopg.Connection[Any], checker: str, outcome: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege, match="a service account decides no change"):
        decide(application, checker, outcome=outcome)


@pytest.mark.parametrize("checker", ["Rita", "a finance", "a auditor"])
def test_a_role_that_does_not_decide_this_kind_is_refused(application: psycopg.Connection[Any], checker: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege, match="decides no change of kind held-awards"):
        decide(application, checker)


@pytest.mark.parametrize(
    ("approvals_due", "before", "outcome"),
    [
        (1, (), "approved"),
        (1, (), "rejected"),
        (2, (), "approved"),
        (2, (), "rejected"),
        (2, ("Otto",), "approved"),
        (3, ("Otto",), "approved"),
        (3, ("Otto", "Olaf"), "approved"),
    ],
)
def test_an_approval_is_final_when_as_many_approved_as_were_due(
    world: World,
    application: psycopg.Connection[Any],
    approvals_due: int,
    before: tuple[str, ...],
    outcome: str,
) -> None:
    is_final = outcome == "rejected" or len(before) + 1 == approvals_due
    for name in ("Olaf", "Oona"):
        world.person(name, Role.OPERATOR)
    past_the_service(world.database_url, SET_APPROVALS_DUE.format(approvals_due))
    for name in before:
        application.execute(DECIDE, ["held", name, "approved", False, False, None])
    application.commit()

    with pytest.raises(errors.InsufficientPrivilege, match=f"is approved by {approvals_due} people"):
        decide(application, "Oona", outcome=outcome, is_final=not is_final)
    decide(application, "Oona", outcome=outcome, is_final=is_final)


def test_nobody_decides_what_was_decided(world: World, application: psycopg.Connection[Any]) -> None:
    world.person("Olaf", Role.OPERATOR)
    world.approve("held", by="Otto").ok()

    for name in ("Olaf", "Otto"):
        with pytest.raises(errors.InsufficientPrivilege, match="was decided before"):
            decide(application, name)


def test_nobody_unknown_asks_or_decides(application: psycopg.Connection[Any]) -> None:
    with pytest.raises(errors.ForeignKeyViolation, match="fk_change_decisions_checker_principals"):
        decide(application, "ann")
    asking = """
        INSERT INTO change_requests (request_id, kind, subject, payload, reason, base_version, to_confirm, maker,
                                     made_at, expires_at, approvals_due, entry_seq)
        SELECT 'q', kind, subject, payload, reason, base_version, to_confirm, 'ann', made_at, expires_at, 1, entry_seq
        FROM change_requests WHERE request_id = 'held'
    """
    with pytest.raises(errors.ForeignKeyViolation, match="fk_change_requests_maker_principals"):
        application.execute(asking)


def test_the_maker_decides_nothing_in_other_letters_either(world: World, application: psycopg.Connection[Any]) -> None:
    """Such a name can only be there if the owner drops the indexes of names."""
    with psycopg.connect(owner_conninfo(world.database_url)) as owner:
        owner.execute("DROP INDEX uq_principals_name_in_one_case, uq_principals_name_by_look")
        for name in ("ANN", "\N{CYRILLIC CAPITAL LETTER A}nn"):
            owner.execute("INSERT INTO principals VALUES (%s, 'operator', NULL, false, 1)", [name])
    for name in ("ANN", "\N{CYRILLIC CAPITAL LETTER A}nn"):
        with pytest.raises(errors.InsufficientPrivilege, match="the maker decides no change"):
            decide(application, name)


def test_an_emergency_is_refused_until_the_owner_switches_it_on(
    world: World, application: psycopg.Connection[Any]
) -> None:
    with pytest.raises(errors.InsufficientPrivilege, match="switched off"):
        decide(application, "Ann", is_emergency=True)
    world.switch_emergency()
    decide(application, "Ann", is_emergency=True)
    with pytest.raises(errors.CheckViolation, match="ck_change_decisions_two_people"):
        decide(application, "Otto", is_emergency=True)
    world.switch_emergency(is_on=False)
    with pytest.raises(errors.InsufficientPrivilege, match="switched off"):
        decide(application, "Ann", is_emergency=True)


def test_the_application_does_not_switch_it(application: psycopg.Connection[Any]) -> None:
    for statement in (
        "INSERT INTO emergency_switches VALUES (99, true)",
        "INSERT INTO change_deciders VALUES ('held-awards', 'auditor')",
    ):
        with pytest.raises(errors.InsufficientPrivilege, match="permission denied"):
            application.execute(statement)
        application.rollback()


def test_who_made_a_key_of_a_round_releases_none_of_its_awards(application: psycopg.Connection[Any]) -> None:
    with pytest.raises(errors.InsufficientPrivilege, match="who made a key of a round approves nothing"):
        decide(application, "Olga")
    decide(application, "Olga", outcome="rejected")
    decide(application, "Olga", request_id="rejection")


def test_who_made_a_key_of_a_round_records_no_payment_of_its_awards(
    world: World, application: psycopg.Connection[Any]
) -> None:
    world.approve("held", by="Otto").ok()
    with pytest.raises(errors.InsufficientPrivilege, match="who made a key of a round records no payment"):
        pay(application, "Olga")
    application.rollback()
    assert pay(application, "Ann") == 1


def pay(
    application: psycopg.Connection[Any], name: str, *, amount: str = "amount_minor", reverses: int | None = None
) -> int:
    """Write a payment of each award, or its reversal, by the last act of somebody."""
    paying = f"""
        INSERT INTO payments (jackpot_id, round_key, act_seq, bet_id, tier, amount_minor, cost, reference, reverses)
        SELECT jackpot_id, round_key, (SELECT max(seq) FROM entries WHERE jackpot_id = '-' AND principal = %s),
               bet_id, tier, {amount}, cost, 'slip', %s
        FROM awards
    """  # noqa: S608  a constant
    return application.execute(paying, [name, reverses]).rowcount


STEP: Final = """
INSERT INTO award_steps (jackpot_id, round_key, bet_id, tier, step, taken_at, act_seq)
SELECT jackpot_id, round_key, bet_id, tier, %s, now(), (
    SELECT max(seq) FROM entries WHERE jackpot_id = '-' AND principal = 'Ann'
) FROM awards
"""


def test_a_stopped_award_is_not_paid_and_no_act_of_one_person_releases_it(
    application: psycopg.Connection[Any],
) -> None:
    application.execute(STEP, ["stopped"])
    application.commit()

    with pytest.raises(errors.InsufficientPrivilege, match="a stopped award is not paid"):
        pay(application, "Ann")
    application.rollback()
    application.execute(STEP, ["released"])
    with pytest.raises(errors.InsufficientPrivilege, match="two people make an award payable"):
        application.commit()


def test_no_more_is_paid_than_an_award_and_no_act_of_one_person_reverses_a_payment(
    world: World, application: psycopg.Connection[Any]
) -> None:
    world.approve("held", by="Otto").ok()
    for amount in ("amount_minor + 1", "-1"):
        with pytest.raises(errors.CheckViolation):
            pay(application, "Ann", amount=amount)
        application.rollback()
    pay(application, "Ann")
    application.commit()

    with pytest.raises(errors.CheckViolation, match="payments come to their award at most"):
        pay(application, "Otto", amount="1")
    application.rollback()
    [(paid,)] = application.execute("SELECT act_seq FROM payments").fetchall()
    pay(application, "Olga", amount="-amount_minor", reverses=paid)
    with pytest.raises(errors.InsufficientPrivilege, match="two people reverse a payment"):
        application.commit()


def test_no_act_of_one_person_closes_a_denied_prize(world: World, application: psycopg.Connection[Any]) -> None:
    world.bet(bet("b"), round_id="denied")
    world.settle(forfeited("1", FOUR_OF_A_KIND), round_id="denied")
    closing = """
        INSERT INTO exception_acknowledgements (exception_id, entry_seq)
        SELECT exception_id, (SELECT max(seq) FROM acts) FROM exceptions
    """

    application.execute(closing)
    with pytest.raises(errors.InsufficientPrivilege, match="two people decide about a denied prize"):
        application.commit()


def have_olga_make_a_key_of_otto(world: World) -> None:
    """By plain SQL: by the service she makes none of an operator."""
    making = """
        INSERT INTO keys (key_id, secret_hash, principal, table_ids, entry_seq)
        SELECT '0b', sha256('0b'), 'Otto', '{}', max(seq) FROM entries WHERE jackpot_id = '-' AND principal = 'Olga'
    """
    with psycopg.connect(owner_conninfo(world.database_url)) as owner:
        owner.execute(making)


def test_a_decision_that_states_an_earlier_time_is_refused_as_well(
    world: World, application: psycopg.Connection[Any]
) -> None:
    decide(application, "Otto", decided_at=LONG_AGO)
    have_olga_make_a_key_of_otto(world)
    for decided_at in (None, LONG_AGO):
        with pytest.raises(errors.InsufficientPrivilege, match="who made a key of a round approves nothing"):
            decide(application, "Otto", decided_at=decided_at)


def test_a_payment_that_states_an_earlier_time_is_refused_as_well(
    world: World, application: psycopg.Connection[Any]
) -> None:
    have_olga_make_a_key_of_otto(world)
    entry = """
        INSERT INTO entries (jackpot_id, stripe_no, seq, kind, principal, received_at, booked_at, digest, head,
                             accounts, currencies, amounts, movements, casino_id, table_id, rules_version, figures)
        SELECT '-', 0, 1000, kind, 'Otto', %s, now(), digest, head, accounts, currencies, amounts, movements,
               casino_id, table_id, rules_version, figures
        FROM entries WHERE jackpot_id = '-' AND seq = 1
    """
    application.execute(entry, [LONG_AGO])
    with pytest.raises(errors.InsufficientPrivilege, match="who made a key of a round records no payment"):
        pay(application, "Otto")


def test_no_key_is_revoked_in_the_past(world: World, application: psycopg.Connection[Any]) -> None:
    with psycopg.connect(owner_conninfo(world.database_url)) as owner:
        owner.execute("ALTER TABLE keys ENABLE TRIGGER not_revoked_in_the_past")
    revoking = "UPDATE keys SET revoked_at = clock_timestamp() - %s::interval WHERE principal = 'Otto'"
    with pytest.raises(errors.CheckViolation, match="that has passed") as refused:
        application.execute(revoking, ["61 seconds"])
    assert refused.value.diag.constraint_name == "revoked_at_not_past"
    application.rollback()
    for before in ("50 seconds", "-1 second"):
        assert application.execute(revoking, [before]).rowcount == 1
        application.rollback()


def test_an_act_is_of_a_principal(application: psycopg.Connection[Any]) -> None:
    entry = """
        INSERT INTO entries (jackpot_id, stripe_no, seq, kind, principal, received_at, booked_at, digest, head,
                             accounts, currencies, amounts, movements, casino_id, table_id, rules_version, figures)
        SELECT '-', 0, 1000, kind, %s, received_at, booked_at, digest, head, accounts, currencies, amounts, movements,
               '', '', 0, '{}'
        FROM entries WHERE jackpot_id = '-' AND seq = 1
    """
    act = "INSERT INTO acts (seq, subject, after, effects) VALUES (1000, 'x', '{}', '[]')"
    for principal, let in (("cli", True), ("Otto", True), ("otto", False), ("nobody", False)):
        application.execute(entry, [principal])
        if let:
            application.execute(act)
        else:
            with pytest.raises(errors.ForeignKeyViolation, match="is no principal's"):
                application.execute(act)
        application.rollback()
    with pytest.raises(errors.ForeignKeyViolation, match="is no principal's"):
        application.execute(act)


def test_nobody_holds_a_key_of_the_command_line(application: psycopg.Connection[Any]) -> None:
    making = "INSERT INTO keys (key_id, secret_hash, principal, table_ids, entry_seq) VALUES ('0a', %s, 'cli', '{}', 1)"
    with pytest.raises(errors.CheckViolation, match="ck_keys_principal"):
        application.execute(making, [bytes(32)])


# Names.


@pytest.mark.parametrize(
    "name",
    [
        "ANN",
        "\N{CYRILLIC CAPITAL LETTER A}nn",
        "\N{GREEK CAPITAL LETTER ALPHA}nn",
        "OIga",
        "0tto",
        "\N{GREEK CAPITAL LETTER OMICRON}tto",
        "\N{CYRILLIC SMALL LETTER ES}l\N{CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I}",
        "CLI",
        "R\N{CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I}ta",
    ],
)
def test_a_name_that_looks_like_another_is_refused(application: psycopg.Connection[Any], name: str) -> None:
    with pytest.raises(errors.UniqueViolation):
        application.execute(ADD_PRINCIPAL, [name])


@pytest.mark.parametrize(
    "name",
    [
        "\N{FULLWIDTH LATIN CAPITAL LETTER A}nn B",
        "\N{CHEROKEE LETTER GO}lf",
        "Ann\u200b",
        "e\u0301ve",
        "\N{CJK UNIFIED IDEOGRAPH-7530}\N{CJK UNIFIED IDEOGRAPH-4E2D}",
        "Ann\n",
        "",
    ],
)
def test_a_name_in_letters_that_are_not_compared_is_refused(application: psycopg.Connection[Any], name: str) -> None:
    with pytest.raises(errors.CheckViolation, match="ck_principals_name"):
        application.execute(ADD_PRINCIPAL, [name])


def test_the_database_takes_the_letters_that_the_code_takes(application: psycopg.Connection[Any]) -> None:
    """Of all letters that there are; a surrogate and NUL are no text."""
    codes = [code for code in range(1, 0x110000) if not 0xD800 <= code <= 0xDFFF]
    question = f"SELECT chr(c) FROM unnest(%s::int[]) AS c WHERE chr(c) ~ '^[{NAME_LETTERS}]+$'"  # noqa: S608  ours
    found = {letter for (letter,) in application.execute(question, [codes])}

    assert found == {chr(code) for code in codes if _is_legible(chr(code))}
    assert {
        "A",
        " ",
        "é",
        "\N{LATIN SMALL LETTER SHARP S}",
        "\N{GREEK CAPITAL LETTER OMEGA}",
        "\N{CYRILLIC SMALL LETTER YA}",
        "\N{LATIN SMALL LETTER O WITH HORN AND DOT BELOW}",
    } <= found
    assert (
        not {
            "\N{MULTIPLICATION SIGN}",
            "\N{DIVISION SIGN}",
            "\N{LATIN SMALL LETTER LONG S}",
            "\N{LATIN SMALL LIGATURE IJ}",
            "\u0301",
            "\N{CHEROKEE LETTER GO}",
        }
        & found
    )


def _is_legible(name: str) -> bool:
    try:
        require_legible(name)
    except BadPrincipal:
        return False
    return True
