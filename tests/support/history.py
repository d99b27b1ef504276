"""A small history with every kind of event in it, made through the use cases, for tests of what reads the books."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import TypeVar

import sqlalchemy

from jackpot_service.config.settings import Config
from jackpot_service.database import transactions
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import Session
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.cards import parse_cards
from jackpot_service.domain.changes import Change, Outcome
from jackpot_service.domain.outcomes import Cancellation, Hand, HandStatus, Result
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.domain.settings import Setting
from jackpot_service.records import exceptions
from jackpot_service.records.immutable import Table
from jackpot_service.usecases.accept_bets import AcceptBets
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.cancel_round import CancelRound, cancel_round
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.changes.requests import DecideChange, RequestChange, decide_change, request_change
from jackpot_service.usecases.jackpots import AddStripes, OpenJackpot, add_stripes, open_jackpot
from jackpot_service.usecases.keys import create_key
from jackpot_service.usecases.publish_rates import PublishRates, publish_first_sheet
from jackpot_service.usecases.settle_round import SettleRound, settle_round
from jackpot_service.usecases.void_bets import VoidBets, void_bets
from tests.support import people, rolling
from tests.support.accepting import accept_bets
from tests.support.payouts import held_from

T = TypeVar("T")

ROYAL = "As Ks Qs Js Ts"
STRAIGHT_FLUSH = "9h 8h 7h 6h 5h"
FOUR = "4s 4h 4d 4c 2d"
FLUSH = "Ac 9c 7c 5c 3c"
NOTHING = "2h 3d 6c Jd Kd"
NOTHING_TOO = "2c 3h 7d Jc Kc"


class Casino:
    """Acts as table servers and an operator do, each act one second after the one before."""

    def __init__(self, engine: sqlalchemy.Engine) -> None:
        self.engine = engine
        self.now = datetime(2026, 1, 5, 12, 0, 0, 123456, tzinfo=UTC)

    def act(self, use_case: Callable[[Session], T]) -> T:
        self.now += timedelta(seconds=1)
        return transactions.transact(self.engine, use_case)

    def operate(self) -> Act:
        return Act(SYSTEM_OPERATOR, self.now)

    def spread(self, jackpot_id: str, stripes: int) -> None:
        self.act(lambda session: add_stripes(session, AddStripes(self.operate(), jackpot_id, stripes)))

    def bet(
        self, table: str, round_id: str, *bets: tuple[str, str, str, str, int], game_number: str | None = None
    ) -> None:
        server = _server(table)
        made = Bets.of(Bet(*bet, self.now - timedelta(seconds=0.5)) for bet in bets)
        command = AcceptBets(server, table, round_id, made, self.now + timedelta(seconds=1), game_number)
        self.act(lambda session: accept_bets(session, command))

    def void(self, table: str, round_id: str, *bet_ids: str) -> None:
        self.act(lambda session: void_bets(session, VoidBets(_server(table), table, round_id, bet_ids, self.now)))

    def settle(
        self,
        table: str,
        round_id: str,
        bet_count: int,
        *,
        dead: str = "",
        forfeited: str = "",
        dealer: str = "",
        **hands: str,
    ) -> None:
        dealt = [_hand(name, HandStatus.DEALT, cards) for name, cards in hands.items()]
        dealt += [_hand("dead", HandStatus.DEAD, dead)] if dead else []
        dealt += [_hand("forfeited", HandStatus.FORFEITED, forfeited)] if forfeited else []
        result = Result(bet_count, tuple(dealt), parse_cards(dealer.split()), self.now)
        server = _server(table)
        self.act(lambda session: settle_round(session, SettleRound(server, table, round_id, result, self.now)))

    def cancel(self, table: str, round_id: str, reason: str, **hands: str) -> None:
        stated = tuple(_hand(name, HandStatus.DEALT, cards) for name, cards in hands.items())
        cancellation = Cancellation(reason, stated)
        server = _server(table)
        self.act(lambda session: cancel_round(session, CancelRound(server, table, round_id, cancellation, self.now)))

    def publish(self, **rates: str) -> None:
        sheet = {currency: Decimal(rate) for currency, rate in rates.items()}
        self.act(lambda session: publish_first_sheet(session, PublishRates(self.operate(), "EUR", sheet, self.now)))

    def ask(self, request_id: str, **rates: str) -> Change:
        """Have Rita ask for other rates."""
        payload = {"base": "EUR", "rates": rates}
        return self.act(
            lambda session: request_change(
                session,
                RequestChange(people.enrol(session, self.sign("Rita", request_id)), "rate-sheet", payload),
            )
        ).change

    def decide(self, change: Change, outcome: Outcome) -> None:
        """Have Ruth decide what Rita asked for."""
        figures = change.figures_due if outcome is Outcome.APPROVED else {}
        self.act(
            lambda session: decide_change(
                session,
                DecideChange(people.enrol(session, self.sign("Ruth", None)), change.request_id, outcome, figures),
            )
        )

    def sign(self, name: str, request_id: str | None) -> Act:
        return Act(Principal(name, Role.RATES), self.now, request_id=request_id, reason="as the market moved")

    def open(self, jackpot_id: str, rulebook: str, base_amount: str, stripes: int, **settings: Setting) -> None:
        base = Decimal(base_amount)
        self.act(
            lambda session: open_jackpot(
                session,
                OpenJackpot(
                    self.operate(), jackpot_id, rulebook, "EUR", base, {"payout_tiers": (), **settings}, stripes=stripes
                ),
            )
        )


def _server(table: str) -> Principal:
    return Principal(f"server of {table}", Role.TABLE)


def _hand(name: str, status: HandStatus, cards: str) -> Hand:
    return Hand(name, status, parse_cards(cards.split()))


@contextmanager
def engine_of(url: str) -> Iterator[sqlalchemy.Engine]:
    engine = create_engine(Config(), url)
    try:
        yield engine
    finally:
        engine.dispose()


def write(engine: sqlalchemy.Engine) -> None:
    """Write the whole history; the same stripes each time. All bets are rolled up."""
    random.seed(5)
    casino = Casino(engine)
    open_casino(casino)
    play_live(casino)
    play_cyber(casino)
    play_capped(casino)
    _refuse(casino)
    casino.decide(casino.ask("rejected", GBP="1.31"), Outcome.REJECTED)
    casino.ask("pending", SEK="0.091")
    rolling.roll_up(engine)


def open_casino(casino: Casino) -> None:
    casino.act(lambda session: add_casino(session, casino.operate(), casino_id="c1", name="One"))
    casino.act(
        lambda session: add_casino(
            session, casino.operate(), casino_id="c2", name="Two", zone="America/New_York", day_starts=time(9)
        )
    )
    casino.publish(GBP="1.17", SEK="0.0873", JPY="0.0061")
    casino.open("live", "live-caribbean-stud", "5432.68065", 3, reset_amount="5000")
    casino.open("cyber", "cyber-caribbean-stud", "10000", 2)
    casino.open("capped", "live-caribbean-stud", "5", 2, reset_amount="5", limit="10", payout_tiers=held_from("8"))
    tables = (
        Table("T1", "c1", "caribbean-stud", "live"),
        Table("T2", "c2", "caribbean-stud", "live"),
        Table("C1", "c1", "caribbean-stud", "cyber"),
        Table("K1", "c2", "caribbean-stud", "capped"),
        Table("H1", "c2", "casino-holdem-2-hand", None),
    )
    for table in tables:
        casino.act(lambda session, table=table: add_table(session, casino.operate(), table))  # type: ignore[misc]
    keys = (Principal("srv", Role.TABLE, "c1", frozenset({"T1", "C1"})), Principal("olga", Role.OPERATOR))
    for key in keys:
        casino.act(lambda session, key=key: create_key(session, casino.operate(), key))  # type: ignore[misc]


def play_live(casino: Casino) -> None:
    currencies = (("a", "ann", "h1", "EUR", 100), ("b", "bob", "h1", "GBP", 100), ("c", "cem", "h2", "SEK", 1000))
    casino.bet("T1", "open", *currencies, ("d", "dan", "h2", "JPY", 150))
    casino.bet("T1", "lost", ("a", "ann", "h1", "EUR", 250), game_number="21:10:10")
    casino.settle("T1", "lost", 1, h1=NOTHING, dealer="Qh 9s")
    casino.bet("T1", "voided", *currencies)
    casino.void("T1", "voided", "b", "late")
    casino.bet("T1", "voided", ("late", "lea", "h1", "EUR", 100), ("e", "bob", "h1", "GBP", 200))
    casino.settle("T1", "voided", 3, h1=FLUSH, h2=NOTHING)
    casino.bet("T2", "cancelled", *currencies)
    casino.decide(casino.ask("new-rates", GBP="1.30", SEK="0.09", JPY="0.006"), Outcome.APPROVED)
    casino.cancel("T2", "cancelled", "misdeal", h1=ROYAL)
    casino.bet("T2", "mixed", ("a", "ann", "dead", "GBP", 300), ("b", "bob", "forfeited", "EUR", 500))
    casino.bet("T2", "mixed", ("c", "cem", "h1", "EUR", 100))
    casino.settle("T2", "mixed", 3, h1=STRAIGHT_FLUSH, dead="As Ks", forfeited="Ah Kh Qh Jh Th")
    for round_id in ("cancelled-late", "voided-late", "dead-late"):
        casino.bet("T1", round_id, ("a", "ann", "dead", "GBP", 700), ("b", "bob", "h1", "EUR", 900))
    casino.bet("T2", "hit", *currencies, ("d", "dan", "h3", "JPY", 1000), ("e", "eve", "dead", "EUR", 400))
    casino.settle("T2", "hit", 5, h1=ROYAL, h2=FOUR, h3=NOTHING, dead="2s")
    casino.bet("T1", "voided-late", ("c", "cem", "h1", "EUR", 100))
    casino.void("T1", "voided-late", "a", "c")
    casino.cancel("T1", "cancelled-late", "power cut")
    casino.settle("T1", "dead-late", 2, dead="9d 9h 9s", h1=NOTHING)
    casino.void("T1", "unseen-void", "x", "y")
    casino.cancel("T1", "unseen", "never dealt")
    casino.settle("T1", "unseen-result", 0, h1=NOTHING)
    casino.bet("T2", "second-hit", ("a", "ann", "h1", "EUR", 100))
    casino.settle("T2", "second-hit", 1, h1=ROYAL)


def play_cyber(casino: Casino) -> None:
    three = (("a", "ann", "h1", "EUR", 100), ("b", "ann", "h2", "EUR", 100), ("c", "ann", "h3", "EUR", 100))
    casino.bet("C1", "refunded", *three)
    casino.bet("C1", "part", *three)
    casino.settle("C1", "part", 3, h1=STRAIGHT_FLUSH, h2=FLUSH, h3=NOTHING)
    casino.cancel("C1", "refunded", "its contributions were paid out in part")
    casino.bet("C1", "filled", ("a", "ann", "h1", "EUR", 100))
    casino.settle("C1", "filled", 1, h1=FLUSH)
    casino.bet("C1", "early", *three)
    casino.bet("C1", "both", *three)
    casino.settle("C1", "both", 3, h1=STRAIGHT_FLUSH, h2=ROYAL, h3=FOUR)
    casino.void("C1", "early", "a")
    casino.settle("C1", "early", 2, h2=FLUSH, h3=NOTHING)


def play_capped(casino: Casino) -> None:
    for number in range(4):
        casino.bet("K1", f"full-{number}", ("a", "ann", "h1", "GBP", 100 + number))
    casino.bet("K1", "held", ("a", "ann", "h1", "EUR", 3000), ("b", "bob", "h2", "EUR", 10))
    casino.settle("K1", "held", 2, h1=FOUR, h2=FLUSH)
    casino.bet("K1", "capped-hit", ("a", "ann", "h1", "EUR", 100), ("b", "bob", "h2", "SEK", 555))
    casino.settle("K1", "capped-hit", 2, h1=ROYAL, h2=NOTHING)
    casino.settle("K1", "full-0", 1, h1=NOTHING_TOO)
    casino.spread("capped", 6)
    casino.bet("K1", "spread-hit", ("a", "ann", "h1", "EUR", 100), ("b", "bob", "h2", "EUR", 200))
    casino.settle("K1", "spread-hit", 2, h1=ROYAL, h2=NOTHING)


def _refuse(casino: Casino) -> None:
    record = exceptions.ExceptionRecord(
        "round-settled", "T1", "lost", "server of T1", casino.now, [], {"bets": []}, "Too late."
    )
    casino.act(lambda session: exceptions.keep(session, [record]))
