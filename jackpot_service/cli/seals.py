"""`jackpot seal`: signs where the books stand, for somebody outside to keep; how seals and keys are read from files."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from jackpot_service import signing
from jackpot_service.cli.lazy import example
from jackpot_service.cli.opening import opened_engine, operator_act, pass_config
from jackpot_service.cli.values import Text
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read, transact
from jackpot_service.domain import seals
from jackpot_service.domain.seals import BadSeal
from jackpot_service.proof.checkpoints import GivenSeal
from jackpot_service.records import checkpoints as records
from jackpot_service.signing import BadKey, PublicKey, SigningKey
from jackpot_service.usecases.seal_books import SealBooks, seal_books
from jackpot_service.version import service_version

OWN = 0o600
MOST_KEY_BYTES = 1 << 16

file_option = click.Path(path_type=Path)


@example(
    "jackpot seal --new-key seal.key > seal.pub",
    "jackpot seal --key seal.key --output 2026-11-28.json",
    "jackpot seal --show 3",
)
@click.command("seal")
@click.option("--key", type=file_option, help="Seal the books with the signing key in this file.")
@click.option("--output", type=file_option, help="Write the seal to a new file instead of standard output.")
@click.option("--reason", type=Text(), default="to be kept outside", show_default=True)
@click.option("--new-key", type=file_option, help="Make a signing key in a new file, and print its public key.")
@click.option("--show", type=click.IntRange(1, 2**63 - 1), help="Print the seal of this number again.")
@pass_config
def seal(  # noqa: PLR0917  click passes what its options say
    config: Config, key: Path | None, output: Path | None, reason: str, new_key: Path | None, show: int | None
) -> None:
    """
    Sign where every stripe of every book stands now, chained to the seal before: a small file to be kept outside.

    `jackpot verify --seal` finds out whether anything that was booked before it has been rewritten since.
    """
    if sum(option is not None for option in (key, new_key, show)) != 1:
        message = "give one of --key, --new-key and --show"
        raise click.UsageError(message)
    if new_key is not None:
        click.echo(_make_key(new_key), nl=False)
    else:
        with _written(output) as write:
            write(_sealed(config, key, reason=reason) if key is not None else _stored_seal(config, show or 0))


def _make_key(path: Path) -> bytes:
    key = signing.new_key()
    with _written(path, mode=OWN) as write:
        write(key.secret_pem)
    click.echo(f"{path} is the signing key: keep it from everybody. This is its public key, for everybody:", err=True)
    return key.public.pem


def _sealed(config: Config, path: Path, *, reason: str) -> bytes:
    key = _signing_key(path)
    with opened_engine(config) as engine:
        command = SealBooks(operator_act(config, engine, reason=reason), key, service_version())
        made = transact(engine, lambda session: seal_books(session, command))
    click.echo(f"Seal {made.number} over {len(made.stripes)} stripes, by key {made.public_key_id}.", err=True)
    return made.canonical_bytes


def _stored_seal(config: Config, number: int) -> bytes:
    with opened_engine(config) as engine:
        stored = read(engine, lambda session: records.find_seal(session, number))
    if stored is None:
        message = f"there is no seal {number}"
        raise click.ClickException(message)
    return stored.content


@contextmanager
def _written(output: Path | None, *, mode: int = 0o666) -> Iterator[Callable[[bytes], Any]]:
    """Open a new file before anything is made; it is not left behind if nothing is. Raises: click.ClickException."""
    if output is None:
        yield partial(click.echo, nl=False)
        return
    try:
        file = open(output, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115  closed below
    except (OSError, ValueError) as error:
        raise click.ClickException(_stated(output, error, "cannot be made")) from None
    try:
        with file:
            yield file.write
    except BaseException as error:
        output.unlink()
        if isinstance(error, OSError):
            raise click.ClickException(_stated(output, error, "cannot be written")) from None
        raise


def _signing_key(path: Path) -> SigningKey:
    try:
        content = _content(path, most=MOST_KEY_BYTES)
        if stat.S_IMODE(path.stat().st_mode) & ~OWN:
            message = f"{path} can be used by others than its owner: chmod 600"
            raise click.ClickException(message)
        return signing.signing_key(content)
    except BadKey as error:
        message = f"{path}: {error}"
        raise click.ClickException(message) from None


@dataclass(frozen=True, slots=True)
class SealFiles:
    """Files of seals, each read when its turn comes: there may be years of them."""

    paths: Sequence[Path]

    def __iter__(self) -> Iterator[GivenSeal]:
        """Raises: click.BadParameter for what is no seal."""
        for path in self.paths:
            try:
                yield GivenSeal(path.name, seals.read(_content(path, most=seals.MOST_BYTES)))
            except BadSeal as error:
                raise click.BadParameter(f"{path}: {error.detail}", param_hint="--seal") from None


def seal_files(paths: Sequence[Path]) -> SealFiles:
    """Find the files meant, a directory being all its `*.json`, and read each once. Raises: click.ClickException."""
    files = SealFiles([file for path in paths for file in _files(path)])
    for _ in files:
        continue
    return files


def _files(path: Path) -> Sequence[Path]:
    if not path.is_dir():
        return [path]
    matches = sorted(path.glob("*.json"))
    if not matches:
        message = f"{path} is a directory without a *.json in it"
        raise click.BadParameter(message, param_hint="--seal")
    return matches


def public_keys(paths: Sequence[Path]) -> Mapping[str, PublicKey]:
    """Read public keys, by their ids. Raises: click.ClickException."""
    matches = {}
    for path in paths:
        try:
            key = signing.public_key(_content(path, most=MOST_KEY_BYTES))
        except BadKey as error:
            raise click.BadParameter(f"{path}: {error}", param_hint="--public-key") from None
        matches[key.key_id] = key
    return matches


def _content(path: Path, *, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise click.ClickException(_stated(path, error, "cannot be read")) from None
    if len(content) > most:
        message = f"{path} is larger than {most:,} bytes"
        raise click.ClickException(message)
    return content


def _stated(path: Path, error: OSError | ValueError, what: str) -> str:
    return f"{path} {what}: {getattr(error, 'strerror', None) or error}"
