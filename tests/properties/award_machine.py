"""Awards driven through their states beside a plain model of them; after each step the books must hold with it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from fractions import Fraction
from functools import partial
from typing import Any, Final

import sqlalchemy
from hypothesis import currently_in_test_context, event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import text

from jackpot_service.database import snapshots, transactions
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.domain.settings import Setting
from jackpot_service.ledger import laws
from jackpot_service.proof.proof import verify
from jackpot_service.records import awards as records
from jackpot_service.records.award_filters import AwardFilters
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.note_unclaimed import note_unclaimed
from jackpot_service.usecases.print_slip import PrintSlip, print_slip
from jackpot_service.usecases.record_payment import RecordPayment, record_payment
from jackpot_service.usecases.stop_award import StopAward, stop_award
from tests.properties.award_model import (
    DECISIONS,
    MULTIPLES,
    RATES,
    STAKES,
    TO_PAY,
    UNPAID,
    WITHHELD_FROM,
    WITHHELD_PERCENT,
    Chosen,
    Claims,
    Refused,
    Round,
    all_of,
    credited,
    in_sums,
)
from tests.properties.award_reports import Figures, figured, reported
from tests.races import scene
from tests.support import people, two_people
from tests.support.payouts import held_from
from tests.support.shown_reports import by_books

MOST_ROUNDS: Final = 5
"""Few, so that many acts meet each award."""

MOST_LOOKED_BACK: Final = 5
"""At the end of a run, reports are made again as of about so many of its instants."""

CREDITED: Final = text("""
    SELECT account, currency, sum(amount) FROM postings
    WHERE jackpot_id = 'live' AND account IN ('casino:c1', 'statutory:c1')
      AND movement IN ('award', 'release', 'correction', 'forfeiture')
    GROUP BY account, currency
""")
HELD: Final = text(
    "SELECT coalesce(sum(amount), 0) FROM postings WHERE jackpot_id = 'live' AND account = 'awards:held'"
)

OPEN: Final = text("SELECT award_id, state, paid_minor FROM open_awards")

WAITING: Final = ("held", "rejected", "stopped")
"""The states of awards that two people may make payable."""

ANY_AWARD: Final = st.integers(0, 59)
"""It chooses among those that there are: mostly among those of which the act may be true."""


class AwardMachine(RuleBasedStateMachine):
    """
    One run: a jackpot in a database of its own, whose awards from 100 euros on are held, and whose casino sets days.

    Its acts take plain values, so that a test can also call them in an order of its own.
    """

    def __init__(self, database: AbstractContextManager[sqlalchemy.Engine]) -> None:
        super().__init__()
        self._database = database
        self.engine = database.__enter__()
        self.rounds: list[Round] = []
        self.claims = Claims(2, "statutory")
        self.noted: set[str] = set()
        self.reached: set[str] = set()
        self.stated: dict[datetime, Figures] = {}
        self.acts = 0

    @property
    def awards(self) -> list[Chosen]:
        return list(all_of(self.rounds))

    def teardown(self) -> None:
        try:
            if self.acts:
                self.verify()
                self._reports_agree()
                for at in list(self.stated)[:: max(1, len(self.stated) // MOST_LOOKED_BACK)]:
                    self._says_the_same(at)
        finally:
            self._database.__exit__(None, None, None)

    @initialize()
    def open(self) -> None:
        scene.open_house(self.engine)
        settings: dict[str, Setting] = {"payout_tiers": held_from("100"), "reset_amount": "500"}
        scene.open_live(self.engine, "live", tables=["T1"], base_amount="1000", settings=settings)
        self.at = scene.now()
        self._changed("casino-claims", _payload_of(self.claims))(self._now())
        withheld = {"casino_id": "c1", "report_at_minor": WITHHELD_FROM, "withhold_at_minor": WITHHELD_FROM}
        for currency in sorted(RATES):
            self._changed("casino-withholding", withheld | {"currency": currency, "percent": str(WITHHELD_PERCENT)})(
                self._now()
            )

    def _now(self) -> datetime:
        """Read the run's clock: each reading is a second later, and only the run moves it further."""
        self.at += timedelta(seconds=1)
        return self.at

    # What is done, on both sides.

    @precondition(lambda self: len(self.rounds) < MOST_ROUNDS)
    @rule(currency=st.sampled_from(sorted(RATES)), cards=st.sampled_from(sorted(MULTIPLES)))
    def play(self, currency: str, cards: str) -> None:
        self.acts += 1
        now = self._now()
        round_ = Round(f"r{len(self.rounds)}", currency, cards)
        stake = Bet("b", "player", "1", currency, STAKES[currency])
        scene.bet(self.engine, "T1", round_.round_id, stake, at=now)
        settled = scene.settle(self.engine, "T1", round_.round_id, 1, {"1": cards}, at=now)
        round_.settle(now)
        self.rounds.append(round_)
        self._name_awards(round_)
        assert [award.award_id for award in settled.awards] == [award.award_id for award in round_.awards]

    @rule(hours=st.sampled_from([1, 30, 72, 31 * 24]))
    def let_pass(self, hours: int) -> None:
        self.at += timedelta(hours=hours)

    @rule(days=st.sampled_from([None, 1, 1, 2]), to=st.sampled_from(["meter", "statutory"]))
    def set_claims(self, days: int | None, to: str) -> None:
        claims = Claims(days, to)
        self._both(lambda _now: self._set(claims), self._changed("casino-claims", _payload_of(claims)))

    def _set(self, claims: Claims) -> None:
        if claims == self.claims:
            raise Refused("payload-invalid")
        self.claims = claims

    has_awards = precondition(lambda self: self.awards)

    @precondition(lambda self: any(award.award.state in WAITING for award in self.awards))
    @rule(which=ANY_AWARD, is_approved=st.booleans())
    def decide_what_waits(self, which: int, is_approved: bool) -> None:  # noqa: FBT001  as rules are called
        state = self._chosen(which, *WAITING).award.state
        fitting = {"held": "approve" if is_approved else "reject", "rejected": "reinstate", "stopped": "release"}
        self.decide(which, fitting.get(state, "approve"))

    @has_awards
    @rule(which=ANY_AWARD, decision=st.sampled_from(sorted(DECISIONS)))
    def decide(self, which: int, decision: str) -> None:
        round_ = self._chosen(which, DECISIONS[decision][0]).round
        payload = {"jackpot_id": "live", "table_id": "T1", "round_id": round_.round_id, "decision": decision}
        if self._both(partial(round_.decide, decision), self._changed("held-awards", payload)):
            self._reach(decision)

    @has_awards
    @rule(which=ANY_AWARD)
    def stop(self, which: int) -> None:
        award = self._chosen(which, *TO_PAY).award

        def stopped(now: datetime) -> object:
            return self._transact(stop_award, StopAward(self._act("Ida", Role.AUDITOR, now), award.award_id))

        self._both(award.stop, stopped)

    @has_awards
    @rule(
        which=ANY_AWARD,
        part=st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3, 2)]),
        is_again=st.integers(0, 9).map(lambda drawn: drawn == 0),
        withheld=st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(1), Fraction(2)]),
    )
    def pay(
        self,
        which: int,
        part: Fraction,
        is_again: bool = False,  # noqa: FBT001, FBT002  as rules are called
        withheld: Fraction = Fraction(0),
    ) -> None:
        award = self._chosen(which, *TO_PAY, "unclaimed").award
        amount = max(1, int(award.rest * part))
        is_again = is_again and bool(award.payments)
        withheld_minor = min(amount, int(award.still_to_withhold * withheld))
        reference = min(award.payments) if is_again else f"slip {self.acts}"
        is_same = is_again and (award.payments[reference], award.withheld_of[reference]) == (amount, withheld_minor)
        if is_same and reference not in award.reversed:
            return  # A replay, which other tests are about.

        def paid(now: datetime) -> object:
            return self._transact(
                record_payment,
                RecordPayment(
                    Act(SYSTEM_OPERATOR, now), award.award_id, reference, amount, withheld_minor=withheld_minor
                ),
            )

        self._both(lambda _now: award.pay(reference, amount, withheld_minor), paid)

    @has_awards
    @rule(which=ANY_AWARD, payment=st.integers(0, 4))
    def reverse_a_payment(self, which: int, payment: int) -> None:
        chosen = self._chosen(which, "part-paid", "paid")
        references = [*chosen.award.payments, "never"]
        reference = references[payment % len(references)]
        payload = {"jackpot_id": "live", "award_id": chosen.award.award_id, "reference": reference}
        self._both(
            lambda _now: chosen.round.reverse(chosen.award, reference), self._changed("payment-reversal", payload)
        )

    @has_awards
    @rule(which=ANY_AWARD)
    def forfeit(self, which: int) -> None:
        award = self._chosen(which, "unclaimed").award
        payload = {"jackpot_id": "live", "award_id": award.award_id}
        self._both(lambda now: award.forfeit(self.claims, now), self._changed("award-forfeiture", payload))

    @precondition(lambda self: self.rounds)
    @rule(which=st.integers(0, MOST_ROUNDS - 1), cards=st.sampled_from(sorted(MULTIPLES)))
    def correct(self, which: int, cards: str) -> None:
        round_ = self.rounds[which % len(self.rounds)]
        result = {"bet_count": 1, "hands": [{"hand": "1", "status": "dealt", "cards": cards.split()}]}
        payload = {"jackpot_id": "live", "table_id": "T1", "round_id": round_.round_id, "result": result}
        self._both(partial(round_.correct, cards), self._changed("round-correction", payload))
        self._name_awards(round_)

    @has_awards
    @rule(which=ANY_AWARD)
    def print_slip(self, which: int) -> None:
        award = self._chosen(which, *TO_PAY, "unclaimed", "paid").award

        def printed(now: datetime) -> object:
            return self._transact(print_slip, PrintSlip(self._act("Fay", Role.FINANCE, now), award.award_id))

        self._both(lambda _now: award.print(), printed)

    @has_awards
    @rule()
    def note_unclaimed(self) -> None:
        """Each award that is unclaimed is an exception once."""
        now = self._now()
        unclaimed = self._shown("unclaimed", now)
        noting = partial(note_unclaimed, principal=SYSTEM_OPERATOR, now=now, after=None)
        noted = transactions.transact(self.engine, noting)
        assert (noted.unclaimed, noted.new) == (len(unclaimed), len(unclaimed - self.noted))
        self.noted |= unclaimed

    @precondition(lambda self: self.acts)
    @rule()
    def verify(self) -> None:
        """Everything that was booked can be derived again."""
        with snapshots.snapshot(self.engine) as session:
            assert verify(session).mismatches == ()

    @precondition(lambda self: self.stated)
    @rule(which=st.integers(0, 99))
    def look_back(self, which: int) -> None:
        """As of an instant of before, reports say what they said then, whatever was done since."""
        self._says_the_same(list(self.stated)[which % len(self.stated)])

    def _says_the_same(self, at: datetime) -> None:
        assert reported(self.engine, at, now=self._now()) == self.stated[at]

    def _chosen(self, which: int, *states: str) -> Chosen:
        """Choose one of the awards that are shown in some states, if there are any; one time in five any of all."""
        now = self.at
        fitting = [award for award in self.awards if award.award.shown(self.claims, now) in states]
        among = fitting if fitting and which % 5 else self.awards
        return among[which // 5 % len(among)]

    def _shown(self, state: str, now: datetime) -> set[str]:
        return {award.award.award_id for award in self.awards if award.award.shown(self.claims, now) == state}

    def _name_awards(self, round_: Round) -> None:
        """Ask the ledger under which ids it keeps the awards of a round, which are as many as the model's."""
        with snapshots.snapshot(self.engine) as session:
            records_ = records.latest(session, SYSTEM_OPERATOR, AwardFilters(jackpot_id="live"), limit=100, now=self.at)
        ids = {
            award_record.award.correction: award_record.award.award_id
            for award_record in records_
            if award_record.round_id == round_.round_id
        }
        assert sorted(ids) == [award.correction for award in round_.awards]
        for award in round_.awards:
            award.award_id = ids[award.correction]

    def _both(self, expected: Callable[[datetime], None], use_case: Callable[[datetime], object]) -> bool:
        """Do the same on both sides at one time; both must refuse it alike, or neither. Returns whether it was done."""
        self.acts += 1
        now, refusal = self._now(), ""
        try:
            expected(now)
        except Refused as refused:
            refusal = str(refused)
        answer = scene.attempted(lambda: use_case(now))
        assert (answer.code if isinstance(answer, LedgerError) else "") == refusal, answer
        if refusal:
            self._reach(f"refused {refusal}")
        return not refusal

    def _changed(self, kind: str, payload: Mapping[str, Any]) -> Callable[[datetime], object]:
        """Return the act of two people who make a change."""

        def change(now: datetime) -> object:
            return transactions.transact(
                self.engine, lambda session: two_people.change(session, kind, payload, now=now)
            )

        return change

    def _act(self, name: str, role: Role, now: datetime) -> Act:
        act = Act(Principal(name, role), now, request_id=f"act-{self.acts}", reason="as it is")
        return people.enrolled(self.engine, act)

    def _transact(self, use_case: Callable[..., object], command: object) -> object:
        return transactions.transact(self.engine, partial(use_case, command=command))

    def _reach(self, what: str) -> None:
        """Keep that this was reached, for the statistics of Hypothesis too."""
        if what not in self.reached:
            self.reached.add(what)
            if currently_in_test_context():
                event(what)

    # What holds after each step.

    @invariant()
    def every_award_stands_where_the_model_has_it(self) -> None:
        if not self.acts:
            return
        now = self._now()
        with snapshots.snapshot(self.engine) as session:
            for award in self.awards:
                award_record = records.by_id(session, award.award.award_id)
                assert award_record is not None
                shown = award.award.shown(self.claims, now)
                assert (award_record.award.amount_minor, award_record.award.currency) == (
                    award.award.amount,
                    award.award.currency,
                )
                assert (award_record.award.state.value, award_record.award.paid_minor) == (
                    award.award.state,
                    award.award.paid,
                )
                assert award_record.state_at(now).value == shown
                self._reach(f"correction {award.award.correction}: {shown}" if award.award.correction else shown)
            listed = records.latest(session, SYSTEM_OPERATOR, AwardFilters(AwardState.UNCLAIMED), limit=100, now=now)
            stored = {tuple(row) for row in session.execute(OPEN)}
        assert stored == {
            (award.award.award_id, "payable" if award.award.state in TO_PAY else award.award.state, award.award.paid)
            for award in self.awards
            if award.award.state in UNPAID | {"held"}
        }
        assert {award_record.award.award_id for award_record in listed} == self._shown("unclaimed", now)

    @invariant()
    def the_books_hold_what_is_held_and_what_casinos_were_credited_with(self) -> None:
        if not self.acts:
            return
        with snapshots.snapshot(self.engine) as session:
            booked = {(account, currency): Fraction(amount) for account, currency, amount in session.execute(CREDITED)}
            held = Fraction(session.execute(HELD).scalar_one())
            assert list(laws.broken_in(session, "live")) == []
        assert {key: amount for key, amount in booked.items() if amount} == credited(
            [award.award for award in self.awards]
        )
        assert held == sum(award.award.cost(award.award.amount) for award in self.awards if award.award.state == "held")

    @invariant()
    def the_reports_say_what_the_model_figures(self) -> None:
        if not self.acts:
            return
        at = self._now()
        self.stated[at] = figured(self.awards, at)
        self._says_the_same(at)
        for _, age in self.stated[at]["ageing"]:
            self._reach(f"age {age}")

    def _reports_agree(self) -> None:
        """In the sums what was paid is paid, and the rest stands elsewhere; in the lists each award stands once."""
        now = self._now()
        summed: dict[tuple[str, str], tuple[int, Fraction]] = {}
        for row in by_books(self.engine, "awards", now=now).rows["totals"]:
            before = summed.get((row["currency"], row["state"]), (0, Fraction()))
            key = row["currency"], row["state"]
            summed[key] = before[0] + int(row["awards"]), before[1] + Fraction(row["amount"])
        assert summed == in_sums([award.award for award in self.awards])
        unpaid = by_books(self.engine, "payables", now=now).rows["payables"]
        assert {row["award_id"] for row in unpaid} == {
            award.award.award_id for award in self.awards if award.award.state in UNPAID
        }
        with snapshots.snapshot(self.engine) as session:
            for state in AwardState:
                listed = records.latest(session, SYSTEM_OPERATOR, AwardFilters(state), limit=100, now=now)
                assert {award_record.award.award_id for award_record in listed} == self._shown(state.value, now)


def _payload_of(claims: Claims) -> dict[str, Any]:
    return {"casino_id": "c1", "claim_days": claims.days, "forfeited_to": claims.to}
