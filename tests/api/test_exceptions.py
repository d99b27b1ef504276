"""Exceptions: what somebody has to look into is listed, found by what it is, and acknowledged once, with a reason."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from jackpot_service.api.exceptions import ExceptionsQuerySchema
from jackpot_service.domain.principals import Role
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.cursors import forged
from tests.support.world import World

pytestmark = pytest.mark.slow

EXCEPTIONS = "/v1/exceptions"


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    return world


def listed(world: World, query: str = "", **caller: Role | str) -> list[Body]:
    items: list[Body] = world.get(f"{EXCEPTIONS}{query}", **caller).ok()["items"]  # type: ignore[arg-type]
    return items


def kinds(world: World, query: str = "") -> list[str]:
    return [exception["kind"] for exception in listed(world, query)]


def late_bet(world: World, *, round_id: str = "late", table_id: str = "T1") -> Body:
    """Bring a late bet about, and give its exception."""
    world.cancel(round_id=round_id, table_id=table_id)
    world.post_bets(bet("b"), round_id=round_id, table_id=table_id).problem(409, "round-cancelled")
    return next(
        exception for exception in listed(world, "?kind=late-bet&limit=200") if exception["round_id"] == round_id
    )


def left_open(world: World, *, round_id: str = "open", table_id: str = "T1") -> None:
    world.bet(bet("b"), round_id=round_id, table_id=table_id)
    world.clock.advance(timedelta(minutes=15))


def emergency(world: World, request_id: str = "q1") -> None:
    world.switch_emergency()
    payload = {"base": "EUR", "rates": {"GBP": "1.18"}}
    world.ask("rate-sheet", payload, request_id=request_id, role=Role.RATES).ok(201)
    world.approve(request_id, by="Ann", role=Role.RATES, emergency=True).ok()


def acknowledge(
    world: World,
    exception_id: str,
    *,
    request_id: str = "a1",
    reason: str = "the clock of the table was wrong",
    key: str | None = None,
) -> Answer:
    body = {"request_id": request_id, "reason": reason}
    return world.post(
        f"{EXCEPTIONS}/{exception_id}/acknowledgement", body, key=key or world.person("Olga", Role.OPERATOR)
    )


def test_a_refused_call_is_listed_with_what_it_asked(opened: World) -> None:
    late_bet(opened)

    (exception,) = listed(opened)

    assert (exception["kind"], exception["principal"]) == ("late-bet", "a table")
    assert [exception[name] for name in ("jackpot_id", "casino_id", "table_id", "round_id")] == [
        "j1",
        "c1",
        "T1",
        "late",
    ]
    assert exception["facts"] == {"call": "bets", "bets": [["b", "player-of-b", "1", "EUR", 100, None]]}
    assert exception["detail"] == "Round late of table T1 was cancelled."
    assert exception["acknowledgement"] is None


def test_a_round_is_one_when_it_has_been_open_for_a_quarter_of_an_hour_and_no_longer_when_it_ends(
    opened: World,
) -> None:
    opened.bet(bet("a"), bet("b", hand="2", currency="GBP"), round_id="open")
    since = opened.round("open")["opened_at"]
    opened.clock.advance(timedelta(minutes=14))
    assert listed(opened) == []
    opened.clock.advance(timedelta(minutes=1))

    (exception,) = listed(opened)
    assert (exception["kind"], exception["noticed_at"], exception["principal"]) == ("round-open", since, None)
    assert exception["facts"] == {"bet_count": 2, "total_stake_base": "2.17"}
    assert exception["detail"] == "Still open; 2 bets, worth 2.17 in the base currency."
    opened.cancel(round_id="open")
    assert listed(opened) == []


def test_how_long_a_round_may_be_open_can_be_set(opened: World) -> None:
    opened.config = replace(opened.config, open_round_minutes=60)
    opened.app = opened.start()
    left_open(opened)
    assert listed(opened) == []

    opened.clock.advance(timedelta(minutes=46))
    assert kinds(opened) == ["round-open"]


def test_a_change_that_one_person_approved_alone_is_an_exception(opened: World) -> None:
    emergency(opened)

    (exception,) = listed(opened)

    assert (exception["kind"], exception["principal"], exception["table_id"]) == ("emergency-approval", "Ann", None)
    assert exception["facts"] == {
        "request_id": "q1",
        "kind": "rate-sheet",
        "subject": "rate sheet EUR",
        "reason": "as agreed",
    }
    assert exception["detail"] == "One person alone asked for and approved rate-sheet q1: as agreed"


def all_sorts(world: World) -> None:
    """Bring about nine exceptions of three kinds, at two tables of two casinos."""
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    for number in range(3):
        late_bet(world, round_id=f"late-{number}")
        left_open(world, round_id=f"open-{number}", table_id="T2")
        emergency(world, request_id=f"q-{number}")
    world.clock.advance(timedelta(minutes=16))


def test_all_kinds_stand_in_one_list_by_time(opened: World) -> None:
    all_sorts(opened)

    times = [exception["noticed_at"] for exception in listed(opened)]

    assert kinds(opened) == ["emergency-approval", "round-open", "late-bet"] * 3
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("limit", [1, 2, 4, 9])
def test_pages_together_are_the_list(opened: World, limit: int) -> None:
    all_sorts(opened)

    def pages() -> Iterator[str]:
        cursor = ""
        while True:
            page = opened.get(f"{EXCEPTIONS}?limit={limit}{cursor}").ok()
            assert 0 < len(page["items"]) <= limit
            yield from (exception["exception_id"] for exception in page["items"])
            if page["next"] is None:
                return
            cursor = f"&after={page['next']}"

    assert list(pages()) == [exception["exception_id"] for exception in listed(opened)]


def test_exceptions_are_found_by_what_and_where_and_when(opened: World) -> None:
    all_sorts(opened)
    every = listed(opened)
    at = [exception["noticed_at"] for exception in every]

    assert kinds(opened, "?kind=round-open") == ["round-open"] * 3
    assert kinds(opened, "?kind=bet-conflict") == []
    assert kinds(opened, "?table_id=T1") == ["late-bet"] * 3
    assert kinds(opened, "?casino_id=c2") == ["round-open"] * 3
    assert kinds(opened, "?casino_id=c9") == []
    assert kinds(opened, "?jackpot_id=j1") == ["round-open", "late-bet"] * 3
    assert listed(opened, f"?from={at[4]}&to={at[2]}") == every[3:5]
    assert listed(opened, f"?from={at[0]}") == every[:1]
    assert listed(opened, f"?to={at[8]}") == []
    assert listed(opened, f"?from={at[3]}&to={at[3]}") == []
    assert listed(opened, "?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z") == every


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.FINANCE])
def test_an_exception_is_acknowledged_with_a_reason(opened: World, role: Role) -> None:
    exception = late_bet(opened)
    other = late_bet(opened, round_id="other")

    acknowledged = acknowledge(opened, exception["exception_id"], key=opened.person("Fred", role)).ok(201)

    acknowledgement = acknowledged["acknowledgement"]
    assert (acknowledgement["principal"], acknowledgement["reason"]) == ("Fred", "the clock of the table was wrong")
    assert listed(opened, "?acknowledged=true") == [acknowledged]
    assert acknowledged == {**exception, "acknowledgement": acknowledgement}
    assert listed(opened, "?acknowledged=false") == [other]
    assert listed(opened) == [other, acknowledged]


def test_the_audit_trail_says_who_acknowledged_what_and_why(opened: World) -> None:
    exception = late_bet(opened)
    acknowledge(opened, exception["exception_id"]).ok(201)

    (act,) = opened.get("/v1/audit?request_id=a1").ok()["items"]

    assert (act["kind"], act["principal"], act["jackpot_id"]) == ("exception_acknowledged", "Olga", "j1")
    assert act["reason"] == "the clock of the table was wrong"
    assert act["subject"] == f"exception {exception['exception_id']}"
    assert {
        "exception_id": exception["exception_id"],
        **act["before"],
        "count": 1,
        "granted": None,
        "acknowledgement": None,
    } == exception
    assert opened.books.mismatches() == ()


def test_the_same_acknowledgement_again_is_a_replay(opened: World) -> None:
    exception_id = late_bet(opened)["exception_id"]
    first = acknowledge(opened, exception_id).ok(201)
    other = opened.person("Otto", Role.OPERATOR)
    before = opened.books.counts()

    assert acknowledge(opened, exception_id).ok(200) == first
    acknowledge(opened, exception_id, reason="otherwise").problem(409, "request-conflict")
    acknowledge(opened, exception_id, key=other).problem(409, "request-conflict")
    assert opened.books.counts() == before


def test_a_second_acknowledgement_is_told_whose_the_first_was(opened: World) -> None:
    exception_id = late_bet(opened)["exception_id"]
    acknowledge(opened, exception_id).ok(201)

    refused = acknowledge(opened, exception_id, request_id="a2", key=opened.person("Fred", Role.FINANCE))

    problem = refused.problem(409, "exception-acknowledged")
    assert problem["detail"] == "Olga acknowledged it before: the clock of the table was wrong"


def test_of_many_who_acknowledge_at_once_one_does_and_the_others_are_told(opened: World) -> None:
    exception_id = late_bet(opened)["exception_id"]
    keys = [opened.person(name, Role.OPERATOR) for name in ("Olga", "Otto", "Oleg", "Odin")]

    def acknowledge_one(number: int) -> int:
        return acknowledge(opened, exception_id, request_id=f"a{number}", key=keys[number % 4]).status

    with ThreadPoolExecutor(max_workers=8) as pool:
        statuses = sorted(pool.map(acknowledge_one, range(16)))

    assert statuses == [201] + [409] * 15
    assert opened.books.value("SELECT count(*) FROM exception_acknowledgements") == 1


def test_a_request_id_of_another_act_is_a_conflict(opened: World) -> None:
    first, second = late_bet(opened), late_bet(opened, round_id="other")
    acknowledge(opened, first["exception_id"]).ok(201)

    acknowledge(opened, second["exception_id"]).problem(409, "request-conflict")


def test_an_acknowledged_round_stays_listed_until_it_ends_and_its_acknowledgement_for_ever(opened: World) -> None:
    left_open(opened)
    (exception,) = listed(opened)

    acknowledged = acknowledge(opened, exception["exception_id"]).ok(201)

    assert listed(opened) == [acknowledged]
    assert listed(opened, "?acknowledged=false") == []
    opened.cancel(round_id="open")
    assert listed(opened) == []
    assert acknowledge(opened, exception["exception_id"]).ok(200) == acknowledged
    acknowledge(opened, exception["exception_id"], request_id="a2").problem(404, "exception-unknown")
    assert opened.books.mismatches() == ()


def test_an_emergency_approval_is_acknowledged_like_any_other(opened: World) -> None:
    emergency(opened)
    (exception,) = listed(opened)

    acknowledged = acknowledge(opened, exception["exception_id"]).ok(201)

    assert listed(opened, "?acknowledged=true") == [acknowledged]


def test_a_casinos_finance_sees_its_casinos_and_acknowledges_nothing(opened: World) -> None:
    all_sorts(opened)
    own, foreign = opened.key(Role.FINANCE, casino_id="c1"), opened.key(Role.FINANCE, casino_id="c2")
    (exception, *_) = listed(opened, "?kind=late-bet")
    (of_house, *_) = listed(opened, "?kind=emergency-approval")

    assert {exception["kind"] for exception in listed(opened, key=own)} == {"late-bet"}
    assert {exception["kind"] for exception in listed(opened, key=foreign)} == {"round-open"}
    assert listed(opened, "?casino_id=c2", key=own) == []
    assert listed(opened, "?kind=emergency-approval", key=own) == []
    acknowledge(opened, exception["exception_id"], key=own).problem(403, "role-forbidden")
    acknowledge(opened, exception["exception_id"], key=foreign).problem(404, "exception-unknown")
    acknowledge(opened, of_house["exception_id"], key=own).problem(404, "exception-unknown")


@pytest.mark.parametrize("exception_id", ["0" * 15 + "-" + "0" * 16, "x", "z" * 64])
def test_what_is_not_there_cannot_be_acknowledged(opened: World, exception_id: str) -> None:
    key = opened.person("Olga", Role.OPERATOR)
    before = opened.books.counts()

    acknowledge(opened, exception_id, key=key).problem(404, "exception-unknown")

    assert opened.books.counts() == before


WRONG_BODIES: Final[Sequence[tuple[Body, str]]] = (
    ({"request_id": "a1"}, "/reason"),
    ({"reason": "because"}, "/request_id"),
    ({"request_id": "a1", "reason": ""}, "/reason"),
    ({"request_id": "a1", "reason": " "}, "/reason"),
    ({"request_id": "a1", "reason": "a\0b"}, "/reason"),
    ({"request_id": "a1", "reason": "x" * 501}, "/reason"),
    ({"request_id": "a1", "reason": 5}, "/reason"),
    ({"request_id": "a1", "reason": None}, "/reason"),
    ({"request_id": "a/1", "reason": "because"}, "/request_id"),
    ({"request_id": None, "reason": "because"}, "/request_id"),
    ({"request_id": "a1", "reason": "because", "kind": "late-bet"}, "/kind"),
)


def test_an_acknowledgement_that_cannot_be_is_refused(opened: World, subtests: pytest.Subtests) -> None:
    exception_id = late_bet(opened)["exception_id"]
    key = opened.person("Olga", Role.OPERATOR)
    for body, pointer in WRONG_BODIES:
        with subtests.test(str(body)[:60]):
            before = opened.books.counts()

            answer = opened.post(f"{EXCEPTIONS}/{exception_id}/acknowledgement", body, key=key)
            answer.problem(422, "validation", pointer)

            assert opened.books.counts() == before


WRONG_QUERIES: Final = (
    ("from=2026-11-20T10:00:00Z&to=2026-11-20T09:59:59Z", "?to"),
    ("from=yesterday", "?from"),
    ("kind=late_bet", "?kind"),
    ("kind=", "?kind"),
    ("acknowledged=yes", "?acknowledged"),
    ("acknowledged=True", "?acknowledged"),
    ("acknowledged=", "?acknowledged"),
    ("table_id=%00", "?table_id"),
    ("casino_id=", "?casino_id"),
    ("limit=-1", "?limit"),
    ("after=k1", "?after"),
    ("after=00660B1B21D3380-b0c9932509eb08a9", "?after"),
    ("after=00660b1b21d3380-b0c9932509eb08a", "?after"),
    ("after=00660b1b21d3380-b0c9932509eb08a9%0A", "?after"),
    ("round_id=r1", "?round_id"),
)


def test_a_query_that_cannot_be_is_refused(opened: World, subtests: pytest.Subtests) -> None:
    for query, pointer in WRONG_QUERIES:
        with subtests.test(query):
            opened.get(f"{EXCEPTIONS}?{query}").problem(422, "validation", pointer)


def test_a_forged_cursor_shows_no_more_than_the_list_has(opened: World) -> None:
    late_bet(opened)

    last, before_all = (forged(opened, EXCEPTIONS, ExceptionsQuerySchema, f"{sign * 15}-{sign * 16}") for sign in "0f")
    assert listed(opened, f"?after={last}") == []
    assert len(listed(opened, f"?after={before_all}")) == 1
