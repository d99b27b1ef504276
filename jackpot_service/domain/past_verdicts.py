"""What became of the verdicts on a round: the one in force, and the awards that they made."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.domain.accounts import POOL_ACCOUNTS, Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import negated, total
from jackpot_service.domain.outcomes import Result
from jackpot_service.domain.settlement import Award


@dataclass(frozen=True, slots=True)
class PastAward:
    """An award in the state it is in; `correction` numbers the verdict that made it, 0 for the settlement."""

    award: Award
    correction: int


@dataclass(frozen=True, slots=True)
class VerdictInForce:
    """
    The last verdict on a round: its settlement, or its correction of this number.

    `meter` is M, what was on offer at the settlement. `awards` are all that the round's verdicts ever made. `borne` is
    what each pool account paid for this verdict's. `its_meter_runs` tells whether the meter that the settlement left
    has not been won since.
    """

    number: int
    result: Result
    meter: Decimal
    awards: tuple[PastAward, ...]
    borne: Mapping[Account, Decimal]
    its_meter_runs: bool


def borne_by(lines: Iterable[tuple[str, str, Decimal, str]]) -> dict[Account, Decimal]:
    """Sum what a settlement's postings (account, currency, amount, movement) took from each pool for its awards."""
    awarded = [line for line in lines if line[3] == Movement.AWARD]
    return {pool: negated(total(line[2] for line in awarded if line[0] == pool)) for pool in POOL_ACCOUNTS}
