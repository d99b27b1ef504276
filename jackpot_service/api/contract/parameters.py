"""The meanings of parameters in addresses: a name means the same at every call, unless a schema says more of it."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

_OF_PATH: Final[Mapping[str, str]] = {
    "act": "The number of the act that closed the period, as `GET /v1/closed-periods` states it.",
    "award_id": "The award.",
    "book": "The jackpot whose book it is; `-` is the book of acts.",
    "casino_id": "The casino.",
    "code": "The code of a problem, such as `no-rate`.",
    "exception_id": "The exception.",
    "jackpot_id": "The jackpot.",
    "job_id": "The job, as its creation answered.",
    "key_id": "The key's public part, as `GET /v1/keys` states it.",
    "name": "The name of a report, as `GET /v1/reports` lists it.",
    "number": "The number of the seal, from 1.",
    "passkey_id": "The passkey.",
    "player_id": "The player: the pseudonym that bets state.",
    "request_id": "The id of the change request.",
    "round_id": "The round: an id of the table server's own, used once at its table.",
    "seq": "The number of the entry on its stripe, from 1; in the audit trail that of the act.",
    "stripe": "The number of the stripe, from 0.",
    "table_id": "The table.",
}

_OF_QUERY: Final[Mapping[str, str]] = {
    "acknowledged": "`true`: those that somebody acknowledged. `false`: all others. Left out: both.",
    "base": "The base currency of the rate sheets.",
    "casino_id": "Of this casino only.",
    "currency": "In this currency. Where it is not required, the base currency unless stated.",
    "dry_run": "`true`: try it and show what it would do, and do nothing.",
    "emergency": "`true`: for the approval of one's own request, where emergencies are switched on.",
    "format": "The form of the answer.",
    "from": "Of this instant or later.",
    "jackpot_id": "Of this jackpot only.",
    "kind": "Of this kind only.",
    "limit": "The most items of a page.",
    "max_age": "`1`: the answer may be a second old. `0`: it is read from the committed books now.",
    "movement": "Of the report `postings`: of this movement only.",
    "number": "The number of the sheet; the one in force unless stated.",
    "player_id": "Of this player only.",
    "round_id": "Of this round only.",
    "state": "In this state only.",
    "table_id": "Of this table only.",
    "to": "Before this instant.",
    "wait": "How many seconds to wait for an event if there is none yet.",
}

_MEANINGS: Final = {"path": _OF_PATH, "query": _OF_QUERY}


def describe(parameters: Iterable[dict[str, Any]]) -> None:
    """Say of each parameter what it means. Raises: LookupError for one of which nothing is said."""
    for parameter in parameters:
        if "$ref" not in parameter and not parameter.get("description"):
            parameter["description"] = _MEANINGS[parameter["in"]][parameter["name"]]
