"""Plays the demo: serves the ledger in a process of its own, and has the demo's tables play against it."""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import click
import httpx
import sqlalchemy
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from jackpot_client import ClientError
from jackpot_demo import play, scene
from jackpot_demo.errors import DemoBug
from jackpot_demo.figures import in_words
from jackpot_service.cli.demo import key_file, past, terminal
from jackpot_service.cli.main import PROGRAM
from jackpot_service.cli.opening import OWNER_VARIABLE, bring_up, opened_engine, opened_owner_url
from jackpot_service.cli.ports import require_free
from jackpot_service.cli.printing import decimal
from jackpot_service.cli.progress import set_by_signals
from jackpot_service.cli.verifying import print_verification
from jackpot_service.config.settings import Config
from jackpot_service.database.snapshots import snapshot
from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.money import plain
from jackpot_service.proof.proof import verify
from jackpot_service.reports.balances import award_totals, casino_balances
from jackpot_service.reports.jackpots import jackpot_states

LONGEST_START_S = 60
LONGEST_STOP_S = 30


def play_demo(
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
    """Bring up the database, serve and play, print what the books say; return whether they are right."""
    seed = time.time_ns() if seed is None else seed
    terminal.end_with_terminal()
    with opened_owner_url(config) as url:
        bring_up(url)
        stop = threading.Event()
        set_by_signals(stop, [signal.SIGINT, signal.SIGTERM])
        terminal.stop_at_hang_up()
        with opened_engine(config) as engine:
            with _bugs_named():
                keys = past.set_up(config, engine, weeks=weeks, seed=seed, stop=stop)
            with _served(host, port, workers, stop) as base_url:
                click.echo(f"Playing {rounds:,} rounds." if rounds else _welcome(base_url, config))
                _play(base_url, keys, stop, rounds=rounds, seed=seed, pause=pause)
            return print_books(engine)


def _welcome(base_url: str, config: Config) -> str:
    """Return what to look at, and how to ask as one of the demo's people."""
    file = shlex.quote(str(config.data_dir / key_file.FILE))
    people = ", ".join(f"{person.name.split()[0]} ({person.role})" for person in scene.PEOPLE)
    return (
        f"The ledger is at {base_url}: sign in with a key. The wall is at {base_url}/wall/live, and the API to\n"
        f"browse at {base_url}/docs. {file} has a key of each table server and of\n{people}:\n"
        f"    . {file}; export JACKPOT_URL={base_url} JACKPOT_KEY=$OLGA; {own_command()} jackpots list\n"
        "Ctrl-C ends all of it."
    )


def own_command() -> str:
    """Return how another shell in this directory starts this program: its PATH may not have it."""
    program = Path(sys.argv[0]).absolute()
    if program.name != PROGRAM:
        return f"{shlex.quote(sys.executable)} -m jackpot_service.cli"
    here = Path.cwd()
    return shlex.quote(str(program.relative_to(here) if program.is_relative_to(here) else program))


def _play(
    base_url: str,
    keys: Mapping[str, str],
    stop: threading.Event,
    *,
    rounds: int | None,
    seed: int,
    pause: float,
) -> None:
    with _shown_rounds(rounds) as on_progress, _bugs_named():
        play.run(
            base_url,
            keys,
            rounds=rounds,
            seed=seed,
            on_progress=on_progress,
            stop=stop,
            seconds_between_rounds=pause,
        )


@contextmanager
def _bugs_named() -> Iterator[None]:
    """Raises: click.ClickException for an answer that must not be."""
    try:
        yield
    except (DemoBug, ClientError) as error:
        message = f"the demo met an answer that must not be: {error}"
        raise click.ClickException(message) from error


@contextmanager
def _served(host: str, port: int, workers: int, stop: threading.Event) -> Iterator[str]:
    """
    Serve in a process of its own session, so that Ctrl-C reaches only us, and we end it in order.

    Its input is a pipe from here, which ends if we are killed; then the process ends too.
    """
    require_free(host, port)  # Again: while the weeks were played, another service may have taken it.
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
            if httpx.get(f"{base_url}/readyz", trust_env=False).is_success and process.poll() is None:
                return
        except httpx.TransportError:
            continue
    if not stop.is_set():
        message = "the service did not start"
        raise click.ClickException(message)


SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def _shown_rounds(rounds: int | None) -> Iterator[Callable[[play.Progress], None]]:
    """Yield what to call after each round. Royal flushes have a line of their own."""
    console = Console()
    if console.is_terminal:
        with _bar(console) as bar:
            task = bar.add_task("shuffling", total=rounds)

            def advance(progress: play.Progress) -> None:
                bar.update(task, completed=progress.figures.rounds, description=progress.line)
                if _is_top(progress):
                    bar.console.print(progress.line)

            yield advance
        return
    last = 0.0

    def show(progress: play.Progress) -> None:
        nonlocal last
        is_last = progress.figures.rounds == rounds
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
    of = progress.figures
    return (
        f"{of.rounds:,} rounds, {of.bets:,} bets, {of.voids:,} voids, {of.cancellations:,} cancellations, "
        f"{of.awards:,} awards, {of.retries:,} retries; staked {in_words(of.staked_minor)}; "
        f"awarded {in_words(of.awarded_minor)}"
    )


def print_books(engine: sqlalchemy.Engine) -> bool:
    """Print meters, awards and casino balances, and verify the books; returns whether they are right."""
    with snapshot(engine) as session:
        click.echo("\nMeters")
        for state in jackpot_states(session, at=datetime.now(UTC)):
            click.echo(
                f"  {state.jackpot_id:<10} {state.rules.base} {_exact(state.meter.exact):>24}   cycle "
                f"{state.meter.cycle:,}, reserve {_exact(state.pools.reserve)}, "
                f"prize fund {_exact(state.pools.prize_fund)}"
            )
        click.echo("\nAwards")
        for award in award_totals(session):
            amount = _in_words(award.amount, award.currency)
            click.echo(f"  {award.jackpot_id:<10} {award.tier:<16} {award.count:>8}   {award.currency} {amount:>20}")
        click.echo("\nCasinos (positive: the casino owes the house)")
        _print_balances(casino_balances(session))
        click.echo("")
        verification = verify(session)
    print_verification(verification)
    return verification.is_clean


def _print_balances(balances: Mapping[str, Mapping[str, Decimal]]) -> None:
    for casino_id, amounts in balances.items():
        stated = "   ".join(f"{currency} {_in_words(-amount, currency)}" for currency, amount in amounts.items())
        click.echo(f"  {casino_id:<10} {stated}")


def _exact(amount: Decimal) -> str:
    """An exact amount with every digit, and its thousands apart."""
    return decimal(plain(amount))


def _in_words(amount: Decimal, currency: str) -> str:
    """Players' money as people write it: thousands apart, and the currency's decimals."""
    return f"{amount:,.{CURRENCIES[currency].exponent}f}"
