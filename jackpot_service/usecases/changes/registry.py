"""The kinds of change there are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from jackpot_service.domain.changes import ChangeKind
from jackpot_service.usecases.changes import (
    adjustment,
    compensation,
    held_awards,
    prize_fund_true_up,
    rate_sheet,
    retirement,
    round_correction,
    rules,
    seed_recovery,
    statement_settlement,
)
from jackpot_service.usecases.changes.kinds import Kind

KINDS: Final[Mapping[ChangeKind, Kind[Any]]] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            rate_sheet.KIND,
            round_correction.KIND,
            held_awards.KIND,
            compensation.KIND,
            statement_settlement.KIND,
            rules.KIND,
            retirement.KIND,
            adjustment.KIND,
            seed_recovery.KIND,
            prize_fund_true_up.KIND,
        )
    }
)  # fmt: skip


def kind_of(name: ChangeKind) -> Kind[Any]:
    """Find a kind by its name."""
    return KINDS[name]
