"""Long work that somebody requested: it is done apart from the calls, and leaves a file behind for a while."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from jackpot_service.domain.principals import Principal

JOB_ID = re.compile(r"[0-9a-f]{15}-[0-9a-f]{16}")
"""When it was asked for, in microseconds since 1970, and chance; so ids are ordered by time."""

VERIFICATION: Final = "verification"
"""The kind of job that proves the books."""


class JobState(StrEnum):
    """Where a job is in its life."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    A job as it stands.

    `request` are the parameters as they came, `parameters` what they were settled to when it was asked for, so that it
    does the same whenever it is done. `position` is where its file ends so far, in the words of its kind; None before
    the first chunk, or for a kind that cannot go on from its middle. `done` of `total` (None: unknown) is counted in
    whatever the kind counts. `began_at` and `began_with` are when the present attempt began, and what was done by
    then; `attempts` counts those since the last chunk that it can go on from.
    """

    job_id: str
    kind: str
    request: Mapping[str, Any]
    parameters: Mapping[str, Any]
    principal: str
    casino_id: str | None
    request_id: str
    created_at: datetime
    file_name: str
    media_type: str
    total: int | None
    state: JobState = JobState.QUEUED
    chunks: int = 0
    size: int = 0
    position: Mapping[str, Any] | None = None
    done: int = 0
    attempts: int = 0
    began_at: datetime | None = None
    began_with: int = 0
    heartbeat_at: datetime | None = None
    ended_at: datetime | None = None
    error: str | None = None
    cancelled_by: str | None = None
    removed_at: datetime | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing will happen to it any more, but that its file is removed."""
        return self.state not in {JobState.QUEUED, JobState.RUNNING}

    @property
    def per_second(self) -> float | None:
        """How much of it the present attempt does in a second; None before there is anything to reckon by."""
        if self.began_at is None or self.heartbeat_at is None or self.heartbeat_at <= self.began_at:
            return None
        return (self.done - self.began_with) / (self.heartbeat_at - self.began_at).total_seconds()

    @property
    def remaining(self) -> timedelta | None:
        """How long it will still take at that rate; None where that is unknown."""
        rate = self.per_second
        if self.state is not JobState.RUNNING or self.total is None or not rate:
            return None
        return timedelta(seconds=(self.total - self.done) / rate)

    def is_shown_to(self, principal: Principal) -> bool:
        """Whether somebody may see it: of a casino's people only those whose casino asked for it."""
        return principal.casino_id is None or principal.casino_id == self.casino_id
