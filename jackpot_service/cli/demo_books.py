"""The demo's reference documents, set up once and found again, and what the books say when it ends."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

import click
import sqlalchemy

from jackpot_demo import scene
from jackpot_service.auth.authenticator import Authenticator
from jackpot_service.cli.opening import act
from jackpot_service.cli.verifying import print_verification
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import Session, snapshot, transact
from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.errors import Unauthenticated
from jackpot_service.domain.money import plain
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.proof.proof import verify
from jackpot_service.records import keys, rate_sheets, references
from jackpot_service.records.pinned import Table
from jackpot_service.reports.balances import award_totals, casino_balances
from jackpot_service.reports.jackpots import jackpot_states
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.jackpots import OpenJackpot, open_jackpot
from jackpot_service.usecases.keys import KeyCreated, create_key, revoke_key
from jackpot_service.usecases.publish_rates import PublishRates, publish_first_sheet

KEYS_FILE = "demo-keys.json"

REASON = "for the demo"


def set_up(config: Config, engine: sqlalchemy.Engine) -> dict[str, str]:
    """Set up the demo's casinos, rates, jackpots and tables where they are missing; returns table keys by casino."""
    transact(engine, lambda session: _set_up_documents(session, config))
    return _keys(config, engine)


def _set_up_documents(session: Session, config: Config) -> None:
    done = act(reason=REASON)
    for casino in scene.CASINOS:
        add_casino(session, done, casino_id=casino.casino_id, name=casino.name)
    for base, rates in scene.SHEETS.items():
        if not rate_sheets.last_number(session, base):
            publish_first_sheet(session, PublishRates(done, base, rates, done.now))
    for jackpot in scene.JACKPOTS:
        if references.jackpot_base(session, jackpot.jackpot_id) is None:
            open_jackpot(
                session,
                OpenJackpot(
                    act=done,
                    jackpot_id=jackpot.jackpot_id,
                    rulebook=jackpot.rules,
                    base=jackpot.currency,
                    base_amount=Decimal(jackpot.base_amount),
                    settings=jackpot.settings,
                    stripes=config.stripes,
                ),
            )
    for table in scene.TABLES:
        add_table(session, done, Table(table.table_id, table.casino_id, table.game, table.jackpot_id))


def _keys(config: Config, engine: sqlalchemy.Engine) -> dict[str, str]:
    """The demo's keys, kept for its next run in a file that only its owner may read."""
    path = config.data_dir / KEYS_FILE
    kept: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    authenticator = Authenticator(engine)
    found = {
        casino.casino_id: _key_in_force(authenticator, kept.get(casino.casino_id)) or _new_key(engine, casino.casino_id)
        for casino in scene.CASINOS
    }
    if found != kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(json.dumps(found))
    return found


def _key_in_force(authenticator: Authenticator, key: str | None) -> str | None:
    try:
        authenticator.principal(f"Bearer {key}")
    except Unauthenticated:
        return None
    return key


def _new_key(engine: sqlalchemy.Engine, casino_id: str) -> str:
    """A key in place of those that were lost with the file, of which one may stay live."""
    principal = Principal(f"demo-{casino_id}", Role.TABLE, casino_id)

    def rotate(session: Session) -> KeyCreated:
        for key_id in keys.live_ids(session, principal.name, of_subjects=False)[1:]:
            revoke_key(session, act(reason="the demo lost it"), key_id)
        return create_key(session, act(reason=REASON), principal)

    return transact(engine, rotate).whole


def print_books(engine: sqlalchemy.Engine) -> bool:
    """Print meters, awards and casino balances, and verify the books; returns whether they are right."""
    with snapshot(engine) as session:
        click.echo("\nMeters")
        for state in jackpot_states(session, at=datetime.now(UTC)):
            click.echo(
                f"  {state.jackpot_id:<10} {state.rules.base} {plain(state.meter.exact):>22}   cycle "
                f"{state.meter.cycle}, reserve {plain(state.pools.reserve)}, prize fund {plain(state.pools.prize_fund)}"
            )
        click.echo("\nAwards")
        for award in award_totals(session):
            amount = _in_words(award.amount, award.currency)
            click.echo(f"  {award.jackpot_id:<10} {award.tier:<16} {award.count:>8}   {award.currency} {amount:>20}")
        click.echo("\nCasinos (negative: the casino owes the house)")
        _print_balances(casino_balances(session))
        click.echo("")
        found = verify(session)
    print_verification(found)
    return found.is_clean


def _print_balances(balances: Mapping[str, Mapping[str, Decimal]]) -> None:
    for casino_id, amounts in balances.items():
        stated = "   ".join(f"{currency} {_in_words(amount, currency)}" for currency, amount in amounts.items())
        click.echo(f"  {casino_id:<10} {stated}")


def _in_words(amount: Decimal, currency: str) -> str:
    """Players' money as people write it: thousands apart, and the currency's decimals."""
    return f"{amount:,.{CURRENCIES[currency].exponent}f}"
