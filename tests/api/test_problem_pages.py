"""The type of a problem is an address at which the service says what it means. Issue 25, demand 2."""

import re
from html import unescape
from typing import Any

import jsonschema_rs
import pytest

from jackpot_service.api.problem_catalogue.catalogue import ROWS, SECTIONS, UnknownProblem
from jackpot_service.api.problem_catalogue.schemas import components_of, response_of, schema_of
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.contract import DOCUMENT
from tests.support.world import World

pytestmark = pytest.mark.slow

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


def ask_page(world: World, path: str, *, accept: str | None = None, method: str = "GET") -> Answer:
    return world.call(method, path, key=None, headers={} if accept is None else {"Accept": accept})


def test_the_type_of_a_problem_leads_to_what_it_means_and_what_to_do(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1"))
    problem = world.post_bets(bet("b1", stake_minor=7)).problem(409, "bet-conflict")

    assert ask_page(world, problem["type"]).ok() == {
        "type": "/problems/bet-conflict",
        "code": "bet-conflict",
        "status": 409,
        "title": problem["title"],
        "section": "Bets",
        "meaning": "A bet id was used before, for another bet.",
        "remedy": ROWS["bet-conflict"].remedy,
        "retryable": False,
        "members": [
            {
                "name": "bet_ids",
                "schema": {"type": "array", "items": {"type": "string"}},
                "description": "The ids that were booked with other content.",
                "always": True,
            }
        ],
    }


def test_all_codes_are_listed_each_as_by_itself(world: World) -> None:
    items = ask_page(world, "/problems").ok()["items"]

    assert [item["code"] for item in items] == list(ROWS)
    assert all(ask_page(world, item["type"]).ok() == item for item in items[::7])


@pytest.mark.parametrize("code", ["nothing", "ledger-error", "conflict", "card-unknown", "schema-in-use"])
def test_a_code_that_the_service_does_not_answer_is_not_found(world: World, code: str) -> None:
    assert ask_page(world, f"/problems/{code}").problem(404, "problem-unknown")["problem"] == code


@pytest.mark.parametrize("path", ["/problems/%00", f"/problems/{'x' * 65}"])
def test_what_is_no_code_is_refused(world: World, path: str) -> None:
    ask_page(world, path).problem(422, "validation", "?code")


def test_an_address_that_is_none_is_not_found(world: World) -> None:
    ask_page(world, "/problems/a/b").problem(404, "not-found")
    assert ask_page(world, "/problems/").status == 200


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("application/problem+json", "application/json"),
        ("text/html;q=0.5, application/json", "application/json"),
        ("text/html;q=0", "application/json"),
        ("text/html;q=a, ;;, \x7f", "application/json"),
        ("text/html;q=" + "9" * 5000, "application/json"),
        ("text/html", "text/html"),
        (BROWSER, "text/html"),
    ],
)
@pytest.mark.parametrize("path", ["/problems", "/problems/bet-conflict"])
def test_a_browser_gets_a_page_and_everybody_else_gets_json(
    world: World, path: str, accept: str | None, media_type: str
) -> None:
    answer = ask_page(world, path, accept=accept)

    assert (answer.status, answer.media_type, answer.headers["Vary"]) == (200, media_type, "Accept")


def test_the_page_says_of_each_code_what_it_means_and_what_to_do(world: World) -> None:
    answer = ask_page(world, "/problems", accept=BROWSER)
    text = unescape(re.sub(r"<[^>]*>", "", answer.text))

    for row in ROWS.values():
        assert f'<a href="{row.type}"><code>{row.code}</code></a>' in answer.text
        assert row.meaning.replace("`", "") in text
        assert row.remedy.replace("`", "") in text
    assert re.findall(r"<h2>(.*)</h2>", answer.text) == [section.title for section in SECTIONS]


def test_the_page_of_one_code_has_that_one_alone(world: World) -> None:
    text = ask_page(world, "/problems/stake-out-of-range", accept=BROWSER).text

    assert re.findall(r"/problems/([a-z-]+)", text) == ["stake-out-of-range"]
    assert "<code>largest_stakes</code> (object of texts, not always)" in text


def test_a_page_may_load_and_run_nothing(world: World) -> None:
    answer = ask_page(world, "/problems", accept=BROWSER)

    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; ")
    assert "script" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not re.search(r"<script|<link|<img|src=|https?://", answer.text)


def test_they_need_no_key_and_take_no_other_method(world: World) -> None:
    for path in ("/problems", "/problems/bet-conflict"):
        assert ask_page(world, path, method="HEAD").status == 200
        assert world.call("GET", path, key="none").status == 200
        assert ask_page(world, f"{path}?whatever=1").status == 200
        ask_page(world, path, method="POST").problem(405, "method-not-allowed")


# The schemas that operations name.


def accepts(schema: Body, problem: Body) -> bool:
    document: dict[str, Any] = {"components": DOCUMENT["components"], **schema}
    return jsonschema_rs.Draft202012Validator(document).is_valid(problem)


def test_a_problem_is_of_the_schema_of_its_code_and_of_no_other(world: World) -> None:
    world.open(base_amount="1000")
    problem = world.post_bets(bet(stake_minor=10_001)).problem(422, "stake-out-of-range")

    assert accepts(schema_of(["stake-out-of-range", "validation"]), problem)
    assert not accepts(schema_of(["hand-limit", "validation"]), problem)
    assert not accepts(schema_of(["stake-out-of-range"]), problem | {"largest_stake": 100})


def test_a_member_that_every_problem_of_a_code_has_is_required() -> None:
    schemas = components_of(["bet-conflict", "stake-out-of-range"])

    assert [*schemas] == ["BetConflictProblem", "StakeOutOfRangeProblem"]
    _, conflict = schemas["BetConflictProblem"]["allOf"]
    _, stake = schemas["StakeOutOfRangeProblem"]["allOf"]
    assert (conflict["required"], conflict["properties"]["code"]["enum"]) == (["bet_ids"], ["bet-conflict"])
    assert "required" not in stake


def test_problems_of_several_codes_are_told_apart_by_their_code() -> None:
    single, both = schema_of(["bet-conflict"]), schema_of(["bet-conflict", "hand-limit"])

    assert single == {"$ref": "#/components/schemas/BetConflictProblem"}
    assert both["oneOf"] == [single, {"$ref": "#/components/schemas/HandLimitProblem"}]
    assert both["discriminator"]["mapping"]["bet-conflict"] == single["$ref"]


def test_a_response_names_its_codes() -> None:
    busy = response_of(["outcome-unknown", "busy"], headers={"Retry-After": {}})

    assert busy["description"] == "- `busy`: The ledger is busy.\n- `outcome-unknown`: Outcome unknown."
    assert busy["headers"] == {"Retry-After": {}}
    with pytest.raises(ValueError, match="too many values"):
        response_of(["busy", "bet-conflict"], headers={})
    with pytest.raises(UnknownProblem):
        response_of(["nothing"], headers={})
