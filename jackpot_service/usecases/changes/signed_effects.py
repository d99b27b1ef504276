"""
The content that an approver signs: that they approve a change request, with its effect; and what of that must stay so.

Bets move the pools all the time. So an effect that is figured later is the same if it moves and sets the same. Of a
number that was there before, that is by how much it moves; of all else, what it is. Balances and positions in the books
are no part of it, nor what only the booking knows.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import orjson

from jackpot_service.domain import facts
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.money import plain
from jackpot_service.domain.shapes import DECIMAL
from jackpot_service.ledger.replay import Line
from jackpot_service.usecases.changes.effects import ChangeEffect

MOVED_BY_BETS: Final = frozenset(
    {
        *("positions", "round_key"),
        *("balance_after", "balance_before", "meter_after", "prize_fund_after", "reserve_after"),
    }
)
"""Members that say where in the books something stands, or how much an account has: how much it gets, postings say."""

Path = tuple[str, ...]
Leaves = Mapping[Path, Any]


def content_of(effect: ChangeEffect) -> Facts:
    """
    Write an effect as it is shown and signed: when it was figured, the state before and after, and the entries.

    Amounts are decimal texts. Raises: ValueError for the effect of a change that cannot be made.
    """
    if effect.problem is not None:
        message = "A change that cannot be made has no effect to sign."
        raise ValueError(message)
    content = {
        "figured_at": facts.instant(effect.figured_at),
        "currency": effect.currency,
        "before": effect.before,
        "after": effect.after,
        "entries": [
            {"book": entry.book, "kind": str(entry.kind), "postings": postings_of(entry.lines)}
            for entry in effect.entries
        ],
    }
    written: Facts = orjson.loads(orjson.dumps(content))  # As the database holds it.
    return written


def postings_of(lines: Iterable[Line]) -> list[list[str]]:
    """Write what an entry moves: account, currency, amount and movement of each line."""
    return [[account, currency, plain(amount), str(movement)] for account, currency, amount, movement in lines]


def challenge_of(request: Any, effect: Facts, *, is_emergency: bool) -> bytes:  # noqa: ANN401  a change, or the row of one
    """
    Return the challenge of an approval: the SHA-256 of its decision, request and effect, as canonical JSON.

    That is UTF-8 with sorted keys and no white space, as in the digests of entries.
    """
    content = signed_content(request, effect, is_emergency=is_emergency)
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).digest()


def signed_content(request: Any, effect: Facts, *, is_emergency: bool) -> Facts:  # noqa: ANN401  as above
    """Return what an approver signs; `v` is the version of this form."""
    recorded = facts.facts_of_change(
        request_id=request.request_id,
        kind=request.kind,
        payload=request.payload,
        base_version=request.base_version,
        to_confirm=request.to_confirm,
        approvals_due=request.approvals_due,
        expires_at=request.expires_at,
    )
    about = {
        "subject": request.subject,
        "jackpot_id": request.jackpot_id,
        "reason": request.reason,
        "maker": request.maker,
        "made_at": facts.instant(request.made_at),
    }
    decision = {"v": 1, "act": "approve", "is_emergency": is_emergency}
    return {**decision, "request": {**recorded, **about}, "effect": effect}


def substance_of(effect: Facts, *, without: Collection[str]) -> list[Any]:
    """
    Return what a signed effect moves and sets, for comparison with another; `without` some members of its states.

    Raises: KeyError, TypeError, AttributeError, ValueError for what is no effect.
    """
    before, after = effect["before"] or {}, effect["after"] or {}
    leaves_before, leaves_after = _leaves(before, without), _leaves(after, without)
    moved: list[list[Any]] = []
    for path in sorted(leaves_before.keys() | leaves_after.keys()):
        if path[0] not in after:
            continue  # The state before says more than the one after: nothing of it is set.
        old, new = leaves_before.get(path), leaves_after.get(path)
        if path in leaves_before and path in leaves_after and _is_number(old) and _is_number(new):
            move = Decimal(str(new)) - Decimal(str(old))
            moved += [[*path, plain(move)]] if move else []
        elif old != new:
            moved.append([*path, old, new])
    entries = [[entry["book"], entry["kind"], entry["postings"]] for entry in effect["entries"]]
    return [effect["currency"], moved, entries]


def _leaves(state: Mapping[str, Any], without: Collection[str]) -> Leaves:
    return dict(_within({name: value for name, value in state.items() if name not in without}, ()))


def _within(value: object, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            if name not in MOVED_BY_BETS:
                yield from _within(inner, (*path, name))
    elif isinstance(value, list | tuple) and value:
        for number, inner in enumerate(value):
            yield from _within(inner, (*path, f"{number:06d}"))
    elif path:
        yield path, value if not isinstance(value, Mapping | list | tuple) else None


def _is_number(value: object) -> bool:
    return type(value) is int or (isinstance(value, str) and DECIMAL.fullmatch(value) is not None)
