"""Who may do what: every route has its roles, what a key may not see does not exist for it, no key is told apart."""

import re
from collections.abc import Mapping
from typing import Final

import flask
import orjson
import pytest
from flask_smorest import Blueprint

from jackpot_service import app as application
from jackpot_service.auth.authenticator import KEPT_S, Authenticator, BadKeyShown, roles_of
from jackpot_service.domain.principals import Role
from jackpot_service.usecases.keys import revoke_key
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.operations import SIGHT, Operation, Sight, make_objects, operations, sight_of
from tests.support.world import World

pytestmark = pytest.mark.slow


def revoke(world: World, key: str) -> None:
    world.transact(lambda session: revoke_key(session, world.act(), key.split("_")[1]))


OPERATIONS: Final = operations()

KEYED: Final = tuple(operation for operation in OPERATIONS if operation.roles is not None)

PARAMETER: Final = re.compile("<[a-z]+:([a-z_]+)>")
"""A name in the path of a route, with its type."""

NOTHING: Final = b"["
"""No JSON: nothing can come of it, whoever sends it."""


def call(world: World, operation: Operation, objects: Mapping[str, str], *, key: str | None, data: bytes) -> Answer:
    path = operation.path.format(**objects)
    return world.call(operation.method, path, key=key, data=data if operation.has_body else None)


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    return world


def test_every_operation_states_its_roles_or_that_it_needs_no_key() -> None:
    assert [operation.label for operation in OPERATIONS if operation.roles == frozenset()] == []
    assert {operation.label for operation in OPERATIONS if operation.roles is None} == {
        "GET /healthz",
        "GET /readyz",
        "GET /v1/service",
        "GET /problems",
        "GET /problems/{code}",
    }


PAGES: Final = ("assets.", "browsing.", "pages.")
"""What people look at, and programs do not call: no key is asked for. Sessions open pages; see `tests/pages`."""


def test_pages_to_look_at_need_no_key(world: World) -> None:
    pages = [view for endpoint, view in world.app.view_functions.items() if endpoint.startswith(PAGES)]
    assert pages
    assert all(roles_of(view) is None for view in pages)


def described(rule: str) -> str:
    """The path of a route as openapi.yaml writes it."""
    return PARAMETER.sub(r"{\1}", rule)


def test_every_route_is_described_with_the_roles_that_it_lets_in(world: World) -> None:
    routes = {
        f"{method} {described(rule.rule)}": roles_of(world.app.view_functions[rule.endpoint])
        for rule in world.app.url_map.iter_rules()
        if not rule.endpoint.startswith(PAGES)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }

    assert routes == {operation.label: operation.roles for operation in OPERATIONS}


def test_there_is_an_object_for_every_name_in_a_path(world: World) -> None:
    names = {name for operation in OPERATIONS for name in operation.parameters}

    assert names == SIGHT.keys() == make_objects(world).keys()


def test_a_display_reads_the_feed_and_nothing_else() -> None:
    assert {operation.label for operation in KEYED if Role.DISPLAY in (operation.roles or ())} == {
        "GET /v1/jackpots/{jackpot_id}/feed"
    }


def test_no_key_is_taken_from_an_address(opened: World) -> None:
    key = opened.key(Role.AUDITOR)
    for name in ("key", "api_key", "access_token", "token"):
        opened.call("GET", f"/v1/audit?{name}={key}", key=None).problem(401, "unauthenticated")


BY_KIND: Final = frozenset({"POST /v1/change-requests/{request_id}/approval/options"})
"""Calls without a body, for which the policy of a kind of change says who may call."""


def counts(world: World) -> Mapping[str, int]:
    """Count the rows of every table but that of challenges, which are no part of the books."""
    return {table: count for table, count in world.books.counts().items() if table != "passkey_challenges"}


def test_a_role_may_do_what_the_description_says_and_nothing_else(world: World, subtests: pytest.Subtests) -> None:
    objects = make_objects(world)
    for role in Role:
        with subtests.test(role.value):
            key = world.key(role)
            before = counts(world)

            answers = {
                operation.label: call(world, operation, objects, key=key, data=NOTHING)
                for operation in sorted(KEYED, key=lambda operation: operation.label)
            }

            forbidden = {label for label, answer in answers.items() if answer.status == 403 and label not in BY_KIND}
            assert forbidden == {
                operation.label
                for operation in KEYED
                if role not in (operation.roles or ()) and operation.label not in BY_KIND
            }
            for label in forbidden:
                answers[label].problem(403, "role-forbidden")
            assert counts(world) == before


OF_OTHERS_UNSEEN: Final[Mapping[str, frozenset[Role]]] = {
    "GET /v1/audit/{seq}": frozenset({Role.OPERATOR}),
    "POST /v1/change-requests/{request_id}/approval/options": frozenset({Role.FINANCE, Role.OPERATOR, Role.RATES}),
    "POST /v1/passkeys/{passkey_id}/revocation": frozenset({Role.AUDITOR, Role.FINANCE, Role.RATES}),
}
"""Calls about what is people's own, or for who has a passkey, and the roles whose keys have none of that here."""


def test_whoever_may_call_finds_the_objects(world: World) -> None:
    """So that it is for the key, and for nothing else, that others are told that there are none."""
    objects = make_objects(world)
    unseen = {
        operation.label: status
        for operation in KEYED
        for role in operation.roles or ()
        if not (role is Role.TABLE and operation.is_the_houses)
        and role not in OF_OTHERS_UNSEEN.get(operation.label, ())
        and (status := call(world, operation, objects, key=world.key(role), data=NOTHING).status) in {401, 403, 404}
    }
    assert unseen == {}


def test_without_a_key_nothing_is_told(world: World) -> None:
    objects = make_objects(world)

    for operation in KEYED:
        answer = call(world, operation, objects, key=None, data=NOTHING)
        assert answer.status == 401, operation.label
        answer.problem(401, "unauthenticated")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_part_of_a_path_that_cannot_be_is_refused_by_its_name_once_the_caller_is_known(world: World) -> None:
    for operation in (operation for operation in OPERATIONS if operation.parameters):
        wrong = dict.fromkeys(operation.parameters, "a%20b")
        if operation.roles is not None:
            call(world, operation, wrong, key=None, data=NOTHING).problem(401, "unauthenticated")
        key = None if operation.roles is None else world.key(min(operation.roles))

        problem = call(world, operation, wrong, key=key, data=NOTHING).problem(
            422, "validation", *(f"?{name}" for name in operation.parameters)
        )

        assert {error["detail"].partition(" or . _")[0] for error in problem["errors"]} <= {
            "must be 1 to 64 letters, digits",
            "must be a whole number from 0 to 999999999999999999",
        }


FOREIGN: Final[Mapping[str, tuple[Role, str, tuple[str, ...]]]] = {
    "a server of another casino": (Role.TABLE, "c2", ()),
    "a server of another table": (Role.TABLE, "c1", ("other-table",)),
    "finance of another casino": (Role.FINANCE, "c2", ()),
}
"""Keys by role, casino and tables that may not see what `make_objects` makes."""


def key_of(world: World, owner: str) -> str:
    role, casino_id, table_ids = FOREIGN[owner]
    world.add_casino("c2")
    world.add_table("other-table", jackpot_id="own-jackpot")
    return world.key(role, casino_id=casino_id, table_ids=table_ids)


NONE: Final = "0" * 15 + "-" + "0" * 16
"""An id of nothing."""


def called_by(owner: str) -> tuple[Operation, ...]:
    return tuple(operation for operation in KEYED if FOREIGN[owner][0] in (operation.roles or ()))


@pytest.mark.parametrize("owner", FOREIGN)
def test_what_a_key_may_not_see_does_not_exist_for_it(world: World, owner: str) -> None:
    objects, key = make_objects(world), key_of(world, owner)
    nothing = {
        name: value if sight_of(name) is Sight.EVERYBODY else "9" * 15 if value.isdigit() else NONE
        for name, value in objects.items()
    }
    before = counts(world)

    for operation in called_by(owner):
        if operation.is_private and not is_seen_by(owner, operation):
            data = orjson.dumps(operation.body)
            unseen = call(world, operation, objects, key=key, data=data)
            absent = call(world, operation, nothing, key=key, data=data)
            assert (unseen.status, absent.status) == (404, 404), (operation.label, unseen.text)
            # Nothing tells the one from the other but the names that were asked for.
            assert without_objects(unseen, objects) == without_objects(absent, nothing), operation.label

    assert counts(world) == before


def is_seen_by(owner: str, operation: Operation) -> bool:
    """Whether an operation names only what is the whole casino's, and the key is of that casino."""
    return FOREIGN[owner][1] == "c1" and operation.is_the_whole_casinos


def test_a_key_that_is_bound_to_a_table_sees_its_casino(world: World) -> None:
    objects, key = make_objects(world), key_of(world, "a server of another table")
    seen = [operation for operation in called_by("a server of another table") if operation.is_the_whole_casinos]

    assert {operation.label for operation in seen} == {"GET /v1/casinos/{casino_id}"}
    for operation in seen:
        call(world, operation, objects, key=key, data=NOTHING).ok()


def without_objects(answer: Answer, objects: Mapping[str, str]) -> str:
    """What an answer says, without the names that the path had in it."""
    text = answer.text
    for name in sorted(objects.values(), key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "…", text)  # The 1 of a seal is none of `/v1`.
    return text


@pytest.mark.parametrize("owner", FOREIGN)
def test_nothing_private_stands_in_what_a_key_may_read(world: World, owner: str) -> None:
    objects, key = make_objects(world), key_of(world, owner)
    private = {"player-of-own-bet", "player-of-own-late-bet"}
    private |= {objects[name] for name in ("exception_id", "request_id", "key_id")}

    for operation in called_by(owner):
        if operation.method == "GET" and not operation.is_private:
            answer = call(world, operation, objects, key=key, data=NOTHING)
            assert not {name for name in private if name in answer.text}, operation.label


def test_a_casinos_own_key_sees_what_is_the_casinos_and_not_what_is_the_houses(world: World) -> None:
    objects = make_objects(world)
    keys = {Role.TABLE: world.key(Role.TABLE), Role.FINANCE: world.key(Role.FINANCE, casino_id="c1")}

    for operation in KEYED:
        for role in keys.keys() & (operation.roles or set()):
            if operation.method == "GET":
                answer = call(world, operation, objects, key=keys[role], data=NOTHING)
                assert (answer.status == 404) is operation.is_the_houses, (operation.label, role, answer.text)


def test_health_needs_no_key(world: World) -> None:
    assert world.call("GET", "/healthz", key=None).ok() == {"status": "ok"}
    ready = world.call("GET", "/readyz", key=None).ok()
    assert ready == {
        "status": "ready",
        "database_writable": True,
        "migrations_current": True,
        "clock_right": True,
        "bets_accepted": True,
        "on_several_machines": False,
        "replica": None,
        "warnings": [],
    }


def test_that_one_person_alone_may_approve_is_told_to_whoever_asks_whether_it_is_ready(world: World) -> None:
    world.switch_emergency()

    ready = world.call("GET", "/readyz", key=None, app=world.start()).ok()

    (warning,) = ready["warnings"]
    assert warning.startswith("emergency-approvals: ")


def test_a_route_that_states_no_roles_stops_the_start(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    careless = Blueprint("careless", __name__)

    @careless.route("/v1/everything")  # type: ignore[untyped-decorator]
    def get_everything() -> flask.Response:
        raise NotImplementedError

    monkeypatch.setattr(application, "BLUEPRINTS", (*application.BLUEPRINTS, careless))

    with pytest.raises(LookupError, match="get_everything states no roles"):
        world.start()


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


def test_a_malformed_header_shows_no_key(opened: World) -> None:
    headers = malformed(opened.key(Role.AUDITOR))

    for name, header in headers.items():
        answer = opened.call("GET", "/v1/jackpots", key=None, headers={"Authorization": header})
        assert (answer.status, answer.body["code"]) == (401, "unauthenticated"), (name, answer.text)
        answer.problem(401, "unauthenticated")


def test_the_scheme_may_be_written_in_any_case(opened: World) -> None:
    header = {"Authorization": f"bEARER {opened.key(Role.AUDITOR)}"}

    opened.call("GET", "/v1/jackpots", key=None, headers=header).ok()


def test_a_problem_tells_nothing_of_the_key(opened: World) -> None:
    key = opened.key(Role.AUDITOR)

    answer = opened.call("GET", "/v1/jackpots", key=f"{key}x")

    assert key not in answer.text
    assert key.split("_")[1] not in answer.text


def test_a_revoked_key_is_refused(opened: World) -> None:
    key = opened.key(Role.AUDITOR)
    revoke(opened, key)

    answer = opened.call("GET", "/v1/jackpots", key=key, app=opened.start())

    answer.problem(401, "unauthenticated")


def test_a_process_believes_in_a_key_that_was_revoked_for_a_quarter_of_a_minute_at_most(world: World) -> None:
    key = world.key(Role.AUDITOR)
    seconds = [0.0]
    authenticator = Authenticator(world.engine, lambda: seconds[0])
    authenticator.principal(f"Bearer {key}")
    revoke(world, key)

    seconds[0] = KEPT_S - 0.001
    assert authenticator.principal(f"Bearer {key}").role is Role.AUDITOR
    seconds[0] = KEPT_S
    with pytest.raises(BadKeyShown):
        authenticator.principal(f"Bearer {key}")


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR, Role.AUDITOR])
def test_a_reader_of_the_whole_house_sees_every_casinos_rounds(opened: World, role: Role) -> None:
    opened.bet(bet())

    assert opened.get("/v1/tables/T1/rounds/r1", role=role).ok()["bets"][0]["player_id"] == "player-of-b1"


def test_a_key_bound_to_a_table_works_there(opened: World) -> None:
    bound = opened.key(Role.TABLE, casino_id="c1", table_ids=("T1",))

    opened.send("POST", "T1", "r1/bets", {"bets": [bet()]}, key=bound).ok(201)


def test_of_another_casinos_hit_no_player_is_told(opened: World) -> None:
    opened.bet(bet())
    opened.settle(hand("1", ROYAL_FLUSH))
    opened.add_casino("c2")
    stranger, own = opened.key(Role.TABLE, casino_id="c2"), opened.key(Role.TABLE)

    (seen_by_stranger,) = opened.get("/v1/jackpots/j1/hits", key=stranger).ok()["items"]
    (seen_by_own,) = opened.get("/v1/jackpots/j1/hits", key=own).ok()["items"]

    assert [award["player_id"] for award in seen_by_stranger["awards"]] == [None]
    assert [award["player_id"] for award in seen_by_own["awards"]] == ["player-of-b1"]
    assert "player-of-b1" not in str(seen_by_stranger)


def test_a_jackpot_that_is_not_there_is_unknown(opened: World) -> None:
    for path in ("", "/meter", "/paytable", "/rules", "/hits"):
        opened.get(f"/v1/jackpots/j9{path}").problem(404, "jackpot-unknown")


def test_a_round_that_is_not_there_is_unknown(opened: World) -> None:
    opened.get("/v1/tables/T1/rounds/r9").problem(404, "round-unknown")
    opened.get("/v1/tables/T9/rounds/r9").problem(404, "table-unknown")
