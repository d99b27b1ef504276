"""
A house in which everything happens that moves money, by chance: for whoever adds its books up.

Two casinos, of other gaming days, play for one jackpot, and one of them for another besides, in four currencies: hits,
refunds after them, corrections, awards held, approved, rejected and reinstated, awards stopped and released, prizes
denied and compensated or not, compensations, statements, other rates, other rules, and at the end a jackpot that is
retired. Rounds are closed, awards are withheld in part and forfeited.
"""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from jackpot_service.domain.principals import Role
from jackpot_service.domain.settings import Setting
from tests.support import correcting, rolling
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import FOUR_OF_A_KIND, NO_COLLISIONS, ROYAL_FLUSH, dead, forfeited, hand
from tests.support.payouts import held_from
from tests.support.story import Story, require_whole
from tests.support.world import CYBER, World

TABLES = {"T1": "c1", "T2": "c2", "T3": "c1", "C1": "c1"}

HANDS = ("1", "2", "3")

DECISIONS = {"held": ("approve", "reject"), "rejected": ("reinstate",), "stopped": ("release",)}

STAKES = {"EUR": (100, 250, 9999), "GBP": (100, 333), "SEK": (1000, 777), "JPY": (150,)}


class Play:
    """Plays on and on; a refusal is no event, and only what came of it counts."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.chance = random.Random(seed)
        self.story = Story(world, seed)
        self.open_rounds: list[tuple[str, str]] = []
        self.settled: list[tuple[str, str]] = []
        self.cancelled: list[tuple[str, str]] = []
        self.requests = 0
        self.rounds = 0

    def open(self) -> None:
        world = self.world
        world.add_casino("c2", zone="Europe/Riga", day_starts="06:00")
        settings: dict[str, Setting] = {"reset_amount": "50", "payout_tiers": held_from("200")}
        world.open(base_amount="100", settings=settings, tables=("T1", "T3"), stripes=3)
        world.add_table("T2", jackpot_id="j1", casino_id="c2")
        world.open(CYBER, jackpot_id="cyber", base_amount="1000", settings={"reset_amount": "500"}, tables=("C1",))

    def go_on(self, acts: int) -> None:
        happens: list[Callable[[], Any]] = [
            *(self.bet,) * 6,
            *(self.settle,) * 4,
            *(self.void, self.cancel, self.correct, self.decide, self.decide, self.compensate, self.settle_statement),
            *(self.stop, self.stop, self.decline, self.compensate_denied, self.publish, self.change_rules, self.wait),
            self.close,
        ]
        for _ in range(acts):
            self.chance.choice(happens)()
            self.story.go_on()

    def bet(self) -> None:
        self.rounds += 1
        new = (self.chance.choice(list(TABLES)), f"r{self.rounds}")
        table_id, round_id = self.chance.choice([new, new, *self.open_rounds])
        bets = [self._bet(table_id) for _ in range(self.chance.randint(1, 3))]
        answer = self.world.post_bets(*bets, round_id=round_id, table_id=table_id)
        if answer.status == 201 and (table_id, round_id) == new:
            self.open_rounds.append(new)

    def _bet(self, table_id: str) -> dict[str, Any]:
        self.requests += 1
        currency = "EUR" if table_id == "C1" else self.chance.choice(list(STAKES))
        stake = 100 if table_id == "C1" else self.chance.choice(STAKES[currency])
        return bet(f"b{self.requests}", currency=currency, stake_minor=stake, hand=self.chance.choice(HANDS))

    def settle(self) -> None:
        if self.open_rounds:
            table_id, round_id = self._over(self.open_rounds)
            answer = self.world.put_result(*self._hands(), round_id=round_id, table_id=table_id)
            if answer.status == 201:
                self.settled.append((table_id, round_id))

    def _hands(self) -> list[dict[str, Any]]:
        cards = self.chance.sample(NO_COLLISIONS, len(HANDS))
        if self.chance.random() < 0.2:
            cards = [ROYAL_FLUSH, *(card for card in cards if card != ROYAL_FLUSH)][: len(HANDS)]
        ends = [hand, hand, hand, dead, forfeited]
        return [self.chance.choice(ends)(name, card) for name, card in zip(HANDS, cards, strict=True)]

    def close(self) -> None:
        """Close betting of an open round: bets are refused from then on, and voids need a reason."""
        if self.open_rounds:
            table_id, round_id = self.chance.choice(self.open_rounds)
            self.world.put_closing(round_id=round_id, table_id=table_id)

    def void(self) -> None:
        if self.open_rounds:
            table_id, round_id = self.chance.choice(self.open_rounds)
            voided = self.chance.choice(self.world.round(round_id, table_id)["bets"])["bet_id"]
            voids = (voided, f"unseen-{voided}")
            self.world.post_voids(*voids, round_id=round_id, table_id=table_id, reason="misdeal").ok()

    def cancel(self) -> None:
        if self.open_rounds:
            table_id, round_id = self._over(self.open_rounds)
            self.world.put_cancellation(round_id=round_id, table_id=table_id)
            self.cancelled.append((table_id, round_id))

    def correct(self) -> None:
        if self.settled:
            self._correct(*self.chance.choice(self.settled))

    def correct_stopped(self) -> None:
        """Correct the round of an award that is stopped: most often, that takes the award back."""
        stopped = self._awards("stopped")
        if stopped:
            award = self.chance.choice(stopped)
            self._correct(award["table_id"], award["round_id"])

    def _correct(self, table_id: str, round_id: str) -> None:
        jackpot_id = "cyber" if table_id == "C1" else "j1"
        payload = correcting.payload(
            *self._hands(), round_id=round_id, table_id=table_id, bet_count=self.world.live_bets(table_id, round_id)
        )
        self._change("round-correction", payload | {"jackpot_id": jackpot_id})

    def decide(self) -> None:
        """Decide about all awards of a round that are held, were rejected or are stopped."""
        by_state = {state: self._awards(state) for state in DECISIONS}
        if any(by_state.values()):
            state = self.chance.choice([state for state, awards in by_state.items() if awards])
            award = self.chance.choice(by_state[state])
            of_round = self._ids_of_round(award["table_id"], award["round_id"])
            self._change("held-awards", of_round | {"decision": self.chance.choice(DECISIONS[state])})

    def stop(self, state: str = "payable") -> None:
        """Stop the payment of an award, as one person does; one that was released is not stopped again."""
        awards = self._awards(state)
        if awards:
            self.requests += 1
            award_id, body = self.chance.choice(awards)["award_id"], {"request_id": f"stop{self.requests}"}
            finance = self.world.person("Fiona", Role.FINANCE)
            self.world.put(f"/v1/awards/{award_id}/stop", body | {"reason": "in doubt"}, key=finance)

    def _awards(self, state: str) -> list[dict[str, Any]]:
        awards: list[dict[str, Any]] = self.world.get(f"/v1/awards?state={state}").ok()["items"]
        return awards

    def compensate(self) -> None:
        if self.cancelled:
            table_id, round_id = self.chance.choice(self.cancelled)
            live = [bet for bet in self.world.round(round_id, table_id)["bets"] if not bet["is_void"]]
            if live:
                compensation = {"bet_id": live[0]["bet_id"], "amount_minor": self.chance.choice([2500, -100])}
                compensation |= {"currency": live[0]["currency"], "document": "memo"}
                self._change("compensation", self._ids_of_round(table_id, round_id) | compensation)

    def decline(self) -> None:
        """Decide that nothing is due for a prize that was denied."""
        denied = self._denied()
        if denied:
            self._change("declined-compensation", self.chance.choice(denied))

    def compensate_denied(self) -> None:
        """Grant what was denied; perhaps in a round that was settled."""
        denied = self._denied()
        if denied:
            prize = self.chance.choice(denied)
            bets = self.world.round(prize["round_id"], prize["table_id"])["bets"]
            (currency,) = (booked["currency"] for booked in bets if booked["bet_id"] == prize["bet_id"])
            compensation = {"amount_minor": self.chance.choice([2500, 1234]), "currency": currency, "document": "memo"}
            self._change("compensation", prize | compensation)

    def _denied(self) -> list[dict[str, Any]]:
        """The bets whose prize was denied, and about which nobody has decided."""
        exceptions = self.world.get("/v1/exceptions?kind=prize-denied&acknowledged=false").ok()["items"]
        return [
            self._ids_of_round(exception["table_id"], exception["round_id"]) | {"bet_id": exception["facts"]["bet_id"]}
            for exception in exceptions
        ]

    def settle_statement(self) -> None:
        now = self.world.clock()
        paid = {"from": (now - timedelta(days=1)).isoformat(), "to": now.isoformat(), "reference": f"s{self.requests}"}
        paid |= {"jackpot_id": "j1", "casino_id": self.chance.choice(["c1", "c2"])}
        paid |= {"currency": self.chance.choice(["EUR", "GBP"]), "amount": self.chance.choice(["12.5", "-3.01"])}
        self._change("statement-settlement", paid)

    def publish(self) -> None:
        rates = {"GBP": "1.17", "SEK": "0.0873", "JPY": "0.0061"}
        currency = self.chance.choice(list(rates))
        self.world.publish(**rates | {currency: f"{rates[currency]}{self.chance.randint(1, 9)}"})

    def change_rules(self) -> None:
        settings: dict[str, Setting] = {"split.meter": self.chance.choice(["0.40", "0.45"])}
        self._change("rules", {"jackpot_id": "j1", "settings": settings})

    def wait(self) -> None:
        """Hours pass, and bets of before are rolled up."""
        rolling.roll_up(self.world.engine)
        self.world.clock.advance(timedelta(hours=self.chance.randint(1, 9)))

    def retire(self) -> None:
        """End jackpot j1, in favour of one that is opened for it."""
        self.world.open(jackpot_id="heir", base_amount="10", tables=("H1",))
        for table_id, round_id in self.open_rounds:
            self.world.put_cancellation(round_id=round_id, table_id=table_id)
        for table_id, round_id in self.settled:
            self._change("held-awards", self._ids_of_round(table_id, round_id) | {"decision": "approve"})
        self._change("prize-fund-true-up", {"jackpot_id": "j1"})
        self._change("retirement", {"jackpot_id": "j1", "to": "heir"}).ok()
        for award in self._awards("stopped")[::2]:
            self._change(
                "held-awards", self._ids_of_round(award["table_id"], award["round_id"]) | {"decision": "release"}
            )

    def _change(self, kind: str, payload: dict[str, Any]) -> Answer:
        self.requests += 1
        request_id = f"q{self.requests}"
        answer = self.world.ask(kind, payload, request_id=request_id)
        return self.world.approve(request_id) if answer.status == 201 else answer

    def _over(self, rounds: list[tuple[str, str]]) -> tuple[str, str]:
        return rounds.pop(self.chance.randrange(len(rounds)))

    @staticmethod
    def _ids_of_round(table_id: str, round_id: str) -> dict[str, Any]:
        return {"jackpot_id": "cyber" if table_id == "C1" else "j1", "table_id": table_id, "round_id": round_id}


def play_everything(world: World) -> None:
    """
    Have so much happen, on two days, that no section of any report is empty.

    An award of the second day is held, and a round of it is left open.
    """
    history = Play(world, 40)
    history.open()
    history.go_on(60)
    require_whole(world)
    for _ in range(4):
        history.settle_statement()
    world.clock.advance(timedelta(days=1))
    world.bet(bet("held", stake_minor=9999), round_id="held")
    world.settle(hand("1", FOUR_OF_A_KIND), round_id="held")
    world.bet(bet("left-open"), round_id="left-open")
    world.post_bets(bet("too-much", stake_minor=1_000_000), round_id="refused").problem(422, "stake-out-of-range")
    refused = world.get("/v1/exceptions").ok()["items"][0]["exception_id"]
    looked_into = {"request_id": "looked-into", "reason": "told the table"}
    acknowledging = f"/v1/exceptions/{refused}/acknowledgement"
    world.post(acknowledging, looked_into, key=world.person("Fay", Role.FINANCE)).ok(201)
    world.clock.advance(timedelta(hours=1))
