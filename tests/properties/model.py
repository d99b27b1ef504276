"""
The jackpot ledger in plain Python: fractions and dicts, no database, no rounding but the one at payout.

Stated again from the rulebooks and the decisions, not from the service: of its code this uses only the values of the
rules (parts, prizes, policy, amounts) and the name of a five-card hand. Amounts are in units of the base currency
unless a name says otherwise. A refusal is raised as `Refusal` with the code that the service should answer.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

from jackpot_service.domain.cards import Category, category_of
from jackpot_service.domain.prizes import FixedAmount, MeterPart
from jackpot_service.domain.rules import FundedBy, JackpotRules, Policy

EXPONENTS = {"EUR": 2, "GBP": 2, "SEK": 2, "JPY": 0}
BASE = "EUR"


class Refusal(Exception):
    """The call is refused, with this code, and nothing has changed."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Stake:
    """A bet as it is sent: what must be equal for the same id to be a replay."""

    bet_id: str
    player: str
    hand: str
    currency: str
    stake_minor: int


@dataclass(frozen=True)
class Deal:
    """A hand of a result: dealt with its cards, or dead or forfeited."""

    hand: str
    status: str
    cards: frozenset[str]


@dataclass
class BookedStake:
    """A bet as it is booked: the cycle that counted it, and whether it is void since."""

    stake: Stake
    cycle: int
    is_void: bool = False


@dataclass(frozen=True)
class Prize:
    """An award: in minor units of its currency, its cost, and whether it is held."""

    amount_minor: int
    currency: str
    cost: Fraction
    funded_by: str
    state: str


@dataclass(frozen=True)
class Verdict:
    """What a settlement says: awards by bet and tier, refunded bets, and the figures of the meter."""

    awards: Mapping[tuple[str, str], Prize]
    entitlements: Mapping[tuple[str, str], Fraction]
    refunds: tuple[str, ...]
    cycle: int
    cycle_after: int
    meter_before: Fraction
    meter_after: Fraction
    reserve_after: Fraction
    prize_fund_after: Fraction
    weight: Fraction
    overflow: Fraction
    carried: Fraction | None
    house_seed: Fraction


@dataclass
class Round:
    """One round: open, settled or cancelled, with the rates that were in force when it was first seen."""

    rates: Mapping[str, Fraction]
    casino: str
    state: str = "open"
    booked: dict[str, BookedStake] = field(default_factory=dict)
    tombstones: set[str] = field(default_factory=set)
    result: tuple[int, frozenset[Deal]] | None = None
    verdict: Verdict | None = None
    reason: str | None = None
    refunds: tuple[str, ...] = ()
    ended_in: int | None = None

    def live(self) -> list[BookedStake]:
        return [stake_ for _, stake_ in sorted(self.booked.items()) if not stake_.is_void]

    def value(self, stake: Stake) -> Fraction:
        return self.value_of(stake.stake_minor, stake.currency)

    def value_of(self, amount_minor: int, currency: str) -> Fraction:
        return Fraction(amount_minor, 10 ** EXPONENTS[currency]) * self.rates[currency]

    def weight(self) -> Fraction:
        return sum((self.value(bet.stake) for bet in self.live()), Fraction(0))


@dataclass(frozen=True)
class Winner:
    """A bet on a dealt hand that wins, and what it wins."""

    stake: Stake
    tier: str
    claim: Fraction
    """What it is entitled to, were it alone."""


class Jackpot:
    """One jackpot with its books."""

    def __init__(self, rules: JackpotRules, *, base_amount: Fraction, rates: Mapping[str, Fraction]) -> None:
        self.rules = rules
        self.rates = {BASE: Fraction(1), **rates}
        self.cycle = 1
        self.accounts: defaultdict[tuple[str, str], Fraction] = defaultdict(Fraction)
        self.rounds: dict[tuple[str, str], Round] = {}
        self.move("house:seed", "pool:meter:house", base_amount)

    # The books.

    def put(self, account: str, amount: Fraction, currency: str = BASE) -> None:
        self.accounts[account, currency] += amount

    def move(self, source: str, target: str, amount: Fraction) -> None:
        self.put(source, -amount)
        self.put(target, amount)

    def pool(self, name: str) -> Fraction:
        return self.accounts[f"pool:{name}", BASE]

    @property
    def booked_meter(self) -> Fraction:
        return self.pool("meter:players") + self.pool("meter:house")

    @property
    def on_offer(self) -> Fraction:
        limit = self.rules.limit
        offered = max(self.booked_meter, Fraction(0))
        return offered if limit is None else min(offered, Fraction(limit))

    def _casino_gets(self, round_: Round, currency: str, amount_minor: int) -> Fraction:
        """Credit a casino (or, negative, charge it) in the bet's currency; returns what that is worth."""
        amount = Fraction(amount_minor, 10 ** EXPONENTS[currency])
        value = round_.value_of(amount_minor, currency)
        self.put(f"casino:{round_.casino}", amount, currency)
        if currency != BASE:
            self.put(f"fx:{currency}", -amount, currency)
            self.put(f"fx:{BASE}", value)
        return value

    def _split(self, round_: Round, stake: Stake, sign: int, *, cycle_is_over: bool = False) -> None:
        value = -self._casino_gets(round_, stake.currency, -sign * stake.stake_minor)
        split = self.rules.split
        meter, reserve = value * Fraction(split.meter), value * Fraction(split.reserve)
        prize_fund = value * Fraction(split.prize_fund)
        if cycle_is_over:
            self.put("house:adjustments", meter + reserve)
        else:
            self.put("pool:meter:players", meter)
            self.put("pool:reserve", reserve)
        self.put("pool:prize_fund", prize_fund)
        self.put("house:margin", value - meter - reserve - prize_fund)

    def _refund(self, round_: Round, refunded: BookedStake) -> None:
        self._split(round_, refunded.stake, -1, cycle_is_over=refunded.cycle < self.cycle)

    # What table servers do.

    def publish(self, rates: Mapping[str, Fraction]) -> None:
        self.rates = {BASE: Fraction(1), **rates}

    def _round(self, casino: str) -> Round:
        return Round(rates=self.rates, casino=casino)

    def bet(self, key: tuple[str, str], casino: str, stakes: Sequence[Stake]) -> tuple[int, int, frozenset[str]]:
        """Take a batch; returns how many were booked, how many replayed, and which are void."""
        if len({stake.bet_id for stake in stakes}) < len(stakes):
            raise Refusal("duplicate-bet")
        round_ = self.rounds.get(key) or self._round(casino)
        known = {bet_id: booked_bet.stake for bet_id, booked_bet in round_.booked.items()}
        if any(known.get(stake.bet_id, stake) != stake for stake in stakes):
            raise Refusal("bet-conflict")
        void = {stake.bet_id for stake in stakes if stake.bet_id in round_.tombstones}
        void |= {stake.bet_id for stake in stakes if stake.bet_id in known and round_.booked[stake.bet_id].is_void}
        new = [stake for stake in stakes if stake.bet_id not in known and stake.bet_id not in round_.tombstones]
        if new:
            self._require_open(round_)
            self._require_acceptable(round_, new)
            self.rounds[key] = round_
            for stake in new:
                self._split(round_, stake, 1)
                round_.booked[stake.bet_id] = BookedStake(stake, self.cycle)
        return len(new), len(stakes) - len(new) - len(void), frozenset(void)

    def _require_open(self, round_: Round) -> None:
        if round_.state != "open":
            raise Refusal(f"round-{round_.state}")

    def _require_acceptable(self, round_: Round, new: Sequence[Stake]) -> None:
        rules = self.rules
        if any(stake.currency not in round_.rates for stake in new):
            raise Refusal("no-rate")
        if rules.token is not None:
            if any(stake.currency != BASE for stake in new):
                raise Refusal("currency-not-accepted")
            if any(round_.value(stake) != Fraction(rules.token) for stake in new):
                raise Refusal("stake-out-of-range")
        elif any(round_.value(stake) > Fraction(rules.largest_stake or 0) for stake in new):
            raise Refusal("stake-out-of-range")
        own = {currency: Fraction(most) * 10 ** EXPONENTS[currency] for currency, most in rules.largest_stakes.items()}
        if any(stake.stake_minor > own.get(stake.currency, stake.stake_minor) for stake in new):
            raise Refusal("stake-out-of-range")
        places = [(bet.stake.player, bet.stake.hand) for bet in round_.live()]
        places += [(stake.player, stake.hand) for stake in new]
        hands_of = Counter(player for player, _ in set(places))
        if len(set(places)) < len(places) or max(hands_of.values()) > rules.hands_per_player:
            raise Refusal("hand-limit")

    def void(self, key: tuple[str, str], casino: str, bet_ids: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Void bets; returns those that are booked and those that are not."""
        round_ = self.rounds.get(key) or self._round(casino)
        fresh = [
            bet_id
            for bet_id in bet_ids
            if bet_id not in round_.tombstones and not (bet_id in round_.booked and round_.booked[bet_id].is_void)
        ]
        if fresh:
            self._require_open(round_)
            self.rounds[key] = round_
        for bet_id in fresh:
            if bet_id in round_.booked:
                self._refund(round_, round_.booked[bet_id])
                round_.booked[bet_id].is_void = True
            else:
                round_.tombstones.add(bet_id)
        voided = frozenset(bet_id for bet_id in bet_ids if bet_id in round_.booked)
        return voided, frozenset(bet_ids) - voided

    def cancel(self, key: tuple[str, str], casino: str, reason: str) -> tuple[str, ...]:
        """Cancel a round; returns the refunded bets."""
        round_ = self.rounds.get(key) or self._round(casino)
        if round_.state == "cancelled":
            if round_.reason != reason:
                raise Refusal("cancellation-conflict")
            return round_.refunds
        self._require_open(round_)
        self.rounds[key] = round_
        for bet in round_.live():
            self._refund(round_, bet)
        round_.refunds = tuple(bet.stake.bet_id for bet in round_.live())
        round_.state, round_.reason, round_.ended_in = "cancelled", reason, self.cycle
        return round_.refunds

    def settle(self, key: tuple[str, str], casino: str, bet_count: int, deals: Iterable[Deal]) -> Verdict:
        """Settle a round by its result."""
        result = (bet_count, frozenset(deals))
        round_ = self.rounds.get(key) or self._round(casino)
        if round_.state == "settled" and round_.verdict is not None:
            if round_.result != result:
                raise Refusal("result-conflict")
            return round_.verdict
        self._require_open(round_)
        if bet_count != len(round_.live()):
            raise Refusal("bet-count-mismatch")
        hands = {deal.hand: deal for deal in result[1]}
        if any(bet.stake.hand not in hands for bet in round_.live()):
            raise Refusal("hand-missing")
        self.rounds[key] = round_
        round_.state, round_.result, round_.ended_in = "settled", result, self.cycle
        round_.verdict = self._judge(round_, hands)
        return round_.verdict

    # A verdict: refunds of dead hands, fixed prizes, awards from the meter, refill.

    def _judge(self, round_: Round, hands: Mapping[str, Deal]) -> Verdict:
        cycle = self.cycle
        plays_on = self.rules.dead_hand == "play-on"
        dead = [bet for bet in round_.live() if hands[bet.stake.hand].status == "dead" and not plays_on]
        for refunded in dead:
            self._refund(round_, refunded)
        dealt = [bet.stake for bet in round_.live() if hands[bet.stake.hand].status == "dealt"]
        sharing = {"dealt", "dead"} if plays_on else {"dealt"}
        in_play = [bet.stake for bet in round_.live() if hands[bet.stake.hand].status in sharing]
        weight = sum(map(round_.value, in_play), Fraction(0))
        meter, booked = self.on_offer, self.booked_meter
        winners = self._winners(round_, dealt, hands, meter)
        royals = [winner for winner in winners if winner.tier == Category.ROYAL_FLUSH]
        entitled = self._entitled(winners, meter)
        fixed, owned = self._due(round_, winners, in_play, entitled, meter=meter, weight=weight)
        is_from_meter = bool(royals) or (self.rules.fixed_prizes_from is FundedBy.METER and bool(winners))
        fixed = self._paid(round_, fixed, {"pool:prize_fund": None})
        if is_from_meter:
            self._fill()
        owned = self._paid(round_, owned, {"pool:meter:players": self.pool("meter:players"), "pool:meter:house": None})
        cost = sum((prize.cost for prize in owned.values()), Fraction(0))
        seed = self._refill(is_hit=bool(royals), is_paid=bool(cost))
        if royals:
            self.cycle += 1
        return Verdict(
            awards={**fixed, **owned},
            entitlements=entitled,
            refunds=tuple(refunded.stake.bet_id for refunded in dead),
            cycle=cycle,
            cycle_after=self.cycle,
            meter_before=meter,
            meter_after=self.on_offer,
            reserve_after=self.pool("reserve"),
            prize_fund_after=self.pool("prize_fund"),
            weight=weight,
            overflow=max(booked, Fraction(0)) - meter if royals else Fraction(0),
            carried=meter - cost if royals else None,
            house_seed=seed,
        )

    def _winners(
        self, round_: Round, dealt: Sequence[Stake], hands: Mapping[str, Deal], meter: Fraction
    ) -> list[Winner]:
        prizes = {tier.value: prize for tier, prize in self.rules.prizes.items()}
        winners = []
        for stake in dealt:
            tier = category_of(sorted(hands[stake.hand].cards)).value  # type: ignore[arg-type]
            prize = prizes.get(tier)
            if isinstance(prize, MeterPart):
                winners.append(Winner(stake, tier, meter * Fraction(prize.fraction)))
            elif isinstance(prize, FixedAmount):
                winners.append(Winner(stake, tier, Fraction(prize.amount)))
            elif prize is not None:
                winners.append(Winner(stake, tier, round_.value(stake) * prize.times))
        return winners

    def _due(
        self,
        round_: Round,
        winners: Sequence[Winner],
        dealt: Sequence[Stake],
        entitled: Mapping[tuple[str, str], Fraction],
        *,
        meter: Fraction,
        weight: Fraction,
    ) -> tuple[dict[tuple[str, str], Prize], dict[tuple[str, str], Prize]]:
        """What is due from the prize fund, and what from the meter; before anything is held."""
        if self.rules.policy is not Policy.SHARED_BY_STAKE:
            prizes = [(winner.stake, winner.tier, entitled[winner.stake.bet_id, winner.tier]) for winner in winners]
            return {}, self._prizes(round_, prizes, "meter")
        royal = Category.ROYAL_FLUSH.value
        fixed = [(winner.stake, winner.tier, winner.claim) for winner in winners if winner.tier != royal]
        is_hit = any(winner.tier == royal for winner in winners)
        shares = [(stake, royal, round_.value(stake) * meter / weight) for stake in dealt] if is_hit else []
        return self._prizes(round_, fixed, "prize_fund"), self._prizes(round_, shares, "meter")

    def _entitled(self, winners: Sequence[Winner], meter: Fraction) -> dict[tuple[str, str], Fraction]:
        """What each winner is entitled to of the meter, where a hand owns its prize."""
        if self.rules.policy is Policy.SHARED_BY_STAKE:
            return {}
        places = [(winner.stake.bet_id, winner.tier) for winner in winners]
        return dict(zip(places, self._scaled(winners, meter), strict=True))

    def _scaled(self, winners: Sequence[Winner], meter: Fraction) -> list[Fraction]:
        """Apply the policy for several winners."""
        claims = [winner.claim for winner in winners]
        royals = [winner.tier == Category.ROYAL_FLUSH for winner in winners]
        if self.rules.policy is Policy.MINOR_FIRST:
            minor = [Fraction(0) if royal else claim for royal, claim in zip(royals, claims, strict=True)]
            minor = _at_most(meter, minor)
            left = meter - sum(minor)
            return [left / sum(royals) if royal else claim for royal, claim in zip(royals, minor, strict=True)]
        if self.rules.policy is Policy.EQUAL_SHARE:
            winners_of = Counter(winner.tier for winner in winners)
            claims = [winner.claim / winners_of[winner.tier] for winner in winners]
        return _at_most(meter, claims)

    def _prizes(
        self, round_: Round, won: Iterable[tuple[Stake, str, Fraction]], funded_by: str
    ) -> dict[tuple[str, str], Prize]:
        """Round what is due down to payable minor units, and leave out what is nothing then."""
        prizes = {}
        for stake, tier, amount in won:
            amount_minor = floor(amount / round_.value_of(1, stake.currency))
            if amount_minor:
                cost = round_.value_of(amount_minor, stake.currency)
                prizes[stake.bet_id, tier] = Prize(amount_minor, stake.currency, cost, funded_by, "payable")
        return prizes

    def _paid(
        self, round_: Round, prizes: Mapping[tuple[str, str], Prize], sources: Mapping[str, Fraction | None]
    ) -> dict[tuple[str, str], Prize]:
        """Take the prizes from the sources in their order (None: all the rest), and pay or hold them."""
        cost = left = sum((prize.cost for prize in prizes.values()), Fraction(0))
        for account, most in sources.items():
            taken = left if most is None else min(left, max(most, Fraction(0)))
            self.put(account, -taken)
            left -= taken
        if any(
            prize.cost >= Fraction(tier.from_amount) and (not tier.prizes or place[1] in tier.prizes)
            for place, prize in prizes.items()
            for tier in self.rules.payout_tiers
        ):
            self.put("awards:held", cost)
            return {
                place: Prize(prize.amount_minor, prize.currency, prize.cost, prize.funded_by, "held")
                for place, prize in prizes.items()
            }
        for prize in prizes.values():
            self._casino_gets(round_, prize.currency, prize.amount_minor)
        return dict(prizes)

    def _fill(self) -> None:
        """Players' money below zero is filled from the house's part, as far as that goes."""
        lacking = max(-self.pool("meter:players"), Fraction(0))
        self.move("pool:meter:house", "pool:meter:players", min(lacking, max(self.pool("meter:house"), Fraction(0))))

    def _refill(self, *, is_hit: bool, is_paid: bool) -> Fraction:
        """
        At a hit the reserve becomes meter; after any award from the meter the house tops it up to the reset amount.

        What a limit kept off the offer goes to the reserve and so comes back with it: only the totals are moved here.
        """
        if is_hit:
            self.move("pool:reserve", "pool:meter:players", self.pool("reserve"))
        if not is_hit and not is_paid:
            return Fraction(0)
        seed = max(Fraction(0), Fraction(self.rules.reset_amount) - self.booked_meter)
        self.move("house:seed", "pool:meter:house", seed)
        self._fill()
        return seed


def _at_most(meter: Fraction, claims: Sequence[Fraction]) -> list[Fraction]:
    claimed = sum(claims)
    return [claim * meter / claimed for claim in claims] if claimed > meter else list(claims)
