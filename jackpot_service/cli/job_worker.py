"""`jackpot jobs worker`: does long work in the background, with the database."""

import os
import signal
import sys
import threading
from typing import Final

import click

from jackpot_service.cli.lazy import example
from jackpot_service.cli.opening import opened_engine, pass_config, require_no_owner
from jackpot_service.cli.progress import set_by_signals
from jackpot_service.config.settings import Config
from jackpot_service.database.replica import Replica
from jackpot_service.exports.jobs.requests import FILES, KINDS
from jackpot_service.exports.jobs.runner import Runner
from jackpot_service.reports.reconciling import Days

ALONE: Final = {name: kind for name, kind in KINDS.items() if kind.is_alone}

LONGEST_END_S: Final = 6.0
"""How long a verification may take to end: it may be in a long statement, and another worker goes on from its note."""

NICENESS = 10
"""How far a worker that a server starts gives way to it."""


@example("jackpot jobs worker")
@click.command("worker")
@click.option("--supervised", is_flag=True, hidden=True, help="By a server: give way to it, and end with it.")
@pass_config
def worker(config: Config, supervised: bool) -> None:  # noqa: FBT001
    """
    Do jobs, and reconcile days, until Ctrl-C or SIGTERM; a job is taken up where it was left.

    A verification may take an hour: it has a thread and connections of its own, so that no export waits for it.
    """
    require_no_owner(config)
    with opened_engine(config) as engine, opened_engine(config) as of_proof:
        stop = threading.Event()
        replica = Replica.configured(config, engine.url.render_as_string(hide_password=False))
        idle = Days(engine, stop).reconcile_next
        runner = Runner(engine, config.files_kept, stop, FILES, idle=idle, replica=replica)
        proof = Runner(of_proof, config.files_kept, stop, ALONE)
        proving = threading.Thread(target=_work_or_stop, args=[proof, stop], name="proof", daemon=True)
        set_by_signals(stop, [signal.SIGINT, signal.SIGTERM])
        if supervised:
            os.nice(NICENESS)
            threading.Thread(target=_stop_at_end_of_input, args=[stop], daemon=True).start()
        proving.start()
        try:
            runner.work()
        finally:
            stop.set()
            proving.join(LONGEST_END_S)


def _work_or_stop(runner: Runner, stop: threading.Event) -> None:
    """Work until `stop` is set; an error ends the whole process, which is started again."""
    try:
        runner.work()
    finally:
        stop.set()


def _stop_at_end_of_input(stop: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 1):  # Not by a buffer: its lock would be held when the interpreter ends.
        pass
    stop.set()
