"""The finance reports there are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from jackpot_service.domain.errors import NotFound
from jackpot_service.reports.finance import (
    awards,
    casino_balances,
    casino_statement,
    contributions,
    exceptions,
    finance_summary,
    fx,
    hits,
    liability,
    meters,
    payables,
    pool_movements,
    postings,
    reconciliation,
    rounds,
    rtp,
    rtp_by_day,
    trial_balance,
)
from jackpot_service.reports.finance.frame import Report

_MODULES: Final = (
    meters,
    liability,
    pool_movements,
    contributions,
    hits,
    casino_statement,
    casino_balances,
    trial_balance,
    reconciliation,
    rtp,
    rtp_by_day,
    fx,
    exceptions,
    awards,
    payables,
    rounds,
    finance_summary,
    postings,
)

REPORTS: Final[Mapping[str, Report]] = MappingProxyType({module.REPORT.name: module.REPORT for module in _MODULES})


class UnknownReport(NotFound, code="report-unknown", title="Unknown report"):
    """No report of this name."""


def report_of(name: str) -> Report:
    """Find a report by its name. Raises: UnknownReport."""
    report = REPORTS.get(name)
    if report is None:
        message = f"There is no report {name[:64]}; there are {', '.join(REPORTS)}."
        raise UnknownReport(message)
    return report
