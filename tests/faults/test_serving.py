"""The server's processes: how they start and end, what replaces them, and what they leave behind, which is nothing."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from uvicorn.supervisors.multiprocess import Process

from jackpot_service.server.job_supervisor import LONGEST_STOP_S
from jackpot_service.server.supervisor import LONGEST_LEAVE_S, LONGEST_REPLY_S, bound, says_that_it_serves, settings
from tests.faults.freezing import frozen
from tests.faults.processes import (
    LONGEST_WAIT_S,
    all_workers,
    command_of,
    is_over,
    killed_at_a_failure,
    pids_of_session,
    serving,
    wait_until,
    wait_until_program_runs,
    workers,
)
from tests.faults.service import HOST, Service
from tests.faults.wire import Wire

pytestmark = pytest.mark.long

HEALTHZ = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"


def test_connections_that_are_kept_for_later_do_not_hold_up_the_end(own_service: Service) -> None:
    """The time is counted from where the server says that it ends: until then the machine may be busy."""
    assert own_service.process is not None
    with httpx.Client(base_url=own_service.base_url, trust_env=False, timeout=LONGEST_WAIT_S) as client:
        assert client.get("/healthz").status_code == httpx.codes.OK
        all_workers(own_service)
        own_service.process.terminate()
        assert own_service.process.wait(LONGEST_WAIT_S) == 0
    assert own_service.log.read_text().count("Finished server process") == own_service.workers
    assert "timeout graceful shutdown exceeded" not in own_service.log.read_text()
    own_service.process = None


def test_a_connection_that_comes_when_a_worker_ends_does_not_hold_it_up(own_service: Service) -> None:
    """The workers find the signal and the connections when they wake, so that no machine is too busy to be in time."""
    assert own_service.process is not None
    pids = all_workers(own_service)
    with frozen(own_service.process.pid):  # Else it would start others in the place of those that end.
        with frozen(*pids):
            silent, wire = Wire(own_service), Wire(own_service).send(HEALTHZ)
            for pid in pids:
                os.kill(pid, signal.SIGTERM)
        with silent, wire:
            assert wire.answer().status == httpx.codes.OK
            assert silent.rest() == b""
        wait_until(lambda: all(map(is_over, pids)))
        assert own_service.log.read_text().count("Finished server process") == own_service.workers
        assert "timeout graceful shutdown exceeded" not in own_service.log.read_text()
        own_service.process.terminate()
    assert own_service.process.wait(LONGEST_WAIT_S) == 0
    own_service.process = None


def test_a_worker_that_is_told_to_end_while_it_starts_ends(own_service: Service) -> None:
    before = all_workers(own_service)
    os.kill(min(before), signal.SIGKILL)
    for later_ms in range(0, 600, 60):
        wait_until(lambda: workers(own_service) - before)
        (starting,) = workers(own_service) - before
        before.add(starting)
        time.sleep(later_ms / 1000)
        os.kill(starting, signal.SIGTERM)
        wait_until(lambda: starting not in workers(own_service))  # noqa: B023  it is asked here and now
    assert b"Traceback" not in own_service.log.read_bytes()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGALRM])
def test_a_worker_that_was_killed_is_started_again(own_service: Service, number: signal.Signals) -> None:
    """SIGALRM is how the kernel ends one that stands still."""
    before = all_workers(own_service)
    killed = min(before)
    os.kill(killed, number)
    wait_until(lambda: len(serving(own_service) - before) == 1)
    assert killed not in workers(own_service)


def test_a_worker_whose_loop_stands_still_is_ended_and_says_where_it_stood() -> None:
    still = """if True:
        import asyncio, faulthandler, signal, time
        from jackpot_service.server import worker
        from jackpot_service.server.clients import Clients
        worker.LONGEST_STANDSTILL_S = 5
        async def stand_still():
            async with worker.living(Clients(most_body_bytes=0), print):
                await asyncio.sleep(2)
                print("goes on", flush=True)
                time.sleep(40)
        asyncio.run(stand_still())
    """
    ended = subprocess.run([sys.executable, "-c", still], capture_output=True, text=True, check=False, timeout=50)
    assert (ended.returncode, ended.stdout) == (-signal.SIGALRM, "goes on\n")
    assert "in stand_still" in ended.stderr


def test_workers_end_when_their_supervisor_is_gone(own_service: Service) -> None:
    assert own_service.process is not None
    pids = all_workers(own_service)
    with Wire(own_service):
        os.kill(own_service.process.pid, signal.SIGKILL)
        assert own_service.process.wait() != 0
        wait_until(lambda: not pids_of_session(own_service.process.pid))  # type: ignore[union-attr]
    assert not any(map(command_of, pids))
    own_service.process = None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_ctrl_c_ends_all_in_order(own_service: Service, number: signal.Signals) -> None:
    """It reaches every process of the terminal at once; the command says to the others what they are to do."""
    assert own_service.process is not None
    with httpx.Client(base_url=own_service.base_url, trust_env=False, timeout=LONGEST_WAIT_S) as client:
        assert client.get("/healthz").status_code == httpx.codes.OK
        all_workers(own_service)
        os.killpg(own_service.process.pid, number)
        assert own_service.process.wait(LONGEST_WAIT_S) == 0
    assert b"Traceback" not in own_service.log.read_bytes()
    assert own_service.log.read_text().count("Finished server process") == own_service.workers
    own_service.process = None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.long
def test_an_end_in_the_first_second_leaves_nothing_and_no_trace(own_service: Service, number: signal.Signals) -> None:
    """From when the program itself is there: before, it is the interpreter that Ctrl-C ends."""
    own_service.stop()
    for later_ms in range(0, 2_500, 250):
        with own_service.log.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "jackpot_service.cli", "serve", f"--port={own_service.port}"],
                env={**os.environ, "JACKPOT_DATABASE_URL": own_service.url},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        with process, killed_at_a_failure(process.pid):
            wait_until_program_runs(process.pid)
            time.sleep(later_ms / 1000)
            os.killpg(process.pid, number) if number == signal.SIGINT else process.terminate()
            process.wait(LONGEST_WAIT_S)
            wait_until(lambda: not pids_of_session(process.pid))  # noqa: B023
        assert b"Traceback" not in own_service.log.read_bytes(), own_service.log.read_text()


def ended_by(program: str, service: Service) -> "subprocess.CompletedProcess[str]":
    """Serve by a program that presses Ctrl-C itself, in the place of a service, until it ends."""
    service.stop()
    return subprocess.run(
        [sys.executable, "-c", program, "serve", f"--port={service.port}"],
        env={**os.environ, "JACKPOT_DATABASE_URL": service.url},
        timeout=LONGEST_WAIT_S,
        capture_output=True,
        text=True,
        check=False,
    )


WITH_CTRL_C_IN_A_CALLBACK = """
import os, signal, sys
from jackpot_service.cli.program import main

def press(frame, event, _):
    if event == "call" and frame.f_code.co_qualname == "_get_module_lock.<locals>.cb":
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGINT)

sys.setprofile(press)
main()
"""


def test_ctrl_c_in_a_callback_of_python_itself_is_not_lost(own_service: Service) -> None:
    """The service once went on for ever: Python drops what is raised in the callback that each import ends with."""
    ended = ended_by(WITH_CTRL_C_IN_A_CALLBACK, own_service)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "\nAborted!\n")


WITH_CTRL_C_AT_THE_RUNNER = """
import os, signal, threading, time
from jackpot_service.cli.program import main

def press(frame, event, _):
    if event == "call" and frame.f_code.co_name == "_start_runner":
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.5)  # The main thread goes on meanwhile, from wherever it is.

threading.setprofile(press)
main()
"""


def test_ctrl_c_while_the_job_runner_is_started_ends_it_too(own_service: Service) -> None:
    """It once was left, without the directory of the counters, which was removed while it started."""
    ended = ended_by(WITH_CTRL_C_AT_THE_RUNNER, own_service)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr


def test_a_server_that_cannot_listen_says_so_in_one_line_and_ends(own_service: Service) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "jackpot_service.cli", "serve", "--port", str(own_service.port)],
        env={**os.environ, "JACKPOT_DATABASE_URL": own_service.url},
        capture_output=True,
        text=True,
        check=False,
    )
    reason = f"cannot listen on {HOST}:{own_service.port}: Address already in use"
    hint = f'another port is taken by --port (in a checkout: make run ARGS="--port {own_service.port + 1}")'
    assert (refused.returncode, refused.stderr) == (1, f"Error: {reason}; {hint}\n")


@pytest.mark.parametrize("fault", ["another listens", "no database is named"])
def test_workers_that_cannot_start_are_not_started_again_and_again(own_service: Service, fault: str) -> None:
    """Two services that bind at once may both be let; then the second that listens is not."""
    environment = {**os.environ, "JACKPOT_DATABASE_URL": own_service.url}
    if fault == "no database is named":
        del environment["JACKPOT_DATABASE_URL"]
    with bound(HOST, 0) as other:
        port = other.getsockname()[1]
        supervise = f"""if True:
            import sys
            from jackpot_service.server import supervisor
            listener = supervisor.bound("{HOST}", {port})
            print("bound", flush=True)
            sys.stdin.readline()
            of = supervisor.Supervisor(supervisor.settings(2), [listener])
            of.run()
            sys.exit(of.failure)
        """
        command = [sys.executable, "-c", supervise]
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"bound\n"
            if fault == "another listens":
                other.listen()
            _, output = process.communicate(b"\n", timeout=LONGEST_WAIT_S)
    assert process.returncode == 1
    assert (b"another program listens" if fault == "another listens" else b"JACKPOT_DATABASE_URL") in output


def test_a_worker_that_begins_late_is_heard_as_soon_as_it_serves() -> None:
    """It answers each question of before, that it does not serve yet; one answer a look came too late to be heard."""
    worker = Process(settings(1), [])
    assert not any(says_that_it_serves(worker) for _ in range(3))  # It has not begun to answer.
    for _ in range(3):
        worker.pong()
    worker.server.started = True
    with ThreadPoolExecutor(1) as thread:
        answering = thread.submit(worker.pong)
        assert says_that_it_serves(worker)
        answering.result(LONGEST_WAIT_S)


def test_a_worker_that_answers_too_late_for_a_look_is_heard_at_the_next() -> None:
    worker = Process(settings(1), [])
    worker.server.started = True
    assert not says_that_it_serves(worker)
    worker.pong()
    assert says_that_it_serves(worker)
    assert not says_that_it_serves(worker)


def test_until_a_worker_can_answer_connections_are_refused(own_service: Service) -> None:
    with bound(HOST, 0) as listener, pytest.raises(ConnectionRefusedError):
        socket.create_connection(listener.getsockname())
    assert own_service.status_of("/healthz") == httpx.codes.OK


def test_the_log_is_lines_of_json_and_has_none_for_calls(own_service: Service) -> None:
    own_service.stop()
    own_service.start()
    assert own_service.status_of("/readyz") == httpx.codes.OK
    own_service.stop()
    lines = [httpx.Response(200, content=line).json() for line in own_service.log.read_bytes().splitlines()]
    events = {line["event"] for line in lines}
    assert "Application startup complete." in events
    assert not any("readyz" in event or "Context impl" in event for event in events)


def test_a_reload_ends_also_if_a_worker_is_stopped_and_the_worker_does_not_outlive_it(service: Service) -> None:
    assert service.process is not None
    before = all_workers(service)
    with frozen(max(before)):
        service.process.send_signal(signal.SIGHUP)
        wait_until(lambda: len(serving(service) - before) == service.workers)
        wait_until(lambda: workers(service).isdisjoint(before))


@pytest.mark.parametrize("later_s", [0, 3])
def test_a_reload_with_a_worker_that_is_stopped_is_left_off_when_the_service_is_told_to_end(
    service: Service, later_s: float
) -> None:
    """The workers never go on: they are killed, well before systemd would kill all."""
    assert service.process is not None
    before = all_workers(service)
    for pid in before:
        os.kill(pid, signal.SIGSTOP)
    service.process.send_signal(signal.SIGHUP)
    time.sleep(later_s)
    service.process.terminate()
    assert service.process.wait(LONGEST_WAIT_S) == 0
    wait_until(lambda: not pids_of_session(service.process.pid))  # type: ignore[union-attr]
    service.process = None


def test_the_service_is_given_as_long_to_end_as_it_may_take() -> None:
    """Looks at the workers, the end of all, and the runner of jobs: for 16 workers that are all stopped."""
    unit = (Path(__file__).parents[2] / "docs" / "production" / "jackpot.service").read_text()
    (given_s,) = re.findall(r"^TimeoutStopSec=(\d+)s$", unit, re.MULTILINE)
    assert int(given_s) >= 1 + 16 * LONGEST_REPLY_S + LONGEST_LEAVE_S + LONGEST_STOP_S + 5


def test_workers_are_told_to_end_also_if_the_kernel_goes_on_taking_connections(service: Service) -> None:
    service.stop()
    supervise = f"""if True:
        import sys
        from jackpot_service.server import supervisor
        supervisor._SO_ATTACH_FILTER = 9999
        of = supervisor.Supervisor(supervisor.settings(1), [supervisor.bound("{HOST}", {service.port})])
        of.run()
        sys.exit(of.failure)
    """
    environment = {**os.environ, "JACKPOT_DATABASE_URL": service.url}
    with subprocess.Popen(
        [sys.executable, "-c", supervise], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        wait_until(lambda: service.status_of("/healthz") == httpx.codes.OK)
        process.terminate()
        output, _ = process.communicate(timeout=LONGEST_WAIT_S)
    assert process.returncode == 0, output
    assert b"connections-are-still-taken" in output
    assert b"Finished server process" in output
