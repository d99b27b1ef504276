"""Codes of problems that no other test brings about by itself: each is, over HTTP or where it is raised."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

import pytest
import sqlalchemy
from sqlalchemy import NullPool, text
from werkzeug.datastructures import Headers

from jackpot_service.api.problem_catalogue import http
from jackpot_service.api.problem_catalogue.rows import Row
from jackpot_service.api.problems import MEDIA_TYPE, problem_of
from jackpot_service.database.transactions import pipelined
from jackpot_service.domain.accounts import PRIZE_FUND
from jackpot_service.domain.entries import Entry
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.journal import EntryKind, Movement, Posting, Postings, Unbalanced
from jackpot_service.domain.principals import Role
from jackpot_service.ledger import journal
from jackpot_service.ledger.digests import FiguresMissing
from tests.exports.jobs import kinds
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.logins import owner_url
from tests.support.world import World

pytestmark = pytest.mark.slow

RESULT: Final = "/v1/tables/T1/rounds/r1/result"


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    world.bet(bet("b1"))
    return world


def answered(error: LedgerError) -> Answer:
    """The answer that an error gives, which no caller can bring about."""
    problem = problem_of(error, instance="/v1/jackpots")
    return Answer(problem.status, Headers([("Content-Type", MEDIA_TYPE)]), problem.body.decode())


def tampered(url: str, statement: str, **values: str) -> None:
    """Change what nobody can, with a superuser's rights."""
    owner = sqlalchemy.create_engine(owner_url(url), poolclass=NullPool)
    with owner.begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        connection.execute(text(statement), values)


@pytest.mark.parametrize(("path", "row"), [("/v1/nothing", http.NOT_FOUND), ("/v1/awards", http.METHOD_NOT_ALLOWED)])
def test_a_path_or_a_method_that_is_none_is_refused_in_the_words_of_the_catalogue(
    world: World, path: str, row: Row
) -> None:
    assert world.call("PATCH", path, key=world.key(Role.AUDITOR)).problem(row.status, row.code)["detail"] == row.meaning


def test_a_body_that_names_a_member_twice(opened: World) -> None:
    opened.call("PUT", RESULT, key=opened.key(Role.TABLE), data=b'{"bet_count": 1, "bet_count": 2}').problem(
        400, "duplicate-member"
    )


def test_a_body_of_another_type(opened: World) -> None:
    opened.call(
        "PUT", RESULT, key=opened.key(Role.TABLE), data=b"bet_count=1", headers={"Content-Type": "text/plain"}
    ).problem(415, "unsupported-media-type")


def test_a_cancellation_for_another_reason(opened: World) -> None:
    opened.cancel()
    opened.put_cancellation(reason="another").problem(409, "cancellation-conflict")


def test_a_bet_that_the_round_does_not_have(opened: World) -> None:
    opened.cancel()
    bet_of = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "bet_id": "b9", "player_id": "p"}
    compensation = {**bet_of, "currency": "EUR", "amount_minor": 100, "document": "a letter"}

    opened.ask("compensation", compensation).problem(404, "bet-unknown")


def test_a_bet_whose_prize_nobody_denied(opened: World) -> None:
    opened.settle(hand("1", FLUSH))
    bet_of = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "bet_id": "b1"}

    opened.ask("declined-compensation", bet_of).problem(404, "denied-prize-unknown")


def test_a_payment_of_which_more_is_withheld(opened: World) -> None:
    award = opened.settle(hand("1", FLUSH))["awards"][0]
    body = {"request_id": "p1", "reference": "slip-1", "amount_minor": 10, "withheld_minor": 11}

    opened.put(f"/v1/awards/{award['award_id']}/payment", body, key=opened.key(Role.TABLE)).problem(
        422, "payment-withheld"
    )


def test_a_withholding_rule_that_contradicts_itself(world: World) -> None:
    rule = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 100, "withhold_at_minor": 200, "percent": "100"}

    world.ask("casino-withholding", rule).problem(422, "withholding-invalid")


def test_a_rate_that_cannot_be(world: World) -> None:
    world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "-1"}}).problem(422, "rate-invalid")


def test_a_currency_that_earlier_sheets_divide_otherwise(world: World) -> None:
    world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.18"}}).ok(201)
    tampered(world.database_url, "UPDATE rates SET exponent = 3 WHERE currency = 'GBP'")

    world.approve().problem(409, "exponent-changed")
    tampered(world.database_url, "UPDATE rates SET exponent = 2 WHERE currency = 'GBP'")


NEW_KEY: Final[Body] = {"principal": "server 7", "role": "table", "casino_id": "c1", "table_ids": []}


def create(world: World, **other: object) -> Answer:
    body = {"request_id": "k1", "reason": "a new server", **NEW_KEY, **other}
    return world.post("/v1/keys", body, key=world.person("Ann", Role.OPERATOR))


def test_a_principal_that_cannot_be(world: World) -> None:
    create(world, principal=" x").problem(422, "principal-invalid")


def test_a_name_that_somebody_has(world: World) -> None:
    create(world, principal="A TABLE").problem(409, "principal-conflict")


def test_a_key_of_a_role_that_is_made_elsewhere(world: World) -> None:
    create(world, role="finance", casino_id=None).problem(403, "key-forbidden")


def test_a_report_of_no_such_name(world: World) -> None:
    world.get("/v1/reports/none").problem(404, "report-unknown")


def test_a_file_of_which_a_chunk_was_lost(opened: World) -> None:
    opened.settle(hand("1", FLUSH))
    job_id = opened.ask_job({"jackpot_id": "j1", "format": "hledger"}).ok(201)["job_id"]
    assert opened.runner(kinds=kinds.small()).run_next()
    tampered(opened.database_url, "DELETE FROM job_chunks WHERE number = 1")

    opened.get(f"/v1/jobs/{job_id}/file").problem(500, "chunk-damaged")


@pytest.fixture
def _without_a_maker(world: World) -> Iterator[None]:
    """A change request whose maker is nobody, for as long as the test takes."""
    world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.18"}}).ok(201)
    maker = world.books.value("SELECT maker FROM change_requests")
    tampered(world.database_url, "UPDATE change_requests SET maker = :maker", maker="nobody")
    yield
    tampered(world.database_url, "UPDATE change_requests SET maker = :maker", maker=maker)


@pytest.mark.usefixtures("_without_a_maker")
def test_books_that_are_not_what_they_must_be(world: World) -> None:
    world.approve(by="Bob").problem(500, "books-broken")


def test_postings_that_do_not_sum_to_zero() -> None:
    with pytest.raises(Unbalanced) as refused:
        Postings((Posting(PRIZE_FUND, "EUR", Decimal(1), Movement.AWARD),))
    answered(refused.value).problem(500, "entry-unbalanced")


def test_an_entry_without_what_it_comes_to(opened: World) -> None:
    entry = Entry("j1", EntryKind.AWARDS_APPROVED, "olga", opened.clock(), {})
    with opened.engine.connect() as session, pytest.raises(FiguresMissing) as refused, pipelined(session) as pipe:
        journal.post(pipe, entry, stripe_no=0)
    answered(refused.value).problem(500, "figures-missing")
