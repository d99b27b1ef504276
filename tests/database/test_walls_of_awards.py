"""The walls around awards: no act of one person pays, releases or forfeits what two have to agree on, by plain SQL."""

from typing import Any, Final

import psycopg
import pytest
from psycopg import errors

from tests.database.four_eyes import LONG_AGO, application, have_olga_make_a_key_of_otto, world
from tests.support.bets import bet
from tests.support.hands import FOUR_OF_A_KIND, forfeited
from tests.support.world import World

__all__ = ["application", "world"]

pytestmark = pytest.mark.long


def test_who_made_a_key_of_a_round_records_no_payment_of_its_awards(
    world: World, application: psycopg.Connection[Any]
) -> None:
    world.approve("held", by="Otto").ok()
    with pytest.raises(errors.InsufficientPrivilege, match="who made a key of a round records no payment"):
        pay(application, "Olga")
    application.rollback()
    assert pay(application, "Ann") == 1


def test_nor_do_they_reverse_a_payment(world: World, application: psycopg.Connection[Any]) -> None:
    world.approve("held", by="Otto").ok()
    pay(application, "Ann")
    application.commit()
    [(paid,)] = application.execute("SELECT act_seq FROM payments").fetchall()
    with pytest.raises(errors.InsufficientPrivilege, match="who made a key of a round records no payment"):
        pay(application, "Olga", amount="-amount_minor", reverses=paid)


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


RULE: Final = """
INSERT INTO withholding_rules
SELECT 'c1', 'EUR', 1, 'epoch', NULL, 1, 1, %s, (SELECT max(seq) FROM acts)
"""


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
    for percent in ("0", "100", "NaN", "0.00001"):
        with pytest.raises(errors.CheckViolation, match="ck_withholding_rules_percent"):
            application.execute(RULE, [percent])
        application.rollback()
    application.execute(RULE, ["99"])
    with pytest.raises(errors.CheckViolation, match="more is withheld than is due"):
        application.execute(paying, [10**6])
    application.rollback()
    application.execute(RULE, ["99"])
    assert application.execute(paying, [1]).rowcount == 1


def test_no_act_of_one_person_sets_a_withholding_rule(application: psycopg.Connection[Any]) -> None:
    application.execute(RULE, ["20"])
    with pytest.raises(errors.InsufficientPrivilege, match="two people set a withholding rule"):
        application.commit()


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
    with pytest.raises(errors.InsufficientPrivilege, match="two people set the claim period"):
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

    with pytest.raises(errors.CheckViolation, match="the payments exceed their award"):
        pay(application, "Otto", amount="1")
    application.rollback()
    [(paid,)] = application.execute("SELECT act_seq FROM payments").fetchall()
    pay(application, "Otto", amount="-amount_minor", reverses=paid)
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
