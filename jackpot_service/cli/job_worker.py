"""`jackpot jobs worker`: does long work in the background, with the database."""

import os
import signal
import sys
import threading

import click

from jackpot_service.cli.opening import opened_engine, pass_config, require_no_owner
from jackpot_service.cli.progress import set_by_signals
from jackpot_service.config.settings import Config
from jackpot_service.exports.jobs.runner import Runner
from jackpot_service.reports.reconciling import Days

NICENESS = 10
"""How far a worker that a server starts gives way to it."""


@click.command("worker")
@click.option("--supervised", is_flag=True, hidden=True, help="By a server: give way to it, and end with it.")
@pass_config
def worker(config: Config, supervised: bool) -> None:  # noqa: FBT001
    """Do jobs, and reconcile days, until Ctrl-C or SIGTERM; a job is taken up where it was left."""
    require_no_owner(config)
    with opened_engine(config) as engine:
        stop = threading.Event()
        runner = Runner(engine, config.files_kept, stop, idle=Days(engine, stop).reconcile_next)
        set_by_signals(stop, [signal.SIGINT, signal.SIGTERM])
        if supervised:
            os.nice(NICENESS)
            threading.Thread(target=_stop_at_end_of_input, args=[stop], daemon=True).start()
        runner.work()


def _stop_at_end_of_input(stop: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 1):  # Not by a buffer: its lock would be held when the interpreter ends.
        pass
    stop.set()
