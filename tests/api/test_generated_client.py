"""A client that openapi-python-client generates from the contract has readable names, and plays a round."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from tests.faults.service import served
from tests.support.contract import OPENAPI
from tests.support.world import World

pytestmark = pytest.mark.long

GENERATOR: Final = Path(sys.executable).with_name("openapi-python-client")

PROGRAM: Final = Path(__file__).with_name("generated_client.py")

CONFIGURATION: Final = "literal_enums: true\npackage_name_override: jackpot_api\n"


def test_a_generated_client_plays_a_round(database_url: str, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIGURATION)
    generate = ("generate", "--path", str(OPENAPI), "--config", "config.yaml")
    output = run(str(GENERATOR), *generate, at=tmp_path, output="client")
    assert "Warning" not in output  # Of what it could not read, and left out.

    world = World(database_url)
    world.publish(GBP="1.17", SEK="0.0873")
    world.open(jackpot_id="live", base_amount="5432.68065", tables=("T1",))
    keys = [world.key(Role.TABLE), world.person("Rita", Role.RATES), world.key(Role.AUDITOR)]
    world.close()
    with served(database_url, tmp_path / "log") as service:
        run(sys.executable, str(PROGRAM), service.base_url, *keys, at=tmp_path / "client")


def run(program: str, *arguments: str, at: Path, output: str | None = None) -> str:
    """Run a program in a folder, where it also looks for packages; returns what it says."""
    command = [program, *arguments, *(() if output is None else ("--output-path", output))]
    path = f"{GENERATOR.parent}{os.pathsep}{os.environ['PATH']}"  # It formats what it generates, by ruff.
    environment = {**os.environ, "PYTHONPATH": str(at), "PATH": path}
    done = subprocess.run(command, cwd=at, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
