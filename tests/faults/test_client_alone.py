"""A table server's machine: the client and what its own metadata requires, nothing else, against a real service."""

import os
import re
import shutil
import subprocess
import sys
import time
import venv
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from jackpot_client import Bet
from tests.faults.load import client_for
from tests.faults.service import Service

pytestmark = pytest.mark.long

CHECKOUT: Final = Path(__file__).parents[2]
CLIENT: Final = CHECKOUT / "clients" / "python"
EXAMPLE, ASYNCIO, DISPLAY, EVENTS = re.findall(
    r"```python\n(.*?)```", (CLIENT / "README.md").read_text(encoding="utf-8"), re.DOTALL
)
LONGEST_S: Final = 60.0
BUILD: Final = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment, and where its packages are."""

    place: Path

    @property
    def packages(self) -> Path:
        (packages,) = self.place.glob("lib/python*/site-packages")
        return packages

    @property
    def distributions(self) -> dict[str, metadata.Distribution]:
        """Return what is installed there, by name."""
        return {
            canonicalize_name(distribution.name): distribution
            for distribution in metadata.distributions(path=[str(self.packages)])
        }

    def run(self, program: str, **environment: str) -> str:
        """Run a program there, and return what it prints."""
        with self.started(program, **environment) as process:
            output, _ = process.communicate()
        assert process.returncode == 0
        return output

    def started(self, program: str, **environment: str) -> "subprocess.Popen[str]":
        """Start a program there, with what it prints as a pipe."""
        command = (self.place / "bin" / "python", "-I", "-u", "-c", program)
        return subprocess.Popen(
            command, env={**os.environ, **environment}, cwd=self.place, stdout=subprocess.PIPE, text=True
        )


@pytest.fixture(scope="module")
def table_server(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install the client's wheel and, from this environment, the locked versions of what it requires."""
    place = tmp_path_factory.mktemp("table-server")
    venv.create(place, symlinks=True)
    environment = Environment(place)
    zipfile.ZipFile(wheel_in(tmp_path_factory.mktemp("wheel"))).extractall(environment.packages)
    while missing := required_by(environment) - environment.distributions.keys():
        for name in missing:
            copy_distribution(metadata.distribution(name), environment.packages)
    return environment


def wheel_in(place: Path) -> Path:
    """Build the client's wheel from a copy, as `make wheel` does."""
    names = ("pyproject.toml", "README.md", "LICENSE")
    for name in names:
        shutil.copy(CLIENT / name, place)
    shutil.copytree(CLIENT / "jackpot_client", place / "jackpot_client")
    subprocess.run([sys.executable, "-c", BUILD, place], cwd=place, stdout=subprocess.DEVNULL, check=True)
    (wheel,) = place.glob("*.whl")
    return wheel


def required_by(environment: Environment) -> set[str]:
    """Return the names of what the distributions of an environment require, on this machine and without extras."""
    stated = [Requirement(text) for value in environment.distributions.values() for text in value.requires or ()]
    return {
        canonicalize_name(requirement.name)
        for requirement in stated
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    }


def copy_distribution(distribution: metadata.Distribution, packages: Path) -> None:
    """Copy a distribution's modules and its metadata; its programs, which lie outside, stay where they are."""
    for file in distribution.files or ():
        if ".." not in file.parts:
            (packages / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.locate(), packages / file)


def test_the_example_of_the_readme_bets_and_wins(
    table_server: Environment, standing_service: Service, table_key: str
) -> None:
    output = table_server.run(EXAMPLE, JACKPOT_URL=standing_service.base_url, JACKPOT_KEY=table_key)

    # Two bets of EUR 1 and GBP 1 = EUR 1.17, 45 % of them to the meter; each wins 1000.9765 / 2.17 times its stake.
    assert output.splitlines() == ["on offer: EUR 1000.97", "award: ann EUR 46127", "award: bob GBP 46127"]


def test_the_example_with_asyncio_names_the_rounds_that_wait(
    table_server: Environment, standing_service: Service, table_key: str
) -> None:
    with client_for(standing_service.base_url, table_key) as client:
        bet = Bet(bet_id="b", player_id="ann", currency="EUR", stake_minor=100)
        client.place_bets(table_id="T8", round_id="waits", bets=[bet])

    output = table_server.run(ASYNCIO, JACKPOT_URL=standing_service.base_url, JACKPOT_KEY=table_key)

    assert output.splitlines() == ["server still has waits"]


def test_the_example_of_a_display_shows_the_meter(
    table_server: Environment, standing_service: Service, table_key: str
) -> None:
    access = {"JACKPOT_URL": standing_service.base_url, "JACKPOT_KEY": table_key}
    with table_server.started(DISPLAY, **access) as display:
        assert display.stdout is not None
        shown = [display.stdout.readline() for _ in range(2)]
        display.kill()

    assert [re.sub(r"\d+", "N", line) for line in shown] == ["EUR N \n", "GBP N \n"]


def test_the_example_of_events_goes_on_from_its_cursor(
    table_server: Environment, standing_service: Service, table_key: str, tmp_path: Path
) -> None:
    access = {"JACKPOT_URL": standing_service.base_url, "JACKPOT_KEY": table_key}
    with client_for(standing_service.base_url, table_key) as client:
        start = client.event_page(after="now").next
        (tmp_path / "cursor").write_text(start)
        for reason in ("first", "second"):
            client.cancel_round(table_id="T8", round_id=reason, reason=reason)
            with table_server.started(EVENTS, CURSOR_FILE=str(tmp_path / "cursor"), **access) as consumer:
                assert consumer.stdout is not None
                assert consumer.stdout.readline() == f"jackpot.round.cancelled round T8/{reason}\n"
                until = time.monotonic() + LONGEST_S
                while (tmp_path / "cursor").read_text() == start:
                    assert time.monotonic() < until
                start = (tmp_path / "cursor").read_text()
                consumer.kill()


def test_a_table_server_needs_what_is_locked_for_it_and_no_more(table_server: Environment) -> None:
    lines = (CHECKOUT / "requirements-client.txt").read_text(encoding="utf-8").splitlines()
    locked = [Requirement(line.removesuffix("\\")) for line in lines if "==" in line]

    installed = {
        name: distribution.version
        for name, distribution in table_server.distributions.items()
        if name != "jackpot-client"
    }

    assert {
        requirement.name for requirement in locked if requirement.marker is None or requirement.marker.evaluate()
    } == installed.keys()
    assert all(
        requirement.specifier.contains(installed[requirement.name])
        for requirement in locked
        if requirement.name in installed
    )


def test_the_client_requires_httpx_alone(table_server: Environment) -> None:
    required = table_server.distributions["jackpot-client"].requires or []
    assert [Requirement(stated).name for stated in required] == ["httpx"]
