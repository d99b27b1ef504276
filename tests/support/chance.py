"""Histories by chance: two jackpots, two casinos, three currencies, days that pass, and much of what two people do."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from jackpot_service.domain.principals import Role
from jackpot_service.domain.settings import Setting
from tests.support import rolling
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import NO_COLLISIONS, dead, forfeited, hand
from tests.support.payouts import held_from
from tests.support.story import Story
from tests.support.world import CYBER, World

TABLES: Final = {"T1": "j1", "T2": "j1", "C1": "j2"}
STAKES: Final = {"EUR": 100, "GBP": 250, "SEK": 1000}

SLOW: Final = timedelta(seconds=-4)


class Chance:
    """Plays and changes what it may; what the house refuses, stays undone."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.chance = random.Random(seed)
        self.story = Story(world, seed)
        self.numbers = 0
        self.open_rounds: list[tuple[str, str]] = []
        self.settled: list[tuple[str, str]] = []
        world.add_casino("c2")
        settings: dict[str, Setting] = {"reset_amount": "50", "payout_tiers": held_from("60"), "limit": "160"}
        world.open(base_amount="150", settings=settings, stripes=self.chance.randint(1, 4))
        world.add_table("T2", jackpot_id="j1", casino_id="c2")
        world.open(CYBER, jackpot_id="j2", tables=("C1",), settings={"payout_tiers": held_from("2000")}, stripes=2)

    def go_on(self, acts: int) -> None:
        often = [self.bet] * 5 + [self.settle] * 6 + [self.pass_time]
        seldom = [self.void, self.cancel, self.correct, self.pay, self.decide, self.adjust, self.recover, self.publish]
        for _ in range(acts):
            act: Callable[[], None] = self.chance.choice([*often, *seldom, self.change_rules])
            act()
            self.story.go_on()

    def name(self) -> str:
        self.numbers += 1
        return f"n{self.numbers}"

    def bet(self) -> None:
        """Bet on hands of a new round, or of one that is open."""
        table_id, round_id = self.chance.choice(
            [*self.open_rounds, *((free_table, self.name()) for free_table in TABLES)]
        )
        currencies = ["EUR"] if table_id == "C1" else list(STAKES)
        bets = [self._bet(table_id, self.chance.choice(currencies)) for _ in range(self.chance.randint(1, 3))]
        if self.world.post_bets(*bets, round_id=round_id, table_id=table_id).status == 201:
            self.open_rounds = list({*self.open_rounds, (table_id, round_id)})
            self.open_rounds.sort()

    def _bet(self, table_id: str, currency: str) -> Body:
        stake = 100 if table_id == "C1" else STAKES[currency] * self.chance.randint(1, 9)
        return bet(self.name(), hand=self.chance.choice("123"), currency=currency, stake_minor=stake)

    def settle(self) -> None:
        if self.open_rounds:
            table_id, round_id = self._pop()
            hands = self._hands()
            if self.world.put_result(*hands, round_id=round_id, table_id=table_id).status == 201:
                self.settled.append((table_id, round_id))

    def _hands(self) -> list[Body]:
        dealt = self.chance.sample([*NO_COLLISIONS, NO_COLLISIONS[-1]], 3)
        kinds = [self.chance.choice([hand, hand, hand, hand, dead, forfeited]) for _ in dealt]
        return [kind(name, cards) for name, cards, kind in zip("123", dealt, kinds, strict=True)]

    def void(self) -> None:
        if self.open_rounds:
            table_id, round_id = self.chance.choice(self.open_rounds)
            bets = [bet["bet_id"] for bet in self.world.round(round_id, table_id)["bets"]]
            self.world.void(self.chance.choice(bets), round_id=round_id, table_id=table_id)

    def cancel(self) -> None:
        if self.open_rounds:
            table_id, round_id = self._pop()
            self.world.cancel(round_id=round_id, table_id=table_id)

    def _pop(self) -> tuple[str, str]:
        return self.open_rounds.pop(self.chance.randrange(len(self.open_rounds)))

    def correct(self) -> None:
        if self.settled:
            table_id, round_id = self.chance.choice(self.settled)
            result = {"bet_count": self.world.live_bets(table_id, round_id), "hands": self._hands()}
            self._change("round-correction", {**self._ids_of_round(table_id, round_id), "result": result})

    def _ids_of_round(self, table_id: str, round_id: str) -> Body:
        return {"jackpot_id": TABLES[table_id], "table_id": table_id, "round_id": round_id}

    def pay(self) -> None:
        payable = self.world.get("/v1/awards?state=payable").ok()["items"]
        for award in payable[:2]:
            key = self.world.key(Role.FINANCE, casino_id="c2" if award["table_id"] == "T2" else "c1")
            self.world.put(
                f"/v1/awards/{award['award_id']}/payment", {"request_id": self.name(), "reference": "slip"}, key=key
            ).ok(201)

    def decide(self) -> None:
        """Decide about awards that are held; or reinstate rejected ones."""
        state, decisions = self.chance.choice([("held", ("approve", "reject")), ("rejected", ("reinstate",))])
        listed = self.world.get(f"/v1/awards?state={state}").ok()["items"]
        if listed:
            award = self.chance.choice(listed)
            decision = {"bets": [award["bet_id"]], "decision": self.chance.choice(decisions)}
            self._change("held-awards", {**self._ids_of_round(award["table_id"], award["round_id"]), **decision})

    def adjust(self) -> None:
        account = self.chance.choice(["meter", "reserve", "prize_fund"])
        amount = self.chance.choice(["3.5", "-0.75"])
        moved = {"account": account, "amount": amount, "document": "memo", "cause": "count-error"}
        self._change("adjustment", {"jackpot_id": "j1", **moved})

    def recover(self) -> None:
        self._change("seed-recovery", {"jackpot_id": "j1", "amount": "2"})

    def publish(self) -> None:
        self.world.publish(GBP=f"1.{self.chance.randint(10, 30)}", SEK="0.0873")

    def change_rules(self) -> None:
        """Change the split, or a prize, from the next cycle on."""
        settings = self.chance.choice([{"split.meter": "0.40"}, {"prizes.flush": "30"}, {"split.meter": "0.45"}])
        self._change("rules", {"jackpot_id": "j1", "settings": settings})

    def pass_time(self) -> None:
        """Hours and days; now and then another process answers, whose clock is slow. Bets are rolled up."""
        rolling.roll_up(self.world.engine)
        self.world.clock.advance(self.chance.choice([*(timedelta(hours=count) for count in (1, 7, 30, 400)), SLOW]))

    def _change(self, kind: str, payload: Body) -> None:
        request_id = self.name()
        if self.world.ask(kind, payload, request_id=request_id).status == 201:
            self.world.approve(request_id)
