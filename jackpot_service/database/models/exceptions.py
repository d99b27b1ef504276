"""The tables of exceptions: refusals that finance must see."""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped

from jackpot_service.database.models.base import Base, primary_key


class ExceptionRow(Base):
    """
    A refusal that finance must see: one row a kind, table, round and content.

    The id, ordered by time, is what the database's function `exception_id` makes of them. Refusals are numbered from 1,
    and chained by their heads: see `records.exceptions`.
    """

    __tablename__ = "exceptions"

    exception_id: Mapped[str] = primary_key()
    kind: Mapped[str]
    table_id: Mapped[str]
    round_id: Mapped[str]
    digest: Mapped[bytes]
    jackpot_id: Mapped[str]
    principal: Mapped[str]
    noticed_at: Mapped[datetime]
    detail: Mapped[dict[str, Any]]
    number: Mapped[int]
    head: Mapped[bytes]


class ExceptionChainRow(Base):
    """
    Where the chain of exceptions ends: the number and the head of the last one.

    It is one row. The schema begins with it, at number 0.
    """

    __tablename__ = "exception_chain"

    chain: Mapped[str] = primary_key()
    number: Mapped[int]
    head: Mapped[bytes]


class ExceptionCountRow(Base):
    """How many refusals of an hour an exception stands for, of the kinds that are counted by kind, table and hour."""

    __tablename__ = "exception_counts"

    exception_id: Mapped[str] = primary_key()
    refusals: Mapped[int]


class AcknowledgementRow(Base):
    """An exception of any kind that somebody looked into; `entry_seq` is the act that says who, when and why."""

    __tablename__ = "exception_acknowledgements"

    exception_id: Mapped[str] = primary_key()
    entry_seq: Mapped[int]
