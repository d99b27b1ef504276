"""What a report's file is called."""

from datetime import UTC, datetime


def file_name(report: str, made_at: datetime, ending: str) -> str:
    """The name of the file of a report, made at a time, to the second."""
    return f"{report}-{made_at.astimezone(UTC):%Y%m%dT%H%M%SZ}.{ending}"
