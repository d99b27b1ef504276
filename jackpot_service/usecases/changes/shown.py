"""A change request as people see it."""

from datetime import datetime
from typing import Any

from jackpot_service.domain.changes import Change
from jackpot_service.domain.facts import instant, of_effect
from jackpot_service.usecases.changes.kinds import Applied


def shown(change: Change, effect: Applied | None, *, at: datetime) -> dict[str, Any]:
    """Write a change request as every door shows it, with what it did or would do; its state is that at an instant."""
    decision = change.decision
    return {
        "request_id": change.request_id,
        "kind": change.kind,
        "subject": change.subject,
        "jackpot_id": change.jackpot_id,
        "payload": change.payload,
        "reason": change.reason,
        "base_version": change.base_version,
        "to_confirm": change.to_confirm,
        "maker": change.maker,
        "made_at": instant(change.made_at),
        "expires_at": instant(change.expires_at),
        "state": change.state(at=at).value,
        "decision": None
        if decision is None
        else {
            "outcome": decision.outcome.value,
            "checker": decision.checker,
            "reason": decision.reason,
            "is_emergency": decision.is_emergency,
            "decided_at": instant(decision.decided_at),
        },
        "effect": None if effect is None else _shown_effect(effect),
    }


def _shown_effect(applied: Applied) -> dict[str, Any]:
    return {
        "before": applied.before,
        "after": applied.after,
        "entries": [
            of_effect(book=one.book, seq=one.seq, kind=one.kind.value, recorded=one.recorded) for one in applied.effects
        ],
    }
