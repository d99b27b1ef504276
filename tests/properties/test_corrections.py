"""Random histories in which every settled round may be corrected at any time: the books can always be derived again."""

import random
from collections.abc import Callable
from functools import partial

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.corrections import NothingToCorrect
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.domain.settings import Setting
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.record_payment import RecordPayment, record_payment
from tests.races import books, scene
from tests.support import two_people
from tests.support.hands import NO_COLLISIONS
from tests.support.payouts import held_from

pytestmark = pytest.mark.long

ACTS = 45
TABLES = ("T1", "T2")
HANDS = ("1", "2", "3")

_PAYABLE = text(
    """
    SELECT a.award_id
    FROM awards a JOIN rounds r USING (jackpot_id, round_key)
    WHERE (r.table_id, r.round_id) = (:table_id, :round_id)
      AND (SELECT string_agg(s.step, ' ') FROM award_steps s
           WHERE (s.jackpot_id, s.round_key, s.bet_id, s.tier, s.correction)
                 = (a.jackpot_id, a.round_key, a.bet_id, a.tier, a.correction)) = 'payable'
      AND NOT EXISTS (SELECT FROM payments p
                      WHERE (p.jackpot_id, p.round_key, p.bet_id, p.tier, p.correction)
                            = (a.jackpot_id, a.round_key, a.bet_id, a.tier, a.correction))
    ORDER BY a.bet_id, a.tier LIMIT 1
    """
)

_HELD = text(
    """
    SELECT r.table_id, r.round_id, a.bet_id
    FROM awards a JOIN rounds r USING (jackpot_id, round_key)
    WHERE (SELECT string_agg(s.step, ' ') FROM award_steps s
           WHERE (s.jackpot_id, s.round_key, s.bet_id, s.tier, s.correction)
                 = (a.jackpot_id, a.round_key, a.bet_id, a.tier, a.correction)) = 'held'
    ORDER BY a.award_id LIMIT 1
    """
)


class History:
    """A jackpot that is played for, corrected and paid out by chance."""

    def __init__(self, engine: sqlalchemy.Engine, seed: int) -> None:
        self.engine = engine
        self.chance = random.Random(seed)
        self.settled: dict[RoundName, int] = {}
        self.rounds = 0
        self.corrected = 0

    def open(self) -> None:
        open_ = self.chance.choice([scene.open_live, scene.open_cyber])
        settings: dict[str, Setting] = {"reset_amount": self.chance.choice(["0", "500"])}
        if self.chance.random() < 0.4:
            settings["payout_tiers"] = held_from("20")
        if self.chance.random() < 0.3:
            settings["limit"] = "1001"
        stripes = self.chance.randint(1, 4)
        open_(self.engine, "j", tables=TABLES, base_amount="1000", stripes=stripes, settings=settings)

    def go_on(self) -> None:
        acts: list[Callable[[], None]] = [self.play] * 3 + [self.correct] * 2 + [self.pay, self.decide]
        for _ in range(ACTS):
            self.chance.choice(acts)()

    def play(self) -> None:
        self.rounds += 1
        name = RoundName(self.chance.choice(TABLES), f"r{self.rounds}")
        count = self.chance.randint(1, len(HANDS))
        bets = [Bet(f"b{number}", f"p{number}", hand, "EUR", 100) for number, hand in enumerate(HANDS[:count])]
        scene.bet(self.engine, *name, *bets)
        scene.settle(self.engine, *name, count, self._hands())
        self.settled[name] = count

    def _hands(self) -> dict[str, str]:
        """Hands of one deck, most of them winning; some are dead or forfeited."""
        dealt = self.chance.sample(NO_COLLISIONS, len(HANDS))
        odd = {hand: self.chance.choice([*[None] * 5, "dead", "forfeited"]) for hand in HANDS}
        return {hand: odd[hand] or " ".join(cards) for hand, cards in zip(HANDS, dealt, strict=True)}

    def correct(self) -> None:
        if not self.settled:
            return
        name = self.chance.choice(list(self.settled))
        act = partial(scene.correct, self.engine, "j", name, self.settled[name], self._hands())
        self.corrected += not isinstance(scene.attempted(act), NothingToCorrect)

    def pay(self) -> None:
        if self.settled:
            name = self.chance.choice(list(self.settled))
            transact(self.engine, partial(_pay, name=name))

    def decide(self) -> None:
        """Have two people approve or reject a held award."""
        held = transact(self.engine, lambda session: session.execute(_HELD).one_or_none())
        if held is not None:
            table_id, round_id, bet_id = held
            decision = self.chance.choice(["approve", "reject"])
            payload = {"jackpot_id": "j", "table_id": table_id, "round_id": round_id, "decision": decision}
            payload["bets"] = [bet_id]
            transact(
                self.engine,
                lambda session: two_people.change(session, "held-awards", payload, now=scene.now()),
            )


def _pay(session: Session, *, name: RoundName) -> None:
    for award_id in session.scalars(_PAYABLE, {"table_id": name.table_id, "round_id": name.round_id}).all():
        record_payment(session, RecordPayment(Act(SYSTEM_OPERATOR, scene.now()), award_id, "slip"))


@pytest.mark.parametrize("seed", range(8))
def test_the_books_of_a_random_history_with_corrections_can_be_derived_again(database_url: str, seed: int) -> None:
    engine = create_engine(Config(pool_size=2), database_url)
    try:
        scene.open_house(engine)
        history = History(engine, seed)
        history.open()
        history.go_on()
        assert history.corrected > 3
        assert books.meter(engine, "j") >= 0
        books.require_clean(engine)
    finally:
        engine.dispose()
