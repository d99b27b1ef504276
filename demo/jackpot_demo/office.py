"""The work of the demo's people in the weeks before: new rates, statements settled, a royal flush released."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import httpx

from jackpot_demo.errors import DemoBug
from jackpot_demo.scene import CASINOS, MONEY

_MOST_MOVED: Final = 150
"""How far a week's rate is at most from the scene's, in hundredths of a percent."""

_JACKPOT: Final = "live"
_CURRENCY: Final = "EUR"

_QUIET: Final = "cyber"
"""A jackpot that no scripted round wins: a request about its pools stays possible."""


@dataclass(slots=True, kw_only=True)
class Office:
    """The people, each with a line to the service by the first name in capitals, as the demo's keys are named."""

    people: Mapping[str, httpx.Client]
    _requests: int = field(default=0, init=False)

    def begin_week(self, rng: random.Random, *, week_from: datetime, week_to: datetime) -> None:
        """Publish a rate sheet, and settle what each casino owes for a week in euro."""
        rates = {
            code: str(_moved(rng, money.euro_rate)) for code, money in MONEY.items() if money.euro_rate != Decimal(1)
        }
        payload = {"base": _CURRENCY, "rates": rates}
        self._change("rate-sheet", payload, maker="ROSA", checker="ROLF", reason="the rates of the week")
        for casino in CASINOS:
            owed = self._owed(casino.casino_id, week_from, week_to)
            if owed:
                self._settle(casino.casino_id, owed, week_from, week_to)

    def release(self, *, table_id: str, round_id: str) -> None:
        """Record the evidence of a royal flush, release its awards by two people."""
        round_ = f"/v1/tables/{table_id}/rounds/{round_id}"
        for kind, person, statement in (
            ("surveillance", "ADA", "recording 2281, table and dealer in view"),
            ("cards-checked", "OTTO", "all 52 cards are there"),
        ):
            body = {"request_id": self._next_id(), "kind": kind, "statement": statement}
            self._call(person, "POST", f"{round_}/evidence", body)
        payload = {"jackpot_id": _JACKPOT, "table_id": table_id, "round_id": round_id, "decision": "approve"}
        self._change("held-awards", payload, maker="OLGA", checker="FIONA", reason="the evidence is complete")

    def leave_work(self) -> None:
        """Request what somebody else has still to decide, so that there are changes to look at."""
        adjustment = {
            "jackpot_id": _QUIET,
            "account": "meter",
            "amount": "250.00",
            "document": "count of 4711",
            "cause": "count-error",
        }
        self._request("adjustment", adjustment, maker="OLGA", reason="the count was 250.00 too low")
        tiers = [{"from": "0", "prizes": ["royal_flush"], "evidence": ["surveillance", "cards-checked"]}]
        rules = {"jackpot_id": _JACKPOT, "settings": {"payout_tiers": [*tiers, {"from": "2000"}]}}
        self._request("rules", rules, maker="OTTO", reason="large fixed prizes need an approval too")

    def _owed(self, casino_id: str, week_from: datetime, week_to: datetime) -> Decimal:
        """Return what a casino owes the live jackpot in euro after a week; negative where it is owed."""
        query = httpx.QueryParams(casino_id=casino_id, **{"from": _written(week_from), "to": _written(week_to)})
        report = self._call("FIONA", "GET", f"/v1/reports/casino-statement?{query}", None)
        accounts = next(section for section in report["sections"] if section["name"] == "accounts")
        return sum(
            (
                Decimal(row["closing"])
                for row in accounts["rows"]
                if (row["jackpot_id"], row["currency"]) == (_JACKPOT, _CURRENCY)
            ),
            start=Decimal(0),
        )

    def _settle(self, casino_id: str, owed: Decimal, week_from: datetime, week_to: datetime) -> None:
        payload = {
            "jackpot_id": _JACKPOT,
            "casino_id": casino_id,
            "currency": _CURRENCY,
            "from": _written(week_from),
            "to": _written(week_to),
            "amount": str(owed),
            "reference": f"week of {week_from:%d %B %Y}",
        }
        self._change("statement-settlement", payload, maker="FIONA", checker="FELIX", reason="paid by the bank")

    def _change(self, kind: str, payload: Mapping[str, Any], *, maker: str, checker: str, reason: str) -> None:
        request_id = self._request(kind, payload, maker=maker, reason=reason)
        self._call(checker, "POST", f"/v1/change-requests/{request_id}/approval", {"reason": "checked"})

    def _request(self, kind: str, payload: Mapping[str, Any], *, maker: str, reason: str) -> str:
        request_id = self._next_id()
        body = {"request_id": request_id, "kind": kind, "payload": payload, "reason": reason}
        self._call(maker, "POST", "/v1/change-requests", body)
        return request_id

    def _next_id(self) -> str:
        self._requests += 1
        return f"past-{self._requests}"

    def _call(self, person: str, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        answer = self.people[person].request(method, path, json=body)
        if answer.is_error:
            raise DemoBug(f"{method} {path} by {person}: {answer.status_code} {answer.text}")
        content: dict[str, Any] = answer.json()
        return content


def _moved(rng: random.Random, rate: Decimal) -> Decimal:
    """Move a rate a little, as a week does."""
    return rate * (1 + Decimal(rng.randint(-_MOST_MOVED, _MOST_MOVED)).scaleb(-4))


def _written(at: datetime) -> str:
    """Write an instant as the service does, which keeps a request as it was sent."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
