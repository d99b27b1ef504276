"""A table as its server finds it: its casino, game and jackpot, the stakes that it takes now, and its open rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.accepted_stakes import AcceptedStakes, accepted_stakes
from jackpot_service.domain.lives import Life
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.domain.table_limits import SetLimits, TableLimits
from jackpot_service.records import immutable, lives, rate_sheets, round_search, settings_in_force
from jackpot_service.records.immutable import Table
from jackpot_service.records.rate_sheets import SheetHead
from jackpot_service.records.round_search import FoundRound, RoundFilters

NO_LIMITS = SetLimits(0, TableLimits())


@dataclass(frozen=True, slots=True)
class TableTerms:
    """
    The terms that a round gets that the table opens now.

    `sheet` is the rate sheet in force; without one no stake is taken. `limits_version` is the version of the jackpot's
    table limits that set the table's own; 0 where it has none.
    """

    life: Life
    rules_version: int
    rules: JackpotRules
    limits_version: int
    sheet: SheetHead | None
    stakes: Sequence[AcceptedStakes]

    @property
    def is_accepting(self) -> bool:
        """Whether the jackpot takes bets."""
        return self.life is Life.OPEN


@dataclass(frozen=True, slots=True)
class TableShown:
    """A table, its terms, and its latest rounds that have not ended; neither, if it has no jackpot."""

    table: Table
    terms: TableTerms | None
    open_rounds: Sequence[FoundRound]


def table_shown(session: Session, principal: Principal, table_id: str, *, at: datetime, rounds: int) -> TableShown:
    """Show a table with at most so many of its open rounds. Raises: UnknownTable."""
    table = immutable.visible_table(session, principal, table_id)
    if table.jackpot_id is None:
        return TableShown(table, None, ())
    filters = RoundFilters(has_ended=False, table_id=table_id, jackpot_id=table.jackpot_id)
    waiting = round_search.latest_rounds(session, principal, filters, limit=rounds, now=at)
    return TableShown(table, _terms(session, table_id, table.jackpot_id, at=at), waiting)


def _terms(session: Session, table_id: str, jackpot_id: str, *, at: datetime) -> TableTerms:
    with pipelined(session) as pipe:
        cursor = settings_in_force.send_read(pipe, jackpot_id, came=[at])
    in_force = settings_in_force.in_force_of(cursor, jackpot_id)
    rules = immutable.rules(session, jackpot_id, in_force.rules_version)
    limits = immutable.limits(session, jackpot_id, in_force.limits_version).get(table_id, NO_LIMITS)
    (number,) = in_force.rate_sheets
    sheet = None if number is None else immutable.sheet(session, in_force.base, number)
    return TableTerms(
        life=lives.life_of(session, jackpot_id, is_accepting=in_force.is_accepting),
        rules_version=in_force.rules_version,
        rules=rules,
        limits_version=limits.version,
        sheet=None if number is None else rate_sheets.find(session, in_force.base, number),
        stakes=() if sheet is None else accepted_stakes(rules, limits.limits, sheet=sheet),
    )
