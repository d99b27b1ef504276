"""Awards driven through their states beside a plain model of one award; after each step the books must hold with it."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Final

import sqlalchemy
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import text

from jackpot_service.database import transactions
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.domain.settings import Setting
from jackpot_service.ledger import laws
from jackpot_service.proof.proof import verify
from jackpot_service.records import awards as records
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.print_slip import PrintSlip, print_slip
from jackpot_service.usecases.record_payment import RecordPayment, record_payment
from jackpot_service.usecases.stop_award import StopAward, stop_award
from tests.races import scene
from tests.support import people, two_people
from tests.support.payouts import held_from
from tests.support.told import by_books

RATES: Final = {"EUR": Fraction(1), "GBP": Fraction("1.17"), "SEK": Fraction("0.0873"), "JPY": Fraction("0.0061")}
STAKES: Final = {"EUR": 100, "GBP": 250, "SEK": 1000, "JPY": 300}
UNITS: Final = {"EUR": 100, "GBP": 100, "SEK": 100, "JPY": 1}

CASINO_POSTINGS: Final = text("""
    SELECT currency, sum(amount) FROM postings
    WHERE jackpot_id = 'live' AND account = 'casino:c1' AND movement IN ('award', 'release', 'correction')
    GROUP BY currency
""")
HELD: Final = text(
    "SELECT coalesce(sum(amount), 0) FROM postings WHERE jackpot_id = 'live' AND account = 'awards:held'"
)


class Refused(Exception):
    """The model's answer where the ledger refuses: the code of the problem."""


@dataclass
class Award:
    """One award as anybody would keep it: where it stands, and its payments by reference."""

    round_id: str
    award_id: str
    currency: str
    amount: int
    stands: str
    was_released: bool = False
    is_corrected: bool = False
    payments: dict[str, int] = field(default_factory=dict)
    reversed: set[str] = field(default_factory=set)

    @property
    def paid(self) -> int:
        return sum(amount for reference, amount in self.payments.items() if reference not in self.reversed)

    @property
    def state(self) -> str:
        if self.stands != "payable" or not self.paid:
            return self.stands
        return "paid" if self.paid == self.amount else "part-paid"

    def cost(self, amount: int) -> Fraction:
        return Fraction(amount, UNITS[self.currency]) * RATES[self.currency]

    def decide(self, decision: str) -> None:
        before, after = {
            "approve": ("held", "payable"),
            "reject": ("held", "rejected"),
            "reinstate": ("rejected", "payable"),
            "release": ("stopped", "payable"),
        }[decision]
        if self.state != before:
            raise Refused(f"nothing-{before}")
        if decision == "reinstate" and self.is_corrected:
            raise Refused("round-corrected")
        self.stands = after
        self.was_released |= decision == "release"

    def stop(self) -> None:
        if self.state not in {"payable", "part-paid"} or self.was_released:
            raise Refused("award-state")
        self.stands = "stopped"

    def pay(self, reference: str, amount: int) -> None:
        if self.state not in {"payable", "part-paid"}:
            raise Refused("award-state")
        if reference in self.payments:
            raise Refused("payment-reference-taken")
        if amount > self.amount - self.paid:
            raise Refused("payment-too-large")
        self.payments[reference] = amount

    def reverse(self, reference: str) -> None:
        if reference not in self.payments:
            raise Refused("payment-unknown")
        if reference in self.reversed:
            raise Refused("payment-reversed")
        if self.state not in {"paid", "part-paid"}:
            raise Refused("award-state")
        if self.is_corrected:
            raise Refused("round-corrected")
        self.reversed.add(reference)

    def correct(self) -> None:
        """The hand had nothing: what was not paid is taken back, what was paid or rejected stays so."""
        if self.is_corrected:
            raise Refused("nothing-to-correct")
        if 0 < self.paid < self.amount:
            raise Refused("award-part-paid")
        self.is_corrected = True
        if self.state not in {"paid", "rejected"}:
            self.stands = "reversed"

    def print(self) -> None:
        if self.state not in {"payable", "part-paid", "paid"}:
            raise Refused("award-state")


class AwardMachine(RuleBasedStateMachine):
    """One run: a jackpot in a database of its own, whose awards from 100 euros on are held."""

    def __init__(self, database: AbstractContextManager[sqlalchemy.Engine]) -> None:
        super().__init__()
        self._database = database
        self.engine = database.__enter__()
        self.awards: list[Award] = []
        self.acts = 0

    def teardown(self) -> None:
        try:
            if self.acts:
                with transactions.snapshot(self.engine) as session:
                    assert verify(session).mismatches == ()
                self._reports_agree()
        finally:
            self._database.__exit__(None, None, None)

    @initialize()
    def open(self) -> None:
        scene.found(self.engine)
        settings: dict[str, Setting] = {"payout_tiers": held_from("100"), "reset_amount": "500"}
        scene.open_live(self.engine, "live", tables=["T1"], base_amount="1000", settings=settings)
        self.acts += 1

    # What is done, on both sides.

    @rule(currency=st.sampled_from(sorted(RATES)), cards=st.sampled_from([scene.FLUSH, scene.STRAIGHT_FLUSH]))
    def win(self, currency: str, cards: str) -> None:
        round_id = f"r{len(self.awards)}"
        scene.bet(self.engine, "T1", round_id, Bet("b", "player", "1", currency, STAKES[currency]))
        [award] = scene.settle(self.engine, "T1", round_id, 1, {"1": cards}).awards
        self.awards.append(Award(round_id, award.award_id, currency, award.amount_minor, award.state.value))
        assert self.awards[-1].stands == ("held" if self.awards[-1].cost(award.amount_minor) >= 100 else "payable")

    def _both(self, expected: Callable[[], None], use_case: Callable[[], object]) -> None:
        """Do the same on both sides; both must refuse it alike, or neither."""
        self.acts += 1
        refusal = ""
        try:
            expected()
        except Refused as refused:
            refusal = str(refused)
        answer = scene.attempted(use_case)
        assert (answer.code if isinstance(answer, LedgerError) else "") == refusal, answer

    def _change(self, kind: str, payload: Mapping[str, Any]) -> Callable[[], object]:
        def change(session: transactions.Session) -> object:
            return two_people.change(session, kind, {"jackpot_id": "live", **payload}, now=scene.now())

        return lambda: transactions.transact(self.engine, change)

    def _act(self, name: str, role: Role) -> Act:
        self.acts += 1
        act = Act(Principal(name, role), scene.now(), request_id=f"act-{self.acts}", reason="as it is")
        return people.enrolled(self.engine, act)

    has_won = precondition(lambda self: self.awards)

    @has_won
    @rule(data=st.data(), decision=st.sampled_from(["approve", "reject", "reinstate", "release"]))
    def decide(self, data: st.DataObject, decision: str) -> None:
        award = data.draw(st.sampled_from(self.awards))
        payload = {"table_id": "T1", "round_id": award.round_id, "decision": decision}
        self._both(partial(award.decide, decision), self._change("held-awards", payload))

    @has_won
    @rule(data=st.data())
    def stop(self, data: st.DataObject) -> None:
        award = data.draw(st.sampled_from(self.awards))
        command = StopAward(self._act("Ida", Role.AUDITOR), award.award_id)
        self._both(award.stop, partial(transactions.transact, self.engine, partial(stop_award, command=command)))

    @has_won
    @rule(data=st.data(), part=st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3, 2)]))
    def pay(self, data: st.DataObject, part: Fraction) -> None:
        award = data.draw(st.sampled_from(self.awards))
        amount = max(1, int((award.amount - award.paid) * part))
        is_again = bool(award.payments) and data.draw(st.integers(0, 9)) == 0
        reference = min(award.payments) if is_again else f"slip {self.acts}"
        if is_again and reference not in award.reversed and award.payments[reference] == amount:
            return  # A replay, which other tests are about.
        command = RecordPayment(Act(SYSTEM_OPERATOR, scene.now()), award.award_id, reference, amount)
        self._both(
            partial(award.pay, reference, amount),
            partial(transactions.transact, self.engine, partial(record_payment, command=command)),
        )

    @has_won
    @rule(data=st.data())
    def reverse_a_payment(self, data: st.DataObject) -> None:
        award = data.draw(st.sampled_from(self.awards))
        reference = data.draw(st.sampled_from([*sorted(award.payments), "never"]))
        payload = {"award_id": award.award_id, "reference": reference}
        self._both(partial(award.reverse, reference), self._change("payment-reversal", payload))

    @has_won
    @rule(data=st.data())
    def correct(self, data: st.DataObject) -> None:
        award = data.draw(st.sampled_from(self.awards))
        told = {"bet_count": 1, "hands": [{"hand": "1", "status": "dealt", "cards": scene.NOTHING.split()}]}
        payload = {"table_id": "T1", "round_id": award.round_id, "result": told}
        self._both(award.correct, self._change("round-correction", payload))

    @has_won
    @rule(data=st.data())
    def print_slip(self, data: st.DataObject) -> None:
        award = data.draw(st.sampled_from(self.awards))
        command = PrintSlip(self._act("Fay", Role.FINANCE), award.award_id)
        self._both(award.print, partial(transactions.transact, self.engine, partial(print_slip, command=command)))

    # What holds after each step.

    @invariant()
    def every_award_stands_where_the_model_has_it(self) -> None:
        with transactions.snapshot(self.engine) as session:
            for award in self.awards:
                found = records.by_id(session, award.award_id)
                assert found is not None
                assert (found.award.state.value, found.award.paid_minor) == (award.state, award.paid)

    @invariant()
    def the_books_hold_what_is_held_and_what_casinos_were_credited_with(self) -> None:
        if not self.acts:
            return
        credited: Counter[str] = Counter()
        for award in self.awards:
            if award.state in {"payable", "part-paid", "paid", "stopped"}:
                credited[award.currency] += award.amount
        with transactions.snapshot(self.engine) as session:
            booked = {currency: abs(Fraction(amount)) for currency, amount in session.execute(CASINO_POSTINGS)}
            held = Fraction(session.execute(HELD).scalar_one())
            assert list(laws.broken_in(session, "live")) == []
        assert {currency: amount for currency, amount in booked.items() if amount} == {
            currency: Fraction(amount, UNITS[currency]) for currency, amount in credited.items() if amount
        }
        assert held == sum(award.cost(award.amount) for award in self.awards if award.state == "held")

    def _reports_agree(self) -> None:
        """In the sums what was paid is paid, and the rest stands elsewhere."""
        due: dict[tuple[str, str], tuple[int, Fraction]] = {}
        for award in self.awards:
            state = "payable" if award.state in {"paid", "part-paid"} else award.state
            for of, number, part in (
                (state, award.paid < award.amount, award.amount - award.paid),
                ("paid", award.paid == award.amount, award.paid),
            ):
                key, amount = (award.currency, of), Fraction(part, UNITS[award.currency])
                before = due.get(key, (0, Fraction()))
                due[key] = before[0] + number, before[1] + amount
        told = by_books(self.engine, "awards", now=scene.now()).rows["totals"]
        summed: dict[tuple[str, str], tuple[int, Fraction]] = {}
        for row in told:
            before = summed.get((row["currency"], row["state"]), (0, Fraction()))
            key = row["currency"], row["state"]
            summed[key] = before[0] + int(row["awards"]), before[1] + Fraction(row["amount"])
        assert summed == {key: figures for key, figures in due.items() if any(figures)}
        unpaid = by_books(self.engine, "payables", now=scene.now()).rows["payables"]
        assert {row["award_id"] for row in unpaid} == {
            award.award_id for award in self.awards if award.state in {"payable", "part-paid", "stopped"}
        }
