"""Plays the demo: serves the ledger in a process of its own, and has the demo's tables play against it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from jackpot_demo import play
from jackpot_demo.errors import DemoBug
from jackpot_demo.tally import in_words
from jackpot_service.cli import demo_books
from jackpot_service.cli.opening import OWNER_VARIABLE, bring_up, opened_engine, opened_owner_url
from jackpot_service.cli.signals import set_by_signals
from jackpot_service.config.settings import Config

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def shown(rounds: int | None) -> Iterator[Callable[[play.Progress], None]]:
    """Yield what to call after each round. Royal flushes have a line of their own."""
    console = Console()
    if console.is_terminal:
        with _bar(console) as bar:
            task = bar.add_task("shuffling", total=rounds)

            def advance(progress: play.Progress) -> None:
                bar.update(task, completed=progress.tally.rounds, description=progress.line)
                if _is_top(progress):
                    bar.console.print(progress.line)

            yield advance
        return
    last = 0.0

    def show(progress: play.Progress) -> None:
        nonlocal last
        is_last = progress.tally.rounds == rounds
        if _is_top(progress) or is_last or time.monotonic() - last > SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            click.echo(progress.line)
        if is_last:
            click.echo(_totals(progress))

    yield show


def _bar(console: Console) -> Progress:
    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(),
        BarColumn(20),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    return Progress(*columns, console=console)


def _is_top(progress: play.Progress) -> bool:
    return "royal flush" in progress.line.lower()


def _totals(progress: play.Progress) -> str:
    tally = progress.tally
    return (
        f"{tally.rounds:,} rounds, {tally.bets:,} bets, {tally.voids:,} voids, {tally.cancellations:,} cancellations, "
        f"{tally.awards:,} awards, {tally.retries:,} retries; staked {in_words(tally.staked_minor)}; "
        f"awarded {in_words(tally.awarded_minor)}"
    )


LONGEST_START_S = 60
LONGEST_STOP_S = 30


def play_demo(
    config: Config, host: str, port: int, workers: int, *, rounds: int | None, seed: int | None, pause: float
) -> bool:
    """Bring up the database, serve and play, print what the books say; returns whether they are right."""
    with opened_owner_url(config) as url:
        bring_up(url)
        return _play(config, host, port, workers, rounds=rounds, seed=seed, pause=pause)


def _play(
    config: Config, host: str, port: int, workers: int, *, rounds: int | None, seed: int | None, pause: float
) -> bool:
    """Serve in a process of its own, play against it, print what the books say; returns whether they are right."""
    stop = threading.Event()
    set_by_signals(stop, [signal.SIGINT, signal.SIGTERM])
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # By nohup.
        signal.signal(signal.SIGHUP, lambda *_: _hang_up())
    with opened_engine(config) as engine:
        keys = demo_books.set_up(config, engine)
        with _served(host, port, workers, stop) as base_url:
            click.echo(f"The ledger is at {base_url}; demo keys are in {config.data_dir / demo_books.KEYS_FILE}.")
            click.echo("Ctrl-C ends all of it." if rounds is None else f"Playing {rounds:,} rounds.")
            with shown(rounds) as on_progress:
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


def _hang_up() -> None:
    """Stop, since the terminal was closed; what is still printed goes nowhere, instead of failing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())
    signal.raise_signal(signal.SIGTERM)


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
