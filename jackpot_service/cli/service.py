"""`jackpot serve|run|demo`: the service itself."""

import os
import signal
import sys
import threading
from typing import Final

import click

from jackpot_service.cli.lazy import example
from jackpot_service.cli.opening import opened_url, pass_config, require_no_owner, require_ready
from jackpot_service.cli.ports import DEFAULT_HOST, free_port, require_free
from jackpot_service.config.settings import Config
from jackpot_service.server.supervisor import ServerFailed
from jackpot_service.server.supervisor import serve as serve_until_stopped

DEFAULT_PORT = 8000
DEFAULT_WORKERS = 2
SECONDS_BETWEEN_ROUNDS = 1.0

DEMO: Final = frozenset({"jackpot_client", "jackpot_demo"})
"""The packages that play the demo; production has neither."""

host_option = click.option("--host", default=DEFAULT_HOST, show_default=True)
port_option = click.option("--port", type=click.IntRange(1, 65535), default=DEFAULT_PORT, show_default=True)
workers_option = click.option("--workers", type=click.IntRange(1, 64), default=DEFAULT_WORKERS, show_default=True)
WEEKS_BEFORE = 5

seed_option = click.option("--seed", type=int, help="Deal the same cards again; default: by the clock.")


@example("jackpot serve", "jackpot serve --host 0.0.0.0 --port 8443 --workers 8")
@click.command("serve")
@host_option
@port_option
@workers_option
@click.option("--jobs/--no-jobs", default=True, show_default=True, help="Whether to do jobs too, in a process.")
@click.option("--until-input-ends", is_flag=True, hidden=True, help="Of `run`: end with it.")
@pass_config
def serve(config: Config, *, host: str, port: int, workers: int, jobs: bool, until_input_ends: bool) -> None:
    """Serve the API until Ctrl-C or SIGTERM."""
    require_no_owner(config)
    require_free(host, port)
    if until_input_ends:
        threading.Thread(target=_terminate_at_end_of_input, daemon=True).start()
    with opened_url(config) as url:
        require_ready(url)
        try:
            serve_until_stopped(url, host=host, port=port, workers=workers, jobs=jobs)
        except ServerFailed as error:
            raise click.ClickException(str(error)) from error


@example("jackpot run", "jackpot run --port 8080 --weeks 0")
@click.command("run")
@host_option
@port_option
@workers_option
@seed_option
@click.option(
    "--weeks",
    type=click.IntRange(0, 52),
    default=WEEKS_BEFORE,
    show_default=True,
    help="Play so many weeks before today first, where nothing is booked yet.",
)
@pass_config
def run(config: Config, *, host: str, port: int, workers: int, seed: int | None, weeks: int) -> None:
    """Set up the demo, serve it and play at its tables until Ctrl-C: the whole product at a glance."""
    require_free(host, port)
    _play(config, host, port, workers, rounds=None, seed=seed, pause=SECONDS_BETWEEN_ROUNDS, weeks=weeks)


@example("jackpot demo --rounds 2000 --seed 7")
@click.command("demo")
@click.option("--rounds", type=click.IntRange(1, 10_000_000), default=500, show_default=True)
@workers_option
@seed_option
@pass_config
def demo(config: Config, rounds: int, workers: int, seed: int | None) -> None:
    """Play a number of rounds, then print meters, awards, balances and the proof; exits 1 if the books are off."""
    if not _play(config, DEFAULT_HOST, free_port(), workers, rounds=rounds, seed=seed, pause=0.0, weeks=0):
        sys.exit(1)


def _play(
    config: Config,
    host: str,
    port: int,
    workers: int,
    *,
    rounds: int | None,
    seed: int | None,
    pause: float,
    weeks: int,
) -> bool:
    """Play the demo; return whether the books are right. Raises: click.ClickException if it is not installed."""
    try:
        from jackpot_service.cli.demo.playing import play_demo  # noqa: PLC0415 -- it needs the demo
    except ModuleNotFoundError as error:
        if error.name not in DEMO:
            raise
        message = "the demo is not installed: `pip install ./clients/python ./demo` in a checkout installs it"
        raise click.ClickException(message) from error
    return play_demo(config, host, port, workers, rounds=rounds, seed=seed, pause=pause, weeks=weeks)


def _terminate_at_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
