"""Payloads of change requests, and bodies and queries of administration, with what cannot be in every place of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from hashlib import sha256
from itertools import count
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.domain.settings import SETTINGS
from jackpot_service.usecases.changes.adjustment import Cause
from jackpot_service.usecases.changes.registry import KINDS
from tests.support import people
from tests.support.answers import PROBLEM, Body
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, dead, forfeited, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.long

__all__ = ["books_verify"]

ROUND: Final = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1"}
PAID: Final = f"aw_{sha256(b'j1/T1/r4/b1/flush').hexdigest()[:32]}"

WHOLE: Final[Mapping[str, Sequence[Body]]] = {
    "rate-sheet": (
        {
            "base": "EUR",
            "rates": {"GBP": "1.18"},
            "removed_currencies": ["SEK"],
            "effective_at": "2027-01-01T00:00:00Z",
            "source": {"name": "ecb", "date": "2026-11-19", "sha256": "a" * 64},
        },
        {"base": "EUR", "rates": {"GBP": "1.18"}, "replace_all": True},
    ),
    "rules": ({"jackpot_id": "j1", "settings": dict.fromkeys(SETTINGS, "0.5")},),
    "table-limits": (
        {"jackpot_id": "j1", "table_id": "T1", "token": "5"},
        {"jackpot_id": "j1", "table_id": "T1", "least_stake": "1", "largest_stake": "50"},
    ),
    "retirement": ({"jackpot_id": "j2", "to": "j1"},),
    "adjustment": (
        {
            "jackpot_id": "j1",
            "account": "meter",
            "amount": "1.5",
            "document": "d",
            "cause": next(iter(Cause)).value,
        },
    ),
    "seed-recovery": ({"jackpot_id": "j2", "amount": "1"},),
    "prize-fund-true-up": ({"jackpot_id": "j1", "amount": "1"},),
    "held-awards": ({**ROUND, "bets": ["b1"], "decision": "approve"},),
    "compensation": (
        {
            **ROUND,
            "round_id": "r2",
            "bet_id": "b1",
            "player_id": "player-of-b1",
            "amount_minor": 100,
            "currency": "EUR",
            "document": "d",
        },
    ),
    "declined-compensation": ({**ROUND, "round_id": "r3", "bet_id": "b1"},),
    "round-correction": (
        {**ROUND, "result": {"bet_count": 1, "hands": [hand("1", NOTHING), dead("2")], "dealer": ["2c"]}},
    ),
    "casino-claims": ({"casino_id": "c1", "claim_days": 30, "forfeited_to": "meter"},),
    "award-forfeiture": ({"jackpot_id": "j1", "award_id": PAID},),
    "payment-reversal": ({"jackpot_id": "j1", "award_id": PAID, "reference": "slip"},),
    "statement-settlement": (
        {
            "jackpot_id": "j1",
            "casino_id": "c1",
            "currency": "EUR",
            "from": "2026-01-01T00:00:00Z",
            "to": "2026-01-31T00:00:00Z",
            "amount": "1.00",
            "reference": "s",
        },
    ),
    "casino-withholding": (
        {
            "casino_id": "c1",
            "currency": "EUR",
            "from": "2027-01-01T00:00:00Z",
            "least_multiple": 300,
            "report_at_minor": 60_000,
            "withhold_at_minor": 500_000,
            "percent": "24",
        },
    ),
    "change-policy": (
        {
            "kinds": {
                "rules": {
                    "requested_by": ["operator"],
                    "decided_by": ["operator"],
                    "needs_other_department": True,
                    "needs_other_role": True,
                    "needs_passkey": False,
                }
            }
        },
    ),
}
"""A payload with every field, for each kind of change."""

ANYTHING: Final = (
    "null",
    "true",
    "0",
    "-1",
    "1.0",
    "1e2",
    str(2**63),
    "9" * 10_000,
    '""',
    '" "',
    '"-0"',
    '"0.0000000000000000001"',
    '"NaN"',
    '"1e5"',
    '"\\u0661"',
    f'"{"9" * 60}"',
    f'"{"9" * 10_000}"',
    f'"{"9" * 20}.{"9" * 18}"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\u202ex"',
    '"XXX"',
    '"JPY"',
    '"j3"',
    "[]",
    "{}",
    "[{}]",
    '["b1","b1"]',
    '{"a":1}',
    '{"":""}',
    '{"~/\\u0000":"1"}',
    '{"EUR":"2"}',
    "[" * 200 + "]" * 200,
    '{"a":' * 200 + "1" + "}" * 200,
    '"0001-01-01T00:00:00+23:59"',
    '"9999-12-31T23:59:59-23:59"',
    '"2026-02-30T09:00:00Z"',
    '"0000-01-01"',
    '"9999-12-31"',
)
"""JSON texts of which none, or hardly one, can stand anywhere."""

Place = tuple[str | int, ...]


@pytest.fixture
def played(world: World) -> World:
    """A jackpot with an award that is held, a paid one and a cancelled round, and two others."""
    world.open(base_amount="1000", settings={"payout_tiers": held_from("1")})
    world.open(jackpot_id="j2", base_amount="10", tables=())
    world.open(jackpot_id="j3", tables=())
    world.bet(bet("b1"))
    world.settle(hand("1", ROYAL_FLUSH))
    world.bet(bet("b1"), round_id="r2")
    world.cancel(round_id="r2")
    world.bet(bet("b1"), round_id="r4")
    world.settle(hand("1", FLUSH), round_id="r4")
    approval = {**ROUND, "round_id": "r4", "decision": "approve"}
    world.ask("held-awards", approval, request_id="r4", by="Olga").ok(201)
    world.approve("r4", by="Otto").ok()
    payment = {"request_id": "p", "reference": "slip"}
    world.put(f"/v1/awards/{PAID}/payment", payment, key=world.key(Role.FINANCE, casino_id="c1")).ok(201)
    world.bet(bet("b1"), round_id="r3")
    world.settle(forfeited("1", FLUSH), round_id="r3")
    return world


def places(document: Any, at: Place = ()) -> Iterator[Place]:
    """Every place of a document, itself first."""
    yield at
    if isinstance(document, dict):
        for name, value in document.items():
            yield from places(value, (*at, name))
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from places(value, (*at, number))


def with_text_at(document: Body, at: Place, text: str) -> str:
    """Write a document with a JSON text, taken as it is, at a place of it."""
    if not at:
        return text
    changed: Any = deepcopy(document)
    place = changed
    for name in at[:-1]:
        place = place[name]
    place[at[-1]] = "«here»"
    return json.dumps(changed).replace(json.dumps("«here»"), text)


def spoiled(document: Body) -> Iterator[str]:
    for at in places(document):
        for text in ANYTHING:
            yield with_text_at(document, at, text)


def test_every_kind_of_change_has_a_payload_here() -> None:
    assert WHOLE.keys() == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_payload_that_cannot_be_is_refused_and_what_can_be_is_tried_and_taken_back(played: World, kind: str) -> None:
    key = played.key_of(people.asker_of(kind))
    before = played.books.counts()

    for payload in WHOLE[kind]:
        for number, text in enumerate(spoiled(payload)):
            data = f'{{"request_id":"q{number}","kind":"{kind}","payload":{text},"reason":"x"}}'.encode()
            answer = played.call("POST", "/v1/change-requests?dry_run=true", key=key, data=data)

            assert answer.status in {200, 400, 404, 409, 422}, (text[:200], answer.text)
            assert answer.status == 200 or answer.media_type == PROBLEM, text[:200]

    assert played.books.counts() == before


def bodies(world: World) -> tuple[tuple[str, str, Body], ...]:
    """Every other call of administration that takes a body: with a body of every field."""
    award_id = world.get("/v1/awards").ok()["items"][0]["award_id"]
    key_id = world.person("Zoe", Role.FINANCE).split("_")[1]
    adjustment = WHOLE["adjustment"][0]
    world.ask("adjustment", adjustment, request_id="waits", by="Bob").ok(201)
    envelope = {"request_id": "r", "reason": "x"}
    new_key = {"principal": "server", "role": "table", "casino_id": "c1", "table_ids": ["T1"], "service_account": True}
    exception = f"{'0' * 15}-{'0' * 16}"
    return (
        ("POST", "/v1/change-requests", {**envelope, "kind": "adjustment", "payload": adjustment, "base_version": "9"}),
        ("POST", "/v1/change-requests/waits/approval", {"confirm": {"a": "1"}, "reason": "x", "emergency": True}),
        ("POST", "/v1/change-requests/waits/rejection", {"reason": "x", "confirm": {}}),
        ("POST", "/v1/keys", {**envelope, **new_key}),
        ("POST", f"/v1/keys/{key_id}/revocation", envelope),
        (
            "POST",
            "/v1/tables/T1/rounds/r1/evidence",
            {"request_id": "e", "kind": "witness", "statement": "seen", "sha256": "ab" * 32},
        ),
        ("POST", f"/v1/awards/{award_id}/slip", {"request_id": "p"}),
        ("PUT", f"/v1/awards/{award_id}/stop", {"request_id": "s", "reason": "in doubt"}),
        (
            "PUT",
            f"/v1/awards/{award_id}/payment",
            {
                "request_id": "r",
                "reference": "x",
                "paid_at": "2026-11-20",
                "amount_minor": 1,
                "currency": "EUR",
                "channel": "cage",
                "payer": "x",
            },
        ),
        ("POST", f"/v1/exceptions/{exception}/acknowledgement", envelope),
        ("PUT", "/v1/jackpots/j2/suspension", envelope),
        ("PUT", "/v1/jackpots/j2/resumption", envelope),
    )


def test_no_body_of_administration_breaks_it(played: World) -> None:
    key, numbers = played.person("Ann", Role.OPERATOR), count()

    for method, path, body in bodies(played):
        for text in spoiled(body):
            named = text.replace('"request_id": "r"', f'"request_id": "r{next(numbers)}"')
            answer = played.call(method, path, key=key, data=named.encode())

            assert answer.status < 500, (path, text[:200], answer.text)


LISTS: Final = {
    "/v1/audit": ("limit", "after", "from", "to", "principal", "kind", "jackpot_id", "subject", "request_id"),
    "/v1/closed-periods": ("limit", "after"),
    "/v1/passkeys": ("limit", "after"),
    "/v1/reconciliations": ("limit", "after", "as_of"),
    "/v1/seals": ("limit", "after"),
    "/v1/stripe-heads": ("limit", "after"),
    "/v1/verifications": ("limit", "after"),
    "/v1/verification-runs": ("limit", "after"),
    "/v1/exceptions": ("limit", "after", "from", "to", "kind", "jackpot_id", "casino_id", "table_id", "acknowledged"),
    "/v1/awards": ("limit", "after", "state", "jackpot_id", "casino_id", "player_id"),
    "/v1/players/player-of-b1/bets": ("limit", "after", "from", "to", "jackpot_id", "casino_id"),
    "/v1/rounds": ("game_number", "limit", "after", "from", "to", "jackpot_id", "casino_id", "table_id"),
    "/v1/change-requests": ("limit", "after", "state", "kind"),
    "/v1/keys": ("limit", "after"),
    "/v1/rates": ("base", "number", "as_of"),
    "/v1/rates/history": ("base", "currency", "limit", "after"),
    "/v1/rates/histories": ("base", "currency", "limit", "after"),
    "/v1/rates/use": ("base",),
    "/v1/rate-sheets": ("base", "limit", "after"),
}

NEEDED: Final = {"base": "EUR", "currency": "GBP", "game_number": "21:10:10"}

VALUES: Final = (
    "",
    "0",
    "2147483647",
    "2147483648",
    "9" * 5000,
    "true",
    "k0",
    "k7fffffff",
    "k80000000",
    "k7fffffffffffffff",
    "k8000000000000000",
    "k7fffffffffffffff.a",
    f"{'0' * 15}-{'0' * 16}",
    f"{'f' * 15}-{'f' * 16}",
    "%00",
    "%ff",
    "%ed%a0%80",
    "%E2%80%AE",
    "%27--",
    "EUR",
    "XXX",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "0001-01-01T00:00:00%2B23:59",
    "9999-12-31T23:59:59-23:59",
)


def test_no_query_of_administration_breaks_it(played: World, subtests: pytest.Subtests) -> None:
    for path, names in LISTS.items():
        with subtests.test(path):
            for name in names:
                needed = "".join(f"&{other}={NEEDED[other]}" for other in names if other in NEEDED and other != name)
                for value in VALUES:
                    answer = played.get(f"{path}?{name}={value}{needed}")
                    assert answer.status in {200, 404, 422}, (name, value, answer.text)
                    played.get(f"{path}?{name}={value}&{name}={value}{needed}").problem(422, "validation", f"?{name}")
