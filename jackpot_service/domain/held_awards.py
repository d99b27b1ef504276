"""
Held awards decided: approved, their money goes to the casino; rejected, back to the accounts that paid it.

A rejected one can be reinstated: what it gave back is taken again, and goes to the casino. A stopped one is released,
which moves no money: it was the casino's since it was payable.

Which of the meter's two accounts paid for which award is nowhere written: a settlement takes one sum for all of them,
the players' money first. It is dealt out again in the order of bet id and tier, the players' money first
(docs/decisions/awards.md).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from jackpot_service.domain import posting_rules
from jackpot_service.domain.accounts import HOUSE_ADJUSTMENTS, METER_HOUSE, METER_PLAYERS, PRIZE_FUND, Account, Pools
from jackpot_service.domain.awards import AwardState, AwardStep
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import Movement, Postings
from jackpot_service.domain.money import ZERO, RateSheet, plain
from jackpot_service.domain.payments import Payment
from jackpot_service.domain.payout_tiers import Evidence, Requirement
from jackpot_service.domain.rules import FundedBy, JackpotRules
from jackpot_service.domain.settlement import fill, missing_to_reset

AwardKey = tuple[str, str, int]
"""An award of a round: its bet's id, its tier, and the verdict that made it (0 for the settlement)."""


class Decision(StrEnum):
    """A decision of two people about awards of a round."""

    APPROVE = "approve"
    REJECT = "reject"
    REINSTATE = "reinstate"
    RELEASE = "release"

    @property
    def state(self) -> AwardState:
        """Where the awards stand that it is about."""
        return _STATES[self]

    @property
    def step(self) -> AwardStep:
        """The step that they take by it."""
        return _STEPS[self]


_STATES = {
    Decision.APPROVE: AwardState.HELD,
    Decision.REJECT: AwardState.HELD,
    Decision.REINSTATE: AwardState.REJECTED,
    Decision.RELEASE: AwardState.STOPPED,
}

_STEPS = {
    Decision.APPROVE: AwardStep.APPROVED,
    Decision.REJECT: AwardStep.REJECTED,
    Decision.REINSTATE: AwardStep.REINSTATED,
    Decision.RELEASE: AwardStep.RELEASED,
}


@dataclass(frozen=True, slots=True)
class MadeAward:
    """An award as it was made, whatever became of it: minor units of its currency, and their cost in the base."""

    bet_id: str
    tier: str
    amount_minor: int
    currency: str
    cost: Decimal
    funded_by: str
    correction: int = 0

    @property
    def key(self) -> AwardKey:
        """Which of the round's awards it is."""
        return self.bet_id, self.tier, self.correction


def rest_of(award: MadeAward, *, paid_minor: int, sheet: RateSheet) -> MadeAward:
    """The unpaid rest of an award, and its cost."""
    paid = sheet.base_value(paid_minor, award.currency)
    return replace(award, amount_minor=award.amount_minor - paid_minor, cost=award.cost - paid)


_METER = frozenset({METER_PLAYERS, METER_HOUSE})

Origin = Mapping[Account, Decimal]
"""How much of an award's cost each account paid."""


def origins(awards: Iterable[MadeAward], booked: Postings) -> dict[AwardKey, Origin]:
    """Find which account paid how much of each of a round's awards, from the postings that its settlement booked."""
    players = -sum(
        (line.amount for line in booked.lines if (line.account, line.movement) == (METER_PLAYERS, Movement.AWARD)), ZERO
    )
    by_award: dict[AwardKey, Origin] = {}
    for award in sorted(awards, key=lambda award: award.key):
        if award.funded_by == FundedBy.PRIZE_FUND:
            by_award[award.key] = {PRIZE_FUND: award.cost}
            continue
        from_players = min(players, award.cost)
        players -= from_players
        parts = {METER_PLAYERS: from_players, METER_HOUSE: award.cost - from_players}
        by_award[award.key] = {account: amount for account, amount in parts.items() if amount}
    return by_award


def approval(awards: Sequence[MadeAward], *, casino_id: str, sheet: RateSheet) -> Postings:
    """Book held awards as payable: credited to the casino in their own currencies, at exactly what was held."""
    amounts_minor: defaultdict[str, int] = defaultdict(int)
    values: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    for award in awards:
        amounts_minor[award.currency] += award.amount_minor
        values[award.currency] += award.cost
    return posting_rules.for_release(dict(sorted(amounts_minor.items())), values, casino_id=casino_id, sheet=sheet)


def rejection(awards: Iterable[MadeAward], origin: Mapping[AwardKey, Origin], *, base: str) -> Postings:
    """Book held awards as rejected: each returns at its booked cost to the accounts that paid it."""
    return posting_rules.for_return(_summed(awards, origin), base=base)


def taken_again(origin: Mapping[AwardKey, Origin], *, won_since: Collection[AwardKey]) -> dict[AwardKey, Origin]:
    """
    Return the accounts that each reinstated award is paid from: those that its rejection gave it back to.

    Where the meter has been won since (`won_since`), it went to the winners: the house pays the meter's part.
    """
    return {key: _charged_to_the_house(parts) if key in won_since else parts for key, parts in origin.items()}


def _charged_to_the_house(parts: Origin) -> Origin:
    """An award's cost is the prize fund's or the meter's, never both."""
    return parts if PRIZE_FUND in parts else {HOUSE_ADJUSTMENTS: sum(parts.values(), ZERO)}


def reinstatement(
    awards: Sequence[MadeAward],
    origin: Mapping[AwardKey, Origin],
    pools: Pools,
    *,
    running: JackpotRules,
    casino_id: str,
    sheet: RateSheet,
) -> Postings:
    """
    Book rejected awards as payable after all, from `origin` at their booked cost; `taken_again` returns it.

    As after any award from the meter, the house pays in what is missing to the reset amount of the running cycle's
    rules, and the players' part is filled. It also pays in what its own part lacks, if that was recovered or won from
    meanwhile. `pools` must be read under the lock of all stripes.
    """
    taken = {account: -amount for account, amount in _summed(awards, origin).items()}
    postings = posting_rules.for_return(taken, base=sheet.base) + approval(awards, casino_id=casino_id, sheet=sheet)
    if _METER & taken.keys():
        after = pools + postings.pools()
        missing = max(missing_to_reset(after, running), -after.meter_house)
        postings += posting_rules.for_seed(missing, base=sheet.base)
    return postings + fill(pools + postings.pools(), base=sheet.base)


def _summed(awards: Iterable[MadeAward], origin: Mapping[AwardKey, Origin]) -> dict[Account, Decimal]:
    """How much of the awards' cost each account paid, by account."""
    summed: defaultdict[Account, Decimal] = defaultdict(lambda: ZERO)
    for award in awards:
        for account, amount in origin[award.key].items():
            summed[account] += amount
    return dict(sorted(summed.items()))


class RoundIds(Protocol):
    """An object that belongs to a round, or is one."""

    @property
    def jackpot_id(self) -> str: ...  # noqa: D102
    @property
    def table_id(self) -> str: ...  # noqa: D102
    @property
    def round_id(self) -> str: ...  # noqa: D102
    @property
    def round_key(self) -> int: ...  # noqa: D102
    @property
    def casino_id(self) -> str: ...  # noqa: D102


def facts_of_round(round_: RoundIds) -> Facts:
    """Which round it was."""
    return {
        "jackpot_id": round_.jackpot_id,
        "table_id": round_.table_id,
        "round_id": round_.round_id,
        "round_key": round_.round_key,
        "casino_id": round_.casino_id,
    }


def facts_of_step(
    round_: RoundIds, step: AwardStep, awards: Sequence[MadeAward], *, origin: Mapping[AwardKey, Origin] | None = None
) -> Facts:
    """
    A step that awards of a round took.

    `origin` names the accounts that rejected ones returned to, and those that reinstated ones are paid from.
    """
    ordered = sorted(awards, key=lambda award: award.key)
    return {
        "round": facts_of_round(round_),
        "step": step.value,
        "awards": [
            _facts_of_award(award) if origin is None else _facts_of_decided(award, step, origin) for award in ordered
        ],
    }


_ORIGINS = {AwardStep.REJECTED: "returned_to", AwardStep.REINSTATED: "taken_from"}


def facts_of_reinstatement(
    round_: RoundIds, awards: Sequence[MadeAward], origin: Mapping[AwardKey, Origin], *, positions: Sequence[int]
) -> Facts:
    """Awards of a round reinstated, and the positions at which the pools were seen."""
    return {**facts_of_step(round_, AwardStep.REINSTATED, awards, origin=origin), "positions": list(positions)}


def _facts_of_award(award: MadeAward) -> Facts:
    return {
        "bet_id": award.bet_id,
        "tier": award.tier,
        "amount_minor": award.amount_minor,
        "currency": award.currency,
        "cost": plain(award.cost),
        "correction": award.correction,
    }


def _facts_of_decided(award: MadeAward, step: AwardStep, origin: Mapping[AwardKey, Origin]) -> Facts:
    accounts = {account: plain(amount) for account, amount in origin[award.key].items()}
    return {**_facts_of_award(award), _ORIGINS[step]: accounts}


def facts_of_requirement(requirement: Requirement) -> Facts:
    """The demands that were met before awards became payable."""
    return {"approvals": requirement.approvals, "evidence": [kind.value for kind in requirement.evidence]}


def facts_of_evidence(round_: RoundIds, kind: Evidence, *, statement: str, sha256: str | None) -> Facts:
    """A person's evidence for the awards of a round; the SHA-256 is that of a file that is kept elsewhere."""
    return {"round": facts_of_round(round_), "evidence": kind.value, "statement": statement, "sha256": sha256}


def facts_of_withholding(round_: RoundIds, award: MadeAward, withheld_minor: int) -> Facts:
    """The amount that a payment of an award withheld; negative where its reversal gives that back."""
    return {"round": facts_of_round(round_), "awards": [_facts_of_award(award)], "withheld_minor": withheld_minor}


def facts_of_payment(round_: RoundIds, award: MadeAward, payment: Payment) -> Facts:
    """A payment of an award of a round, or the payment that is reversed."""
    return {**_round_and_award(round_, award), "payment": payment.facts}


def facts_of_slip(round_: RoundIds, award: MadeAward, *, number: int, copy: int) -> Facts:
    """A print of the slip of an award, by the number that its casino gives it; copy 1 is the original."""
    return {**_round_and_award(round_, award), "slip": {"number": number, "copy": copy}}


def _round_and_award(round_: RoundIds, award: MadeAward) -> Facts:
    return {"round": facts_of_round(round_), "awards": [_facts_of_award(award)]}
