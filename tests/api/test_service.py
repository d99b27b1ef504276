"""`GET /v1/service`: to anybody, the version of the service, and where people sign in."""

from dataclasses import replace

import pytest

from jackpot_service.version import service_version
from tests.support.world import World

pytestmark = pytest.mark.slow

ISSUER = "https://sign-in.example"


def test_anybody_is_shown_the_version_and_that_people_have_keys_only(world: World) -> None:
    shown = world.call("GET", "/v1/service", key=None).ok()

    assert shown == {"service": "jackpot-ledger", "version": service_version(), "sign_in": None}


@pytest.mark.parametrize(("parties", "client_id"), [((), "ledger"), (("command-line", "desk"), "command-line")])
def test_people_sign_in_with_the_issuer_as_the_first_authorized_party(
    world: World, parties: tuple[str, ...], client_id: str
) -> None:
    world.config = replace(world.config, oidc_issuer=ISSUER, oidc_audience="ledger", oidc_authorized_parties=parties)
    world.app = world.start()

    shown = world.call("GET", "/v1/service", key=None).ok()

    assert shown["sign_in"] == {"issuer": ISSUER, "client_id": client_id, "audience": "ledger"}
