"""A whole world for a test: casinos, jackpots, tables, rates and keys, and the HTTP API in front of them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import time as time_of_day
from decimal import Decimal
from typing import Any, Final, TypeVar

import orjson

from jackpot_service.app import Application, create_app
from jackpot_service.config.settings import Config
from jackpot_service.database import transactions
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.domain.settings import Setting
from jackpot_service.exports.jobs.runner import Runner
from jackpot_service.records.immutable import Table
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.jackpots import OpenJackpot, open_jackpot
from jackpot_service.usecases.keys import create_key
from tests.support import people
from tests.support.answers import Answer, Body
from tests.support.asgi import answer_to
from tests.support.clock import Clock
from tests.support.loop import end_what_runs, on_loop
from tests.support.publishing import publish
from tests.support.reading import Books
from tests.support.stated import require_stated

T = TypeVar("T")

LIVE = "live-caribbean-stud"
CYBER = "cyber-caribbean-stud"
SENECA = "seneca-caribbean-stud"

RATES = {"GBP": "1.17", "SEK": "0.0873", "JPY": "0.0061"}
"""The first sheet of every world; it has no CHF."""

AUTOMATIC = "automatic"
"""As a key: that of a server of the table's casino."""


class World:
    """A migrated database with a casino `c1` and a rate sheet of EUR in it, and an application on it."""

    def __init__(self, database_url: str, **configured: Any) -> None:
        self.config = replace(Config(), **configured)
        self.database_url = database_url
        self.clock = Clock()
        self.engine = create_engine(self.config, database_url)
        self.books = Books(self.engine)
        self.app = self.start()
        self._keys: dict[Principal, str] = {}
        self._casino_of: dict[str, str] = {}
        if database_url in COPIES:
            self._move_in_from(COPIES[database_url])
        else:
            self._furnish()

    def _move_in_from(self, other: "World") -> None:
        """Know what the world knew whose database this is a copy of."""
        self.clock.at = other.clock.at
        self._keys |= other._keys

    def _furnish(self) -> None:
        self.add_casino("c1")
        self.publish(**RATES)
        for role in (Role.TABLE, Role.AUDITOR):
            self.key(role)

    def start(self, monotonic: Callable[[], float] = time.monotonic) -> Application:
        """Start the application, or another process of it: what one remembers, the other does not."""
        return create_app(self.config, self.engine, clock=self.clock, monotonic=monotonic, guards_clock=False)

    def close(self) -> None:
        """Let go of the database."""
        on_loop(end_what_runs())
        self.engine.dispose()

    # What an operator does.

    def transact(self, use_case: Callable[[Session], T]) -> T:
        return transactions.transact(self.engine, use_case)

    def act(self) -> Act:
        return Act(SYSTEM_OPERATOR, self.clock())

    def add_casino(self, casino_id: str, *, zone: str = "UTC", day_starts: str = "00:00") -> None:
        starts = time_of_day.fromisoformat(day_starts)
        self.transact(
            lambda session: add_casino(
                session, self.act(), casino_id=casino_id, name=f"Casino {casino_id}", zone=zone, day_starts=starts
            )
        )

    def add_table(
        self,
        table_id: str,
        *,
        jackpot_id: str | None = None,
        casino_id: str = "c1",
        game: str = "caribbean-stud",
    ) -> None:
        new = Table(table_id, casino_id, game, jackpot_id)
        self.transact(lambda session: add_table(session, self.act(), new))
        self._casino_of[table_id] = casino_id

    def publish(self, base: str = "EUR", **rates: str) -> int:
        """Put a rate sheet in force from now on; returns its number."""
        sheet = {code: Decimal(rate) for code, rate in rates.items()}
        return self.transact(lambda session: publish(session, base, sheet, now=self.clock()))

    def open(
        self,
        rulebook: str = LIVE,
        *,
        jackpot_id: str = "j1",
        base: str = "EUR",
        base_amount: str | None = None,
        settings: Mapping[str, Setting] | None = None,
        tables: tuple[str, ...] = ("T1",),
        stripes: int = 4,
    ) -> JackpotRules:
        """Open a jackpot, and tables of casino c1 that play for it; unless it says otherwise, nothing is held."""
        command = OpenJackpot(
            act=self.act(),
            jackpot_id=jackpot_id,
            rulebook=rulebook,
            base=base,
            base_amount=None if base_amount is None else Decimal(base_amount),
            settings={"payout_tiers": (), **(settings or {})},
            stripes=stripes,
        )
        rules = self.transact(lambda session: open_jackpot(session, command)).rules
        for table_id in tables:
            self.add_table(table_id, jackpot_id=jackpot_id)
        return rules

    def switch_emergency(self, *, is_on: bool = True) -> bool:
        """Let one person alone approve an own request, or end that, as the owner of the database does."""
        return people.switch(self.database_url, replace(self.act(), reason="nobody else is there"), is_on=is_on)

    def key(self, role: Role, *, casino_id: str | None = None, table_ids: tuple[str, ...] = ()) -> str:
        """A key of a role; the same one whenever it is asked again."""
        if role is Role.TABLE and casino_id is None:
            casino_id = "c1"
        is_usual = casino_id is None or (role, casino_id) == (Role.TABLE, "c1")
        name = " ".join([f"a {role}", *(() if is_usual else (casino_id or "",)), *table_ids])
        return self.key_of(Principal(name, role, casino_id, frozenset(table_ids)))

    def person(self, name: str, role: Role) -> str:
        """A key of somebody with a name; the same one whenever it is asked again."""
        return self.key_of(Principal(name, role))

    def key_of(self, principal: Principal) -> str:
        """A key of a principal; the same one whenever it is asked again."""
        if principal not in self._keys:
            self._keys[principal] = self.transact(lambda session: create_key(session, self.act(), principal)).whole
        return self._keys[principal]

    # What two people do: Ann asks, Bob approves.

    def ask(
        self,
        kind: str,
        payload: Body,
        *,
        request_id: str = "q1",
        by: str | None = None,
        role: Role | None = None,
        query: str = "",
        **more: object,
    ) -> Answer:
        """Ask for a change: unless it says who, somebody does whom the shipped policy lets."""
        body = {"request_id": request_id, "kind": kind, "payload": payload, "reason": "as agreed", **more}
        asker = people.asker_of(kind) if role is None else Principal("Ann", role)
        return self.post(f"/v1/change-requests{query}", body, key=self._key_of_either(by, asker, role))

    def approve(
        self,
        request_id: str = "q1",
        *,
        by: str | None = None,
        role: Role | None = None,
        query: str = "",
        **more: object,
    ) -> Answer:
        """Approve a change request: unless it says who, somebody does whom the shipped policy lets."""
        kind = "SELECT coalesce(max(kind), 'rules') FROM change_requests WHERE request_id = :request_id"
        usual = people.checker_of(self.books.value(kind, request_id=request_id))
        checker = usual if role is None else Principal("Bob", role)
        return self.post(
            f"/v1/change-requests/{request_id}/approval{query}",
            {"reason": "checked"} | more,
            key=self._key_of_either(by, checker, role),
        )

    def _key_of_either(self, name: str | None, usual: Principal, role: Role | None) -> str:
        """A key of somebody with a name, in the role that they have already or is usual; of who is usual without."""
        if name is None:
            return self.key_of(usual)
        known = next((key_ for key_ in self._keys if key_.name == name), None)
        return self.key_of(known if known and role is None else replace(usual, name=name))

    def change(self, kind: str, payload: Body, *, request_id: str = "q1", role: Role | None = None) -> Body:
        """Have a change asked for and approved; what it did."""
        self.ask(kind, payload, request_id=request_id, role=role).ok(201)
        effect: Body = self.approve(request_id, role=role).ok()["effect"]
        return effect

    # What is done beside the calls.

    def ask_job(
        self, parameters: Body, *, kind: str = "journal", request_id: str = "job", key: str | None = None
    ) -> Answer:
        """Ask for a job, an auditor unless another key is given."""
        body = {"request_id": request_id, "kind": kind, "parameters": parameters}
        return self.post("/v1/jobs", body, key=key or self.key(Role.AUDITOR))

    def runner(self, **stated: Any) -> Runner:
        """One who does jobs, as a process beside the service would."""
        return Runner(self.engine, **{"kept_for": self.config.files_kept, **stated})

    # What callers send.

    def post(self, path: str, body: object, *, key: str) -> Answer:
        """Post a body to any path."""
        return self.call("POST", path, key=key, data=orjson.dumps(body))

    def put(self, path: str, body: object, *, key: str) -> Answer:
        """Put a body to any path."""
        return self.call("PUT", path, key=key, data=orjson.dumps(body))

    def call(
        self,
        method: str,
        path: str,
        *,
        key: str | None,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        app: Application | None = None,
    ) -> Answer:
        """Send a request through the whole application, as a server calls it."""
        sent = {} if key is None else {"Authorization": f"Bearer {key}"}
        if data is not None:
            sent["Content-Type"] = "application/json"
        sent |= headers or {}
        answer = answer_to((app or self.app).asgi, method, path, data=data, headers=sent)
        require_stated(method, path, answer)
        return answer

    def get(
        self, path: str, *, role: Role = Role.AUDITOR, key: str | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        return self.call("GET", path, key=key or self.key(role), headers=headers)

    def send(
        self,
        method: str,
        table_id: str,
        path: str,
        body: object,
        *,
        key: str | None = None,
        app: Application | None = None,
    ) -> Answer:
        """Send a body to something of a table, with a key of a server of the table's casino unless another is given."""
        key = key or self.key(Role.TABLE, casino_id=self._casino_of.get(table_id, "c1"))
        data = body if isinstance(body, bytes) else orjson.dumps(body)
        return self.call(method, f"/v1/tables/{table_id}/rounds/{path}", key=key, data=data, app=app)

    def post_bets(
        self,
        *bets: Body,
        round_id: str = "r1",
        table_id: str = "T1",
        app: Application | None = None,
        **more: object,
    ) -> Answer:
        return self.send("POST", table_id, f"{round_id}/bets", {"bets": bets, **more}, app=app)

    def post_voids(self, *bet_ids: str, round_id: str = "r1", table_id: str = "T1", **more: object) -> Answer:
        return self.send("POST", table_id, f"{round_id}/voids", {"bet_ids": bet_ids, **more})

    def put_result(
        self,
        *hands: Body,
        round_id: str = "r1",
        table_id: str = "T1",
        bet_count: int | None = None,
        app: Application | None = None,
        **more: object,
    ) -> Answer:
        """Send a result; unless stated, it counts the live bets as the ledger does."""
        count = self.live_bets(table_id, round_id) if bet_count is None else bet_count
        body = {"bet_count": count, "hands": hands, **more}
        return self.send("PUT", table_id, f"{round_id}/result", body, app=app)

    def put_closing(
        self, *, round_id: str = "r1", table_id: str = "T1", bet_count: int | None = None, **more: object
    ) -> Answer:
        """Close a round's betting; unless stated, with the count of live bets that the ledger has."""
        count = self.live_bets(table_id, round_id) if bet_count is None else bet_count
        return self.send("PUT", table_id, f"{round_id}/closing", {"bet_count": count, **more})

    def put_cancellation(
        self, *, round_id: str = "r1", table_id: str = "T1", reason: str = "misdeal", **more: object
    ) -> Answer:
        return self.send("PUT", table_id, f"{round_id}/cancellation", {"reason": reason, **more})

    # The same where nothing but success is expected.

    def bet(self, *bets: Body, round_id: str = "r1", table_id: str = "T1") -> Body:
        return self.post_bets(*bets, round_id=round_id, table_id=table_id).ok(201)

    def void(self, *bet_ids: str, round_id: str = "r1", table_id: str = "T1") -> Body:
        return self.post_voids(*bet_ids, round_id=round_id, table_id=table_id).ok()

    def settle(self, *hands: Body, round_id: str = "r1", table_id: str = "T1") -> Body:
        """Settle a round and give the settlement."""
        settlement: Body = self.put_result(*hands, round_id=round_id, table_id=table_id).ok(201)["settlement"]
        return settlement

    def cancel(self, *, round_id: str = "r1", table_id: str = "T1") -> Body:
        return self.put_cancellation(round_id=round_id, table_id=table_id).ok(201)

    def meter(self, jackpot_id: str = "j1", currency: str = "EUR") -> Body:
        return self.get(f"/v1/jackpots/{jackpot_id}/meter?currency={currency}").ok()

    def round(self, round_id: str = "r1", table_id: str = "T1") -> Body:
        """The whole record of a round."""
        return self.get(f"/v1/tables/{table_id}/rounds/{round_id}").ok()

    def live_bets(self, table_id: str, round_id: str) -> int:
        count: int = self.books.value(
            "SELECT coalesce(max(bet_count), 0) FROM rounds WHERE table_id = :table AND round_id = :round",
            table=table_id,
            round=round_id,
        )
        return count


COPIES: Final[dict[str, World]] = {}
"""The databases that are copies of a world's, and the world: to furnish it takes as long as what many a test does."""
