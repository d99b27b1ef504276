"""A command that is told to stop stops, whatever it is at."""

import subprocess
import sys
from typing import Final

import pytest

pytestmark = pytest.mark.slow

TIMES: Final = 300
LONGEST_S: Final = 60

# In the moments before and after the lock of the event is free: a wait of no time at all is nothing else.
PROGRAM: Final = f"""
import os, random, signal, threading, time
from jackpot_service.cli.progress import set_by_signals

for _ in range({TIMES}):
    stop = threading.Event()
    set_by_signals(stop, [signal.SIGTERM])
    sending = threading.Timer(random.random() / 1000, os.kill, [os.getpid(), signal.SIGTERM])
    sending.start()
    while not stop.is_set():
        stop.wait(0)
    sending.join()
"""


@pytest.mark.long
def test_a_signal_in_the_middle_of_a_wait_stops_it() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], timeout=LONGEST_S, check=False)
    assert ended.returncode == 0
