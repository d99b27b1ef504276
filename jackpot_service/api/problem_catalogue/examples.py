"""Examples of problems, for `openapi.yaml`: one of each code, made of its row, to which responses refer."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from jackpot_service.api.problem_catalogue import http
from jackpot_service.api.problem_catalogue.catalogue import require_row
from jackpot_service.api.problem_catalogue.rows import Row
from jackpot_service.usecases.fields import IS_UNKNOWN

_EXAMPLES: Final = "#/components/examples/"
"""They are named by their codes, and have no summary: a viewer shows the names."""

_VALUES: Final[Mapping[str, object]] = MappingProxyType(
    {
        "act": 56,
        "amount_minor": 14_250,
        "approvals_due": 1,
        "award_id": "aw_45c16fd05c29aba42f6ba4ea91c22f60",
        "base": "EUR",
        "base_version": "35.2",
        "bet_count": 3,
        "bet_id": "b1",
        "bet_ids": ["b1", "b2"],
        "book": "live",
        "cards": ["As"],
        "casino_id": "riga",
        "claimable_until": "2027-01-26T05:48:27.408997Z",
        "code": "bet-conflict",
        "currency": "CHF",
        "department": "rates",
        "differing": ["hands"],
        "due": 2,
        "due_minor": 14_250,
        "exception_id": "00661329600d02c-1af3a5e861878e3a",
        "game": "caribbean-stud",
        "game_number": "21:10:10",
        "granted_minor": 10_000,
        "hands": ["2"],
        "jackpot_id": "live",
        "job_id": "006613296120f70-5742148b6b597766",
        "key_id": "b2e53aa271b48931",
        "largest_stake": "100",
        "largest_stakes": {"SEK": "1000"},
        "least_stake": "0.5",
        "maker": "Rita",
        "missing": ["witness"],
        "name": "rtp",
        "number": 3,
        "passkey_id": "defeff66d2cfc14d",
        "player_id": "ann",
        "principal": "a server of Riga",
        "problem": "bet-confict",
        "rate_sheet": 1,
        "reference": "slip 1",
        "request_id": "rates-2",
        "role": "auditor",
        "roles": ["finance", "operator"],
        "round_id": "R1",
        "rows": 100_000,
        "section": "bets",
        "seq": 56,
        "setting": "dispalyed",
        "state": "paid",
        "stripe": 2,
        "stripe_no": 2,
        "stripes": 4,
        "table_id": "T1",
        "token": "1",
        "unpaid_minor": 14_250,
        "version": 2,
        "withheld_minor": 20_000,
        "zone": "Europe/Rigga",
    }
)
"""Of members, and of what stands in paths, by name."""

_OF_CODES: Final[Mapping[str, Mapping[str, object]]] = {
    "change-decided": {"state": "approved"},
    "change-stale": {"version": "36.0"},
    "job-not-done": {"state": "running"},
    "round-not-cancelled": {"state": "settled"},
    "round-not-settled": {"state": "open"},
}
"""Where a member says something else in problems of one code."""

_LEFT_OUT: Final[Mapping[str, frozenset[str]]] = {
    "already-exists": frozenset({"casino_id", "jackpot_id", "principal"}),
    "award-state": frozenset({"round_id", "table_id"}),
    "change-stale": frozenset({"approvals_due", "due"}),
    "round-corrected": frozenset({"award_id"}),
    "stake-out-of-range": frozenset({"largest_stakes", "token"}),
}
"""Members that never come with the others of a code."""

_ERRORS: Final[Mapping[str, object]] = {
    http.VALIDATION.code: [{"pointer": "", "parameter": "colour", "code": http.VALIDATION.code, "detail": IS_UNKNOWN}],
}
"""The places that are wrong, of codes that always name them."""

_PARAMETER: Final = re.compile(r"{(\w+)}")


def examples_of(codes: Iterable[str]) -> dict[str, Any]:
    """Make the examples of a response: references to `components_of`, by code."""
    return {code: {"$ref": f"{_EXAMPLES}{code}"} for code in sorted(set(codes))}


def components_of(paths: Mapping[str, str]) -> Mapping[str, Mapping[str, Any]]:
    """
    Make the example of each code, by code; `paths` has for each a path that may be answered so.

    Raises: UnknownProblem; KeyError for a member, or a parameter of a path, without a value in this module.
    """
    return {code: _example(require_row(code), paths[code]) for code in sorted(paths)}


def _example(row: Row, path: str) -> Mapping[str, Any]:
    values = {**_VALUES, **_OF_CODES.get(row.code, {})}
    shown = sorted(row.members.keys() - _LEFT_OUT.get(row.code, frozenset()))
    problem = {
        "type": row.type,
        "code": row.code,
        "title": row.title,
        "status": row.status,
        "retryable": row.retryable,
        "detail": row.meaning,
        "instance": _PARAMETER.sub(lambda name: str(_VALUES[name[1]]), path),
        **{name: values[name] for name in shown},
    }
    if row.code in _ERRORS:
        problem["errors"] = _ERRORS[row.code]
    return {"value": problem}
