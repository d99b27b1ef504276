"""The finance reports there are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from jackpot_service.domain.errors import NotFound
from jackpot_service.reports.finance import (
    awards,
    casino_statement,
    contributions,
    exceptions,
    fx,
    hits,
    liability,
    meters,
    pool_movements,
    reconciliation,
    rounds,
    rtp,
    trial_balance,
)
from jackpot_service.reports.finance.frame import Report

REPORTS: Final[Mapping[str, Report]] = MappingProxyType(
    {
        report.name: report
        for report in (
            meters.REPORT,
            liability.REPORT,
            pool_movements.REPORT,
            contributions.REPORT,
            hits.REPORT,
            casino_statement.REPORT,
            trial_balance.REPORT,
            reconciliation.REPORT,
            rtp.REPORT,
            fx.REPORT,
            exceptions.REPORT,
            awards.REPORT,
            rounds.REPORT,
        )
    }
)


class UnknownReport(NotFound):
    """No report of this name."""

    code = "report-unknown"
    title = "Unknown report"


def report_of(name: str) -> Report:
    """Find a report by its name. Raises: UnknownReport."""
    report = REPORTS.get(name)
    if report is None:
        message = f"There is no report {name[:64]}; there are {', '.join(REPORTS)}."
        raise UnknownReport(message)
    return report
