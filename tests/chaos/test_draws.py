"""Faults are drawn by a seeded chance, and what a site does not allow is left out and said."""

import random
from itertools import islice
from pathlib import Path

from jackpot_service.database import embedded
from tests.chaos import plan
from tests.chaos.call_log import CallReader
from tests.chaos.database import Embedded
from tests.chaos.faults import freezes, full_disk, patroni, service_processes
from tests.chaos.generators import Generators
from tests.chaos.service import HOST, Service
from tests.chaos.site import Site
from tests.chaos.world import World


def names(seed: int, number: int) -> list[str]:
    return [fault.name for fault in islice(plan.draws(plan.ALL, seed=seed), number)]


def test_the_same_seed_draws_the_same_faults_and_another_seed_others() -> None:
    assert names(7, 80) == names(7, 80)
    assert names(7, 80) != names(8, 80)


def test_each_fault_comes_once_before_any_comes_again() -> None:
    every = len(plan.ALL)

    assert len(set(names(1, every))) == every
    assert set(names(1, 2 * every)[every:]) == set(names(1, every))


def test_a_fault_that_the_site_does_not_allow_is_left_out_with_its_reason(tmp_path: Path) -> None:
    site = Site(
        tmp_path,
        World(()),
        Embedded(embedded.cluster_in(tmp_path)),
        Service([], {}, 0, tmp_path / "log"),
        Generators(tmp_path, HOST, [], 0),
        CallReader(tmp_path),
        random.Random(0),
        servers=0,
        pause_s=0.0,
    )
    among = (full_disk.DiskFull, patroni.LeaderKilled, service_processes.WorkerKilled, freezes.BackendFrozen)

    allowed, reasons = plan.possible(site, among)

    assert allowed == (service_processes.WorkerKilled, freezes.BackendFrozen)
    assert reasons == {
        "the disk full": "no disk can be mounted here",
        "the leader killed": "it needs CHAOS=patroni",
    }
