"""The curl lines of docs, as they stand there, work with the keys that the demo writes."""

import os
import re
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import orjson
import pytest

from jackpot_service.cli.demo import house, key_file
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from tests.support.command_line import calling_service
from tests.support.logins import owner_url

pytestmark = pytest.mark.slow

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
ADDRESS: Final = "http://127.0.0.1:8000"

LINES: Final = [
    pytest.param(line, id=page.stem)
    for page in sorted(DOCS.glob("*.md"))
    for line in re.findall(r"^    (curl .*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    if ADDRESS in line
]


def test_there_are_such_lines() -> None:
    assert len(LINES) >= 2


@pytest.mark.parametrize("line", LINES)
def test_a_curl_line_is_answered(line: str, database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    engine = create_engine(Config(), owner_url(database_url))
    house.set_up(replace(Config(), data_dir=tmp_path), engine, at=datetime.now(UTC))
    engine.dispose()
    with calling_service(monkeypatch, database_url):
        script = f"set -eu\n. {tmp_path / key_file.FILE}\n{line.replace(ADDRESS, os.environ['JACKPOT_URL'])} --fail"

        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, timeout=60)

    assert "items" in orjson.loads(done.stdout) or "sections" in orjson.loads(done.stdout)
