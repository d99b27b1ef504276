"""What is wrong at a place is the end of a sentence that begins with the place, by whichever reader it was seen."""

import re
from typing import Final
from urllib.parse import quote

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import hand
from tests.support.world import World

pytestmark = pytest.mark.slow

STATUSES: Final = "must be one of: dealt, dead, forfeited"


TAKEN: Final = (
    "after, bet_id, casino_id, ended, from, game_number, jackpot_id, limit, older_than, player_id, state, table_id, to"
)


def words_of(problem: Body) -> list[str]:
    """Each error as a sentence: its place, then what is wrong there."""
    return [f"{error.get('parameter', error['pointer'])} {error['detail']}" for error in problem["errors"]]


def test_a_body_that_is_no_object_must_be_one(world: World) -> None:
    for body in (b"[]", b"null", b'"text"'):
        problem = world.send("POST", "T1", "r1/bets", body).problem(422, "validation")

        assert (problem["detail"], words_of(problem)) == ("the body must be an object.", [" must be an object"])


def test_the_same_is_said_of_a_bet_of_a_result_and_of_the_body(world: World) -> None:
    world.open(base_amount="1000")
    missing = {name: value for name, value in bet().items() if name != "player_id"}
    body: Body = {"bets": [{**missing, "colour": "red"}], "colour": "red"}
    assert words_of(world.send("POST", "T1", "r1/bets", body).problem(422, "validation")) == [
        "/bets/0/colour is unknown",
        "/bets/0/player_id is missing",
        "/colour is unknown",
    ]

    hands = [{**hand("1"), "status": status} for status in ("lost", None, 5)]
    result: Body = {"hands": hands, "colour": "red"}
    assert words_of(world.send("PUT", "T1", "r1/result", result).problem(422, "validation")) == [
        "/bet_count is missing",
        "/colour is unknown",
        f"/hands/0/status {STATUSES}",
        "/hands/1/status must not be null",
        "/hands/2/status must be a text",
    ]


def test_the_same_is_said_of_a_payload_and_of_a_query(world: World) -> None:
    problem = world.ask("seed-recovery", {"colour": "red", "amount": "1"}).problem(422, "payload-invalid")
    assert words_of(problem) == ["/payload/colour is unknown", "/payload/jackpot_id is missing"]
    assert problem["detail"] == f"{'; '.join(words_of(problem))}."

    finance = world.key(Role.FINANCE)
    problem = world.get("/v1/rounds?state=over&colour=red", key=finance).problem(422, "validation")
    assert words_of(problem) == [
        f"colour is unknown; this call takes {TAKEN}",
        "state must be one of: open, closed, settled, cancelled",
    ]
    assert words_of(world.get("/v1/me?colour=red", key=finance).problem(422, "validation")) == [
        "colour is unknown; this call takes no query"
    ]


def test_a_role_that_may_not_is_answered_which_may(world: World) -> None:
    problem = world.get("/v1/change-policy", key=world.key(Role.TABLE, casino_id="c1")).problem(403, "role-forbidden")

    assert problem["detail"] == (
        "Only these roles may do this: auditor, finance, operator, rates. The caller has the role table."
    )


def test_another_result_is_refused_by_what_differs(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet())
    world.settle(hand("1"))
    other: Body = {"bet_count": 2, "hands": [{**hand("1"), "status": "dead"}]}

    problem = world.send("PUT", "T1", "r1/result", other).problem(409, "result-conflict")

    assert problem["detail"] == "Round r1 was settled by another result, which differs in bet_count and hands."


@pytest.mark.parametrize(
    ("path", "instance"),
    [
        ("/v1/tables/a%20b", "/v1/tables/a%20b"),
        ("/v1/tables/%00", "/v1/tables/%00"),
        ("/v1/tables/r%C3%AEga%25", "/v1/tables/r%C3%AEga%25"),
        ("/v1/tables/a:b@c", "/v1/tables/a:b@c"),
    ],
)
def test_the_instance_of_a_problem_is_a_reference_though_the_path_is_none(
    world: World, path: str, instance: str
) -> None:
    problem = world.get(path, key=world.key(Role.FINANCE)).problem(422, "validation", "?table_id")

    assert problem["instance"] == instance


NO_CURSOR: Final = (
    "must be the `next` of a page of this list, unchanged, with the same filters; leave it out for the first page"
)


def test_a_list_that_is_empty_is_said_in_our_words(world: World) -> None:
    world.open(base_amount="1000")
    problem = world.send("POST", "T1", "r1/voids", {"bet_ids": []}).problem(422, "validation")
    assert words_of(problem) == ["/bet_ids must hold at least one id"]


@pytest.mark.parametrize(
    ("tier", "words"),
    [
        ({"from": "0", "approvals": 9}, "approvals must be a whole number from 1 to 3"),
        ({"from": "0", "approvals": "two"}, "approvals must be a whole number"),
        ({"from": "0", "prizes": ["royal_flush"] * 8}, "prizes must hold at most 7 items"),
    ],
)
def test_a_wrong_payout_tier_is_said_in_our_words(world: World, tier: Body, words: str) -> None:
    world.open(base_amount="1000")
    payload = {"jackpot_id": "j1", "settings": {"payout_tiers": [tier]}}
    problem = world.ask("rules", payload).problem(422, "payload-invalid")
    assert words_of(problem) == [f"/payload/settings/payout_tiers/0/{words}"]


def test_a_refusal_writes_times_as_answers_do(world: World) -> None:
    """In UTC with a Z, as everything else that a program reads."""
    world.open(base_amount="1000")
    ahead, written = "2027-01-01T01:00:00+01:00", "2027-01-01T00:00:00.000000Z"
    key = world.person("Kim", Role.RATES).split("_")[1]
    revocation, by = f"/v1/keys/{key}/revocation", world.key(Role.OPERATOR)
    world.post(revocation, {"request_id": "q1", "reason": "lost"}, key=by).ok(201)
    again = world.post(revocation, {"request_id": "q2", "reason": "lost"}, key=by).problem(409, "key-revoked")

    for problem in (
        world.send("POST", "T1", "r1/bets", {"bets": [bet(occurred_at=ahead)]}).problem(422, "occurred-in-future"),
        world.put_result(bet_count=0, occurred_at=ahead).problem(422, "occurred-in-future"),
        world.get(f"/v1/reports/trial-balance?as_of={quote(ahead)}").problem(422, "instant-ahead"),
    ):
        assert written in str(problem)
    assert re.search(r"was revoked at \d{4}-\d\d-\d\dT[0-9:.]+Z[.]", again["detail"])


FROM_WHEN: Final = "must be a time such as 2026-11-20T09:30:00Z"
OF_DAYS: Final = "must be a day or a time, such as 2026-11-20 or 2026-11-20T09:30:00Z"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from=2026-11-31", f"from names 2026-11-31, a day that does not exist; {FROM_WHEN}"),
        ("from=2026-11-31T00:00:00Z", f"from names 2026-11-31, a day that does not exist; {FROM_WHEN}"),
        ("from=2026-13-01", f"from names 2026-13-01, a day that does not exist; {FROM_WHEN}"),
        ("from=2026-11-20", f"from is a day without a time; {FROM_WHEN}"),
        ("from=2026-11-20T09:30:00", f"from has no offset from UTC; {FROM_WHEN}"),
        ("from=2026-11-20T25:30:00Z", f"from names a time that does not exist; {FROM_WHEN}"),
        (
            "from=2026-11-20T09:30:00+01:00",
            f"from has a blank for a sign (in an address, + is written %2B); {FROM_WHEN}",
        ),
        ("from=yesterday", f"from {FROM_WHEN}"),
        ("from=2026-11", f"from {FROM_WHEN}"),
        ("from=2026-11-20T9:30Z", f"from {FROM_WHEN}"),
        ("limit=201", "limit must be a whole number from 1 to 200"),
        ("limit=1.5", "limit must be a whole number from 1 to 200"),
        ("after=k1", f"after {NO_CURSOR}"),
        ("limit=1&limit=2", "limit stands twice; state it once"),
        ("to=2026-11-19T00:00:00Z&from=2026-11-20T00:00:00Z", "to lies before `from`"),
    ],
)
def test_a_wrong_value_in_a_query_is_said_with_what_is_expected(world: World, query: str, words: str) -> None:
    assert words_of(world.get(f"/v1/rounds?{query}").problem(422, "validation")) == [words]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from=2026-11-31", f"from names 2026-11-31, a day that does not exist; {OF_DAYS}"),
        ("from=2026-02-30T00:00:00Z", f"from names 2026-02-30, a day that does not exist; {OF_DAYS}"),
        ("as_of=2026-11-20T24:01:00Z", f"as_of names a time that does not exist; {FROM_WHEN}"),
        ("to=2026-11", f"to {OF_DAYS}"),
    ],
)
def test_a_wrong_edge_of_a_report_is_said_with_what_is_expected(world: World, query: str, words: str) -> None:
    assert words_of(world.get(f"/v1/reports/rounds?{query}").problem(422, "validation")) == [words]
