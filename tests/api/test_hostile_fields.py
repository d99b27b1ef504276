"""Fields that are wrong: 422 with a pointer at each, nothing written, never a 500."""

import json
from collections.abc import Sequence
from copy import deepcopy
from itertools import chain
from typing import Any, Final

import pytest

from jackpot_service.domain.currencies import CURRENCIES
from tests.support.answers import places
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, dead, hand
from tests.support.world import RATES, World

pytestmark = pytest.mark.long

WHOLE: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "bets": ("POST", {"bets": [bet(occurred_at="2026-11-20T09:00:00Z")]}),
    "voids": ("POST", {"bet_ids": ["b1"]}),
    "result": (
        "PUT",
        {
            "bet_count": 0,
            "hands": [{"hand": "1", "status": "dealt", "cards": list(ROYAL_FLUSH)}],
            "dealer": ["2c", "3d"],
            "occurred_at": "2026-11-20T09:00:00Z",
        },
    ),
    "cancellation": (
        "PUT",
        {
            "reason": "misdeal",
            "hands": [{"hand": "1", "status": "dealt", "cards": list(ROYAL_FLUSH)}],
            "occurred_at": "2026-11-20T09:00:00Z",
        },
    ),
}
"""Every call that takes a body, with every field of it."""

NO_TEXT: Final = ("1", "1.5", "true", "null", "[]", "{}", '["b1"]')

NO_ID: Final = (
    *NO_TEXT,
    '""',
    '" "',
    f'"{"x" * 65}"',
    '"a b"',
    '"a/b"',
    '"b1\\n"',
    '"a\\u0000b"',
    '"\\u00e9"',
    '"\\ud83c\\udca1"',
    '"\\u202eb1"',
    '"b1;DROP TABLE bets"',
)

NO_WHOLE: Final = (
    "1.0",
    "1e2",
    "0.5",
    "-0.0",
    '"5"',
    '""',
    "true",
    "false",
    "null",
    "[]",
    "[1]",
    "{}",
    "-1",
    str(10**15 + 1),
    str(2**63),
    str(2**64),
    str(10**100),
)

NO_CURRENCY: Final = (
    *NO_TEXT,
    '""',
    '"eur"',
    '"EU"',
    '"EURO"',
    '"EUR "',
    '"EUR\\n"',
    '"E\\u0000R"',
    '"\\u0415UR"',
    "978",
)

NO_INSTANT: Final = (
    "1",
    "true",
    "[]",
    "{}",
    '""',
    '"now"',
    '"2026-11-20"',
    '"2026-11-20T09:00:00"',
    '"2026-11-20 09:00:00Z"',
    '"2026-11-20T09:00Z"',
    '"2026-11-20t09:00:00z"',
    '"2026-13-20T09:00:00Z"',
    '"2026-02-30T09:00:00Z"',
    '"2026-11-20T25:00:00Z"',
    '"2026-11-20T09:00:00+99:99"',
    '"2026-11-20T09:00:00.1234567Z"',
    '"0001-01-01T00:00:00+23:59"',
    '"9999-12-31T23:59:59-23:59"',
    '"\\u0662026-11-20T09:00:00Z"',
    '"2026-11-20T09:00:00Z\\u0000"',
)

NO_REASON: Final = (
    *NO_TEXT,
    '""',
    '" "',
    f'"{"x" * 501}"',
    '"mis\\u0000deal"',
    '"mis\\ndeal"',
    '"mis\\u001bdeal"',
    '"mis\\u202edeal"',
)

NO_LIST: Final = ("1", '"x"', "true", "null", "{}", '{"0":{}}')

NO_CARD: Final = (
    "5",
    "true",
    "null",
    "[]",
    "{}",
    '""',
    '"A"',
    '"1s"',
    '"10s"',
    '"as"',
    '"AS"',
    '"As "',
    '"A\\u0000"',
    '"\\u2660A"',
)

NO_STATUS: Final = ("1", "true", "null", "[]", "{}", '""', '"folded"', '"DEALT"')

WRONG: Final = {
    ("bets", "/bets"): (*NO_LIST, "[]", json.dumps([bet(f"b{number}") for number in range(2001)])),
    ("bets", "/bets/0"): ("1", '"x"', "true", "null", "[]"),
    ("bets", "/bets/0/bet_id"): NO_ID,
    ("bets", "/bets/0/player_id"): NO_ID,
    ("bets", "/bets/0/hand"): NO_ID,
    ("bets", "/bets/0/currency"): NO_CURRENCY,
    ("bets", "/bets/0/stake_minor"): (*NO_WHOLE, "0"),
    ("bets", "/bets/0/occurred_at"): NO_INSTANT,
    ("bets", "/bets/0/jackpot_bet"): ("1", "null"),
    ("voids", "/bet_ids"): (*NO_LIST, "[]", json.dumps([f"b{number}" for number in range(2001)])),
    ("voids", "/bet_ids/0"): NO_ID,
    ("result", "/bet_count"): (*NO_WHOLE, "2000000001"),
    ("result", "/hands"): (*NO_LIST, json.dumps([{"hand": str(number), "status": "dead"} for number in range(61)])),
    ("result", "/hands/0"): ("1", '"x"', "true", "null", "[]"),
    ("result", "/hands/0/hand"): NO_ID,
    ("result", "/hands/0/status"): NO_STATUS,
    ("result", "/hands/0/cards"): (*NO_LIST, json.dumps(["As"] * 53)),
    ("result", "/hands/0/cards/0"): NO_CARD,
    ("result", "/hands/0/folded"): ("true",),
    ("result", "/dealer"): NO_LIST,
    ("result", "/dealer/0"): NO_CARD,
    ("result", "/occurred_at"): NO_INSTANT,
    ("cancellation", "/reason"): NO_REASON,
    ("cancellation", "/hands"): (
        *NO_LIST,
        json.dumps([{"hand": str(number), "status": "dead"} for number in range(61)]),
    ),
    ("cancellation", "/hands/0/hand"): NO_ID,
    ("cancellation", "/hands/0/status"): NO_STATUS,
    ("cancellation", "/hands/0/cards/0"): NO_CARD,
    ("cancellation", "/occurred_at"): NO_INSTANT,
}
"""What cannot stand where, as JSON texts: for each place, one request for each."""


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    return world


def with_text_at(body: dict[str, Any], pointer: str, text: str) -> bytes:
    """Write a body with a JSON text, taken as it is, at a place of it."""
    changed = deepcopy(body)
    *parents, last = pointer.removeprefix("/").split("/")
    place: Any = changed
    for name in parents:
        place = place[int(name)] if isinstance(place, list) else place[name]
    place[int(last) if isinstance(place, list) else last] = "«here»"
    return json.dumps(changed).replace(json.dumps("«here»"), text).encode()


def test_a_field_that_is_wrong_is_pointed_at(opened: World, subtests: pytest.Subtests) -> None:
    for (call, pointer), texts in WRONG.items():
        with subtests.test(f"{call} {pointer}"):
            method, body = WHOLE[call]
            before = opened.books.counts()

            for text in texts:
                answer = opened.send(method, "T1", f"r1/{call}", with_text_at(body, pointer, text))

                pointed = [error["pointer"] for error in answer.problem(422, "validation")["errors"]]
                assert pointed == [pointer], (text, answer.text)
            assert opened.books.counts() == before


@pytest.mark.parametrize("call", WHOLE)
def test_a_body_with_every_field_is_taken(opened: World, call: str) -> None:
    method, body = WHOLE[call]

    assert opened.send(method, "T1", f"r1/{call}", body).status in {200, 201}


@pytest.mark.parametrize("name", ["bet_id", "player_id", "currency", "stake_minor"])
def test_a_bet_that_lacks_something_is_pointed_at(opened: World, name: str) -> None:
    before = opened.books.counts()
    lacking = {key: value for key, value in bet().items() if key != name}

    opened.post_bets(bet("fine"), lacking).problem(422, "validation", f"/bets/1/{name}")

    assert opened.books.counts() == before


def test_every_field_error_of_a_batch_is_named_at_once(opened: World) -> None:
    before = opened.books.counts()

    answer = opened.post_bets(bet("a/b", player_id="p", stake_minor=1.5), bet(), {"zzz": 1})

    answer.problem(
        422,
        "validation",
        "/bets/0/bet_id",
        "/bets/0/stake_minor",
        "/bets/2/bet_id",
        "/bets/2/currency",
        "/bets/2/player_id",
        "/bets/2/stake_minor",
        "/bets/2/zzz",
    )
    assert opened.books.counts() == before


def test_a_hand_without_a_name_is_pointed_at(opened: World) -> None:
    opened.put_result({"cards": list(FLUSH)}, bet_count=0).problem(422, "validation", "/hands/0/hand")


def test_a_currency_that_is_unknown_or_withdrawn_is_refused(opened: World, subtests: pytest.Subtests) -> None:
    for code in ("HRK", "BGN", "XXX", "XAU", "XTS", "DEM", "ZZZ"):
        with subtests.test(code):
            before = opened.books.counts()

            opened.post_bets(bet("a"), bet("b", currency=code)).problem(422, "unknown-currency", "/bets/1/currency")

            assert opened.books.counts() == before


WITHDRAWN: Final = ("HRK", "BGN")


def test_every_currency_of_the_table_is_taken_or_withdrawn_or_has_no_rate(opened: World) -> None:
    assert CURRENCIES.keys() > {"EUR", *RATES, *WITHDRAWN}
    for code in CURRENCIES:
        answer = opened.post_bets(bet(f"b-{code}", currency=code, stake_minor=1))
        if code in {"EUR", *RATES}:
            answer.ok(201)
        else:
            expected = "unknown-currency" if code in WITHDRAWN else "no-rate"
            answer.problem(422, expected, "/bets/0/currency")


def test_a_bet_that_stands_twice_in_a_batch_is_refused_even_when_it_is_the_same(opened: World) -> None:
    before = opened.books.counts()

    problem = opened.post_bets(bet("a"), bet("b"), bet("a")).problem(
        422, "duplicate-bet", "/bets/0/bet_id", "/bets/2/bet_id"
    )

    assert problem["bet_ids"] == ["a"]
    assert opened.books.counts() == before


def test_a_batch_is_all_or_nothing(opened: World) -> None:
    before = opened.books.counts_but_exceptions()
    fine = [bet(f"b{number}") for number in range(500)]

    opened.post_bets(*fine, bet("wrong", currency="CHF")).problem(422, "no-rate")
    opened.post_bets(*fine, bet("wrong", player_id="player-of-b1")).problem(422, "hand-limit")

    assert opened.books.counts_but_exceptions() == before
    assert opened.post_bets(*fine).ok(201)["accepted"] == 500


@pytest.mark.parametrize(
    ("wrong", "code", "name"),
    [
        (bet("wrong", currency="XXX"), "unknown-currency", "currency"),
        (bet("wrong", currency="CHF"), "no-rate", "currency"),
        (bet("wrong", stake_minor=10_001), "stake-out-of-range", "stake_minor"),
        (bet("wrong", player_id="player-of-known"), "hand-limit", "hand"),
    ],
)
def test_a_wrong_bet_is_pointed_at_where_it_stands_behind_replays_and_void_ones(
    opened: World, wrong: dict[str, Any], code: str, name: str
) -> None:
    opened.bet(bet("known"))
    opened.void("void")

    answer = opened.post_bets(bet("known"), bet("void"), bet("fine"), wrong)

    answer.problem(422, code, f"/bets/3/{name}")


def test_the_largest_batch_is_taken(opened: World) -> None:
    batch = [bet(f"{number:064}", player_id=f"{number:064}", hand="h" * 64) for number in range(2000)]

    assert opened.post_bets(*batch).ok(201)["accepted"] == 2000


def test_a_dealt_hand_has_five_cards(opened: World, subtests: pytest.Subtests) -> None:
    for count in (0, 1, 4, 6, 7):
        with subtests.test(f"{count} cards"):
            before = opened.books.counts()
            cards = list(chain(FLUSH, NOTHING))[:count]

            opened.put_result(hand("a", ROYAL_FLUSH), hand("b", cards)).problem(422, "hands-invalid", "/hands/1/cards")
            opened.put_cancellation(hands=[hand("b", cards)]).problem(422, "hands-invalid", "/hands/0/cards")

            assert opened.books.counts() == before


def test_a_hand_stands_once_in_a_result(opened: World) -> None:
    before = opened.books.counts()
    hands = (hand("a", ROYAL_FLUSH), dead("b"), hand("a", FLUSH))

    opened.put_result(*hands).problem(422, "hands-invalid", "/hands/0/hand", "/hands/2/hand")
    opened.put_cancellation(hands=hands).problem(422, "hands-invalid", "/hands/0/hand", "/hands/2/hand")

    assert opened.books.counts() == before


CARDS_TWICE: Final[Sequence[tuple[list[dict[str, Any]], list[str]]]] = (
    ([hand("1", ("As", "As", "Qs", "Js", "Ts"))], []),
    ([hand("1", ROYAL_FLUSH), hand("2", ("As", "2c", "3d", "4h", "6s"))], []),
    ([hand("1", ROYAL_FLUSH), dead("2", ("As",))], []),
    ([hand("1", ROYAL_FLUSH)], ["As"]),
    ([], ["As", "As"]),
)


def test_a_card_is_dealt_once_in_a_round(opened: World, subtests: pytest.Subtests) -> None:
    for hands, dealer in CARDS_TWICE:
        with subtests.test(f"{hands} {dealer}"):
            before = opened.books.counts()

            problem = opened.put_result(*hands, dealer=dealer).problem(422, "card-repeated")

            assert problem["cards"] == ["As"]
            assert opened.books.counts() == before


WRONG_QUERIES: Final = {
    "/v1/tables/T1/rounds": (
        "limit=",
        "limit=0",
        "limit=-1",
        "limit=201",
        "limit=1.0",
        "limit=1e2",
        "limit=ten",
        "limit=%D9%A3",
        "limit=" + "9" * 5000,
        "after=",
        "after=k",
        "after=kz",
        "after=k-1",
        "after=k8000000000000000",
        "after=kffffffffffffffffff",
        "after=1",
        "after=%00",
        "after=%ff",
        "from=today",
        "from=2026-11-20",
        "from=2026-11-20T09:00:00+00:00",
        "to=9999-12-31T23:59:59-23:59",
        "limit=1&limit=1",
        "after=k1&limit=5&after=k2",
        "page=2",
    ),
    "/v1/jackpots/j1/meter": (
        "currency=eur",
        "currency=",
        "currency=%00%00%00",
        "currency=%ff%ff%ff",
        "max_age=2",
        "max_age=",
        "max_age=true",
        "zzz=1",
    ),
    "/v1/jackpots/j1/paytable": ("currency=EURO", "limit=1"),
    "/v1/jackpots/j1/hits": ("limit=0", "limit=201", "after=", "after=1", "after=k8000000000000000", "before=k1"),
    "/v1/jackpots": ("limit=0", "limit=201", "after=", "after=j%001", "after=" + "j" * 65, "after=%F0%9F%98%80"),
    "/v1/closed-periods": ("limit=0", "limit=201", "after=", "after=1", "after=2026-11-20", "from=2026-11-20"),
    "/v1/rates": ("base=eur", "base="),
}


def test_a_query_that_is_wrong_is_pointed_at(opened: World, subtests: pytest.Subtests) -> None:
    for path, queries in WRONG_QUERIES.items():
        with subtests.test(path):
            for query in queries:
                pointed = places(opened.get(f"{path}?{query}").problem(422, "validation"))
                assert pointed == (f"?{query.partition('=')[0]}",), query


def test_a_base_currency_must_be_named(opened: World) -> None:
    opened.get("/v1/rates").problem(422, "validation", "?base")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/v1/jackpots/j1/meter?currency=XXX", "no-rate"),
        ("/v1/jackpots/j1/paytable?currency=CHF", "no-rate"),
        ("/v1/rates?base=CHF", "no-rate"),
    ],
)
def test_a_currency_that_has_no_rate_cannot_be_shown(opened: World, path: str, code: str) -> None:
    opened.get(path).problem(422, code)
