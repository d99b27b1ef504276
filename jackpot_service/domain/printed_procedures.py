"""The rules of procedure, in sentences: order of rounds, rates, rounding, refunds, dead hands, errors, claims."""

from collections.abc import Iterator

from jackpot_service.domain.claims import ClaimPeriods
from jackpot_service.domain.languages import Words
from jackpot_service.domain.rules import DeadHand, JackpotRules


def winners(words: Words) -> tuple[str, ...]:
    """The rules for several winners that hold under each policy."""
    return (
        words.say("The order in which hands and bets are listed changes no amount."),
        words.say("A dealt royal flush with a bet on it ends the running jackpot; the next one starts."),
    )


def two_rounds(words: Words) -> tuple[str, ...]:
    """Which of two rounds takes the meter (domain decision 13)."""
    return (
        words.say("Two rounds never share a win: the round whose result the ledger books first takes the meter."),
        words.say("No clock of a table decides about that."),
        words.say(
            "The other round plays for the meter as it stands afterwards, with everything that was booked in between."
        ),
    )


def rates(rules: JackpotRules, words: Words) -> tuple[str, ...]:
    """Which rates a round keeps, and what a rate is."""
    return (
        words.say("A rate is the number of units of {base} for one unit of a currency.", base=rules.base),
        words.say("A round keeps the rate sheet that was in force when it was opened, whatever is published later."),
        words.say("An award is paid in the currency of its bet."),
        words.say(
            "The jackpot, its limit and its start in a currency other than {base} are for display.", base=rules.base
        ),
    )


def rounding(words: Words) -> tuple[str, ...]:
    """The one rounding (docs/decisions/exact-money.md)."""
    return (
        words.say("Amounts are rounded once, down to a payable unit; what is left stays in the jackpot."),
        words.say("An award that comes to less than one minor unit of its currency is not made."),
    )


def claims(periods: ClaimPeriods, words: Words) -> Iterator[str]:
    """How long a prize may be claimed, at each casino that has set a period (docs/decisions/claims.md)."""
    say, stated = words.say, {casino_id: days for casino_id, days in periods.items() if days is not None}
    if not stated:
        yield say("For the period in which a prize may be claimed, the casino's own rules hold.")
        return
    for casino_id, days in stated.items():
        yield say(
            "Period in which a prize may be claimed at casino {casino}, in days of 24 hours: {days}.",
            casino=casino_id,
            days=words.number(days),
        )
    if len(stated) < len(periods):
        yield say("At other casinos, the casino's own rules hold for that period.")
    yield say("The period begins when a prize becomes payable; a stop ends it, and the release begins it anew.")
    yield say("After it, a prize can still be paid until two people forfeit it.")


def refunds(words: Words) -> tuple[str, ...]:
    """Refunds at the original figures (docs/decisions/prizes.md)."""
    return (
        words.say("A bet can be made void until its round has ended, and is refunded."),
        words.say("A disconnected player's bet is void before betting is closed; after that it stands."),
        words.say("A refund gives back the stake and takes back its parts, at the split and the rate of the bet."),
        words.say("If the jackpot was won since, the running one is not lowered: the house bears its part."),
    )


def dead_hands(rules: JackpotRules, words: Words) -> tuple[str, ...]:
    """The consequences of a hand that does not count."""
    return (
        *_dead_hands(rules, words),
        words.say("A forfeited hand wins nothing, has no part in a share, and its bets are not refunded."),
        words.say(
            "Where the five cards of such a hand would have won, the ledger records the denied prize; two people "
            "decide whether it is compensated."
        ),
    )


def _dead_hands(rules: JackpotRules, words: Words) -> tuple[str, ...]:
    if rules.dead_hand is DeadHand.REFUND:
        return (
            words.say("Bets on a dead hand are refunded."),
            words.say("A hand with a wrong number of cards is dead: it wins nothing and has no part in a share."),
        )
    in_play = words.say("Bets on a dead hand are not refunded: they stay in play.")
    if rules.is_shared:
        return in_play, words.say(
            "A hand with a wrong number of cards is dead: it wins nothing itself; its bets share."
        )
    return in_play, words.say("A hand with a wrong number of cards is dead: it wins nothing.")


def cancellation(words: Words) -> tuple[str, ...]:
    """The consequences of a cancellation."""
    return (
        words.say("All bets of a cancelled round are refunded, and it pays no prize."),
        words.say("A settled round cannot be cancelled."),
        words.say(
            "If the stated cards of a hand would have won, the denied prize is recorded and decided by two people."
        ),
    )


def malfunction(words: Words) -> tuple[str, ...]:
    """How a settled round that was wrong is put right (docs/decisions/round-corrections.md)."""
    return (
        words.say("A settled round that was found wrong is corrected by two people: one requests, another approves."),
        words.say("It is judged anew, by its own rules, rates and meter; the first verdict stays on record."),
        words.say(
            "An award that is payable or waits is taken back; a paid one is deducted from the new award of its bet."
        ),
    )


def changes(words: Words) -> tuple[str, ...]:
    """When a new version applies (docs/decisions/jackpot-life.md)."""
    return (
        words.say("A new version of the rules takes two people and waits until the jackpot is won."),
        words.say("A round keeps the version under which it was opened."),
        words.say("Start, limit and approvals of awards are those in force when the round is settled."),
    )
