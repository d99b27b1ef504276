"""
A change for people: the fields of its request, and its effect, a line each.

The names of values, and which are amounts, are those of the pages (`domain.change_states`). Words of the contract stay
as they are: options take them so.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from jackpot_service.cli.printing import (
    Column,
    amount,
    count,
    decimal,
    exact,
    fields,
    minor,
    second,
    shown,
    table,
    text,
)
from jackpot_service.cli.service_api import Item, printable
from jackpot_service.domain.awards import STATE_AFTER, AwardStep, id_of
from jackpot_service.domain.change_states import AT_BOOKING, Leaf, Path, compared, leaves, name_of

LEFT_TO_BOOKING: Final = frozenset({"effective_at", "from"})
"""Members of a state whose time only the booking says, where none was stated: null until then."""

OF_AWARDS: Final = frozenset({"awards", "round", "state", "step"})
"""Members of the two states of a step of awards that the table of the awards says."""

RELEASED: Final = "payable or part-paid"
"""The state of a released award: its payment was stopped before any of it was paid, or after a part was."""

MOST_UNCHANGED: Final = 12
"""So many values that stay as they are can be read with those that change."""

INDENT: Final = "  "

NOTHING: Final = "-"

DIFFERENCES = (
    Column("what changes", lambda row: row["name"]),
    Column("before", lambda row: row["before"]),
    Column("|", lambda _: "|", mark=""),
    Column("after", lambda row: row["after"]),
)

AWARDS = (
    text("award", "award_id"),
    text("casino", "casino_id"),
    minor("amount", "amount_minor"),
    Column("state", lambda row: f"{row['before']} -> {row['after']}"),
)

TOTALS = (text("total", "currency"), count("awards", "awards"), minor("amount", "amount_minor"))

POSTINGS = (
    text("book", "book"),
    text("account", "account"),
    exact("amount", "amount", "currency"),
    text("movement", "movement"),
)

_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\S+(?:Z|\+00:00)")

Pairs = Sequence[tuple[str, str]]


def requested(change: Item) -> Pairs:
    """Return what a request asks for, by name; its amounts in their currency."""
    effect, payload = change["effect"], change["payload"]
    currency = None if effect is None or effect["problem"] is not None else effect["currency"]
    return _pairs({name: payload[name] for name in sorted(payload)}, currency)


def effect_lines(effect: Item, request: Pairs) -> Iterator[str]:
    """
    Write what a change does: what differs before | after, what stays, what it records besides, and what is posted.

    A line that the request has too is not written twice.
    """
    if effect["figured_at"] is not None:  # Null of what was done.
        yield from fields([("calculated at", second(effect["figured_at"]))])
    problem = effect["problem"]
    if problem is not None:
        yield printable(f"It cannot be done now: {problem['code']}: {problem['detail']}")
        return
    before, after = effect["before"], effect["after"] or {}
    of_awards = OF_AWARDS if {*(before or {}), *after} >= OF_AWARDS else frozenset()
    if of_awards:
        rows = list(_awards(before, after))
        yield from table(AWARDS, rows, indent=INDENT)
        yield from _under("", table(TOTALS, _totals(rows), indent=INDENT))
    names = compared(before, after) - of_awards
    differing, unchanged = _differences(effect, names)
    yield from table(DIFFERENCES, differing, indent=INDENT)
    yield from _unchanged_lines(unchanged)
    rest = _pairs(_part(after, after.keys() - names - of_awards), effect["currency"])
    recorded = [pair for pair in rest if pair not in request and pair[1] != NOTHING]
    yield from _under("recorded with it", _listed(recorded))
    yield from _under("postings", table(POSTINGS, effect["postings"], indent=INDENT))


def _under(title: str, lines: Iterator[str]) -> Iterator[str]:
    """Write lines under a title, apart from what stands before; nothing where there are none."""
    written = list(lines)
    if written:
        yield from ("", title) if title else ("",)
        yield from written


def _unchanged_lines(unchanged: Pairs) -> Iterator[str]:
    if len(unchanged) <= MOST_UNCHANGED:
        return _under("unchanged", _listed(unchanged))
    return iter(("", f"unchanged: {len(unchanged)} other values, which --json shows"))


def _listed(pairs: Pairs) -> Iterator[str]:
    return fields((f"{INDENT}{name}", value) for name, value in pairs)


def _awards(before: Item, after: Item) -> Iterator[Item]:
    """Yield the awards of a round that take a step, with their states before and after it."""
    step, of_round = AwardStep(after["step"]), after["round"]
    states = {"before": before["state"], "after": RELEASED if step is AwardStep.RELEASED else STATE_AFTER[step]}
    place = of_round["jackpot_id"], of_round["table_id"], of_round["round_id"]
    for award in after["awards"]:
        key = {name: award[name] for name in ("bet_id", "tier", "correction")}
        yield {**award, **states, "casino_id": of_round["casino_id"], "award_id": id_of(*place, **key)}


def _totals(rows: Sequence[Item]) -> Iterator[Item]:
    amounts: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        amounts[row["currency"]].append(row["amount_minor"])
    for currency, amounts_minor in sorted(amounts.items()):
        yield {"currency": currency, "awards": len(amounts_minor), "amount_minor": sum(amounts_minor)}


def _differences(effect: Item, names: frozenset[str]) -> tuple[Sequence[Item], Pairs]:
    """Return the values of some members that differ, before and after; and, once, those that stay."""
    before = leaves(_part(effect["before"] or {}, names), effect["currency"])
    after = leaves(_part(effect["after"] or {}, names), effect["currency"])
    is_waiting = effect["figured_at"] is not None
    differing, unchanged = [], []
    for path in {**before, **after}:
        first, last = _written(before.get(path)), _after(path, after.get(path), is_waiting=is_waiting)
        if first != last:
            differing.append({"name": name_of(path), "before": first, "after": last})
        elif path in before and path in after:  # One that was not there, and is empty, says nothing.
            unchanged.append((name_of(path), last))
    return differing, unchanged


def _after(path: Path, leaf: Leaf | None, *, is_waiting: bool) -> str:
    is_left = is_waiting and leaf is not None and leaf.value is None and path[-1] in LEFT_TO_BOOKING
    return AT_BOOKING if is_left else _written(leaf)


def _part(state: Mapping[str, Any], names: Collection[str]) -> Mapping[str, Any]:
    return {name: value for name, value in state.items() if name in names}


def _pairs(state: Mapping[str, Any], currency: str | None) -> Pairs:
    return [(name_of(path), _written(leaf)) for path, leaf in leaves(state, currency).items()]


def _written(leaf: Leaf | None) -> str:
    """Write a value."""
    if leaf is None:
        return NOTHING
    if leaf.currency is not None:
        return amount(str(leaf.value), leaf.currency)
    if isinstance(leaf.value, str) and _INSTANT.fullmatch(leaf.value):
        return second(leaf.value)
    return decimal(str(leaf.value)) if leaf.is_number else shown(leaf.value)
