"""
The costs and payments of a correction of a settled round, whatever the verdict before it was and has become.

The round is judged anew at the meter that was on offer when it was settled. The accounts that bear its awards get all
of that back and pay what is due now. The rest is the house's: what players keep that is not due, and what the running
meter can neither give nor get back.

Source: domain decision 25 (docs/decisions/round-corrections.md).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from jackpot_service.domain import posting_rules
from jackpot_service.domain.accounts import (
    METER_HOUSE,
    METER_PLAYERS,
    POOL_ACCOUNTS,
    PRIZE_FUND,
    RESERVE,
    Account,
    Pools,
)
from jackpot_service.domain.allocation import sums_by_currency, weight
from jackpot_service.domain.awards import CREDITED, UNPAID, AwardState
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.journal import Movement, Postings
from jackpot_service.domain.money import ZERO
from jackpot_service.domain.outcomes import Result, judge, refunded_hands
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import FundedBy
from jackpot_service.domain.settlement import (
    Award,
    Due,
    Entitlement,
    Terms,
    cost_of,
    due_at,
    fill,
    missing_to_reset,
    rebook,
    reverse,
)


@dataclass(frozen=True, slots=True)
class PastAward:
    """
    An award in the state it is in; `correction` numbers the verdict that made it, 0 for the settlement.

    `is_part_paid`: a part of it was paid, and the rest is to be paid, stopped or forfeited.
    """

    award: Award
    correction: int
    is_part_paid: bool = False


@dataclass(frozen=True, slots=True)
class VerdictInForce:
    """
    The last verdict on a round: its settlement, or its correction of this number.

    `meter` is M, what was on offer at the settlement. `awards` are all that the round's verdicts ever made.
    `charged_to` is what each pool account paid for this verdict's. `its_meter_runs` is whether the meter that the
    settlement left has not been won since.
    """

    number: int
    result: Result
    meter: Decimal
    awards: tuple[PastAward, ...]
    charged_to: Mapping[Account, Decimal]
    its_meter_runs: bool


def charged_to_pools(lines: Iterable[tuple[str, str, Decimal, str]]) -> dict[Account, Decimal]:
    """Sum what a settlement's postings (account, currency, amount, movement) took from each pool for its awards."""
    awarded = [line for line in lines if line[3] == Movement.AWARD]
    return {pool: -sum((line[2] for line in awarded if line[0] == pool), ZERO) for pool in POOL_ACCOUNTS}


class NothingToCorrect(Conflict, code="nothing-to-correct", title="The round has this result"):
    """The verdict in force was made from this very result."""


class AwardPartPaid(Conflict, code="award-part-paid", title="An award is paid in part"):
    """A correction takes back whole awards or none: the rest is paid first, or the payment reversed."""


class AwardForfeited(Conflict, code="award-forfeited", title="An award was forfeited"):
    """A correction judges the players' claims anew: where one was forfeited, the round stays as it is."""


class StopInForce(Conflict, code="award-stopped", title="The award is stopped"):
    """The right result would make a stopped award once more: two people have to release it first."""


@dataclass(frozen=True, slots=True)
class Correction:
    """
    Another verdict on a settled round, and what it costs and pays beyond those before it.

    `awards` are the new ones, `reversed_awards` those taken back, `refunds` the bets that are refunded under it.
    Of the bets, `found_dead` are refunded by it, and `found_alive` booked again.
    `charged_to` is what each pool account pays for all that is due under it.
    """

    number: int
    meter: Decimal
    weight: Decimal
    entitlements: tuple[Entitlement, ...]
    awards: tuple[Award, ...]
    reversed_awards: tuple[PastAward, ...]
    refunds: tuple[Bet, ...]
    found_dead: tuple[Bet, ...]
    found_alive: tuple[Bet, ...]
    charged_to: Mapping[Account, Decimal]
    house_seed: Decimal
    meter_after: Decimal
    reserve_after: Decimal
    prize_fund_after: Decimal
    postings: Postings


def correct(
    bets: Sequence[Bet],
    result: Result,
    in_force: VerdictInForce,
    *,
    terms: Terms,
    pools: Pools,
    won_since: frozenset[str],
) -> Correction:
    """
    Figure a correction from a round's live bets, its right result, the verdict in force, and the pools as they are.

    `pools` must be read under the lock of all stripes. `won_since` names the bets whose cycle has been won since they
    were booked. No cycle is opened, and nothing is held: as many people approve it as each award asks for.

    Raises: NothingToCorrect, HandMissing, StopInForce, AwardPartPaid, AwardForfeited.
    """
    _require_another_result(result, in_force)
    _require_none_forfeited(in_force)
    _require_none_part_paid(in_force)
    verdict = judge(bets, result.hands, terms.rules)
    due = due_at(verdict, meter=in_force.meter, terms=terms)
    awards, charged = _still_due(due, in_force, terms)
    _require_no_stop(awards, in_force)
    reversed_awards = tuple(past for past in in_force.awards if past.award.state in UNPAID)
    before, now = (refunded_hands(verdict.hands, terms.rules) for verdict in (in_force.result, result))
    found_dead = tuple(bet for bet in bets if bet.hand in now - before)
    found_alive = tuple(bet for bet in bets if bet.hand in before - now)
    postings = reverse(found_dead, terms=terms, won_since=won_since)
    postings += rebook(found_alive, terms=terms, won_since=won_since)
    back = _given_back(in_force)
    postings, taken = _taken(charged, postings, pools + _pools_of(back), in_force, terms)
    postings += _awards_moved(reversed_awards, back, awards, taken, terms)
    pays_from_meter = in_force.its_meter_runs and charged[FundedBy.METER]
    seed = missing_to_reset(pools + postings.pools(), terms.running) if pays_from_meter else ZERO
    postings += posting_rules.for_seed(seed, base=terms.sheet.base)
    postings += _relief(pools, postings, terms)
    postings += fill(pools + postings.pools(), base=terms.sheet.base)
    after = pools + postings.pools()
    return Correction(
        number=in_force.number + 1,
        meter=in_force.meter,
        weight=weight(verdict.in_play, terms.sheet),
        entitlements=due.claims,
        awards=awards,
        reversed_awards=reversed_awards,
        refunds=verdict.refunded,
        found_dead=found_dead,
        found_alive=found_alive,
        charged_to=taken,
        house_seed=seed,
        meter_after=after.on_offer(terms.running.limit),
        reserve_after=after.reserve,
        prize_fund_after=after.prize_fund,
        postings=postings,
    )


def _require_another_result(result: Result, in_force: VerdictInForce) -> None:
    if result.content == in_force.result.content:
        message = "The verdict in force was made from this very result."
        raise NothingToCorrect(message, number=in_force.number)


def _require_none_forfeited(in_force: VerdictInForce) -> None:
    forfeited = sorted(past.award.bet.bet_id for past in in_force.awards if past.award.state is AwardState.FORFEITED)
    if forfeited:
        message = f"The award of bet {', '.join(forfeited)} was forfeited: the round is not corrected any more."
        raise AwardForfeited(message, bet_ids=forfeited)


def _require_none_part_paid(in_force: VerdictInForce) -> None:
    part_paid = sorted(past.award.bet.bet_id for past in in_force.awards if past.is_part_paid)
    if part_paid:
        message = f"Awards of {', '.join(part_paid)} are paid in part: pay the rest, or reverse the payment."
        raise AwardPartPaid(message, bet_ids=part_paid)


def _require_no_stop(awards: Sequence[Award], in_force: VerdictInForce) -> None:
    """A correction for another reason must not make payable what somebody stopped."""
    stopped = {_place(past.award) for past in in_force.awards if past.award.state is AwardState.STOPPED}
    again = sorted(bet_id for bet_id, tier in stopped.intersection(map(_place, awards)))
    if again:
        message = f"Awards of {', '.join(again)} are stopped, and would be made again: release them first."
        raise StopInForce(message, bet_ids=again)


def _given_back(in_force: VerdictInForce) -> dict[Account, Decimal]:
    """
    The amounts that the pools get back of the verdict in force's cost; the meter only if it is still the same.

    Amounts of awards that were rejected since have come back already.
    """
    accounts = (PRIZE_FUND, METER_HOUSE, METER_PLAYERS) if in_force.its_meter_runs else (PRIZE_FUND,)
    returned = _returned(in_force)
    return {account: in_force.charged_to.get(account, ZERO) - returned[account] for account in accounts}


def _returned(in_force: VerdictInForce) -> Mapping[Account, Decimal]:
    """
    The amounts that rejected awards of the verdict in force returned to the accounts that paid them.

    The meter's payments are dealt out in the order of bet id and tier, the players' money first.
    """
    returned = dict.fromkeys(POOL_ACCOUNTS, ZERO)
    players = in_force.charged_to.get(METER_PLAYERS, ZERO)
    made = [past.award for past in in_force.awards if past.correction == in_force.number]
    for award in sorted(made, key=_place):
        of_players = min(players, award.cost) if award.funded_by is FundedBy.METER else ZERO
        players -= of_players
        if award.state is AwardState.REJECTED:
            rest = METER_HOUSE if award.funded_by is FundedBy.METER else PRIZE_FUND
            returned[METER_PLAYERS] += of_players
            returned[rest] += award.cost - of_players
    return returned


def _still_due(due: Due, in_force: VerdictInForce, terms: Terms) -> tuple[tuple[Award, ...], dict[FundedBy, Decimal]]:
    """
    The awards to make, and what each fund is charged for all that is due. A rejected award is not made again.

    A paid award stays paid and counts: a new one is of what is still missing to what its bet is due.
    """
    awards_before = [past.award for past in in_force.awards]
    rejected = {_place(award) for award in awards_before if award.state is AwardState.REJECTED}
    remaining = [award for award in (*due.from_prize_fund, *due.from_meter) if _place(award) not in rejected]
    missing = _less_paid(remaining, [award for award in awards_before if award.state is AwardState.PAID])
    awards = [
        replace(award, amount_minor=rest, cost=terms.sheet.base_value(rest, award.bet.currency))
        for award, rest in zip(remaining, missing, strict=True)
        if rest
    ]
    charged = {fund: cost_of(award for award in remaining if award.funded_by is fund) for fund in FundedBy}
    return tuple(sorted(awards, key=_place)), charged


def _place(award: Award) -> tuple[str, Tier]:
    return award.bet.bet_id, award.tier


def _less_paid(due: Sequence[Award], paid: Iterable[Award]) -> list[int]:
    """The unpaid rest of each award, in minor units: a bet's payments count for their tier first, then for others."""
    of_tier, of_bet = Counter[tuple[str, Tier]](), Counter[str]()
    for award in paid:
        of_tier[_place(award)] += award.amount_minor
        of_bet[award.bet.bet_id] += award.amount_minor
    missing = []
    for award in due:
        counted = min(award.amount_minor, of_tier[_place(award)])
        of_bet[award.bet.bet_id] -= counted
        missing.append(award.amount_minor - counted)
    for index, award in enumerate(due):
        counted = min(missing[index], of_bet[award.bet.bet_id])
        of_bet[award.bet.bet_id] -= counted
        missing[index] -= counted
    return missing


def _taken(
    charged: Mapping[FundedBy, Decimal], postings: Postings, pools: Pools, in_force: VerdictInForce, terms: Terms
) -> tuple[Postings, dict[Account, Decimal]]:
    """
    The amount that each pool account pays of what is due: the prize fund all of its own, the meter what it holds.

    The players' money before the house's, filled first if it is below zero (which adds to the postings). A meter that
    was begun since pays nothing.
    """
    taken = {PRIZE_FUND: charged[FundedBy.PRIZE_FUND]}
    cost = charged[FundedBy.METER]
    if in_force.its_meter_runs and cost:
        postings += fill(pools + postings.pools(), base=terms.sheet.base)
        held = pools + postings.pools()
        taken[METER_PLAYERS] = min(cost, max(held.meter_players, ZERO))
        taken[METER_HOUSE] = min(cost - taken[METER_PLAYERS], max(held.meter_house, ZERO))
    return postings, taken


def _awards_moved(
    reversed_awards: Iterable[PastAward],
    back: Mapping[Account, Decimal],
    awards: Iterable[Award],
    taken: Mapping[Account, Decimal],
    terms: Terms,
) -> Postings:
    returned = [past.award for past in reversed_awards]
    return posting_rules.for_correction(
        returned_minor=_minor([award for award in returned if award.state in CREDITED]),
        returned_held=cost_of(award for award in returned if award.state is AwardState.HELD),
        given_back=back,
        awarded_minor=_minor(awards),
        taken=taken,
        casino_id=terms.casino_id,
        sheet=terms.sheet,
    )


def _minor(awards: Iterable[Award]) -> dict[str, int]:
    return sums_by_currency((award.bet.currency, award.amount_minor) for award in awards)


def _relief(pools: Pools, postings: Postings, terms: Terms) -> Postings:
    """Let the house bear by how far the correction would bring the meter or the reserve below zero."""
    after = pools + postings.pools()
    missing = {METER_PLAYERS: _missing(pools.meter, after.meter), RESERVE: _missing(pools.reserve, after.reserve)}
    return posting_rules.joined(
        [posting_rules.for_relief(pool, amount, base=terms.sheet.base) for pool, amount in missing.items()]
    )


def _missing(before: Decimal, after: Decimal) -> Decimal:
    return max(ZERO, min(before, ZERO) - after)


def _pools_of(amounts: Mapping[Account, Decimal]) -> Pools:
    return Pools(*(amounts.get(account, ZERO) for account in POOL_ACCOUNTS))
