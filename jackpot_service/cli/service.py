"""`jackpot serve|run|demo|openapi`: the service itself."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import httpx

from jackpot_service.app import create_app, openapi_text
from jackpot_service.cli import demo_books, progress
from jackpot_service.cli.opening import (
    OWNER_VARIABLE,
    bring_up,
    opened_engine,
    opened_owner_url,
    opened_url,
    require_no_owner,
    require_ready,
)
from jackpot_service.config import Config
from jackpot_service.connections import create_engine
from jackpot_service.demo import play
from jackpot_service.demo.errors import DemoBug
from jackpot_service.server.supervisor import ServerFailed, bound
from jackpot_service.server.supervisor import serve as serve_until_stopped

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000
DEFAULT_WORKERS = 2
LONGEST_START_S = 60
LONGEST_STOP_S = 30
SECONDS_BETWEEN_ROUNDS = 1.0

OPENAPI_FILE = Path("openapi.yaml")

host_option = click.option("--host", default=DEFAULT_HOST, show_default=True)
port_option = click.option("--port", type=click.IntRange(1, 65535), default=DEFAULT_PORT, show_default=True)
workers_option = click.option("--workers", type=click.IntRange(1, 64), default=DEFAULT_WORKERS, show_default=True)
seed_option = click.option("--seed", type=int, help="Deal the same cards again; default: by the clock.")


@click.command("serve")
@host_option
@port_option
@workers_option
@click.option("--jobs/--no-jobs", default=True, show_default=True, help="Whether to do jobs beside, in a process.")
@click.option("--until-input-ends", is_flag=True, hidden=True, help="Of `run`: end with it.")
@click.pass_obj
def serve(config: Config, *, host: str, port: int, workers: int, jobs: bool, until_input_ends: bool) -> None:
    """Serve the API until Ctrl-C or SIGTERM."""
    require_no_owner(config)
    _require_free(host, port)
    if until_input_ends:
        threading.Thread(target=_terminate_at_end_of_input, daemon=True).start()
    with opened_url(config) as url:
        require_ready(url)
        try:
            serve_until_stopped(url, host=host, port=port, workers=workers, jobs=jobs)
        except ServerFailed as error:
            raise click.ClickException(str(error)) from error


@click.command("run")
@host_option
@port_option
@workers_option
@seed_option
@click.pass_obj
def run(config: Config, host: str, port: int, workers: int, seed: int | None) -> None:
    """Set up the demo, serve it and play at its tables until Ctrl-C: the whole product at a glance."""
    _require_free(host, port)
    with opened_owner_url(config) as url:
        bring_up(url)
        _play(config, host, port, workers, rounds=None, seed=seed, pause=SECONDS_BETWEEN_ROUNDS)


@click.command("demo")
@click.option("--rounds", type=click.IntRange(1, 10_000_000), default=500, show_default=True)
@workers_option
@seed_option
@click.pass_obj
def demo(config: Config, rounds: int, workers: int, seed: int | None) -> None:
    """Play a number of rounds, then print meters, awards, balances and the proof; exits 1 if the books are off."""
    with opened_owner_url(config) as url:
        bring_up(url)
        if not _play(config, DEFAULT_HOST, _free_port(), workers, rounds=rounds, seed=seed, pause=0.0):
            sys.exit(1)


def _play(
    config: Config, host: str, port: int, workers: int, *, rounds: int | None, seed: int | None, pause: float
) -> bool:
    """Serve in a process of its own, play against it, print what the books say; returns whether they are right."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # By nohup.
        signal.signal(signal.SIGHUP, lambda *_: _hang_up(stop))
    with opened_engine(config) as engine:
        keys = demo_books.set_up(config, engine)
        with _served(host, port, workers, stop) as base_url:
            click.echo(f"The ledger is at {base_url}; demo keys are in {config.data_dir / demo_books.KEYS_FILE}.")
            click.echo("Ctrl-C ends all of it." if rounds is None else f"Playing {rounds:,} rounds.")
            with progress.shown(rounds) as on_progress:
                try:
                    play.run(
                        base_url,
                        keys,
                        rounds=rounds,
                        seed=time.time_ns() if seed is None else seed,
                        on_progress=on_progress,
                        stop=stop,
                        seconds_between_rounds=pause,
                    )
                except DemoBug as error:
                    message = f"the demo met an answer that must not be: {error}"
                    raise click.ClickException(message) from error
        return demo_books.print_books(engine)


def _hang_up(stop: threading.Event) -> None:
    """Stop, since the terminal was closed; what is still printed goes nowhere, instead of failing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())
    stop.set()


@contextmanager
def _served(host: str, port: int, workers: int, stop: threading.Event) -> Iterator[str]:
    """
    Serve in a process of its own session, so that Ctrl-C reaches only us, and we end it in order.

    Its input is a pipe from here, which ends if we are killed; then the process ends too.
    """
    command = [sys.executable, "-m", "jackpot_service.cli", "serve", f"--host={host}", f"--port={port}"]
    environment = {**os.environ, "JACKPOT_LOG_LEVEL": "error"}  # The demo provokes refusals all the time.
    environment.pop(OWNER_VARIABLE, None)
    process = subprocess.Popen(  # noqa: S603  our own program
        [*command, f"--workers={workers}", "--until-input-ends"],
        stdin=subprocess.PIPE,
        start_new_session=True,
        env=environment,
    )
    base_url = f"http://{host}:{port}"
    try:
        _wait_until_ready(base_url, process, stop)
        yield base_url
    finally:
        process.terminate()
        try:
            process.wait(LONGEST_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _terminate_at_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _wait_until_ready(base_url: str, process: "subprocess.Popen[bytes]", stop: threading.Event) -> None:
    until = time.monotonic() + LONGEST_START_S
    while time.monotonic() < until and process.poll() is None and not stop.wait(0.1):
        try:
            if httpx.get(f"{base_url}/readyz", trust_env=False).is_success:
                return
        except httpx.TransportError:
            continue
    if not stop.is_set():
        message = "the service did not start"
        raise click.ClickException(message)


def _require_free(host: str, port: int) -> None:
    """Raises: click.ClickException if the service could not listen there; before a database is started in vain."""
    try:
        bound(host, port).close()
    except ServerFailed as error:
        raise click.ClickException(str(error)) from error


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((DEFAULT_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@click.command("openapi")
@click.option("--check", is_flag=True, help="Only tell whether openapi.yaml is what the service would write.")
def openapi(*, check: bool) -> None:
    """Write openapi.yaml from the service's own schemas."""
    config = Config()
    written = openapi_text(create_app(config, create_engine(config, "postgresql+psycopg://")))
    if not check:
        OPENAPI_FILE.write_text(written)
    elif OPENAPI_FILE.read_text() != written:
        message = f"{OPENAPI_FILE} is not what the service would write; run: jackpot openapi"
        raise click.ClickException(message)


COMMANDS = (serve, run, demo, openapi)
