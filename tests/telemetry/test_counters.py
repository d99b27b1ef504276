"""What goes wrong is counted once for the service, by any of its processes; repeated lines are logged seldom."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from jackpot_service.telemetry import counters
from jackpot_service.telemetry.logs import Seldom

COUNT = f"from jackpot_service.telemetry import counters; counters.count('{counters.SIGN_INS_REFUSED}')"
SHOW = f"""
from jackpot_service.telemetry import counters
samples = {{s.name: s.value for f in counters.collector().collect() for s in f.samples}}
print(samples['{counters.SIGN_INS_REFUSED}_total'])
"""


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


def test_the_counts_of_processes_that_have_ended_are_added_up() -> None:
    with counters.shared():
        run(COUNT)
        run(f"{COUNT}; counters.count('{counters.SIGN_INS_REFUSED}')")

        assert run(SHOW) == "3.0"

    with counters.shared():
        assert run(SHOW) == "0.0"


def test_nothing_is_left_of_what_was_shared() -> None:
    before = dict(os.environ)

    with counters.shared():
        directory = Path(os.environ[counters.DIRECTORY])
        run(COUNT)
        assert list(directory.iterdir())

    assert not directory.exists()
    assert dict(os.environ) == before


def test_what_a_killed_service_has_left_the_next_one_removes_and_nobody_elses() -> None:
    program = """
import os, time
from jackpot_service.telemetry import counters
with counters.shared():
    print(os.environ[counters.DIRECTORY], flush=True)
    time.sleep(600)
"""
    killed, alive = (
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(2)
    )
    with killed, alive:
        left, held = (
            Path((process.stdout.readline() if process.stdout else "").strip()) for process in (killed, alive)
        )
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert left.is_dir()

        with counters.shared():
            assert (left.exists(), held.exists()) == (False, True)

        alive.kill()


def test_a_process_whose_directory_is_gone_counts_for_itself() -> None:
    remove = "import os, shutil; shutil.rmtree(os.environ['PROMETHEUS_MULTIPROC_DIR'])"
    with counters.shared():
        assert run(f"{COUNT}; {remove}; {SHOW}") == "1.0"


def test_every_series_is_there_from_the_start() -> None:
    with counters.shared():
        shown = run(
            "from jackpot_service.telemetry import counters\n"
            "print(sum(len(family.samples) for family in counters.collector().collect()))"
        )

    assert int(shown) >= len(counters.COUNTED[counters.DATABASE_ERRORS].labels["kind"]) + 1


def test_a_label_takes_only_what_is_listed() -> None:
    with pytest.raises(ValueError, match="has no kind='of mine'"):
        counters.count(counters.DATABASE_ERRORS, kind="of mine")


def test_what_repeats_is_logged_once_a_minute_and_subject_with_how_often_it_was_passed_over() -> None:
    now = 0.0
    seldom = Seldom(monotonic=lambda: now)

    with capture_logs() as logged:
        for about in ("a", "b", "a", "a"):
            seldom.warning("trouble", about=about, subject=about)
        now = 60.0
        seldom.warning("trouble", about="a", subject="a")

    assert [(line["subject"], line.get("not_logged", 0)) for line in logged] == [("a", 0), ("b", 0), ("a", 2)]


def test_subjects_without_end_are_forgotten_from_the_longest_unseen_on() -> None:
    seldom = Seldom(most_known=2, monotonic=lambda: 0.0)

    with capture_logs() as logged:
        for about in ("a", "b", "a", "c", "a", "b"):
            seldom.warning("trouble", about=about, subject=about)

    assert [line["subject"] for line in logged] == ["a", "b", "c", "b"]
