"""The runbook's commands, read from the page: back up and restore, a full disk, an upgrade, rotated logs."""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy

from jackpot_service.database.connections import create_engine
from jackpot_service.database.server_account import Account, account_for
from jackpot_service.database.tables import ROLE
from jackpot_service.schema import migrate
from tests.faults.processes import all_workers, serving, wait_until
from tests.faults.service import served
from tests.races import books, scene
from tests.races.processes import CONFIG
from tests.support.logins import service_url
from tests.support.pages import Block, blocks, run

PAGE = "runbook.md"
VENV = Path(__file__).resolve().parents[2] / ".venv" / "bin"
PROGRAMS = Path("/usr/lib/postgresql/15/bin")
DATABASE = "jackpot"

# pg_verifybackup of the embedded PostgreSQL ends with a segmentation fault, whatever it is asked.
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PROGRAMS.is_dir(), reason="apt-get install postgresql-15"),
]


@dataclass(frozen=True)
class Site:
    """A primary, the places that the runbook names, and the account that its commands run as."""

    place: Path
    account: Account

    @property
    def url(self) -> str:
        return service_url(self.owner_url)

    @property
    def owner_url(self) -> str:
        return f"postgresql+psycopg://postgres@/{DATABASE}?host={self.place}&port=5432"

    @property
    def environment(self) -> Mapping[str, str]:
        restored = self.place / "restored"
        return {
            "PATH": f"{PROGRAMS}:{VENV}:/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8",
            "PRIMARY": f"host={self.place} user=postgres dbname={DATABASE}",
            "JACKPOT_DATABASE_URL": self.url,
            "OWNER_URL": self.owner_url,
            "ARCHIVE": str(self.place / "archive"),
            "BACKUP": str(self.place / "backup"),
            "RESTORED": str(restored),
            "RESTORED_URL": f"postgresql://{ROLE}@/{DATABASE}?host={restored}&port=5433",
        }

    def run(self, block: Block, **more: str) -> str:
        return run(block, {**self.environment, **more}, before=self.account.run_as, cwd=Path("/"))


@pytest.fixture
def site() -> Iterator[Site]:
    """Run a primary that archives as docs/production/patroni.yml says, in a place whose path fits a socket."""
    place = Path(tempfile.mkdtemp(prefix="jackpot-runbook-"))
    site = Site(place, account_for(place, PROGRAMS))
    site.account.take(place)
    (place / "postgresql.conf").write_text(
        f"archive_mode = on\narchive_command = '{_archive_command().replace('/srv/archive', f'{place}/archive')}'\n"
        f"listen_addresses = ''\nunix_socket_directories = '{place}'\nfsync = off\n"
    )
    data = place / "primary"
    site.run(
        Block("", f"mkdir {place}/archive; initdb --username=postgres --pgdata={data} --auth=trust --encoding=UTF8")
    )
    site.run(Block("", f"cat {place}/postgresql.conf >> {data}/postgresql.conf"))
    site.run(Block("", f"pg_ctl start --pgdata={data} --wait --log={place}/primary.log"))
    try:
        site.run(Block("", f"createdb --host={place} --username=postgres {DATABASE}"))
        migrate.upgrade(site.owner_url)
        yield site
    finally:
        site.run(Block("", f"pg_ctl stop --pgdata={data} --mode=immediate --wait"))
        shutil.rmtree(place)


def _archive_command() -> str:
    """Return the command that patroni.yml archives by."""
    lines = (Path(__file__).resolve().parents[2] / "docs" / "production" / "patroni.yml").read_text().splitlines()
    (line,) = (line for line in lines if line.strip().startswith("archive_command:"))
    return line.partition(": ")[2].strip('"')


@pytest.fixture
def engine(site: Site) -> Iterator[sqlalchemy.Engine]:
    engine = create_engine(CONFIG, site.url)
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    yield engine
    engine.dispose()


def rounds(url: str) -> list[str]:
    engine = create_engine(CONFIG, url)
    round_ids = [row[0] for row in books.ask(engine, "SELECT round_id FROM rounds ORDER BY round_id")]
    engine.dispose()
    return round_ids


def test_a_base_backup_and_the_archive_restore_an_instant(site: Site, engine: sqlalchemy.Engine) -> None:
    scene.bet(engine, "T1", "r1", scene.euro("b1"))
    archiver, backing_up, cleaning = blocks(PAGE, "backup")
    assert "failed_count" in site.run(archiver)
    site.run(backing_up)
    scene.bet(engine, "T1", "r2", scene.euro("b1"))
    target = datetime.now(UTC)
    scene.bet(engine, "T1", "r3", scene.euro("b1"))

    switching, restoring, proving, stopping = blocks(PAGE, "restore")
    site.run(switching)
    try:
        site.run(restoring, TARGET=target.isoformat(sep=" "))
        assert "the books are right" in site.run(proving)
        restored = site.environment["RESTORED_URL"].replace("postgresql://", "postgresql+psycopg://")
        assert rounds(restored) == ["r1", "r2"]
    finally:
        site.run(stopping)
    assert rounds(site.url) == ["r1", "r2", "r3"]

    before = len(list((site.place / "archive").iterdir()))
    site.run(cleaning)
    assert 0 < len(list((site.place / "archive").iterdir())) < before


def test_what_keeps_room_on_a_disk_is_shown(site: Site) -> None:
    (block,) = blocks(PAGE, "disk")
    assert "jackpot" in site.run(block)


def test_an_upgrade_of_a_database_that_is_current_and_a_service_that_is_ready(site: Site, tmp_path: Path) -> None:
    upgrading, asking = blocks(PAGE, "upgrade")
    site.run(upgrading)
    with served(site.url, tmp_path / "service.log") as service:
        assert '"status":"ready"' in site.run(asking, SERVICE=service.base_url)


def test_a_reload_by_the_unit_replaces_the_workers_of_a_service(site: Site, tmp_path: Path) -> None:
    unit = (Path(__file__).resolve().parents[2] / "docs" / "production" / "jackpot.service").read_text()
    (reload,) = re.findall(r"^ExecReload=(.+)$", unit, re.MULTILINE)
    with served(site.url, tmp_path / "service.log") as service:
        assert service.process is not None
        before = all_workers(service)
        run(Block("", reload), {"PATH": "/usr/bin:/bin", "MAINPID": str(service.process.pid)})
        wait_until(lambda: len(serving(service) - before) == service.workers)
        assert service.status_of("/readyz") == 200


@pytest.mark.skipif(shutil.which("logrotate", path="/usr/sbin:/usr/bin") is None, reason="apt-get install logrotate")
def test_the_log_of_a_running_service_is_rotated_and_goes_on(site: Site, tmp_path: Path) -> None:
    log = tmp_path / "service.log"
    settings = tmp_path / "logrotate.conf"
    text = (Path(__file__).resolve().parents[2] / "docs" / "production" / "logrotate.conf").read_text()
    settings.write_text(text.replace("/var/log/jackpot", str(tmp_path)))
    settings.chmod(0o644)
    (block,) = blocks(PAGE, "logs")
    with served(site.url, log) as service:
        wait_until(lambda: log.read_text().count("Application startup complete.") == service.workers)
        before = log.read_text()
        environment = {**site.environment, "LOGROTATE": str(settings), "LOGROTATE_STATE": str(tmp_path / "state")}
        run(block, environment)
        assert [path.read_text() for path in tmp_path.glob("service.log-*")] == [before]
        assert service.status_of("/v1/keys") == 401
        service.stop()
    after = log.read_bytes()
    assert b"sign-in-refused" in after
    assert b"\0" not in after
