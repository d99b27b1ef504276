import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from jackpot_service.database import embedded
from jackpot_service.database.embedded import Cluster, EmbeddedError, cluster_in, running

pytestmark = pytest.mark.long

USER = """
import signal, sys
from pathlib import Path
from jackpot_service.database import embedded

signal.signal(signal.SIGINT, signal.SIG_IGN if "deaf" in sys.argv else signal.SIG_DFL)
with embedded.running(Path(sys.argv[1])) as cluster:
    print(cluster.url(), flush=True)
    sys.stdin.read()
"""

REACH = """
import sys
from pathlib import Path
from jackpot_service.database import server_account

server_account._reaching(("setpriv", "--reuid=1", "--regid=1", "--clear-groups"), Path(sys.argv[1]))
"""

MAKE_ACCOUNT = """
import sys
from jackpot_service.database import server_account

server_account._NAME = sys.argv[1]
print("ready", flush=True)
sys.stdin.read()
server_account._own_entry()
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start_user() -> Iterator[Start]:
    """Start processes that use the embedded PostgreSQL of a directory until their standard input is closed."""
    users: list[subprocess.Popen[str]] = []

    def start(data_dir: Path, *words: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", USER, str(data_dir), *words]
        user = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        users.append(user)
        return user

    yield start
    for user in users:
        user.kill()
        with user:
            pass


def url_of(user: "subprocess.Popen[str]") -> str:
    assert user.stdout is not None
    return user.stdout.readline().strip()


def leave(user: "subprocess.Popen[str]") -> None:
    assert user.stdin is not None
    user.stdin.close()
    assert user.wait(30) == 0


def kill(user: "subprocess.Popen[str]") -> None:
    os.killpg(user.pid, signal.SIGKILL)
    user.wait(30)


def stops(cluster: Cluster) -> bool:
    deadline = time.monotonic() + 20
    while embedded.is_running(cluster) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not embedded.is_running(cluster)


def ask(cluster: Cluster, question: str) -> object:
    with psycopg.connect(cluster.conninfo("jackpot"), autocommit=True) as connection:
        cursor = connection.execute(question)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def test_what_was_written_is_there_at_the_next_start(tmp_path: Path) -> None:
    cluster = cluster_in(tmp_path)
    with running(tmp_path) as first:
        ask(cluster, "CREATE TABLE kept AS SELECT 7 AS number")
    assert not embedded.is_running(cluster)

    with running(tmp_path) as second:
        assert ask(cluster, "SELECT number FROM kept") == 7
    assert not embedded.is_running(cluster)
    assert first.url() == second.url()


def test_it_is_durable_and_closed_to_others(tmp_path: Path) -> None:
    cluster = cluster_in(tmp_path)
    with running(tmp_path):
        assert ask(cluster, "SHOW fsync") == "on"
        assert ask(cluster, "SHOW synchronous_commit") == "on"
        assert ask(cluster, "SHOW listen_addresses") == ""
        assert ask(cluster, "SELECT datlocale FROM pg_database WHERE datname = 'jackpot'") == "C.UTF-8"
        assert ask(cluster, "SHOW server_encoding") == "UTF8"
        assert cluster.socket_directory.stat().st_mode & 0o777 == 0o700


def test_settings_may_be_added_for_a_test(tmp_path: Path) -> None:
    with running(tmp_path, settings={"fsync": "off", "application_name": r"it's a \ test"}):
        assert ask(cluster_in(tmp_path), "SHOW fsync") == "off"
        assert (
            ask(cluster_in(tmp_path), "SELECT boot_val || reset_val FROM pg_settings WHERE name = 'fsync'") == "onoff"
        )


def test_two_processes_share_it_and_the_last_stops_it(tmp_path: Path, start_user: Start) -> None:
    first, second = start_user(tmp_path), start_user(tmp_path)
    assert url_of(first) == url_of(second)
    cluster = cluster_in(tmp_path)
    postmaster = embedded.postmaster_pid(cluster)

    leave(first)
    assert embedded.is_answering(cluster)
    assert embedded.postmaster_pid(cluster) == postmaster
    leave(second)
    assert not embedded.is_running(cluster)


def test_a_killed_user_does_not_keep_it_alive(tmp_path: Path, start_user: Start) -> None:
    killed, last = start_user(tmp_path), start_user(tmp_path)
    assert url_of(killed) == url_of(last)
    kill(killed)
    cluster = cluster_in(tmp_path)
    assert embedded.is_answering(cluster)

    leave(last)
    assert not embedded.is_running(cluster)


def test_when_every_user_is_killed_it_stops_by_itself(tmp_path: Path, start_user: Start) -> None:
    users = [start_user(tmp_path), start_user(tmp_path)]
    for user in users:
        assert url_of(user)
    for user in users:
        kill(user)

    assert stops(cluster_in(tmp_path))
    assert not (tmp_path / "postgres" / "postmaster.pid").exists()  # It was shut down, not killed.


def test_a_ctrl_c_in_the_terminal_reaches_the_users_only(tmp_path: Path, start_user: Start) -> None:
    user = start_user(tmp_path, "deaf")
    assert url_of(user)
    cluster = cluster_in(tmp_path)
    postmaster = embedded.postmaster_pid(cluster)
    os.killpg(user.pid, signal.SIGINT)
    time.sleep(0.2)

    assert embedded.is_answering(cluster)
    assert embedded.postmaster_pid(cluster) == postmaster
    leave(user)


@pytest.mark.parametrize("crash", ["immediate stop", "postmaster killed"])
def test_a_server_that_crashed_in_use_is_started_again_by_the_next_user(
    crash: str, tmp_path: Path, start_user: Start
) -> None:
    first = start_user(tmp_path)
    url = url_of(first)
    cluster = cluster_in(tmp_path)
    ask(cluster, "CREATE TABLE kept AS SELECT 7 AS number")
    if crash == "immediate stop":
        embedded.stop(cluster, mode="immediate")
    else:
        os.kill(embedded.postmaster_pid(cluster), signal.SIGKILL)

    second = start_user(tmp_path)
    assert url_of(second) == url
    assert ask(cluster, "SELECT number FROM kept") == 7
    leave(first)
    assert embedded.is_answering(cluster)
    leave(second)
    assert not embedded.is_running(cluster)


def test_a_stale_postmaster_pid_of_somebody_alive_is_no_server(tmp_path: Path) -> None:
    cluster = cluster_in(tmp_path)
    with running(tmp_path):
        lines = (cluster.directory / "postmaster.pid").read_text().splitlines()
        embedded.stop(cluster, mode="immediate")
    somebody = subprocess.Popen([*cluster.account.run_as, "sleep", "60"])
    try:
        (cluster.directory / "postmaster.pid").write_text("\n".join([str(somebody.pid), *lines[1:]]) + "\n")
        cluster.account.take(cluster.directory / "postmaster.pid")

        with running(tmp_path):
            assert embedded.postmaster_pid(cluster) != somebody.pid
        assert somebody.poll() is None
    finally:
        somebody.kill()
        somebody.wait()


@pytest.mark.parametrize("name", ["long" * 40, "with spaces, a comma, 'quotes', \"more\" and \\ Größe % $HOME"])
def test_any_path_will_do(name: str, tmp_path: Path) -> None:
    data_dir = tmp_path / name / "var"
    cluster = cluster_in(data_dir)
    with running(data_dir) as started:
        assert started == cluster
        assert ask(cluster, "SELECT 1") == 1
        assert str(cluster.socket_directory).startswith("/tmp/jackpot-")  # noqa: S108
        assert cluster.socket_directory.stat().st_mode & 0o777 == 0o700
    assert not cluster.socket_directory.exists()


def test_a_socket_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    data_dir = tmp_path / ("long" * 40)
    cluster = cluster_in(data_dir)
    cluster.socket_directory.mkdir(mode=0o777)
    cluster.socket_directory.chmod(0o777)
    try:
        with pytest.raises(EmbeddedError, match="belongs to somebody else"), running(data_dir):
            pass
    finally:
        cluster.socket_directory.rmdir()


@pytest.mark.parametrize("after_s", [0, 0.1, 0.25, 0.5])
def test_a_first_start_killed_at_any_instant_does_not_break_the_next(
    after_s: float, tmp_path: Path, start_user: Start
) -> None:
    data_dir = tmp_path / "var"
    user = start_user(data_dir)
    while not list(data_dir.glob("postgres*")):
        time.sleep(0.005)
    time.sleep(after_s)
    kill(user)

    with running(data_dir):
        assert ask(cluster_in(data_dir), "SELECT 1") == 1
    assert not embedded.is_running(cluster_in(data_dir))


def test_what_an_interrupted_first_start_left_is_removed(tmp_path: Path) -> None:
    abandoned = tmp_path / "postgres.new-abandoned"
    (abandoned / "base").mkdir(parents=True)
    with running(tmp_path):
        assert not abandoned.exists()


def test_a_start_that_fails_says_why_in_one_line(tmp_path: Path) -> None:
    with (
        pytest.raises(EmbeddedError, match='unrecognized configuration parameter "no_such_setting"') as caught,
        running(tmp_path, settings={"no_such_setting": "1"}),
    ):
        pass

    assert "\n" not in str(caught.value)
    assert not embedded.is_running(cluster_in(tmp_path))


def test_a_data_directory_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "var").write_text("not a directory")

    with pytest.raises(EmbeddedError, match="var"), running(tmp_path / "var"):
        pass


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory below none of pytest's: those above it are opened too, which pytest closes at its next start."""
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as somebody else")
def test_root_opens_a_closed_directory_only_where_no_capability_reaches_into_it(place: Path) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    (closed / "var").mkdir()
    reach = [sys.executable, "-c", REACH, str(closed / "var")]

    subprocess.run(reach, check=True)
    assert closed.stat().st_mode & 0o777 == 0o700
    subprocess.run(["setpriv", "--bounding-set=-dac_read_search", *reach], check=True)
    assert closed.stat().st_mode & 0o777 == 0o701


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes accounts")
def test_processes_that_make_the_account_at_once_all_get_it() -> None:
    name = f"pgserver-test-{os.getpid()}"
    making = [sys.executable, "-c", MAKE_ACCOUNT, name]
    makers = [
        subprocess.Popen(making, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    try:
        for maker in makers:
            assert maker.stdout is not None
            assert maker.stdout.readline() == "ready\n"
        for maker in makers:
            assert maker.stdin is not None
            maker.stdin.close()
            maker.stdin = None
        ended = [(maker.communicate(), maker.returncode) for maker in makers]
        accounts = [line for line in Path("/etc/passwd").read_text().splitlines() if line.startswith(f"{name}:")]
    finally:
        while subprocess.run(["/usr/sbin/userdel", name], check=False, capture_output=True).returncode == 0:
            pass
    assert [code for _, code in ended] == [0, 0, 0, 0], ended
    assert len(accounts) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_root_runs_it_as_the_one_whose_directory_it_is(tmp_path: Path) -> None:
    os.chown(tmp_path, 1, 1)
    with running(tmp_path):
        assert (tmp_path / "postgres").stat().st_uid == 1
