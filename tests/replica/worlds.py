"""Worlds whose services read at a standby: what becomes of their reads, and whether it is in use."""

import time
from collections.abc import Callable
from typing import Final

import orjson
from sqlalchemy import QueuePool

from jackpot_service.api.request_context import EXTENSION
from jackpot_service.database.reads import Reads
from jackpot_service.database.replica import Replica, ReplicaState, Unfit
from jackpot_service.telemetry import counters
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import FLUSH, ROYAL_FLUSH, hand
from tests.support.world import World

LONGEST_WAIT_S: Final = 30

Opening = Callable[..., World]


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + LONGEST_WAIT_S
    while not holds():
        assert time.monotonic() < until, "it does not come"
        time.sleep(0.02)


def reads_of(world: World) -> Reads:
    reads: Reads = world.app.extensions[EXTENSION].reads
    return reads


def replica_of(world: World) -> Replica:
    replica = reads_of(world).replica
    assert replica is not None
    return replica


def state(world: World) -> ReplicaState:
    return replica_of(world).last.state


def wait_until_nobody_reads(world: World) -> None:
    """Wait until whoever read at the replica has given its connection back."""
    pool = replica_of(world).engine.pool
    assert isinstance(pool, QueuePool)
    wait_until(lambda: pool.checkedout() == 0)


def wait_until_in_use(world: World) -> None:
    wait_until(lambda: state(world) is ReplicaState.IN_USE)


def outcomes() -> dict[str, float]:
    """How often what was to be read at a replica ended so, in this process."""
    return {
        sample.labels["outcome"]: sample.value
        for family in counters.collector().collect()
        for sample in family.samples
        if sample.name == f"{counters.REPLICA_READS}_total"
    }


def database_errors() -> dict[str, float]:
    """How often a database refused something, or broke it off, in this process, by kind."""
    return {
        sample.labels["kind"]: sample.value
        for family in counters.collector().collect()
        for sample in family.samples
        if sample.name == f"{counters.DATABASE_ERRORS}_total"
    }


def since(before: dict[str, float]) -> dict[str, float]:
    """The outcomes that there were since others, without those of which there were none."""
    return {outcome: times - before[outcome] for outcome, times in outcomes().items() if times != before[outcome]}


def play(world: World, name: str = "r", rounds: int = 2) -> None:
    for number in range(rounds):
        world.bet(bet(), round_id=f"{name}{number}")
        world.settle(hand("1", ROYAL_FLUSH if number else FLUSH), round_id=f"{name}{number}")


def send(world: World, method: str, path: str, body: object, key: str, **headers: str) -> Answer:
    return world.call(method, path, key=key, data=orjson.dumps(body), headers=headers)


def tables(answer: Answer) -> list[str]:
    """The ids of a list of tables."""
    return [table["table_id"] for table in answer.ok()["items"]]


def passing_over_once(replica: Replica) -> Callable[..., float]:
    """Return what a replica requires, but for the first time, which finds it behind."""
    require, times = replica.require, iter([True])

    def required(*arguments: object, **stated: object) -> float:
        if next(times, False):
            raise Unfit(ReplicaState.BEHIND)
        return require(*arguments, **stated)  # type: ignore[arg-type]

    return required
