"""Faults are drawn by a seeded chance, and what a site does not allow is left out and said."""

from itertools import islice
from typing import cast

from tests.chaos import plan
from tests.chaos.site import Site


class Roles:
    job_runner = 1


class Service:
    def roles(self) -> Roles:
        return Roles()


class Elsewhere:
    """A site on a PostgreSQL that the campaign did not start."""

    database = None
    service = Service()


def names(seed: int, number: int) -> list[str]:
    return [fault.name for fault in islice(plan.draws(plan.ALL, seed=seed), number)]


def test_the_same_seed_draws_the_same_faults_and_another_seed_others() -> None:
    assert names(7, 80) == names(7, 80)
    assert names(7, 80) != names(8, 80)


def test_each_fault_comes_once_before_any_comes_again() -> None:
    every = len(plan.ALL)

    assert len(set(names(1, every))) == every
    assert set(names(1, 2 * every)[every:]) == set(names(1, every))


def test_a_fault_that_the_site_does_not_allow_is_left_out_with_its_reason() -> None:
    allowed, reasons = plan.possible(cast(Site, Elsewhere()))

    assert "the disk full" in reasons
    assert reasons["the leader killed"] == "it needs CHAOS=patroni"
    assert "a worker killed" in {one().name for one in allowed}
    assert not {one().name for one in allowed} & reasons.keys()
