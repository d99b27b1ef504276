"""Payments of awards: those of an award as its view has them, and writing them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import insert

from jackpot_service.database.models import PaymentRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.held_awards import MadeAward
from jackpot_service.domain.payments import Channel, Payment


@dataclass(frozen=True, slots=True)
class RecordedPayment:
    """A payment of an award, the act that recorded it, and the act that reversed it, if one did."""

    payment: Payment
    act_seq: int
    reversed_by: int | None


def recorded_payments(rows: list[Mapping[str, Any]] | None) -> tuple[RecordedPayment, ...]:
    """Read the payments of an award from its view, in the order of the acts."""
    reversed_by = {row["reverses"]: row["act_seq"] for row in rows or () if row["reverses"] is not None}
    return tuple(
        RecordedPayment(payment_of(row), row["act_seq"], reversed_by.get(row["act_seq"]))
        for row in rows or ()
        if row["reverses"] is None
    )


def payment_of(stated: Mapping[str, Any]) -> Payment:
    """Read a payment from what its act shows. Raises: LookupError, TypeError, ValueError for what is none."""
    return Payment(
        stated["amount_minor"],
        stated["reference"],
        None if stated["paid_at"] is None else datetime.fromisoformat(stated["paid_at"]),
        None if stated["channel"] is None else Channel(stated["channel"]),
        stated["payer"],
        stated["withheld_minor"],
    )


def add(
    session: Session,
    made: MadeAward,
    *,
    jackpot_id: str,
    round_key: int,
    amount_minor: int,
    withheld_minor: int,
    cost: Decimal,
    reference: str,
    act_seq: int,
    reverses: int | None = None,
) -> None:
    """Write a payment of an award, or, with amounts below zero, the reversal of one."""
    bet_id, tier, correction = made.key
    session.execute(
        insert(PaymentRow).values(
            jackpot_id=jackpot_id,
            round_key=round_key,
            act_seq=act_seq,
            bet_id=bet_id,
            tier=tier,
            correction=correction,
            amount_minor=amount_minor,
            withheld_minor=withheld_minor,
            cost=cost,
            reference=reference,
            reverses=reverses,
        )
    )
