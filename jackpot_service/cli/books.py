"""`jackpot meter` and `jackpot verify`: what the books say, and whether they are right."""

from datetime import UTC, datetime

import click

from jackpot_service.cli.opening import opened_engine
from jackpot_service.cli.values import Identifier
from jackpot_service.config import Config
from jackpot_service.db import read, snapshot
from jackpot_service.domain.money import plain
from jackpot_service.reports.jackpots import jackpot_state
from jackpot_service.reports.verification.proof import verify
from jackpot_service.reports.verification.verification import Verification

OFF = 1


@click.command("meter")
@click.argument("jackpot_id", type=Identifier())
@click.pass_obj
def meter(config: Config, jackpot_id: str) -> None:
    """Print the meter of a jackpot, from the committed books."""
    with opened_engine(config) as engine:
        state = read(engine, lambda session: jackpot_state(session, jackpot_id, at=datetime.now(UTC)))
    base = state.rules.base
    rows = {
        "on offer": state.meter.exact,
        "overflow": state.meter.overflow,
        "players' part": state.pools.meter_players,
        "house's part": state.pools.meter_house,
        "reserve": state.pools.reserve,
        "prize fund": state.pools.prize_fund,
    }
    click.echo(f"{jackpot_id}, cycle {state.meter.cycle}, as of {state.meter.as_of:%Y-%m-%d %H:%M:%S} UTC")
    for name, amount in rows.items():
        click.echo(f"  {name:<14} {base} {plain(amount):>28}")


@click.command("verify")
@click.pass_obj
@click.pass_context
def verify_books(context: click.Context, config: Config) -> None:
    """Re-derive the books from zero; name each mismatch, and exit 1 if there is any."""
    with opened_engine(config) as engine, snapshot(engine) as session:
        found = verify(session)
    print_verification(found)
    context.exit(0 if found.is_clean else OFF)


def print_verification(found: Verification) -> None:
    """Say what was checked and what is wrong."""
    for mismatch in found.mismatches:
        click.echo(f"{mismatch.code}  {mismatch.book}  {mismatch.place}: {mismatch.detail}")
    counts = (
        f"{found.books} books, {found.entries:,} entries, {found.rounds:,} rounds, {found.bets:,} bets, "
        f"{found.awards:,} awards"
    )
    verdict = "the books are right" if found.is_clean else f"{len(found.mismatches):,} mismatches"
    click.echo(f"Verified {counts}: {verdict}.")


COMMANDS = (meter, verify_books)
