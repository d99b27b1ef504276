"""The operations that openapi.yaml describes, with their roles; and for each name in their paths something to call."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from jackpot_service import signing
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.seal_books import SealBooks, seal_books
from tests.support import signing_people
from tests.support.answers import Body
from tests.support.authenticator import Authenticator
from tests.support.bets import bet
from tests.support.contract import DOCUMENT, METHODS
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.world import World


class Sight(StrEnum):
    """Whose keys may see an object; a key without a casino sees all."""

    EVERYBODY = "everybody's"
    CASINO = "those of its casino"
    TABLE = "those of its casino that are bound to no table, or to its own"
    HOUSE = "those without a casino"


SIGHT: Final[Mapping[str, Sight]] = {
    "jackpot_id": Sight.EVERYBODY,
    "name": Sight.EVERYBODY,
    "casino_id": Sight.CASINO,
    "table_id": Sight.TABLE,
    "round_id": Sight.TABLE,
    "award_id": Sight.TABLE,
    "player_id": Sight.EVERYBODY,
    "book": Sight.TABLE,
    "stripe": Sight.EVERYBODY,
    "seq": Sight.EVERYBODY,
    "exception_id": Sight.CASINO,
    "request_id": Sight.HOUSE,
    "job_id": Sight.HOUSE,
    "key_id": Sight.HOUSE,
    "passkey_id": Sight.HOUSE,
    "code": Sight.EVERYBODY,
    "number": Sight.HOUSE,
    "act": Sight.HOUSE,
}
"""For each name that stands in a path, who may see what it names. `make_objects` makes one of each."""

BODIES: Final[Mapping[str, Body]] = {
    "POST /v1/tables/{table_id}/rounds/{round_id}/bets": {"bets": [bet()]},
    "POST /v1/tables/{table_id}/rounds/{round_id}/voids": {"bet_ids": ["b1"]},
    "PUT /v1/tables/{table_id}/rounds/{round_id}/result": {"bet_count": 0, "hands": []},
    "PUT /v1/tables/{table_id}/rounds/{round_id}/cancellation": {"reason": "misdeal"},
    "PUT /v1/tables/{table_id}/rounds/{round_id}/closing": {"bet_count": 0},
    "POST /v1/exceptions/{exception_id}/acknowledgement": {"request_id": "a1", "reason": "looked into"},
    "POST /v1/awards/{award_id}/slip": {"request_id": "slip1"},
    "PUT /v1/awards/{award_id}/payment": {"request_id": "p1", "reference": "slip"},
    "POST /v1/tables/{table_id}/rounds/{round_id}/evidence": {
        "request_id": "e1",
        "kind": "witness",
        "statement": "seen",
    },
    "PUT /v1/awards/{award_id}/stop": {"request_id": "s1", "reason": "in doubt"},
    "POST /v1/jobs/{job_id}/cancellation": {},
    "POST /v1/change-requests/{request_id}/approval": {"reason": "checked"},
    "POST /v1/change-requests/{request_id}/rejection": {"reason": "not agreed"},
    "POST /v1/passkeys/{passkey_id}/revocation": {"request_id": "p1", "reason": "lost"},
}
"""What is sent to a write that keys with a casino may call: good enough that only whom it is sent by is wrong."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A call that openapi.yaml describes; `roles` is None where no key is needed."""

    method: str
    path: str
    roles: frozenset[Role] | None
    has_body: bool

    @property
    def label(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names in its path."""
        return tuple(re.findall(r"\{(\w+)\}", self.path))

    @property
    def is_private(self) -> bool:
        """Whether its path names something that not everybody may see."""
        return any(sight_of(name) is not Sight.EVERYBODY for name in self.parameters)

    @property
    def is_the_whole_casinos(self) -> bool:
        """Whether its path names what each key of a casino sees, one that is bound to tables too."""
        return self.is_private and {sight_of(name) for name in self.parameters} <= {Sight.EVERYBODY, Sight.CASINO}

    @property
    def is_the_houses(self) -> bool:
        """Whether its path names something that no casino's key may see."""
        return any(sight_of(name) is Sight.HOUSE for name in self.parameters)

    @property
    def body(self) -> Body | None:
        """A good body. Raises: LookupError if none is stated."""
        if self.has_body and self.label not in BODIES:
            message = f"{self.label} is for keys that may have a casino: state a good body for it in BODIES."
            raise LookupError(message)
        return BODIES.get(self.label)


def sight_of(name: str) -> Sight:
    """Raises: LookupError if a name in a path is new."""
    if name not in SIGHT:
        message = f"{{{name}}} stands in a path: say in SIGHT who may see it, and make one in make_objects."
        raise LookupError(message)
    return SIGHT[name]


def operations() -> tuple[Operation, ...]:
    return tuple(
        Operation(method.upper(), path, _roles(described), "requestBody" in described)
        for path, item in DOCUMENT["paths"].items()
        for method, described in item.items()
        if method in METHODS
    )


def _roles(described: Mapping[str, Any]) -> frozenset[Role] | None:
    """What an operation states, nothing if it states nothing; None if it says that it needs no key."""
    return None if described.get("security") == [] else frozenset(map(Role, described.get("x-roles", ())))


def make_objects(world: World) -> dict[str, str]:
    """Make one of everything that a path can name, all of casino c1, where it is somebody's."""
    world.open(jackpot_id="own-jackpot", base_amount="1000", tables=("own-table",))
    world.bet(bet("own-bet"), round_id="own-round", table_id="own-table")
    (award,) = world.settle(hand("1", ROYAL_FLUSH), round_id="own-round", table_id="own-table")["awards"]
    world.post_bets(bet("own-late-bet"), round_id="own-round", table_id="own-table").problem(409, "round-settled")
    (exception,) = world.get("/v1/exceptions?table_id=own-table").ok()["items"]
    world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.18"}}, request_id="own-change", role=Role.RATES).ok(201)
    slip = f"/v1/awards/{award['award_id']}/slip"
    assert world.post(slip, {"request_id": "own-slip"}, key=world.key(Role.TABLE)).status == 201
    sealing = SealBooks(world.act(), signing.new_key(), "0")
    seal = world.transact(lambda session: seal_books(session, sealing))
    (entry, *_) = world.round("own-round", "own-table")["entries"]
    closing = {"request_id": "own-period", "reason": "month end", "to": instant(world.clock())}
    closed = world.post("/v1/closed-periods", closing, key=world.person("Fay", Role.FINANCE)).ok(201)
    job = world.ask_job({"jackpot_id": "own-jackpot", "format": "beancount"}, request_id="own-job").ok(201)
    assert world.runner().run_next()
    kim, key = Principal("Kim", Role.AUDITOR), world.person("Kim", Role.AUDITOR)
    passkey = world.transact(
        lambda session: signing_people.register(session, person=kim, authenticator=Authenticator(), now=world.clock())
    )
    return {
        "jackpot_id": "own-jackpot",
        "casino_id": "c1",
        "name": "rounds",
        "table_id": "own-table",
        "round_id": "own-round",
        "award_id": award["award_id"],
        "player_id": award["player_id"],
        "book": "own-jackpot",
        "stripe": str(entry["stripe"]),
        "seq": str(entry["seq"]),
        "number": str(seal.number),
        "act": str(closed["act"]),
        "exception_id": exception["exception_id"],
        "request_id": "own-change",
        "job_id": job["job_id"],
        "key_id": key.split("_")[1],
        "passkey_id": passkey.passkey_id,
        "code": "bet-conflict",
    }
