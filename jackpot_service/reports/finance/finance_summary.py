"""
The summary for finance: what is held, how the pools moved, the return, the casinos, and the hits, in one document.

Its sections are those of other reports, made of the same books as of the same instant.
"""

from collections.abc import Sequence
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.reports.documents import Section
from jackpot_service.reports.finance import casino_balances, hits, liability, pool_movements, rtp_by_day
from jackpot_service.reports.finance.frame import Report, Scope

PARTS: Final = (
    (liability.REPORT, "liability"),
    (pool_movements.REPORT, "movements"),
    (rtp_by_day.REPORT, "cumulative"),
    (casino_balances.REPORT, "accounts"),
    (hits.REPORT, "hits"),
)
"""The reports, and the section of each that is taken."""


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Take one section of each of its reports; pools move by day."""
    return [section for report, name in PARTS for section in report.make(session, scope) if section.name == name]


REPORT = Report(
    "finance-summary", "Summary for finance", make, sections=tuple(name for _, name in PARTS), is_kept=False
)
