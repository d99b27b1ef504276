"""The withholding rules of casinos: every version in each currency, written once."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, insert, select

from jackpot_service.database.models import WithholdingRuleRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.withholding import VersionedRule, WithholdingRule


def rules_of_casino(session: Session, casino_id: str) -> Sequence[VersionedRule]:
    """Return every version of a casino's rules, by currency and version."""
    rows = session.execute(
        select(WithholdingRuleRow.__table__)
        .where(WithholdingRuleRow.casino_id == casino_id)
        .order_by(WithholdingRuleRow.currency, WithholdingRuleRow.version)
    )
    return [rule_of(row) for row in rows]


def last(session: Session, casino_id: str, currency: str) -> VersionedRule | None:
    """Return the last version of a casino's rule in a currency, whether or not it is in force; None without any."""
    row = session.execute(
        select(WithholdingRuleRow.__table__)
        .where(WithholdingRuleRow.casino_id == casino_id, WithholdingRuleRow.currency == currency)
        .order_by(WithholdingRuleRow.version.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else rule_of(row)


def rule_of(row: Row[Any]) -> VersionedRule:
    """Read a version from its row. Raises: BadWithholding for a row that no version writes."""
    return VersionedRule(row.version, rule_in(row))


def rule_in(row: Row[Any]) -> WithholdingRule:
    """Read a rule from a row that has its columns. Raises: BadWithholding for what no version writes."""
    return WithholdingRule(
        currency=row.currency,
        in_force_from=row.in_force_from,
        report_at_minor=row.report_at_minor,
        withhold_at_minor=row.withhold_at_minor,
        percent=row.percent,
        least_multiple=row.least_multiple,
    )


def add(session: Session, casino_id: str, version: int, rule: WithholdingRule, *, entry_seq: int) -> None:
    """Write a version."""
    session.execute(
        insert(WithholdingRuleRow).values(
            casino_id=casino_id,
            currency=rule.currency,
            version=version,
            in_force_from=rule.in_force_from,
            least_multiple=rule.least_multiple,
            report_at_minor=rule.report_at_minor,
            withhold_at_minor=rule.withhold_at_minor,
            percent=rule.percent,
            entry_seq=entry_seq,
        )
    )
