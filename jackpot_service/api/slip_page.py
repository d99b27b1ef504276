"""The slip of an award as a page to print."""

from collections.abc import Iterator
from typing import Final

from jackpot_service.api import pages
from jackpot_service.domain.languages import Words
from jackpot_service.domain.money import POOL_DECIMALS, from_minor
from jackpot_service.domain.printed_rules import EVIDENCE_NAMES, tier_name
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import FundedBy
from jackpot_service.domain.statistics import rounded_down
from jackpot_service.reports.slips import Slip
from jackpot_service.usecases.print_slip import PRINTED_IN

TEMPLATE: Final = "slip.html"


def rendered(slip: Slip, words: Words, *, copy: int | None) -> str:
    """Write the page of a copy that was printed; without one it is shown anew, and a duplicate."""
    return pages.write(
        TEMPLATE,
        words,
        slip.made_of.rate,
        slip=slip,
        copy=copy,
        is_to_be_signed=slip.record.award.state in PRINTED_IN,
        title=words.say("Slip {number} of casino {casino}", number=slip.printed.number, casino=slip.record.casino_id),
        prize=tier_name(Tier(slip.record.award.tier), words),
        calculation=list(_calculation(slip, words)),
        payments=[payment.payment for payment in slip.record.payments if payment.reversed_by is None],
        evidence=list(_evidence(slip, words)),
    )


def _calculation(slip: Slip, words: Words) -> Iterator[tuple[str, str]]:
    """The figures in the order in which they are used: exact, and to 18 decimals where a fraction has more."""
    made_of, say = slip.made_of, words.say
    rate, base, basis, payoff = made_of.rate, made_of.base, made_of.basis, made_of.payoff
    stake_value = from_minor(made_of.stake_minor, rate.exponent) * rate.base_per_unit
    yield say("Stake"), words.money(made_of.stake_minor, rate)
    yield (
        say("Rate, by rate sheet {number}", number=made_of.round.rate_sheet),
        f"{words.number(rate.base_per_unit)} {base}",
    )
    yield say("Stake x rate"), f"{words.number(stake_value)} {base}"
    if slip.record.award.funded_by == FundedBy.METER:
        yield say("On offer, M"), f"{words.number(basis.meter)} {base}"
        yield say("Value of the round's stakes, W"), f"{words.number(basis.weight)} {base}"
    yield say("Formula"), payoff.formula
    exact = rounded_down(payoff.due, POOL_DECIMALS)
    yield say("Due, exactly"), f"{payoff.due} = {words.number(exact)} {rate.currency}"
    before_minor = made_of.paid_before_minor(slip.record.award.amount_minor)
    if before_minor:
        yield say("Paid by earlier verdicts"), words.money(before_minor, rate)


def _evidence(slip: Slip, words: Words) -> Iterator[tuple[str, list[str]]]:
    """Each kind that the payout tiers ask for, or that somebody recorded, with its statements."""
    kinds = dict.fromkeys([*slip.made_of.requirement.evidence, *(evidence.kind for evidence in slip.evidence)])
    for kind in kinds:
        yield (
            words.say(EVIDENCE_NAMES[kind]),
            [evidence.statement for evidence in slip.evidence if evidence.kind is kind],
        )
