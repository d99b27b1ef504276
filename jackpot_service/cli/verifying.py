"""`jackpot verify`: whether the books are right, and whether they are still those that were sealed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import click
import sqlalchemy

from jackpot_service.cli.lazy import example
from jackpot_service.cli.opening import opened_engine, opened_owner_url, opened_url, pass_config
from jackpot_service.cli.progress import shown_progress
from jackpot_service.cli.seals import SealFiles, file_option, public_keys, seal_files
from jackpot_service.config.settings import Config
from jackpot_service.database import role
from jackpot_service.database.connections import create_engine, create_owners_engine
from jackpot_service.database.distribution import is_distributed
from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session, read
from jackpot_service.domain.counting import counted
from jackpot_service.domain.errors import Unavailable
from jackpot_service.ledger.verification import NotCompared, OnReached, Progress, Reached, Verification
from jackpot_service.proof.checkpoints import given_seals_hold
from jackpot_service.proof.notes import Notes
from jackpot_service.proof.processes import Processes
from jackpot_service.proof.proof import verify
from jackpot_service.records import checkpoints
from jackpot_service.records.checkpoints import NotedVerification
from jackpot_service.schema.migrate import LOCK_TIMEOUT_MS
from jackpot_service.signing import PublicKey

OFF = 1

MOST_PROCESSES = 64


@example(
    "jackpot verify",
    "jackpot verify --from-last",
    "jackpot verify --seal 2026-11-28.json --public-key seal.pub",
)
@click.command("verify")
@click.option("--from-last", is_flag=True, help="Go on from where the last clean, or interrupted, verification stood.")
@click.option("--seal", "seal_paths", type=file_option, multiple=True, help="A seal, or a directory of seals (*.json).")
@click.option("--public-key", "key_paths", type=file_option, multiple=True, help="A key that signed them, in PEM.")
@click.option("--note-every", type=click.FloatRange(0), default=60.0, show_default=True, help="Seconds between notes.")
@click.option(
    "--processes",
    type=click.IntRange(1, MOST_PROCESSES),
    default=lambda: min(MOST_PROCESSES, len(os.sched_getaffinity(0))),
    show_default="one a core",
    help="How many prove rounds side by side, each over a connection.",
)
@pass_config
@click.pass_context
def verify_books(  # noqa: PLR0917  click passes what its options say
    context: click.Context,
    config: Config,
    from_last: bool,  # noqa: FBT001
    seal_paths: Sequence[Path],
    key_paths: Sequence[Path],
    note_every: float,
    processes: int,
) -> None:
    """
    Re-derive the books from zero; name each mismatch, and exit 1 if there is any.

    As long as nothing is wrong, and every given seal holds, it notes how far it has come. With --from-last it goes
    on from the last note: it proves what people did as a whole, and of rounds and bets those that were touched
    since. It takes the rows of earlier rounds for granted: a bet that was changed under an unchanged entry
    is found only from zero. That the entries before are the same is shown by their heads, and to a stranger by a
    seal.
    """
    if bool(seal_paths) is not bool(key_paths):
        message = "give --seal and --public-key together"
        raise click.UsageError(message)
    sealed, keys = seal_files(seal_paths), public_keys(key_paths)
    _analyse(config)
    # One engine reads one instant of the books, however long it takes; another notes meanwhile how far that has come.
    with opened_url(config) as url, opened_engine(config) as engine, opened_engine(config) as noting:
        last = read(engine, checkpoints.last_verification) if from_last else None
        if from_last:
            click.echo(_begins(last), err=True)
        notes = _Notes(noting, every=note_every, continues=last)
        with snapshot(engine) as session:
            broken = tuple(given_seals_hold(session, sealed, keys))
            # Books that were rewritten since they were sealed are nothing to go on from, however well they add up.
            # A snapshot is of this machine alone: another connection may see other rows of the others.
            is_alone = processes == 1 or is_distributed(session)
            if is_alone and processes > 1:
                click.echo("The tables stand on several machines: one process proves all.", err=True)
            side_by_side = None if is_alone else Processes(processes, partial(create_engine, config, url))
            verification = _verified(session, last, _note_nothing if broken else notes.take, side_by_side)
            verification = replace(verification, mismatches=(*broken, *verification.mismatches))
    print_verification(verification)
    if seal_paths:
        click.echo(_line_of_seals(sealed, keys))
    context.exit(0 if verification.is_clean else OFF)


def _analyse(config: Config) -> None:
    """Have tables analysed of which the planner knows nothing, as after a restore, or say who can."""
    is_owner_known = config.owner_url is not None or config.database_url is None
    with (opened_owner_url if is_owner_known else opened_url)(config) as url:
        engine = create_owners_engine(url, lock_timeout_ms=LOCK_TIMEOUT_MS)
        try:
            unknown = role.analyse(engine)
        finally:
            engine.dispose()
    if unknown:
        tables = ", ".join(unknown)
        click.echo(
            f"Without statistics this takes many times as long. The database's owner runs: ANALYZE {tables};", err=True
        )


class _Notes:
    """The notes of a verification; a database that cannot be written, such as a replica, is verified without."""

    def __init__(self, engine: sqlalchemy.Engine, *, every: float, continues: NotedVerification | None) -> None:
        self._notes = Notes(engine, every_s=every, continues=None if continues is None else continues.number)
        self._is_possible = True

    def take(self, reached: Reached) -> None:
        """Note how far it has come, if it is time, and as long as that is possible."""
        if not self._is_possible:
            return
        try:
            self._notes.take(reached)
        except Unavailable as error:
            self._is_possible = False
            click.echo(f"How far this verification comes is not noted: {error.detail}", err=True)


def _note_nothing(_reached: Reached) -> None:
    """Go without notes."""


def _verified(
    session: Session, last: NotedVerification | None, on_reached: OnReached, processes: Processes | None
) -> Verification:
    with shown_progress() as count:

        def advance(progress: Progress) -> None:
            count(progress.done, progress.total, f"looks at entries, now of {progress.book}")

        since = None if last is None else last.books
        return verify(session, since=since, on_progress=advance, on_reached=on_reached, processes=processes)


def _begins(last: NotedVerification | None) -> str:
    if last is None:
        return "No verification is noted: beginning at zero."
    stood = "ended" if last.is_whole else "was under way"
    return f"Going on from verification {last.number}, which {stood} at {last.noted_at:%Y-%m-%d %H:%M:%S} UTC."


def _line_of_seals(sealed: SealFiles, keys: Mapping[str, PublicKey]) -> str:
    numbers = sorted({item.seal.number for item in sealed})
    return f"Checked seals {', '.join(map(str, numbers))} by {counted(len(keys), 'public key')}."


def print_verification(verification: Verification) -> None:
    """Say what was checked, what is wrong, and what of closed periods could not be compared."""
    for mismatch in verification.mismatches:
        click.echo(f"{mismatch.code}  {mismatch.book}  {mismatch.place}: {mismatch.detail}")
    for item, periods in sorted(verification.not_compared.items()):
        click.echo(_line_of_other_version(item, periods))
    counts = (
        f"{verification.books} books, {verification.entries:,} entries, {verification.rounds:,} rounds, "
        f"{verification.bets:,} bets, {verification.awards:,} awards"
    )
    verdict = "the books are right" if verification.is_clean else f"{len(verification.mismatches):,} mismatches"
    click.echo(f"Verified {counts}: {verdict}.")


def _line_of_other_version(item: NotCompared, periods: int) -> str:
    now = "there is no such report any more" if item.now_in is None else f"its version is {item.now_in} now"
    return f"Not compared: {item.name} of {periods:,} closed period(s), kept in version {item.kept_in}; {now}."
