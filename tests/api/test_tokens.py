"""Tokens of people: a local issuer signs good ones and bad ones; none of them is ever answered with a 500."""

import base64
import hmac
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, OctKey, RSAKey

from jackpot_service.auth.issuer import KEPT_S, PAUSE_S
from jackpot_service.auth.tokens import LEEWAY_S, LONGEST_TOKEN
from jackpot_service.config.settings import Config
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.records import keys
from jackpot_service.records.keys import Subject
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import add_user, revoke_key
from tests.support.answers import Answer
from tests.support.issuer import AUDIENCE, LocalIssuer, local_issuer
from tests.support.world import World

pytestmark = pytest.mark.slow

CONFIGURATION: Final = "/.well-known/openid-configuration"


@pytest.fixture
def issuer() -> Iterator[LocalIssuer]:
    with local_issuer() as issuer:
        yield issuer


@pytest.fixture
def world(database_url: str, issuer: LocalIssuer) -> Iterator[World]:
    """A house whose people sign in at the issuer; Ann, an operator, is one of them."""
    world = World(database_url, oidc_issuer=issuer.url, oidc_audience=AUDIENCE)
    register(world, issuer)
    yield world
    world.close()


def register(
    world: World, issuer: LocalIssuer, name: str = "Ann", role: Role = Role.OPERATOR, subject: str = "sub-ann"
) -> None:
    person, known_as = Principal(name, role), Subject(issuer.url, subject)
    world.transact(lambda session: add_user(session, Act(SYSTEM_OPERATOR, world.clock()), person, known_as))


def show(world: World, token: str, path: str = "/v1/keys") -> Answer:
    return world.get(path, key=token)


def refused(world: World, token: str) -> None:
    show(world, token).problem(401, "unauthenticated")


def encoded(document: object) -> str:
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def test_a_token_lets_the_person_in_whom_an_operator_registered(world: World, issuer: LocalIssuer) -> None:
    token = issuer.token(world.clock.at)

    assert show(world, token).status == 200
    body = {"request_id": "k1", "principal": "Cleo", "role": "auditor", "reason": "new"}
    world.post("/v1/keys", body, key=token).ok(201)
    acts = world.books.rows("SELECT principal FROM entries JOIN acts USING (seq) WHERE request_id = 'k1'")
    assert acts == [{"principal": "Ann"}]
    assert issuer.paths == [CONFIGURATION, "/keys"]


def test_the_issuer_is_asked_once_for_many_tokens_and_again_after_a_while(world: World, issuer: LocalIssuer) -> None:
    seconds = [1000.0]
    app = world.start(lambda: seconds[0])
    token = issuer.token(world.clock.at)

    for _ in range(3):
        assert world.call("GET", "/v1/keys", key=token, app=app).status == 200
    seconds[0] += KEPT_S - 0.001
    assert world.call("GET", "/v1/keys", key=token, app=app).status == 200
    assert issuer.paths.count("/keys") == 1
    seconds[0] += 0.001
    assert world.call("GET", "/v1/keys", key=token, app=app).status == 200
    assert issuer.paths.count("/keys") == 2


def test_where_the_keys_are_may_be_stated(database_url: str, issuer: LocalIssuer) -> None:
    stated = f"{issuer.url}/keys"
    world = World(database_url, oidc_issuer=issuer.url, oidc_audience=AUDIENCE, oidc_jwks_url=stated)
    register(world, issuer)

    assert show(world, issuer.token(world.clock.at)).status == 200
    world.close()
    assert issuer.paths == ["/keys"]


def test_a_token_may_be_for_several_and_signed_with_a_curve(world: World, issuer: LocalIssuer) -> None:
    curve = ECKey.generate_key("P-256", {"kid": "curve", "use": "sig", "alg": "ES256"})
    issuer.publish(issuer.key, curve)

    token = issuer.token(world.clock.at, key=curve, header={"alg": "ES256"}, aud=["another", AUDIENCE], azp=AUDIENCE)
    assert show(world, token).status == 200


CLIENTS: Final[Sequence[tuple[dict[str, Any], tuple[str, ...], int]]] = (
    ({"aud": [AUDIENCE]}, (), 200),
    ({"aud": [AUDIENCE, "another"]}, (), 401),
    ({"azp": AUDIENCE}, (), 200),
    ({"azp": "another"}, (), 401),
    ({"azp": ""}, (), 401),
    ({"azp": [AUDIENCE]}, (), 401),
    ({"azp": {}}, (), 401),
    ({"azp": AUDIENCE}, ("app", "desk"), 401),
    ({"azp": "desk"}, ("app", "desk"), 200),
    ({"aud": [AUDIENCE, "another"], "azp": "desk"}, ("app", "desk"), 200),
    ({}, ("app", "desk"), 200),
)
"""Claims, the clients that may obtain tokens (none: the audience alone), and what is answered."""


def test_a_token_that_another_client_obtained_is_refused(
    world: World, issuer: LocalIssuer, subtests: pytest.Subtests
) -> None:
    for changed, clients, status in CLIENTS:
        with subtests.test(f"{changed} {clients}"):
            world.config = replace(world.config, oidc_authorized_parties=clients)
            world.app = world.start()

            assert show(world, issuer.token(world.clock.at, **changed)).status == status


def short_key() -> RSAKey:
    with pytest.warns(SecurityWarning):
        return RSAKey.generate_key(1024, {"kid": "short", "use": "sig"}, auto_kid=False)


def test_a_key_of_fewer_than_2048_bits_signs_nothing(world: World, issuer: LocalIssuer) -> None:
    short = short_key()
    issuer.publish(issuer.key, short)

    refused(world, issuer.token(world.clock.at, key=short))
    assert show(world, issuer.token(world.clock.at)).status == 200


def test_an_issuer_that_has_short_keys_only_has_none(world: World, issuer: LocalIssuer) -> None:
    issuer.publish(short_key())

    show(world, issuer.token(world.clock.at)).problem(503, "issuer-unavailable")


WRONG_CLAIMS: Final[Sequence[dict[str, Any]]] = (
    {"aud": "another"},
    {"aud": ["another"]},
    {"aud": []},
    {"aud": ""},
    {"aud": {"jackpot-ledger": 1}},
    {"aud": None},
    {"iss": "https://another.example"},
    {"iss": ["http://127.0.0.1"]},
    {"iss": None},
    {"sub": None},
    {"sub": ""},
    {"sub": 5},
    {"sub": ["sub-ann"]},
    {"sub": "sub-ann "},
    {"sub": "somebody"},
    {"sub": "\0"},
    {"sub": "\ud800"},
    {"sub": "x" * 5000},
    {"exp": None},
    {"exp": "tomorrow"},
    {"exp": True},
    {"exp": float("inf")},
    {"exp": float("nan")},
    {"exp": {}},
    {"nbf": "x"},
    {"iat": "x"},
)


def test_a_token_of_another_issuer_for_others_or_of_nobody_is_refused(
    world: World, issuer: LocalIssuer, subtests: pytest.Subtests
) -> None:
    for changed in WRONG_CLAIMS:
        with subtests.test(str(changed)[:60]):
            world.app = world.start()  # One that has not asked for the keys yet.
            refused(world, issuer.token(world.clock.at, **changed))


TIMES: Final = (
    ("exp", -LEEWAY_S + 10, 200),
    ("exp", -LEEWAY_S - 10, 401),
    ("exp", -(10**9), 401),
    ("nbf", LEEWAY_S - 10, 200),
    ("nbf", LEEWAY_S + 60, 401),
    ("iat", LEEWAY_S + 60, 401),
)


def test_a_token_is_in_force_for_its_time_with_half_a_minute_of_leeway(
    world: World, issuer: LocalIssuer, subtests: pytest.Subtests
) -> None:
    for claim, seconds, status in TIMES:
        with subtests.test(f"{claim} {seconds}"):
            changed: dict[str, Any] = {claim: int(world.clock.at.timestamp()) + seconds}

            assert show(world, issuer.token(world.clock.at, **changed)).status == status


def test_a_token_that_was_in_force_is_refused_when_it_has_expired(world: World, issuer: LocalIssuer) -> None:
    token = issuer.token(world.clock.at)
    assert show(world, token).status == 200

    world.clock.advance(timedelta(hours=1, seconds=LEEWAY_S))
    refused(world, token)


def test_a_token_without_a_signature_is_refused(world: World, issuer: LocalIssuer) -> None:
    claims = encoded(issuer.claims(world.clock.at))
    for header in ({"alg": "none"}, {"alg": "None", "kid": "one"}, {"alg": "none", "kid": "one", "typ": "JWT"}, {}):
        refused(world, f"{encoded(header)}.{claims}.")
    head, body, _ = issuer.token(world.clock.at).split(".")
    refused(world, f"{head}.{body}.")


def test_the_public_key_is_no_shared_secret(world: World, issuer: LocalIssuer) -> None:
    assert isinstance(issuer.key, RSAKey)
    public = issuer.key.public_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signed = f"{encoded({'alg': 'HS256', 'kid': 'one'})}.{encoded(issuer.claims(world.clock.at))}"
    for secret in (public, public.strip(), json.dumps(issuer.key.as_dict(private=False)).encode(), b""):
        refused(world, f"{signed}.{encoded(hmac.digest(secret, signed.encode(), 'sha256'))}")


def test_a_shared_secret_that_the_issuer_publishes_signs_nothing(world: World, issuer: LocalIssuer) -> None:
    secret = OctKey.import_key({"kty": "oct", "k": encoded(b"x" * 32), "kid": "shared"})
    issuer.answer("/keys", {"keys": [secret.as_dict(private=True), issuer.key.as_dict(private=False)]})

    refused(world, issuer.token(world.clock.at, key=secret, header={"alg": "HS256"}))


def test_a_token_signed_by_somebody_else_under_the_issuers_key_id_is_refused(world: World, issuer: LocalIssuer) -> None:
    forged = RSAKey.generate_key(2048, {"kid": "one"}, auto_kid=False)

    refused(world, issuer.token(world.clock.at, key=forged))


@pytest.mark.parametrize("algorithm", ["RS384", "RS512", "PS256"])
def test_an_algorithm_that_is_not_allowed_is_refused_though_the_key_fits(
    world: World, issuer: LocalIssuer, algorithm: str
) -> None:
    refused(world, issuer.token(world.clock.at, header={"alg": algorithm}))


def test_an_algorithm_for_another_kind_of_key_is_refused(world: World, issuer: LocalIssuer) -> None:
    _, body, signature = issuer.token(world.clock.at).split(".")

    refused(world, f"{encoded({'alg': 'ES256', 'kid': 'one'})}.{body}.{signature}")


def test_a_key_that_is_for_encryption_signs_nothing(world: World, issuer: LocalIssuer) -> None:
    other = RSAKey.generate_key(2048, {"kid": "enc", "use": "enc"}, auto_kid=False)
    issuer.publish(issuer.key, other)
    signing = RSAKey.import_key({**other.as_dict(private=True), "use": "sig"})

    refused(world, issuer.token(world.clock.at, key=signing))


def test_a_token_that_names_no_key_is_taken_where_the_issuer_has_only_one(world: World, issuer: LocalIssuer) -> None:
    token = issuer.token(world.clock.at, header={"kid": None})

    assert show(world, token).status == 200
    issuer.publish(issuer.key, RSAKey.generate_key(2048, {"kid": "two"}, auto_kid=False))
    assert world.call("GET", "/v1/keys", key=token, app=world.start()).status == 401


def test_an_unknown_key_is_asked_for_once_in_a_while_and_not_for_every_token(world: World, issuer: LocalIssuer) -> None:
    seconds = [1000.0]
    app = world.start(lambda: seconds[0])
    stranger = RSAKey.generate_key(2048, {"kid": "stranger"}, auto_kid=False)
    assert world.call("GET", "/v1/keys", key=issuer.token(world.clock.at), app=app).status == 200

    for _ in range(3):
        answer = world.call("GET", "/v1/keys", key=issuer.token(world.clock.at, key=stranger), app=app)
        answer.problem(401, "unauthenticated")
    assert issuer.paths.count("/keys") == 1
    seconds[0] += PAUSE_S
    for _ in range(3):
        answer = world.call("GET", "/v1/keys", key=issuer.token(world.clock.at, key=stranger), app=app)
        answer.problem(401, "unauthenticated")
    assert issuer.paths.count("/keys") == 2


def test_the_issuer_rotates_its_keys(world: World, issuer: LocalIssuer) -> None:
    seconds = [1000.0]
    app = world.start(lambda: seconds[0])
    old = issuer.token(world.clock.at)
    assert world.call("GET", "/v1/keys", key=old, app=app).status == 200

    issuer.key = RSAKey.generate_key(2048, {"kid": "two", "use": "sig"}, auto_kid=False)
    issuer.publish(issuer.key)
    seconds[0] += PAUSE_S
    assert world.call("GET", "/v1/keys", key=issuer.token(world.clock.at), app=app).status == 200
    world.call("GET", "/v1/keys", key=old, app=app).problem(401, "unauthenticated")


GARBAGE: Final = {
    "a dot": ".",
    "two dots": "..",
    "five parts": "a.b.c.d.e",
    "no base64": "%%%.%%%.%%%",
    "no json": f"{encoded(b'{')}.{encoded(b'{')}.{encoded(b'x')}",
    "no object": f"{encoded([])}.{encoded(5)}.{encoded(b'x')}",
    "null": f"{encoded(None)}.{encoded(None)}.{encoded(b'x')}",
    "no utf-8": f"{encoded(bytes([255, 254]))}.{encoded(bytes([255]))}.{encoded(b'x')}",
    "deep": f"{encoded(b'[' * 3000)}.{encoded(b'[' * 2000)}.{encoded(b'x')}",
    "algorithm is a list": f"{encoded({'alg': ['RS256'], 'kid': 'one'})}.{encoded({})}.{encoded(b'x')}",
    "algorithm is an object": f"{encoded({'alg': {}, 'kid': 'one'})}.{encoded({})}.{encoded(b'x')}",
    "key id is a list": f"{encoded({'alg': 'RS256', 'kid': ['one']})}.{encoded({})}.{encoded(b'x')}",
    "key id is a number": f"{encoded({'alg': 'RS256', 'kid': 1})}.{encoded({})}.{encoded(b'x')}",
    "critical": f"{encoded({'alg': 'RS256', 'kid': 'one', 'crit': ['exp']})}.{encoded({})}.{encoded(b'x')}",
    "unencoded": f"{encoded({'alg': 'RS256', 'kid': 'one', 'b64': False, 'crit': ['b64']})}.x.{encoded(b'x')}",
    "a key inside": f"{encoded({'alg': 'RS256', 'jwk': {'kty': 'oct', 'k': 'eA'}})}.{encoded({})}.{encoded(b'x')}",
    "a key elsewhere": f"{encoded({'alg': 'RS256', 'jku': 'http://127.0.0.1/k'})}.{encoded({})}.{encoded(b'x')}",
    "no ascii": "\xe9\xff.\xb2.x",
    "long": "x" * 100_000,
    "a long token": f"{encoded({'alg': 'RS256'})}.{'x' * 100_000}.{encoded(b'x')}",
    "a word": "token",
    "spaces": "a b c",
    "encrypted": f"{encoded({'alg': 'dir', 'enc': 'A128GCM'})}..{encoded(b'i')}.{encoded(b'c')}.{encoded(b't')}",
}


def test_garbage_is_no_token(world: World, subtests: pytest.Subtests) -> None:
    for name, garbage in GARBAGE.items():
        with subtests.test(name):
            world.app = world.start()
            refused(world, garbage)


def test_a_good_token_of_100_kilobytes_is_not_read(world: World, issuer: LocalIssuer) -> None:
    token = issuer.token(world.clock.at, groups="x" * 75_000)
    assert len(token) > 100_000

    refused(world, token)
    assert issuer.paths == []
    assert show(world, issuer.token(world.clock.at, groups="x" * (LONGEST_TOKEN // 2))).status == 200


def test_keys_go_on_working_beside_tokens(world: World) -> None:
    assert world.get("/v1/keys").status == 200
    refused(world, f"{world.key(Role.AUDITOR)}x")


def test_without_an_issuer_a_token_opens_nothing(world: World, issuer: LocalIssuer) -> None:
    world.config = Config()

    answer = world.call("GET", "/v1/keys", key=issuer.token(world.clock.at), app=world.start())

    answer.problem(401, "unauthenticated")


UNUSABLE: Final[dict[str, tuple[str, bytes | int]]] = {
    "its configuration is missing": (CONFIGURATION, 404),
    "its configuration fails": (CONFIGURATION, 500),
    "its configuration is elsewhere": (CONFIGURATION, 302),
    "its configuration is no json": (CONFIGURATION, b"<html>"),
    "its configuration is a list": (CONFIGURATION, b"[]"),
    "its configuration is another's": (CONFIGURATION, b'{"issuer": "x", "jwks_uri": "http://127.0.0.1/k"}'),
    "its configuration is too long": (CONFIGURATION, b" " * (2 << 20)),
    "its keys are missing": ("/keys", 404),
    "its keys fail": ("/keys", 503),
    "its keys are no json": ("/keys", b"\xff"),
    "its keys are no list": ("/keys", b'{"keys": {}}'),
    "it has no keys": ("/keys", b'{"keys": []}'),
    "it has no keys for us": ("/keys", b'{"keys": [5, {"kty": "AKP"}, {"kty": "RSA"}, {"kty": []}, {"kty": "EC"}]}'),
}


def test_while_the_issuer_answers_nonsense_tokens_wait_and_keys_work(
    world: World, issuer: LocalIssuer, subtests: pytest.Subtests
) -> None:
    usable = issuer.answers
    for name, (path, answer) in UNUSABLE.items():
        with subtests.test(name):
            issuer.answers = {**usable, path: answer}
            issuer.paths.clear()
            world.app = world.start()  # A process that has not asked it yet.

            for _ in range(2):
                problem = show(world, issuer.token(world.clock.at))
                assert problem.problem(503, "issuer-unavailable")["retryable"] is True
                assert problem.headers["Retry-After"]
            assert issuer.paths.count(CONFIGURATION) == 1  # It is left alone for a while.
            assert world.get("/v1/keys").status == 200


def test_while_the_issuer_is_down_tokens_wait_and_keys_work(database_url: str) -> None:
    with local_issuer() as issuer:
        world = World(database_url, oidc_issuer=issuer.url, oidc_audience=AUDIENCE)
        register(world, issuer)
        token = issuer.token(world.clock.at)

    show(world, token).problem(503, "issuer-unavailable")
    assert world.get("/v1/keys").status == 200
    refused(world, "garbage")
    assert world.books.mismatches() == ()
    world.close()


def test_while_the_issuer_is_being_asked_nobody_else_waits_for_it(world: World, issuer: LocalIssuer) -> None:
    token = issuer.token(world.clock.at)
    issuer.open.clear()
    with ThreadPoolExecutor() as pool_:
        first = pool_.submit(show, world, token)
        while not issuer.paths:
            assert not first.done()
        show(world, token).problem(503, "issuer-unavailable")
        assert world.get("/v1/keys").status == 200
        issuer.open.set()

    assert first.result().status == 200
    assert show(world, token).status == 200
    assert issuer.paths == [CONFIGURATION, "/keys"]


def test_the_keys_that_are_known_outlive_an_issuer_that_is_down_for_a_while(world: World, issuer: LocalIssuer) -> None:
    seconds = [1000.0]
    app = world.start(lambda: seconds[0])
    token = issuer.token(world.clock.at)
    assert world.call("GET", "/v1/keys", key=token, app=app).status == 200
    issuer.answers.clear()

    seconds[0] += KEPT_S - 1
    assert world.call("GET", "/v1/keys", key=token, app=app).status == 200
    seconds[0] += 1
    world.call("GET", "/v1/keys", key=token, app=app).problem(503, "issuer-unavailable")


def test_a_key_of_the_issuer_that_cannot_be_read_hides_no_other(world: World, issuer: LocalIssuer) -> None:
    broken = [{"kty": "RSA", "n": "?", "e": "?"}, {"kty": "AKP", "kid": "one"}, None]
    issuer.answer("/keys", {"keys": [*broken, issuer.key.as_dict(private=False)]})

    assert show(world, issuer.token(world.clock.at)).status == 200


def test_a_subject_that_was_revoked_is_refused_in_every_process_within_30_seconds(
    world: World, issuer: LocalIssuer
) -> None:
    seconds = [1000.0]
    app = world.start(lambda: seconds[0])
    token = issuer.token(world.clock.at)
    assert world.call("GET", "/v1/keys", key=token, app=app).status == 200
    (key_id,) = world.transact(lambda session: keys.live_ids(session, "Ann", of_subjects=True))
    done = Act(SYSTEM_OPERATOR, world.clock(), reason="left")
    world.transact(lambda session: revoke_key(session, done, key_id))

    seconds[0] += 15
    world.call("GET", "/v1/keys", key=token, app=app).problem(401, "unauthenticated")
    (item,) = (item for item in world.get("/v1/keys").ok()["items"] if item["principal"] == "Ann")
    assert (item["issuer"], item["subject"], item["is_service_account"]) == (issuer.url, "sub-ann", False)
    assert item["last_used_at"] is not None
    assert world.books.mismatches() == ()


def test_nobody_is_two_people_by_showing_a_token_and_a_key(world: World, issuer: LocalIssuer) -> None:
    token = issuer.token(world.clock.at)
    change = {"request_id": "q1", "kind": "rate-sheet", "payload": {"base": "EUR", "rates": {"GBP": "1.18"}}}
    register(world, issuer, "Cleo", Role.RATES, "sub-cleo")
    rates = issuer.token(world.clock.at, sub="sub-cleo")
    world.post("/v1/change-requests", change | {"reason": "as agreed"}, key=rates).ok(201)

    world.post("/v1/change-requests/q1/approval", {"reason": "checked"}, key=world.person("Cleo", Role.RATES)).problem(
        403, "same-user"
    )
    world.post("/v1/change-requests/q1/approval", {"reason": "checked"}, key=token).problem(403, "role-forbidden")
    world.post("/v1/change-requests/q1/approval", {"reason": "checked"}, key=world.person("Bob", Role.RATES)).ok()
