"""The tables of jackpots, their rules and limits, and of rate sheets."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy.orm import Mapped

from jackpot_service.database.models.base import Base, Count, primary_key


class JackpotRow(Base):
    """A jackpot: its id and its base currency, which never change. Its first cycle says when it was opened."""

    __tablename__ = "jackpots"

    jackpot_id: Mapped[str] = primary_key()
    base: Mapped[str]


class RulesVersionRow(Base):
    """One version of a jackpot's rules, as the document that `domain.rules.as_document` writes."""

    __tablename__ = "rules_versions"

    jackpot_id: Mapped[str] = primary_key()
    version: Mapped[Count] = primary_key()
    document: Mapped[dict[str, Any]]
    entry_seq: Mapped[int]


class TableLimitsRow(Base):
    """
    The limits that one table of a jackpot got, as the document that `domain.table_limits.as_document` writes.

    `version` counts such changes of any of the jackpot's tables. `entry_seq` is the entry on stripe 0 that recorded it.
    """

    __tablename__ = "table_limits"

    jackpot_id: Mapped[str] = primary_key()
    version: Mapped[Count] = primary_key()
    table_id: Mapped[str]
    document: Mapped[dict[str, Any]]
    entry_seq: Mapped[int]


class RateSheetRow(Base):
    """
    A rate sheet: all rates of a base currency, numbered, in force from its effective time.

    `source` is the document that its new rates were taken from, as `domain.facts.facts_of_rate_source` writes it.
    """

    __tablename__ = "rate_sheets"

    base: Mapped[str] = primary_key()
    number: Mapped[Count] = primary_key()
    effective_at: Mapped[datetime]
    source: Mapped[dict[str, Any] | None]
    entry_seq: Mapped[int]


class RateRow(Base):
    """One rate of a sheet: base units per one unit of the currency, and the currency's exponent, fixed with it."""

    __tablename__ = "rates"

    base: Mapped[str] = primary_key()
    number: Mapped[Count] = primary_key()
    currency: Mapped[str] = primary_key()
    base_per_unit: Mapped[Decimal]
    exponent: Mapped[Count]
