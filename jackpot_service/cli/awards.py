"""`jackpot awards list` and `jackpot casinos balances`: what waits for a decision, and who owes whom."""

import click

from jackpot_service.cli.documents import casinos
from jackpot_service.cli.opening import opened_engine
from jackpot_service.cli.values import Identifier
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read, snapshot
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.money import plain
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.records import awards as records
from jackpot_service.records.awards import Wanted
from jackpot_service.reports.balances import casino_accounts

MOST_LISTED = 50


@click.group("awards")
def awards() -> None:
    """Awards; held ones are decided by: jackpot changes request held-awards."""


@awards.command("list")
@click.option("--state", type=click.Choice([state.value for state in AwardState]), default="held", show_default=True)
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier())
@click.pass_obj
def list_awards(config: Config, state: str, jackpot_id: str | None, casino_id: str | None) -> None:
    """List the latest awards in a state."""
    wanted = Wanted(AwardState(state), jackpot_id, casino_id)
    with opened_engine(config) as engine:
        found = read(engine, lambda session: records.latest(session, SYSTEM_OPERATOR, wanted, limit=MOST_LISTED))
    for record in found:
        award = record.award
        click.echo(
            f"{award.award_id}  {record.jackpot_id}  {record.table_id}/{record.round_id}  bet {award.bet_id}  "
            f"{award.tier}  {award.amount_minor} {award.currency} minor  {award.state}"
        )


@casinos.command("balances")
@click.argument("casino_id", type=Identifier())
@click.pass_obj
def show_balances(config: Config, casino_id: str) -> None:
    """Print what a casino owes or is owed, by jackpot and currency. It reads all of the books."""
    with opened_engine(config) as engine, snapshot(engine) as session:
        found = casino_accounts(session, casino_id)
    for account in found:
        side = "it owes" if account.balance < 0 else "it is owed"
        click.echo(f"{account.jackpot_id:<20} {account.currency} {plain(abs(account.balance)):>24}  {side}")


COMMANDS = (awards,)
