"""The kinds of change there are: the one place where a kind is listed."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from jackpot_service.domain.change_policy import KindPolicy
from jackpot_service.usecases.changes.adjustment import AdjustJackpot
from jackpot_service.usecases.changes.award_forfeiture import ForfeitAward
from jackpot_service.usecases.changes.casino_claims import SetCasinoClaims
from jackpot_service.usecases.changes.casino_withholding import SetWithholding
from jackpot_service.usecases.changes.change_policy import ChangeChangePolicy
from jackpot_service.usecases.changes.compensation import Compensate
from jackpot_service.usecases.changes.declined_compensation import DeclineCompensation
from jackpot_service.usecases.changes.held_awards import DecideAwards
from jackpot_service.usecases.changes.kinds import Kind
from jackpot_service.usecases.changes.payment_reversal import ReversePayment
from jackpot_service.usecases.changes.prize_fund_true_up import TrueUp
from jackpot_service.usecases.changes.rate_sheet import ChangeRates
from jackpot_service.usecases.changes.retirement import RetireJackpot
from jackpot_service.usecases.changes.round_correction import CorrectRound
from jackpot_service.usecases.changes.rules import ChangeRules
from jackpot_service.usecases.changes.seed_recovery import RecoverSeed
from jackpot_service.usecases.changes.statement_settlement import SettleStatement
from jackpot_service.usecases.changes.table_limits import LimitTable

_ALL: Final[tuple[type[Kind], ...]] = (
    ChangeRates,
    ChangeRules,
    LimitTable,
    RetireJackpot,
    AdjustJackpot,
    RecoverSeed,
    TrueUp,
    DecideAwards,
    Compensate,
    DeclineCompensation,
    CorrectRound,
    ReversePayment,
    SetCasinoClaims,
    ForfeitAward,
    SettleStatement,
    SetWithholding,
    ChangeChangePolicy,
)

KINDS: Final[Mapping[str, type[Kind]]] = MappingProxyType({kind.name: kind for kind in _ALL})

CARRIES_OUT: Final[Mapping[str, type[Kind]]] = MappingProxyType({act: kind for kind in _ALL for act in kind.acts})
"""The kind of change that each kind of act carries out; the other acts are one person's."""

SHIPPED_POLICY: Final[Mapping[str, KindPolicy]] = MappingProxyType({kind.name: kind.policy for kind in _ALL})
"""Version 1 of the change policy."""
