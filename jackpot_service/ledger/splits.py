"""
How rules versions split bets, in SQL: what their documents say, and NaN where one is missing or cannot be read.

With a NaN no sum is right, and none is an error: reports show that something is wrong, and the proof can name it.
"""

from typing import Final

_FRACTION: Final = "^[01]([.][0-9][0-9]?[0-9]?[0-9]?)?$"
"""How a document writes a part of a split (`domain.rules.SPLIT_DECIMALS`)."""


def split_of(version: str, *, jackpot_id: str) -> str:
    """
    FROM this, laterally: one row, what of a value goes `to_meter`, `to_reserve`, `to_prize_fund` and `to_house`.

    A split is linear: that of a sum is the sum of the splits, exactly. OFFSET has a document read once a row.
    """
    parts = ", ".join(f"{_fraction(part)} AS to_{part}" for part in ("meter", "reserve", "prize_fund"))
    return f"""
    (SELECT to_meter, to_reserve, to_prize_fund, 1 - to_meter - to_reserve - to_prize_fund AS to_house
     FROM (SELECT {parts}
           FROM (SELECT (SELECT v.document -> 'split'
                         FROM rules_versions v
                         WHERE v.jackpot_id = {jackpot_id} AND v.version = {version}) AS split
                 OFFSET 0) AS told
           OFFSET 0) AS parts)
    """  # noqa: S608  the parts are ours


def _fraction(part: str) -> str:
    written = f"told.split ->> '{part}'"
    return f"CASE WHEN {written} ~ '{_FRACTION}' THEN CAST({written} AS numeric) ELSE 'NaN' END"
