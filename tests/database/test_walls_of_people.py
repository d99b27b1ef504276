"""The walls around the four eyes, which the schema builds: what the database itself refuses, asked by plain SQL."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import psycopg
import pytest
from psycopg import errors

from jackpot_service.domain.principals import Principal, Role
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
    asked = {"principal": "a table", "role": "table", "casino_id": "c1", "request_id": "k1", "reason": "rotated"}
    world.post("/v1/keys", asked, key=world.key_of(OLGA)).ok(201)
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


def test_another_person_whose_role_decides_it_is_let(application: psycopg.Connection[Any]) -> None:
    for outcome in ("approved", "rejected"):
        decide(application, "Otto", outcome=outcome)


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


def test_the_policy_in_force_is_the_latest(world: World, application: psycopg.Connection[Any]) -> None:
    of_rates = {"asked_by": ["rates"], "decided_by": ["operator"]}
    world.change("change-policy", {"kinds": {"held-awards": of_rates}}, request_id="policy")

    with pytest.raises(errors.InsufficientPrivilege, match="the role finance decides no change of kind held-awards"):
        decide(application, "Otto")
    with pytest.raises(errors.InsufficientPrivilege, match="the role operator asks for no change of kind held-awards"):
        ask(application, "Ann")
    decide(application, "Oskar")
    ask(application, "Rita")


ADD_POLICY: Final = """
INSERT INTO change_policies (kind, version, asked_by, decided_by, needs_other_department, entry_seq)
VALUES ('held-awards', %s, %s, %s, false, %s)
"""
BOTH: Final = ["finance", "operator"]


def test_no_act_of_one_person_changes_the_policy(world: World, application: psycopg.Connection[Any]) -> None:
    rejected = "SELECT max(seq) FROM entries WHERE jackpot_id = '-' AND kind = 'change_rejected'"
    world.ask("change-policy", {"kinds": {"rules": {"asked_by": ["rates"], "decided_by": ["rates"]}}}).ok(201)
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


@pytest.mark.parametrize(
    ("version", "asked_by", "decided_by", "seq", "constraint"),
    [
        (2, BOTH, BOTH, 0, "ck_change_policies_version"),
        (1, BOTH, BOTH, 5, "ck_change_policies_version"),
        (2, [], BOTH, 5, "ck_change_policies_asked_by"),
        (2, BOTH, [], 5, "ck_change_policies_decided_by"),
        (2, ["table"], BOTH, 5, "ck_change_policies_asked_by"),
        (2, BOTH, ["operator", "auditor"], 5, "ck_change_policies_decided_by"),
        (2, BOTH, ["operator", None], 5, "ck_change_policies_decided_by"),
    ],
)
def test_a_policy_that_leaves_a_kind_with_nobody_is_refused(  # noqa: PLR0917  what one row says
    application: psycopg.Connection[Any],
    version: int,
    asked_by: list[str],
    decided_by: list[str | None],
    seq: int,
    constraint: str,
) -> None:
    with pytest.raises(errors.CheckViolation, match=constraint):
        application.execute(ADD_POLICY, [version, asked_by, decided_by, seq])


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


def test_no_payment_withholds_more_than_it_is_or_than_is_due(
    world: World, application: psycopg.Connection[Any]
) -> None:
    world.approve("held", by="Otto").ok()
    paying = """
        INSERT INTO payments
            (jackpot_id, round_key, act_seq, bet_id, tier, amount_minor, withheld_minor, cost, reference)
        SELECT jackpot_id, round_key, (SELECT max(seq) FROM acts), bet_id, tier, amount_minor, %s, cost, 'slip'
        FROM awards
    """
    with pytest.raises(errors.CheckViolation, match="more is withheld than is due"):
        application.execute(paying, [1])
    application.rollback()
    with pytest.raises(errors.CheckViolation, match="ck_payments_withheld_minor"):
        application.execute(paying, [-1])
    application.rollback()
    rule = """
        INSERT INTO withholding_rules
        SELECT 'c1', 'EUR', 1, 'epoch', NULL, 1, 1, %s, (SELECT max(seq) FROM acts)
    """
    for percent in ("0", "100", "NaN", "0.00001"):
        with pytest.raises(errors.CheckViolation, match="ck_withholding_rules_percent"):
            application.execute(rule, [percent])
        application.rollback()
    application.execute(rule, ["99"])
    with pytest.raises(errors.CheckViolation, match="more is withheld than is due"):
        application.execute(paying, [10**6])
    application.rollback()
    application.execute(rule, ["99"])
    assert application.execute(paying, [1]).rowcount == 1


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


def test_a_forfeited_award_is_not_paid_and_no_act_of_one_person_forfeits_it(
    world: World, application: psycopg.Connection[Any]
) -> None:
    world.approve("held", by="Otto").ok()
    application.execute(STEP, ["forfeited"])
    with pytest.raises(errors.InsufficientPrivilege, match="a forfeited award is not paid"):
        pay(application, "Ann")
    application.rollback()

    application.execute(STEP, ["forfeited"])
    with pytest.raises(errors.InsufficientPrivilege, match="two people forfeit an award"):
        application.commit()


CLAIMS: Final = """
INSERT INTO casino_claims (casino_id, version, claim_days, forfeited_to, entry_seq)
VALUES (%s, %s, %s, %s, (SELECT max(seq) FROM entries WHERE jackpot_id = '-' AND principal = 'Ann'))
"""


def test_no_act_of_one_person_sets_what_becomes_of_unclaimed_awards(application: psycopg.Connection[Any]) -> None:
    application.execute(CLAIMS, ["c1", 1, 30, "meter"])
    with pytest.raises(errors.InsufficientPrivilege, match="two people set what becomes of awards"):
        application.commit()


@pytest.mark.parametrize(
    ("row", "constraint"),
    [
        (["c9", 1, 30, "meter"], "fk_casino_claims_casino_id_casinos"),
        (["c1", 0, 30, "meter"], "ck_casino_claims_version"),
        (["c1", 1, 0, "meter"], "ck_casino_claims_claim_days"),
        (["c1", 1, 36_501, "meter"], "ck_casino_claims_claim_days"),
        (["c1", 1, 30, "house"], "ck_casino_claims_forfeited_to"),
    ],
)
def test_claims_that_cannot_be_are_no_rows(
    application: psycopg.Connection[Any], row: list[Any], constraint: str
) -> None:
    with pytest.raises(errors.IntegrityError) as refusal:
        application.execute(CLAIMS, row)
    assert refusal.value.diag.constraint_name == constraint


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
