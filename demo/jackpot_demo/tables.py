"""One table: plays the rounds it planned through the client, and checks every answer against what was planned."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus

from jackpot_client import (
    Award,
    Bet,
    CancelledRound,
    HandStatus,
    JackpotClient,
    PlacedBets,
    Refund,
    Refusal,
    RoundState,
    SettledRound,
)
from jackpot_demo import figures
from jackpot_demo.errors import DemoBug
from jackpot_demo.figures import Figures
from jackpot_demo.partner import Partner
from jackpot_demo.plan import Plan
from jackpot_demo.scene import Table

TOP_TIER = "royal_flush"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRound:
    """A round that has ended, and what it came to."""

    table: Table
    plan: Plan
    awards: tuple[Award, ...]
    figures: Figures


@dataclass(slots=True, kw_only=True)
class TableServer:
    """Plays at one table, in one thread; with a partner its bets are posted by two processes at once."""

    table: Table
    client: JackpotClient
    partner: Partner | None = None
    _retries: int = 0
    _refusals: int = 0

    def play(self, plan: Plan) -> PlayedRound:
        """Play one round to its end. Raises: DemoBug, and ClientError for what was not provoked."""
        self._retries = self._refusals = 0
        self._show_meter(plan.meter_currency)
        self._void_before(plan)
        self._place(plan)
        self._void(plan)
        self._close(plan)
        awards, refunds = self._cancel(plan) if plan.cancellation else self._settle(plan)
        self._bet_too_late(plan)
        return PlayedRound(table=self.table, plan=plan, awards=awards, figures=self._figures(plan, awards, refunds))

    def _show_meter(self, currency: str) -> None:
        meter = self.client.meter(jackpot_id=self.table.jackpot_id, currency=currency)
        _expect(meter.currency == currency, f"a meter in {meter.currency}, asked for in {currency}")

    def _void_before(self, plan: Plan) -> None:
        if not plan.voided_before:
            return
        answer = self.client.void_bets(table_id=self.table.table_id, round_id=plan.round_id, bet_ids=plan.voided_before)
        _expect(set(answer.unknown) == set(plan.voided_before), f"unknown bets are listed as {answer.unknown}")

    def _place(self, plan: Plan) -> None:
        if self.partner is None:
            for at, batch in enumerate(plan.batches):
                self._place_batch(plan, batch)
                if at in plan.repeated_batches:
                    self._repeat_batch(plan, batch)
        else:
            self._place_with(self.partner, plan)

    def _place_with(self, partner: Partner, plan: Plan) -> None:
        """Post every other batch here and the rest there, and the first one at both: it must be booked once."""
        partners = plan.batches[:1] + plan.batches[1::2]
        partner.begin(table_id=self.table.table_id, round_id=plan.round_id, batches=partners)
        for batch in plan.batches[0::2]:
            self._place_batch(plan, batch)
        posted = partner.finish()
        self._retries += 1 + posted.retries
        most = sum(map(len, partners))
        _expect(posted.accepted + posted.replayed <= most, f"{posted} of {most} bets")

    def _place_batch(self, plan: Plan, batch: tuple[Bet, ...]) -> PlacedBets:
        placed = self.client.place_bets(table_id=self.table.table_id, round_id=plan.round_id, bets=batch)
        void = {bet.bet_id for bet in batch} & set(plan.voided_before)
        _expect(set(placed.void) == void, f"void are {placed.void}, not {void}")
        _expect(placed.round.state is RoundState.OPEN, f"bets were taken by a round that is {placed.round.state}")
        if not void:
            _expect(placed.accepted + placed.replayed == len(batch), f"{placed} of {len(batch)} bets")
        return placed

    def _repeat_batch(self, plan: Plan, batch: tuple[Bet, ...]) -> None:
        """Send the same bets once more, as after an answer that got lost."""
        self._retries += 1
        placed = self._place_batch(plan, batch)
        _expect(placed.accepted == 0, f"a repeated batch was booked again: {placed}")

    def _void(self, plan: Plan) -> None:
        if not plan.voided:
            return
        answer = self.client.void_bets(table_id=self.table.table_id, round_id=plan.round_id, bet_ids=plan.voided)
        _expect(set(answer.voided) == set(plan.voided), f"voided are {answer.voided}, not {plan.voided}")
        if plan.rebets:
            self._place_batch(plan, plan.rebets)

    def _close(self, plan: Plan) -> None:
        """Close betting before the cards are dealt, as a table may; a result closes its round as well."""
        if plan.is_closed:
            closed = self.client.close_betting(
                table_id=self.table.table_id, round_id=plan.round_id, bet_count=len(plan.live_bets)
            )
            _expect(closed.round.state is RoundState.CLOSED, "a round is not closed")

    def _cancel(self, plan: Plan) -> tuple[tuple[Award, ...], tuple[Refund, ...]]:
        def cancel() -> CancelledRound:
            return self.client.cancel_round(
                table_id=self.table.table_id, round_id=plan.round_id, reason=plan.cancellation or ""
            )

        cancelled = cancel()
        _expect_refunds(cancelled.refunds, plan.live_bets)
        if plan.is_end_repeated:
            self._retries += 1
            _expect(cancel().refunds == cancelled.refunds, "a repeated cancellation refunds something else")
        return (), cancelled.refunds

    def _settle(self, plan: Plan) -> tuple[tuple[Award, ...], tuple[Refund, ...]]:
        def settle(bet_count: int) -> SettledRound:
            return self.client.put_result(
                table_id=self.table.table_id,
                round_id=plan.round_id,
                bet_count=bet_count,
                hands=plan.hands,
                dealer=plan.dealer,
            )

        if plan.misstated_count is not None:
            misstated = len(plan.live_bets) + plan.misstated_count
            self._provoke("bet-count-mismatch", lambda: settle(misstated))
        settlement = settle(len(plan.live_bets)).settlement
        _expect_refunds(settlement.refunds, plan.bets_on(HandStatus.DEAD))
        _expect_awards(settlement.awards, plan)
        if plan.is_end_repeated:
            self._retries += 1
            _expect(settle(len(plan.live_bets)).settlement == settlement, "a repeated result is settled otherwise")
        return settlement.awards, settlement.refunds

    def _bet_too_late(self, plan: Plan) -> None:
        late = plan.late_bet
        if late is None:
            return
        code = "round-cancelled" if plan.cancellation else "round-settled"
        self._provoke(
            code,
            lambda: self.client.place_bets(table_id=self.table.table_id, round_id=plan.round_id, bets=(late,)),
        )

    def _provoke(self, code: str, call: Callable[[], object]) -> None:
        """Do what must be refused; any other refusal, or none, is a bug."""
        try:
            call()
        except Refusal as refusal:
            if (refusal.status, refusal.code) != (HTTPStatus.CONFLICT, code):
                raise
            self._refusals += 1
        else:
            raise DemoBug(f"this must be refused as {code}, and was not")

    def _figures(self, plan: Plan, awards: tuple[Award, ...], refunds: tuple[Refund, ...]) -> Figures:
        return Figures(
            rounds=1,
            bets=len(plan.live_bets),
            voids=len(plan.voided) + len(plan.voided_before),
            cancellations=plan.cancellation is not None,
            refunds=len(refunds),
            awards=len(awards),
            retries=self._retries,
            refusals=self._refusals,
            staked_minor=figures.stakes_by_currency(plan.live_bets),
            refunded_minor=figures.amounts_by_currency(refunds),
            awarded_minor=figures.amounts_by_currency(awards),
        )


def _expect_refunds(refunds: Iterable[Refund], bets: Iterable[Bet]) -> None:
    got = sorted((refund.bet_id, refund.player_id, refund.currency, refund.amount_minor) for refund in refunds)
    expected = sorted((bet.bet_id, bet.player_id, bet.currency, bet.stake_minor) for bet in bets)
    _expect(got == expected, f"refunded were {got}, due were {expected}")


def _expect_awards(awards: Iterable[Award], plan: Plan) -> None:
    """Awards go to bets on dealt hands, in the bet's own currency; a scripted top prize to all of them."""
    dealt = {bet.bet_id: bet for bet in plan.bets_on(HandStatus.DEALT)}
    for award in awards:
        bet = dealt.get(award.bet_id)
        if bet is None:
            raise DemoBug(f"an award for a bet that cannot win: {award}")
        _expect((award.player_id, award.currency) == (bet.player_id, bet.currency), f"{award} for {bet}")
    if plan.is_scripted:
        sharing = {award.bet_id for award in awards if award.tier == TOP_TIER}
        _expect(sharing == set(dealt), f"{len(sharing)} of {len(dealt)} bettors share the scripted top prize")


def _expect(is_so: bool, otherwise: str) -> None:  # noqa: FBT001  reads as a sentence: expect that it is so
    if not is_so:
        raise DemoBug(otherwise)
