"""Sets up what the demo plays with: its casinos, rates, jackpots, tables and people."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final

import sqlalchemy

from jackpot_demo import scene
from jackpot_service.cli.demo import key_file
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.records import rate_sheets, references
from jackpot_service.records.immutable import Table
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.jackpots import OpenJackpot, open_jackpot
from jackpot_service.usecases.publish_rates import PublishRates, publish_first_sheet

REASON: Final = "for the demo"


def set_up(config: Config, engine: sqlalchemy.Engine, *, at: datetime) -> Mapping[str, str]:
    """
    Set up the demo's casinos, rates, jackpots, tables and people where they are missing.

    Returns the keys by their variables: see `key_file`.
    """
    transact(engine, lambda session: _set_up_documents(session, config, at))
    return key_file.stored_keys(config.data_dir, engine, at=at)


def _set_up_documents(session: Session, config: Config, at: datetime) -> None:
    done = Act(SYSTEM_OPERATOR, at, reason=REASON)
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
