"""The kinds of change there are: the one place where a kind is listed."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from jackpot_service.usecases.changes.adjustment import Adjustment
from jackpot_service.usecases.changes.compensation import CompensationKind
from jackpot_service.usecases.changes.held_awards import HeldAwards
from jackpot_service.usecases.changes.kinds import Kind
from jackpot_service.usecases.changes.prize_fund_true_up import PrizeFundTrueUp
from jackpot_service.usecases.changes.rate_sheet import RateSheetChange
from jackpot_service.usecases.changes.retirement import Retirement
from jackpot_service.usecases.changes.round_correction import RoundCorrection
from jackpot_service.usecases.changes.rules import RulesChange
from jackpot_service.usecases.changes.seed_recovery import SeedRecovery
from jackpot_service.usecases.changes.statement_settlement import StatementSettlement

_ALL: Final[tuple[Kind[Any], ...]] = (
    RateSheetChange(),
    RulesChange(),
    Retirement(),
    Adjustment(),
    SeedRecovery(),
    PrizeFundTrueUp(),
    HeldAwards(),
    CompensationKind(),
    RoundCorrection(),
    StatementSettlement(),
)

KINDS: Final[Mapping[str, Kind[Any]]] = MappingProxyType({kind.name: kind for kind in _ALL})

CARRIES_OUT: Final[Mapping[str, Kind[Any]]] = MappingProxyType({act: kind for kind in _ALL for act in kind.acts})
"""The kind of change that each kind of act carries out; the other acts are one person's."""
