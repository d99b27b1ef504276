"""`jackpot meter`: what the books say."""

from datetime import UTC, datetime

import click

from jackpot_service.cli.opening import opened_engine
from jackpot_service.cli.values import Identifier
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read
from jackpot_service.domain.money import plain
from jackpot_service.reports.jackpots import jackpot_state


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


COMMANDS = (meter,)
