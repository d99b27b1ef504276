"""
A process of table servers: `python -m tests.chaos.table_process PLAN`, until SIGTERM; each server then ends its round.

The plan is a JSON file that only its owner can read, for it holds keys.
"""

import random
import signal
import sys
import threading
from pathlib import Path

import orjson

from jackpot_service.cli.progress import set_by_signals
from tests.chaos.call_log import SUFFIX, CallLog
from tests.chaos.caller import Caller
from tests.chaos.table_server import Pace, Table, TableServer

GIVES_UP = 0.1
"""Of the attempts whose outcome is unknown, how many are the last: so there are calls of which nobody knows."""


def main() -> None:
    """Play until the end is asked for."""
    plan = orjson.loads(Path(sys.argv[1]).read_bytes())
    stop = threading.Event()
    set_by_signals(stop, [signal.SIGTERM])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = CallLog(Path(plan["directory"]) / f"{plan['name']}{SUFFIX}")
    tables = [Table(**table) for table in plan["tables"]]
    servers = []
    for number in range(plan["servers"]):
        name = f"{plan['name']}-{number}"
        chance = random.Random(f"{plan['seed']} {name}")
        caller = Caller(name, (plan["host"], plan["port"]), log, stop, chance, gives_up=GIVES_UP)
        pace = Pace(plan["pause_s"], bets_only=plan["bets_only"])
        servers.append(TableServer(tables[number % len(tables)], caller, pace, stop))
    threads = [threading.Thread(target=server.work) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
