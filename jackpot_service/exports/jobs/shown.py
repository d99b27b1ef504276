"""A job as people see it."""

from datetime import timedelta
from typing import Any

from jackpot_service.domain.facts import instant
from jackpot_service.domain.jobs import Job, JobState


def shown(job: Job, *, kept: timedelta) -> dict[str, Any]:
    """Write a job as every door shows it; `kept` is how long files are."""
    rate, remaining = job.per_second, job.remaining
    return {
        "job_id": job.job_id,
        "kind": job.kind,
        "parameters": job.parameters,
        "request_id": job.request_id,
        "principal": job.principal,
        "asked_at": instant(job.asked_at),
        "state": job.state.value,
        "progress": {
            "done": job.done,
            "total": job.total,
            "rate_per_second": None if rate is None else round(rate, 1),
            "remaining_seconds": None if remaining is None else round(remaining.total_seconds()),
            "heartbeat_at": instant(job.heartbeat_at),
            "attempts": job.attempts,
        },
        "ended_at": instant(job.ended_at),
        "error": job.error,
        "cancelled_by": job.cancelled_by,
        "file": _file(job, kept=kept),
    }


def _file(job: Job, *, kept: timedelta) -> dict[str, Any] | None:
    """What a job made; None unless it is there to be read."""
    if job.state is not JobState.DONE or job.ended_at is None or job.removed_at is not None:
        return None
    return {
        "name": job.file_name,
        "media_type": job.media_type,
        "size": job.size,
        "kept_until": instant(job.ended_at + kept),
    }
