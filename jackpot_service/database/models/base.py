"""The types of the tables' columns."""

from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, ClassVar

from sqlalchemy import BigInteger, Boolean, Date, Integer, LargeBinary, Numeric, Text, Time
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import DeclarativeBase, mapped_column
from sqlalchemy.types import UserDefinedType

Count = Annotated[int, mapped_column(Integer)]
"""A whole number of 32 bits; any other is of 64."""

primary_key = partial(mapped_column, primary_key=True)


class Figure(UserDefinedType[str]):
    """The type of PostgreSQL, see `domain.figures`."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Write the type's name."""
        return "figure"


ischema_names["figure"] = Figure  # By this the tables can be compared with a database.


class Base(DeclarativeBase):
    """
    The type of each column, by what Python makes of it.

    Text is compared byte by byte, as Python does: a replay must list ids in the order of the first answer.
    """

    type_annotation_map: ClassVar = {
        str: Text(collation="C"),
        int: BigInteger,
        bool: Boolean,
        bytes: LargeBinary,
        Decimal: Numeric,
        date: Date,
        time: Time,
        datetime: TIMESTAMP(timezone=True),
        list[str]: ARRAY(Text),
        list[int]: ARRAY(BigInteger),
        list[Decimal]: ARRAY(Numeric),
        dict[str, Any]: JSONB(none_as_null=True),
        list[dict[str, Any]]: JSONB,
    }
