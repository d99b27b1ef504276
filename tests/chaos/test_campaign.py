"""A short campaign, as `make chaos` runs the long one: it must find its own losses, and none of the service's."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.chaos.__main__ import FAILURES, main
from tests.chaos.violations import ANSWERS
from tests.properties.profile import CASES
from tests.support import patroni
from tests.support.patroni import Node, PatroniCluster

MINUTES = "1" if CASES else "0.1"
FAULTS = ("a worker killed", "stopped at once")


@pytest.mark.deep
@pytest.mark.timeout(900)
@pytest.mark.long
def test_a_short_campaign_loses_nothing_and_sees_what_is_lost_on_purpose(tmp_path: Path) -> None:
    only = [word for fault in FAULTS for word in ("--only", fault)]

    # This seed draws the killed worker first: however long a busy machine takes for it, the time is not up before.
    stated = ["--minutes", MINUTES, "--tables", "6", "--seed", "0", *only, "--output", str(tmp_path)]
    done = CliRunner().invoke(main, stated)

    assert done.exit_code in {0, 2}, done.output  # 2: a busy machine made calls late.
    written = json.loads((tmp_path / "chaos.json").read_text())
    assert written["lost_without_synchronous_commit"] > 0
    assert all(written["tampered"].values())
    assert {fact for fact, _, _ in written["violations"]} <= ANSWERS
    rows = {row[0]: dict(zip(written["columns"], row, strict=True)) for row in written["rows"]}
    assert rows.keys() >= {"a worker killed", "the whole campaign"}
    assert int(rows["the whole campaign"]["acknowledged"]) > 0
    assert (tmp_path / "chaos.md").read_text().count("\n|") == len(written["rows"]) + 2  # Their head, and a line


def test_a_word_that_no_fault_has_is_refused_before_anything_begins() -> None:
    done = CliRunner().invoke(main, ["--only", "earthquake"])

    assert done.exit_code == 2
    assert "no fault has 'earthquake' in its name" in done.output


def test_a_database_that_there_is_not_is_refused_before_anything_begins() -> None:
    done = CliRunner().invoke(main, env={"CHAOS": "patrony"})

    assert done.exit_code == 1
    assert done.output == "chaos failed: CHAOS=patrony: it may be patroni or patroni-hosts\n"


@pytest.mark.parametrize("host_kind", ["patroni", "patroni-hosts"])
def test_a_machine_without_patroni_is_told_what_to_install_before_anything_begins(
    tmp_path: Path, host_kind: str
) -> None:
    done = CliRunner().invoke(main, env={"CHAOS": host_kind, "PATH": str(tmp_path)})

    assert done.exit_code == 1
    assert done.output.startswith(
        "chaos failed: apt-get install patroni etcd-server haproxy postgresql-15: patroni, etcd"
    )
    assert done.output.count("\n") == 1


def test_a_leader_that_is_late_is_a_campaign_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patroni, "LONGEST_WAIT_S", 0.1)
    cluster = PatroniCluster(tmp_path, 1, 2, {name: Node(name, tmp_path, 3, 4) for name in patroni.NODES})

    with pytest.raises(FAILURES, match="there is no leader"):
        cluster.leader()
