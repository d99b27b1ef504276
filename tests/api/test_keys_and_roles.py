"""Who may do what: every route has its roles, what a key may not see does not exist for it, no key is told apart."""

from collections.abc import Mapping
from typing import Final

import flask
import pytest
from flask_smorest import Blueprint
from sqlalchemy import update

from jackpot_service import app as application
from jackpot_service.auth import KEPT_S, Authenticator, BadKeyShown
from jackpot_service.domain.principals import Role
from jackpot_service.records.schema import KeyRow
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.house import House


def revoke(house: House, key: str) -> None:
    """Put a key out of force, as the application's role may."""
    revoked = update(KeyRow).where(KeyRow.key_id == key.split("_")[1]).values(revoked_at=house.clock())
    house.transact(lambda session: session.execute(revoked))


TABLE_SERVERS: Final = {Role.TABLE}
READERS: Final = {Role.TABLE, Role.FINANCE, Role.OPERATOR, Role.AUDITOR}
EVERYBODY: Final = set(Role)

ROUNDS: Final = "/v1/tables/<id:table_id>/rounds"
JACKPOTS: Final = "/v1/jackpots"

MAY: Final[Mapping[tuple[str, str], set[Role]]] = {
    ("POST", f"{ROUNDS}/<id:round_id>/bets"): TABLE_SERVERS,
    ("POST", f"{ROUNDS}/<id:round_id>/voids"): TABLE_SERVERS,
    ("PUT", f"{ROUNDS}/<id:round_id>/result"): TABLE_SERVERS,
    ("PUT", f"{ROUNDS}/<id:round_id>/cancellation"): TABLE_SERVERS,
    ("GET", f"{ROUNDS}/<id:round_id>"): READERS,
    ("GET", ROUNDS): READERS,
    ("GET", JACKPOTS): EVERYBODY,
    ("GET", f"{JACKPOTS}/<id:jackpot_id>"): EVERYBODY,
    ("GET", f"{JACKPOTS}/<id:jackpot_id>/meter"): EVERYBODY,
    ("GET", f"{JACKPOTS}/<id:jackpot_id>/paytable"): EVERYBODY,
    ("GET", f"{JACKPOTS}/<id:jackpot_id>/rules"): EVERYBODY,
    ("GET", f"{JACKPOTS}/<id:jackpot_id>/hits"): EVERYBODY,
    ("GET", "/v1/rates"): EVERYBODY,
    ("GET", "/v1/awards"): READERS,
    ("GET", "/v1/awards/<id:award_id>"): READERS,
    ("PUT", "/v1/awards/<id:award_id>/payment"): {Role.TABLE, Role.FINANCE, Role.OPERATOR},
}
"""Every route that asks for a key, and whom it lets in."""

OPEN: Final = {("GET", "/healthz"), ("GET", "/readyz")}

BODIES: Final[Mapping[str, Body]] = {
    "bets": {"bets": [bet()]},
    "voids": {"bet_ids": ["b1"]},
    "result": {"bet_count": 0, "hands": []},
    "cancellation": {"reason": "misdeal"},
}


def path_of(rule: str) -> str:
    for name, value in {"table_id": "T1", "round_id": "r1", "jackpot_id": "j1", "award_id": "aw"}.items():
        rule = rule.replace(f"<id:{name}>", value)
    return rule


@pytest.fixture
def opened(house: House) -> House:
    house.open(base_amount="1000")
    return house


def test_every_route_stands_in_the_table_of_roles(house: House) -> None:
    routes = {
        (method, rule.rule)
        for rule in house.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }

    assert routes == MAY.keys() | OPEN


@pytest.mark.parametrize("role", Role)
def test_a_role_may_do_what_the_table_says_and_nothing_else(opened: House, role: Role) -> None:
    key = opened.key(role)
    before = opened.books.counts()

    forbidden = set()
    for method, rule in MAY:
        answer = opened.call(method, path_of(rule), key=key, data=b"{}" if method != "GET" else None)
        if answer.status == 403:
            answer.problem(403, "role-forbidden")
            forbidden.add((method, rule))

    assert forbidden == {call for call, roles in MAY.items() if role not in roles}
    assert opened.books.counts() == before


@pytest.mark.parametrize(("method", "rule"), MAY)
def test_without_a_key_nothing_is_told(opened: House, method: str, rule: str) -> None:
    answer = opened.call(method, path_of(rule), key=None, data=b"[" if method != "GET" else None)

    answer.problem(401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_health_needs_no_key(house: House) -> None:
    assert house.call("GET", "/healthz", key=None).ok() == {"status": "ok"}
    ready = house.call("GET", "/readyz", key=None).ok()
    assert ready == {"status": "ready", "database_writable": True, "migrations_current": True}


def test_a_route_that_states_no_roles_stops_the_start(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    careless = Blueprint("careless", __name__)

    @careless.route("/v1/everything")  # type: ignore[untyped-decorator]
    def get_everything() -> flask.Response:
        raise NotImplementedError

    monkeypatch.setattr(application, "BLUEPRINTS", (*application.BLUEPRINTS, careless))

    with pytest.raises(LookupError, match="get_everything states no roles"):
        house.start()


def malformed(key: str) -> dict[str, str]:
    """Headers that show no key, made from one that is in force."""
    prefix, key_id, secret = key.split("_", 2)
    return {
        "empty": "",
        "only a scheme": "Bearer",
        "only a scheme and a space": "Bearer ",
        "no scheme": key,
        "another scheme": f"Basic {key}",
        "a digest": 'Digest username="x"',
        "no secret": f"Bearer {prefix}_{key_id}",
        "an empty secret": f"Bearer {prefix}_{key_id}_",
        "a wrong secret": f"Bearer {prefix}_{key_id}_{secret[::-1]}",
        "a secret too long": f"Bearer {key}x",
        "two keys": f"Bearer {key} {key}",
        "a comma": f"Bearer {key},",
        "another prefix": f"Bearer pk_{key_id}_{secret}",
        "an unknown id": f"Bearer {prefix}_{'0' * 16}_{secret}",
        "an id in capitals": f"Bearer {prefix}_{key_id.upper()}G_{secret}",
        "an id that is no id": f"Bearer {prefix}_' OR 1=1 --_{secret}",
        "an id of 10,000": f"Bearer {prefix}_{'a' * 10_000}_{secret}",
        "letters that are no ASCII": f"Bearer {prefix}_{key_id}_\xe9\xff",
        "an id that is no ASCII": f"Bearer {prefix}_\xb2_{secret}",
    }


def test_a_malformed_header_shows_no_key(opened: House) -> None:
    headers = malformed(opened.key(Role.AUDITOR))

    for name, header in headers.items():
        answer = opened.call("GET", "/v1/jackpots", key=None, headers={"Authorization": header})
        assert (answer.status, answer.body["code"]) == (401, "unauthenticated"), (name, answer.text)
        answer.problem(401, "unauthenticated")


def test_the_scheme_may_be_written_in_any_case(opened: House) -> None:
    header = {"Authorization": f"bEARER {opened.key(Role.AUDITOR)}"}

    opened.call("GET", "/v1/jackpots", key=None, headers=header).ok()


def test_a_problem_tells_nothing_of_the_key(opened: House) -> None:
    key = opened.key(Role.AUDITOR)

    answer = opened.call("GET", "/v1/jackpots", key=f"{key}x")

    assert key not in answer.text
    assert key.split("_")[1] not in answer.text


def test_a_revoked_key_is_refused(opened: House) -> None:
    key = opened.key(Role.AUDITOR)
    revoke(opened, key)

    answer = opened.call("GET", "/v1/jackpots", key=key, app=opened.start())

    answer.problem(401, "unauthenticated")


def test_a_process_believes_in_a_key_that_was_revoked_for_a_quarter_of_a_minute_at_most(house: House) -> None:
    key = house.key(Role.AUDITOR)
    seconds = [0.0]
    authenticator = Authenticator(house.engine, lambda: seconds[0])
    authenticator.principal(f"Bearer {key}")
    revoke(house, key)

    seconds[0] = KEPT_S - 0.001
    assert authenticator.principal(f"Bearer {key}").role is Role.AUDITOR
    seconds[0] = KEPT_S
    with pytest.raises(BadKeyShown):
        authenticator.principal(f"Bearer {key}")


def others(house: House) -> dict[str, str]:
    """Keys that may not see table T1 of casino c1."""
    house.add_casino("c2")
    house.add_table("T2", jackpot_id="j1")
    return {
        "a server of another casino": house.key(Role.TABLE, casino_id="c2"),
        "a server of another table": house.key(Role.TABLE, casino_id="c1", table_ids=("T2",)),
    }


@pytest.mark.parametrize("call", BODIES)
def test_a_table_that_a_key_may_not_see_does_not_exist_for_it(opened: House, call: str) -> None:
    opened.bet(bet("booked"))
    keys = others(opened)
    before = opened.books.counts()
    method = "POST" if call in {"bets", "voids"} else "PUT"

    for key in keys.values():
        unseen = opened.send(method, "T1", f"r1/{call}", BODIES[call], key=key).problem(404, "table-unknown")
        absent = opened.send(method, "T9", f"r1/{call}", BODIES[call], key=key).problem(404, "table-unknown")
        # Nothing tells the one from the other but the name that was asked for.
        assert {name: str(value).replace("T1", "T9") for name, value in unseen.items()} == {
            name: str(value) for name, value in absent.items()
        }

    assert opened.books.counts() == before


def test_the_rounds_of_a_table_that_a_key_may_not_see_do_not_exist_for_it(opened: House) -> None:
    opened.bet(bet())
    keys = [*others(opened).values(), opened.key(Role.FINANCE, casino_id="c2")]

    for key in keys:
        opened.get("/v1/tables/T1/rounds", key=key).problem(404, "table-unknown")
        opened.get("/v1/tables/T1/rounds/r1", key=key).problem(404, "table-unknown")


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR, Role.AUDITOR])
def test_a_reader_of_the_whole_house_sees_every_casinos_rounds(opened: House, role: Role) -> None:
    opened.bet(bet())

    assert opened.get("/v1/tables/T1/rounds/r1", role=role).ok()["bets"][0]["player_id"] == "player-of-b1"


def test_a_key_bound_to_a_table_works_there(opened: House) -> None:
    bound = opened.key(Role.TABLE, casino_id="c1", table_ids=("T1",))

    opened.send("POST", "T1", "r1/bets", BODIES["bets"], key=bound).ok(201)


def test_of_another_casinos_hit_no_player_is_told(opened: House) -> None:
    opened.bet(bet())
    opened.settle(hand("1", ROYAL_FLUSH))
    opened.add_casino("c2")
    stranger, own = opened.key(Role.TABLE, casino_id="c2"), opened.key(Role.TABLE)

    (seen_by_stranger,) = opened.get("/v1/jackpots/j1/hits", key=stranger).ok()["items"]
    (seen_by_own,) = opened.get("/v1/jackpots/j1/hits", key=own).ok()["items"]

    assert [award["player_id"] for award in seen_by_stranger["awards"]] == [None]
    assert [award["player_id"] for award in seen_by_own["awards"]] == ["player-of-b1"]
    assert "player-of-b1" not in str(seen_by_stranger)


def test_a_jackpot_that_is_not_there_is_unknown(opened: House) -> None:
    for path in ("", "/meter", "/paytable", "/rules", "/hits"):
        opened.get(f"/v1/jackpots/j9{path}").problem(404, "jackpot-unknown")


def test_a_round_that_is_not_there_is_unknown(opened: House) -> None:
    opened.get("/v1/tables/T1/rounds/r9").problem(404, "round-unknown")
    opened.get("/v1/tables/T9/rounds/r9").problem(404, "table-unknown")
