"""The demo as `jackpot run` plays it, without an end: people look round, and one suspends a jackpot."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

import httpx
import pytest

from jackpot_demo import play
from jackpot_demo.figures import Figures
from jackpot_demo.scene import TABLES
from jackpot_service.app import create_app
from jackpot_service.cli.demo import past
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from tests.support.served import served

pytestmark = pytest.mark.long

LONGEST_S: Final = 60


def test_a_table_whose_jackpot_is_suspended_says_so_once_and_waits_and_all_others_play_on(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(play, "_TURNED_AWAY_S", 0.05)
    engine = create_engine(Config(), database_url)
    config = replace(Config(), data_dir=tmp_path)
    keys = past.set_up(config, engine, weeks=0, seed=1, stop=threading.Event())
    rounds, stop = Counter[str](), threading.Event()
    jackpots = {table.table_id: table.jackpot_id for table in TABLES}
    live = {table_id for table_id, jackpot_id in jackpots.items() if jackpot_id == "live"}

    def count(progress: play.Progress) -> None:
        rounds[jackpots[progress.table_id]] += 1

    def refused() -> Counter[str]:
        return Counter(line.partition(",")[0] for line in caplog.messages if "jackpot-suspended" in line)

    with served(create_app(config, engine)) as address, ThreadPoolExecutor(1) as threads:
        playing = threads.submit(
            play.run, address, keys, rounds=None, seed=1, on_progress=count, stop=stop, seconds_between_rounds=0.3
        )
        try:
            wait_until(lambda: rounds["live"] > 3, playing)
            operator(address, tmp_path, "suspension")
            wait_until(lambda: refused().keys() == live, playing)
            before = rounds.copy()
            wait_until(lambda: rounds["cyber"] > before["cyber"] + 3, playing)
            assert rounds["live"] == before["live"]
            assert refused() == Counter(live)
            operator(address, tmp_path, "resumption")
            wait_until(lambda: rounds["live"] > before["live"], playing)
        finally:
            stop.set()
        assert playing.result(LONGEST_S).rounds >= rounds.total()
    engine.dispose()


def wait_until(is_so: Callable[[], bool], playing: Future[Figures]) -> None:
    until = time.monotonic() + LONGEST_S
    while not is_so():
        assert not playing.done(), playing.result()
        assert time.monotonic() < until
        time.sleep(0.05)


def operator(address: str, directory: Path, act: str) -> None:
    """Have Olga suspend the live jackpot, or resume it."""
    file = (directory / "demo-keys.env").read_text()
    key = next(line.partition("=")[2].split()[0] for line in file.splitlines() if line.startswith("OLGA="))
    answer = httpx.put(
        f"{address}/v1/jackpots/live/{act}",
        json={"request_id": act, "reason": "somebody looks round"},
        headers={"Authorization": f"Bearer {key}"},
    )
    assert answer.status_code == 201, answer.text
