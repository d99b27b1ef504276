"""`jackpot casinos|tables|jackpots …`: the reference documents, audited in the books, and what casinos owe."""

from collections.abc import Callable
from datetime import time
from functools import partial
from typing import Any

import click

from jackpot_service.api.claims import CasinoClaimsSchema
from jackpot_service.api.withholding_rules import WithholdingRulesSchema
from jackpot_service.auth.authenticator import require_role
from jackpot_service.cli.opening import opened_engine, operator_act, signed_act
from jackpot_service.cli.values import (
    Amount,
    CurrencyCode,
    Identifier,
    WallClock,
    reason_option,
    request_id_option,
    setting_values,
)
from jackpot_service.cli.writing import print_json
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import Session, read, snapshot, transact
from jackpot_service.domain.casinos import UTC_ZONE
from jackpot_service.domain.games import GAME_IDS
from jackpot_service.domain.money import plain
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Role
from jackpot_service.domain.rulebooks import RULEBOOK_IDS
from jackpot_service.domain.settings import SETTINGS
from jackpot_service.ledger.stripes import MOST_STRIPES
from jackpot_service.records.immutable import Table
from jackpot_service.reports.balances import casino_accounts
from jackpot_service.reports.claims import claims_of_casino
from jackpot_service.reports.withholding_rules import rules_of_casino
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.jackpots import (
    AddStripes,
    ChangeSuspension,
    OpenJackpot,
    SuspensionChanged,
    add_stripes,
    open_jackpot,
    resume_jackpot,
    suspend_jackpot,
)


@click.group("casinos")
def casinos() -> None:
    """Casinos: those whose players bet."""


@casinos.command("add")
@click.argument("casino_id", type=Identifier())
@click.argument("name")
@click.option("--zone", default=UTC_ZONE, show_default=True, help="Its time zone, such as Europe/Riga.")
@click.option(
    "--day-starts", type=WallClock(), default="00:00", show_default=True, help="When its gaming days start there."
)
@reason_option
@click.pass_obj
def add_a_casino(  # noqa: PLR0917  click passes them by name
    config: Config, casino_id: str, name: str, zone: str, day_starts: time, reason: str
) -> None:
    """Add a casino, once; the same again changes nothing. Its gaming days never change."""
    if not name.strip() or not name.isprintable():
        message = "a name is a text of printable characters"
        raise click.BadParameter(message, param_hint="NAME")
    with opened_engine(config) as engine:
        act = operator_act(config, engine, reason=reason)
        add = partial(add_casino, act=act, casino_id=casino_id, name=name, zone=zone, day_starts=day_starts)
        added = transact(engine, add)
    click.echo(f"Casino {casino_id}: {'added' if added else 'was there already'}.", err=True)


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


@casinos.command("claims")
@click.argument("casino_id", type=Identifier())
@click.pass_obj
def show_claims(config: Config, casino_id: str) -> None:
    """Print for how long awards can be claimed at a casino, and where forfeited ones go."""
    with opened_engine(config) as engine:
        found = read(engine, lambda session: claims_of_casino(session, SYSTEM_OPERATOR, casino_id))
    print_json(CasinoClaimsSchema().dump(found))


@casinos.command("withholding")
@click.argument("casino_id", type=Identifier())
@click.pass_obj
def show_withholding(config: Config, casino_id: str) -> None:
    """Print every version of a casino's withholding rules; two people set one: changes request casino-withholding."""
    with opened_engine(config) as engine:
        found = read(engine, lambda session: rules_of_casino(session, SYSTEM_OPERATOR, casino_id))
    print_json(WithholdingRulesSchema().dump(found))


@click.group("jackpots")
def jackpots() -> None:
    """Jackpots."""


@jackpots.command("open")
@click.argument("jackpot_id", type=Identifier())
@click.option("--rules", "rulebook", type=click.Choice(RULEBOOK_IDS), required=True, help="The published rulebook.")
@click.option("--currency", "base", type=CurrencyCode(), required=True, help="The base currency.")
@click.option("--base-amount", type=Amount(), help="The start of the first cycle; default: the reset amount.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help=f"One of {', '.join(SETTINGS)} (CUR is any currency)."
)
@reason_option
@click.pass_obj
def open_a_jackpot(config: Config, /, *, settings: tuple[str, ...], reason: str, **stated: Any) -> None:  # noqa: ANN401  as click passes them
    """Open a jackpot from a published rulebook."""
    read = setting_values(settings, option="--set")
    with opened_engine(config) as engine:
        act = operator_act(config, engine, reason=reason)
        command = OpenJackpot(act=act, settings=read, stripes=config.stripes, **stated)
        transact(engine, lambda session: open_jackpot(session, command))
    click.echo(f"Jackpot {command.jackpot_id} is open by the rules of {command.rulebook}, in {command.base}.", err=True)


@jackpots.command("stripes")
@click.argument("jackpot_id", type=Identifier())
@click.argument("count", type=click.IntRange(1, MOST_STRIPES))
@reason_option
@click.pass_obj
def spread_a_jackpot(config: Config, jackpot_id: str, count: int, reason: str) -> None:
    """Spread a jackpot over more stripes, while it runs: so many of its entries can be committed at once."""
    with opened_engine(config) as engine:
        command = AddStripes(operator_act(config, engine, reason=reason), jackpot_id, count)
        before = transact(engine, lambda session: add_stripes(session, command))
    click.echo(f"Jackpot {jackpot_id} has {count} stripes; it had {before}.", err=True)


@jackpots.command("suspend")
@click.argument("jackpot_id", type=Identifier())
@reason_option
@request_id_option
@click.pass_obj
def suspend_a_jackpot(config: Config, jackpot_id: str, reason: str, request_id: str) -> None:
    """Refuse a jackpot's bets from now on, under the name that JACKPOT_KEY gives; all else goes on."""
    _change_suspension(config, jackpot_id, reason, request_id, suspend_jackpot)


@jackpots.command("resume")
@click.argument("jackpot_id", type=Identifier())
@reason_option
@request_id_option
@click.pass_obj
def resume_a_jackpot(config: Config, jackpot_id: str, reason: str, request_id: str) -> None:
    """Take a jackpot's bets again, under the name that JACKPOT_KEY gives."""
    _change_suspension(config, jackpot_id, reason, request_id, resume_jackpot)


def _change_suspension(
    config: Config,
    jackpot_id: str,
    reason: str,
    request_id: str,
    use_case: Callable[[Session, ChangeSuspension], SuspensionChanged],
) -> None:
    with opened_engine(config) as engine:
        command = ChangeSuspension(signed_act(config, engine, request_id=request_id, reason=reason), jackpot_id)
        require_role(command.act.principal, frozenset({Role.OPERATOR}))
        done = transact(engine, lambda session: use_case(session, command))
    click.echo(f"Jackpot {jackpot_id} is {done.life}.", err=True)


@click.group("tables")
def tables() -> None:
    """Gaming tables."""


@tables.command("add")
@click.argument("table_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier(), required=True)
@click.option("--game", type=click.Choice(GAME_IDS), required=True)
@click.option("--jackpot", "jackpot_id", type=Identifier(), help="Without it the table takes no jackpot bets.")
@reason_option
@click.pass_obj
def add_a_table(  # noqa: PLR0917  click passes them by name
    config: Config, table_id: str, casino_id: str, game: str, jackpot_id: str | None, reason: str
) -> None:
    """Add a table, once. Its casino, game and jackpot never change."""
    new = Table(table_id, casino_id, game, jackpot_id)
    with opened_engine(config) as engine:
        act = operator_act(config, engine, reason=reason)
        added = transact(engine, lambda session: add_table(session, act, new))
    click.echo(f"Table {table_id}: {'added' if added else 'was there already'}.", err=True)


COMMANDS = (casinos, jackpots, tables)
