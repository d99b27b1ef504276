"""Jackpots, stripes and first rate sheets over HTTP: by one operator, once, under an id of the request."""

from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.domain.rulebooks import RULEBOOK_IDS
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.world import LIVE, World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

JACKPOT: Final[Body] = {
    "request_id": "o1",
    "reason": "opening",
    "jackpot_id": "live",
    "rulebook": LIVE,
    "currency": "EUR",
    "base_amount": "5432.68065",
    "settings": {"limit": "6000", "payout_tiers": [{"from": "1000", "approvals": 2}], "largest_stake.GBP": "80"},
}
STRIPES: Final[Body] = {"request_id": "s1", "reason": "more tables", "stripes": 7}
SHEET: Final[Body] = {"request_id": "r1", "reason": "opening", "base": "USD", "rates": {"GBP": "1.25", "JPY": "0.0067"}}


def post(world: World, path: str, body: Body, *, by: str = "Ann") -> Answer:
    return world.post(path, body, key=world.person(by, Role.OPERATOR))


def spread(world: World, body: Body = STRIPES, *, jackpot_id: str = "j1") -> Answer:
    return world.put(f"/v1/jackpots/{jackpot_id}/stripes", body, key=world.person("Ann", Role.OPERATOR))


def act_of(world: World, request_id: str) -> Body:
    items: list[Body] = world.get(f"/v1/audit?request_id={request_id}").ok()["items"]
    (act,) = items
    return act


def test_a_jackpot_is_opened_once_with_its_settings_and_the_houses_money(world: World) -> None:
    first = post(world, "/v1/jackpots", JACKPOT).ok(201)
    before = world.books.counts()

    assert (first["jackpot_id"], first["currency"], first["state"]) == ("live", "EUR", "open")
    assert first["meter"]["amount_exact"] == "5432.68065"
    assert world.books.balance("live", "house:seed") == -world.books.pools("live").meter_house
    assert post(world, "/v1/jackpots", JACKPOT).ok(200) == first
    assert world.books.counts() == before
    act = act_of(world, "o1")
    assert (act["kind"], act["principal"], act["reason"]) == ("jackpot_opened", "Ann", "opening")
    assert act["after"]["rules"]["document"]["limit"] == "6000"
    assert act["after"]["rules"]["document"]["payout_tiers"][0]["approvals"] == 2


@pytest.mark.parametrize("rulebook", RULEBOOK_IDS)
def test_opened_without_payout_tiers_no_royal_flush_is_payable_at_once(world: World, rulebook: str) -> None:
    """Demand 3: the defaults of every rulebook are such."""
    opening = {name: JACKPOT[name] for name in JACKPOT.keys() - {"settings"}}
    opening |= {"rulebook": rulebook, "base_amount": "10000"}
    post(world, "/v1/jackpots", opening).ok(201)
    world.add_table("T1", jackpot_id="live")
    world.bet(bet("b1"))

    awards = world.settle(hand("1", ROYAL_FLUSH))["awards"]

    assert [award["state"] for award in awards] == ["held"]
    (tier,) = act_of(world, "o1")["after"]["rules"]["document"]["payout_tiers"]
    assert (tier["from"], tier["approvals"], tier["evidence"]) == ("0", 1, ["surveillance", "cards-checked"])


def test_a_jackpot_that_was_opened_takes_bets_at_a_table_that_was_added(world: World) -> None:
    post(world, "/v1/jackpots", JACKPOT).ok(201)
    table = {"request_id": "t1", "reason": "opening", "table_id": "L1", "casino_id": "c1", "game": "caribbean-stud"}
    post(world, "/v1/tables", table | {"jackpot_id": "live"}).ok(201)

    world.bet(bet(), table_id="L1")
    assert post(world, "/v1/jackpots", JACKPOT).ok(200)["meter"]["amount_exact"] == "5433.13065"


def test_without_a_base_amount_it_starts_with_the_reset_amount_and_stripes_are_as_configured(world: World) -> None:
    stated = {name: JACKPOT[name] for name in ("request_id", "reason", "jackpot_id", "currency")}
    post(world, "/v1/jackpots", {**stated, "rulebook": "cyber-caribbean-stud"}).ok(201)

    assert world.meter("live")["amount_exact"] == "10000"
    assert world.books.value("SELECT count(*) FROM stripes WHERE jackpot_id = 'live'") == world.config.stripes


def test_a_jackpot_may_state_how_many_stripes_it_has(world: World) -> None:
    post(world, "/v1/jackpots", JACKPOT | {"stripes": 3}).ok(201)
    post(world, "/v1/jackpots", JACKPOT | {"stripes": 3}).ok(200)
    for other in ({"stripes": 4}, {}):
        post(world, "/v1/jackpots", JACKPOT | other).problem(409, "request-conflict")

    assert world.books.value("SELECT count(*) FROM stripes WHERE jackpot_id = 'live'") == 3


WRONG: Final[tuple[tuple[dict[str, Any], int, str], ...]] = (
    ({"jackpot_id": "-"}, 422, "rules-invalid"),
    ({"jackpot_id": "a b"}, 422, "validation"),
    ({"rulebook": "bingo"}, 422, "validation"),
    ({"currency": "eur"}, 422, "validation"),
    ({"currency": "XXX"}, 422, "unknown-currency"),
    ({"base_amount": 5}, 422, "validation"),
    ({"base_amount": "-5"}, 422, "rules-invalid"),
    ({"base_amount": "6001"}, 422, "rules-invalid"),
    ({"base_amount": "1e3"}, 422, "validation"),
    ({"settings": {}}, 422, "validation"),
    ({"settings": {"colour": "red"}}, 422, "setting-unknown"),
    ({"settings": {"limit": 5}}, 422, "validation"),
    ({"settings": {"limit": "much"}}, 422, "rules-invalid"),
    ({"settings": {"payout_tiers": [{"from": "x"}]}}, 422, "validation"),
    ({"stripes": 0}, 422, "validation"),
    ({"stripes": 257}, 422, "validation"),
    ({"stripes": "3"}, 422, "validation"),
    ({"reason": " "}, 422, "validation"),
    ({"more": 1}, 422, "validation"),
)


def test_a_jackpot_that_cannot_be_is_refused_and_nothing_is_written(world: World, subtests: pytest.Subtests) -> None:
    world.person("Ann", Role.OPERATOR)
    for changed, status, code in WRONG:
        with subtests.test(str(changed)):
            before = world.books.counts()

            post(world, "/v1/jackpots", JACKPOT | changed).problem(status, code)

            assert world.books.counts() == before


def test_another_jackpot_of_the_id_and_another_request_of_the_id_are_conflicts(world: World) -> None:
    post(world, "/v1/jackpots", JACKPOT).ok(201)

    post(world, "/v1/jackpots", JACKPOT | {"request_id": "o2"}).problem(409, "already-exists")
    for changed in (
        {"base_amount": "5"},
        {"reason": "other"},
        {"settings": {"limit": "7000"}},
        {"jackpot_id": "other"},
    ):
        post(world, "/v1/jackpots", JACKPOT | changed).problem(409, "request-conflict")
    post(world, "/v1/jackpots", JACKPOT, by="Bob").problem(409, "request-conflict")


def test_a_jackpot_is_spread_over_more_stripes_while_bets_go_on(world: World) -> None:
    world.open(base_amount="1000", stripes=4)
    world.bet(bet())

    assert spread(world).ok(201) == {"jackpot_id": "j1", "stripes": 7}
    before = world.books.counts()
    assert spread(world).ok(200) == {"jackpot_id": "j1", "stripes": 7}
    assert spread(world, STRIPES | {"request_id": "s2"}).ok(200) == {"jackpot_id": "j1", "stripes": 7}
    assert world.books.counts() == before
    world.bet(bet(), round_id="r2")
    act = act_of(world, "s1")
    assert (act["kind"], act["principal"], act["before"]) == ("stripes_added", "Ann", {"stripes": 4})


def test_stripes_become_more_and_never_fewer(world: World) -> None:
    world.open(stripes=4)

    spread(world, STRIPES | {"stripes": 3}).problem(422, "stripes-out-of-range")
    spread(world, STRIPES | {"stripes": 257}).problem(422, "validation", "/stripes")
    spread(world, jackpot_id="j9").problem(404, "jackpot-unknown")
    spread(world).ok(201)
    spread(world, STRIPES | {"stripes": 9}).problem(409, "request-conflict")


def test_the_first_sheet_of_a_base_currency_is_published_once(world: World) -> None:
    first = post(world, "/v1/rate-sheets", SHEET)
    before = world.books.counts()

    assert first.ok(201) == world.get("/v1/rates?base=USD").ok()
    assert [(rate["currency"], rate["rate"]) for rate in first.body["rates"]] == [
        ("GBP", "1.25"),
        ("JPY", "0.0067"),
        ("USD", "1"),
    ]
    assert post(world, "/v1/rate-sheets", SHEET).ok(200) == first.body
    assert world.books.counts() == before
    post(world, "/v1/rate-sheets", SHEET | {"request_id": "r2"}).problem(409, "sheet-exists")
    post(world, "/v1/rate-sheets", SHEET | {"rates": {"GBP": "1.26"}}).problem(409, "request-conflict")
    act = act_of(world, "r1")
    assert (act["kind"], act["principal"], act["before"]) == ("rates_published", "Ann", None)


def test_a_replay_shows_the_first_sheet_also_when_there_is_a_later_one(world: World) -> None:
    first = post(world, "/v1/rate-sheets", SHEET).ok(201)
    world.publish("USD", GBP="1.30")

    assert post(world, "/v1/rate-sheets", SHEET).ok(200) == first


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"base": "EUR"}, 409, "sheet-exists"),
        ({"base": "XXX"}, 422, "unknown-currency"),
        ({"rates": {"USD": "1"}}, 422, "rate-invalid"),
        ({"rates": {"GBP": "0"}}, 422, "rate-invalid"),
        ({"rates": {"GBP": "-1"}}, 422, "rate-invalid"),
        ({"rates": {"GBP": 1}}, 422, "validation"),
        ({"rates": {"gbp": "1"}}, 422, "validation"),
        ({"rates": {"x" * 100_000: "1"}}, 422, "validation"),
        ({"rates": {"HRK": "1"}}, 422, "unknown-currency"),
        ({"rates": []}, 422, "validation"),
        ({"effective_at": "2026-01-01T00:00:00Z"}, 422, "validation"),
    ],
)
def test_a_first_sheet_that_cannot_be_is_refused(world: World, changed: Body, status: int, code: str) -> None:
    world.person("Ann", Role.OPERATOR)
    before = world.books.counts()

    post(world, "/v1/rate-sheets", SHEET | changed).problem(status, code)

    assert world.books.counts() == before


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/jackpots", JACKPOT),
        ("PUT", "/v1/jackpots/j1/stripes", STRIPES),
        ("POST", "/v1/rate-sheets", SHEET),
    ],
)
def test_nobody_but_an_operator_does_it(world: World, method: str, path: str, body: Body) -> None:
    world.open()
    send = world.post if method == "POST" else world.put
    for role in set(Role) - {Role.OPERATOR}:
        send(path, body, key=world.key(role)).problem(403, "role-forbidden")
