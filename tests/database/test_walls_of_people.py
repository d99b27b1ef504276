"""The walls around the four eyes, which the schema builds: what the database itself refuses, asked by plain SQL."""

from datetime import datetime
from typing import Any, Final

import psycopg
import pytest
from psycopg import errors

from jackpot_service.domain.principals import Principal, Role
from tests.database.four_eyes import (
    ADD_PRINCIPAL,
    LONG_AGO,
    application,
    have_olga_make_a_key_of_otto,
    world,
)
from tests.support.logins import owner_conninfo
from tests.support.reading import past_the_service
from tests.support.world import World

__all__ = ["application", "world"]

pytestmark = pytest.mark.long

DECIDE: Final = """
INSERT INTO change_decisions (request_id, maker, checker, outcome, reason, confirmed, is_emergency, is_final,
                              decided_at, entry_seq)
VALUES (%s, 'Ann', %s, %s, 'checked', '{}', %s, %s, coalesce(%s, now()), 1)
"""

SET_APPROVALS_DUE: Final = "UPDATE change_requests SET approvals_due = {} WHERE request_id = 'held'"


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


def test_another_person_whose_role_decides_it_is_let(application: psycopg.Connection[Any]) -> None:
    for outcome in ("approved", "rejected"):
        decide(application, "Otto", outcome=outcome)


@pytest.mark.parametrize("outcome", ["approved", "rejected"])
def test_the_maker_decides_nothing_of_their_own(
    world: World, application: psycopg.Connection[Any], outcome: str
) -> None:
    by_both = {"requested_by": BOTH, "decided_by": BOTH}
    world.change("change-policy", {"kinds": {"held-awards": by_both}}, request_id="policy")
    with pytest.raises(errors.CheckViolation, match="ck_change_decisions_two_people"):
        decide(application, "Ann", outcome=outcome)


@pytest.mark.parametrize("outcome", ["approved", "rejected"])
@pytest.mark.parametrize("checker", ["robot", "a table", "cli"])
def test_a_service_account_decides_nothing(application: psycopg.Connection[Any], checker: str, outcome: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege, match="a service account decides no change"):
        decide(application, checker, outcome=outcome)


@pytest.mark.parametrize("checker", ["Rita", "Carl", "a auditor"])
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
        world.person(name, Role.FINANCE)
    past_the_service(world.database_url, SET_APPROVALS_DUE.format(approvals_due))
    for name in before:
        application.execute(DECIDE, ["held", name, "approved", False, False, None])
    application.commit()

    with pytest.raises(errors.InsufficientPrivilege, match=f"is approved by {approvals_due} people"):
        decide(application, "Oona", outcome=outcome, is_final=not is_final)
    decide(application, "Oona", outcome=outcome, is_final=is_final)


def test_nobody_decides_what_was_decided(world: World, application: psycopg.Connection[Any]) -> None:
    world.person("Olaf", Role.FINANCE)
    world.approve("held", by="Otto").ok()

    for name in ("Olaf", "Otto"):
        with pytest.raises(errors.InsufficientPrivilege, match="was decided before"):
            decide(application, name)


def test_nobody_unknown_asks_or_decides(application: psycopg.Connection[Any]) -> None:
    with pytest.raises(errors.ForeignKeyViolation, match="fk_change_decisions_checker_principals"):
        decide(application, "ann")
    with pytest.raises(errors.ForeignKeyViolation, match="fk_change_requests_maker_principals"):
        ask(application, "ann")


ASK: Final = """
INSERT INTO change_requests (request_id, kind, subject, payload, reason, base_version, to_confirm, maker,
                             made_at, expires_at, approvals_due, entry_seq)
SELECT 'q', %s, subject, payload, reason, base_version, to_confirm, %s, made_at, expires_at, 1, entry_seq
FROM change_requests WHERE request_id = 'held'
"""


def ask(connection: psycopg.Connection[Any], maker: str, *, kind: str = "held-awards") -> None:
    """Ask for what Ann asked for, or another kind of change, by plain SQL, and take it back."""
    try:
        connection.execute(ASK, [kind, maker])
    finally:
        connection.rollback()


def test_a_role_that_the_policy_lets_asks_also_a_service_account(application: psycopg.Connection[Any]) -> None:
    for maker in ("Ann", "Otto", "robot"):
        ask(application, maker)
    ask(application, "Rita", kind="rate-sheet")


@pytest.mark.parametrize(
    ("maker", "kind"),
    [
        ("Rita", "held-awards"),
        ("Carl", "held-awards"),
        ("a auditor", "held-awards"),
        ("a table", "held-awards"),
        ("Ann", "rate-sheet"),
        ("Otto", "adjustment"),
        ("Ann", "no-kind"),
    ],
)
def test_a_role_that_does_not_ask_for_this_kind_is_refused(
    application: psycopg.Connection[Any], maker: str, kind: str
) -> None:
    with pytest.raises(errors.InsufficientPrivilege, match=f"asks for no change of kind {kind}"):
        ask(application, maker, kind=kind)


@pytest.mark.parametrize("outcome", ["approved", "rejected"])
def test_the_makers_department_decides_nothing_where_another_must(
    application: psycopg.Connection[Any], outcome: str
) -> None:
    with pytest.raises(errors.InsufficientPrivilege, match="another department than operator decides it"):
        decide(application, "Oskar", outcome=outcome)


@pytest.mark.parametrize("outcome", ["approved", "rejected"])
def test_the_makers_role_decides_nothing_where_another_must_whatever_the_department(
    world: World, application: psycopg.Connection[Any], outcome: str
) -> None:
    world.key_of(Principal("Nina", Role.OPERATOR, department="night-shift"))

    with pytest.raises(errors.InsufficientPrivilege, match="another role than operator decides it"):
        decide(application, "Nina", outcome=outcome)


def test_the_policy_in_force_is_the_latest(world: World, application: psycopg.Connection[Any]) -> None:
    of_rates = {"requested_by": ["rates"], "decided_by": ["operator"]}
    world.change("change-policy", {"kinds": {"held-awards": of_rates}}, request_id="policy")

    with pytest.raises(errors.InsufficientPrivilege, match="the role finance decides no change of kind held-awards"):
        decide(application, "Otto")
    with pytest.raises(errors.InsufficientPrivilege, match="the role operator asks for no change of kind held-awards"):
        ask(application, "Ann")
    decide(application, "Oskar")
    ask(application, "Rita")


ADD_POLICY: Final = """
INSERT INTO change_policies
    (kind, version, requested_by, decided_by, needs_other_department, needs_other_role, needs_passkey, entry_seq)
VALUES ('held-awards', %s, %s, %s, false, false, false, %s)
"""
BOTH: Final = ["finance", "operator"]


def test_no_act_of_one_person_changes_the_policy(world: World, application: psycopg.Connection[Any]) -> None:
    world.person("Rolf", Role.RATES)
    rejected = "SELECT max(seq) FROM entries WHERE jackpot_id = '-' AND kind = 'change_rejected'"
    world.ask("change-policy", {"kinds": {"rules": {"requested_by": ["rates"], "decided_by": ["rates"]}}}).ok(201)
    body = {"reason": "not so"}
    world.post("/v1/change-requests/q1/rejection", body, key=world.person("Oskar", Role.OPERATOR)).ok()

    for seq in (1, 1000, world.books.value(rejected)):
        application.execute(ADD_POLICY, [2, BOTH, BOTH, seq])
        with pytest.raises(errors.InsufficientPrivilege, match="two people change who decides what"):
            application.commit()
        application.rollback()


def test_an_approval_of_something_else_changes_no_policy(world: World, application: psycopg.Connection[Any]) -> None:
    world.approve("held", by="Otto").ok()
    done = world.books.value("SELECT max(seq) FROM acts WHERE decides = 'held'")

    application.execute(ADD_POLICY, [2, BOTH, BOTH, done])
    with pytest.raises(errors.InsufficientPrivilege, match="two people change who decides what"):
        application.commit()


LIMITS: Final = """
INSERT INTO table_limits (jackpot_id, version, table_id, document, entry_seq)
VALUES ('j1', 1, %s, '{"largest_stake": "5"}', (SELECT max(seq) FROM entries WHERE jackpot_id = 'j1' AND kind = %s))
"""


@pytest.mark.parametrize("kind", ["jackpot_opened", "awards_approved"])
def test_no_act_of_one_person_limits_a_table_nor_an_approval_of_something_else(
    world: World, application: psycopg.Connection[Any], kind: str
) -> None:
    world.approve("held", by="Otto").ok()

    assert application.execute(LIMITS, ["T1", kind]).rowcount == 1

    with pytest.raises(errors.InsufficientPrivilege, match="two people limit a table"):
        application.commit()


def test_the_limits_of_another_table_than_was_approved_are_refused(
    world: World, application: psycopg.Connection[Any]
) -> None:
    limits = {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "5"}
    world.change("table-limits", limits, request_id="limits")
    past_the_service(world.database_url, "DELETE FROM table_limits")

    application.execute(LIMITS, ["T2", "table_limits_changed"])
    with pytest.raises(errors.InsufficientPrivilege, match="two people limit a table"):
        application.commit()
    application.execute(LIMITS, ["T1", "table_limits_changed"])
    application.commit()  # What was approved is let.


@pytest.mark.parametrize(
    ("version", "requested_by", "decided_by", "seq", "constraint"),
    [
        (2, BOTH, BOTH, 0, "ck_change_policies_version"),
        (1, BOTH, BOTH, 5, "ck_change_policies_version"),
        (2, [], BOTH, 5, "ck_change_policies_requested_by"),
        (2, BOTH, [], 5, "ck_change_policies_decided_by"),
        (2, ["table"], BOTH, 5, "ck_change_policies_requested_by"),
        (2, BOTH, ["operator", "auditor"], 5, "ck_change_policies_decided_by"),
        (2, BOTH, ["operator", None], 5, "ck_change_policies_decided_by"),
    ],
)
def test_a_policy_that_leaves_a_kind_with_nobody_is_refused(  # noqa: PLR0917  what one row says
    application: psycopg.Connection[Any],
    version: int,
    requested_by: list[str],
    decided_by: list[str | None],
    seq: int,
    constraint: str,
) -> None:
    with pytest.raises(errors.CheckViolation, match=constraint):
        application.execute(ADD_POLICY, [version, requested_by, decided_by, seq])


def test_a_principal_has_a_department_and_it_is_written_in_one_way(application: psycopg.Connection[Any]) -> None:
    for department, refusal in (
        (None, errors.NotNullViolation),
        ("", errors.CheckViolation),
        ("C", errors.CheckViolation),
    ):
        with pytest.raises(refusal, match="department"):
            application.execute(
                """
                INSERT INTO principals (name, role, is_automaton, department, entry_seq)
                VALUES ('Zoe', 'operator', false, %s, 1)
                """,
                [department],
            )
        application.rollback()
    with pytest.raises(errors.InsufficientPrivilege):
        application.execute("UPDATE principals SET department = 'cage' WHERE name = 'Ann'")


def test_the_maker_decides_nothing_in_other_letters_either(world: World, application: psycopg.Connection[Any]) -> None:
    """Such a name can only be there if the owner drops the indexes of names."""
    with psycopg.connect(owner_conninfo(world.database_url)) as owner:
        owner.execute("DROP INDEX uq_principals_name_in_one_case, uq_principals_name_by_look")
        for name in ("ANN", "\N{CYRILLIC CAPITAL LETTER A}nn"):
            owner.execute(ADD_PRINCIPAL, [name])
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
    with pytest.raises(errors.InsufficientPrivilege, match="permission denied"):
        application.execute("INSERT INTO emergency_switches VALUES (99, true)")


def test_who_made_a_key_of_a_round_releases_none_of_its_awards(
    world: World, application: psycopg.Connection[Any]
) -> None:
    by_both = {"requested_by": BOTH, "decided_by": BOTH}
    world.change("change-policy", {"kinds": {"held-awards": by_both}}, request_id="policy")
    with pytest.raises(errors.InsufficientPrivilege, match="who made a key of a round approves nothing"):
        decide(application, "Olga")
    decide(application, "Olga", outcome="rejected")
    decide(application, "Olga", request_id="rejection")


def test_a_decision_that_states_an_earlier_time_is_refused_as_well(
    world: World, application: psycopg.Connection[Any]
) -> None:
    decide(application, "Otto", decided_at=LONG_AGO)
    have_olga_make_a_key_of_otto(world)
    for decided_at in (None, LONG_AGO):
        with pytest.raises(errors.InsufficientPrivilege, match="who made a key of a round approves nothing"):
            decide(application, "Otto", decided_at=decided_at)


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
