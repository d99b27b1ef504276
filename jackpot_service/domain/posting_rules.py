"""Which accounts each movement of money debits and credits. Every debit or credit of the service is decided here."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from jackpot_service.domain import accounts
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.allocation import Contribution
from jackpot_service.domain.journal import Movement, Posting, Postings
from jackpot_service.domain.money import ZERO, RateSheet, from_minor
from jackpot_service.domain.rules import FundedBy


def for_contribution(contribution: Contribution, *, casino_id: str, sheet: RateSheet) -> Postings:
    """Book stakes: the casino owes them, the pools and the house are credited their parts."""
    return _split_postings(contribution, Movement.CONTRIBUTION, casino_id=casino_id, sheet=sheet)


def for_reversal(contribution: Contribution, *, casino_id: str, sheet: RateSheet, cycle_is_over: bool) -> Postings:
    """
    Refund stakes at their original figures.

    Where the bets' cycle has been won since, the running pools are left alone: the meter's and the reserve's parts are
    charged to `house:adjustments`. Prize fund and house are reversed as usual.

    Source: domain decision 14 (docs/decisions/prizes.md).
    """
    booked = _split_postings(contribution, Movement.REVERSAL, casino_id=casino_id, sheet=sheet)
    return Postings(
        tuple(
            Posting(_charged(line.account, cycle_is_over=cycle_is_over), line.currency, -line.amount, line.movement)
            for line in booked.lines
        )
    )


def for_rebooking(contribution: Contribution, *, casino_id: str, sheet: RateSheet, cycle_is_over: bool) -> Postings:
    """
    Book stakes again whose refund was wrong.

    Where the bets' cycle has been won since, the meter's and the reserve's parts are the house's: it bore the refund.
    """
    booked = _split_postings(contribution, Movement.CONTRIBUTION, casino_id=casino_id, sheet=sheet)
    return Postings(
        tuple(line._replace(account=_charged(line.account, cycle_is_over=cycle_is_over)) for line in booked.lines)
    )


def _charged(account: Account, *, cycle_is_over: bool) -> Account:
    if cycle_is_over and account in {accounts.METER_PLAYERS, accounts.RESERVE}:
        return accounts.HOUSE_ADJUSTMENTS
    return account


def _split_postings(contribution: Contribution, movement: Movement, *, casino_id: str, sheet: RateSheet) -> Postings:
    parts = {
        accounts.METER_PLAYERS: contribution.meter,
        accounts.RESERVE: contribution.reserve,
        accounts.PRIZE_FUND: contribution.prize_fund,
        accounts.HOUSE_MARGIN: contribution.house,
    }
    owed = _casino_lines(
        {currency: -stake for currency, stake in contribution.stakes_minor.items()},
        {currency: -value for currency, value in contribution.values.items()},
        movement,
        casino_id=casino_id,
        sheet=sheet,
    )
    pooled = [Posting(account, sheet.base, part, movement) for account, part in parts.items() if part]
    return Postings((*owed, *pooled))


def _casino_lines(
    amounts_minor: Mapping[str, int],
    values: Mapping[str, Decimal],
    movement: Movement,
    *,
    casino_id: str,
    sheet: RateSheet,
) -> list[Posting]:
    """Credit a casino in each currency, the exchange accounts turning what is not base into its base value."""
    lines = []
    exchanged = ZERO
    for currency, amount_minor in amounts_minor.items():
        amount = from_minor(amount_minor, sheet.rate(currency).exponent)
        lines.append(Posting(accounts.casino(casino_id), currency, amount, movement))
        if currency != sheet.base:
            lines.append(Posting(accounts.exchange(currency), currency, -amount, movement))
            exchanged += values[currency]
    if exchanged:
        lines.append(Posting(accounts.exchange(sheet.base), sheet.base, exchanged, movement))
    return lines


def for_awards(
    paid_minor: Mapping[str, int],
    *,
    taken: Mapping[Account, Decimal],
    held: Decimal,
    casino_id: str,
    sheet: RateSheet,
) -> Postings:
    """
    Pay awards: `taken` from the pools at their cost, `paid_minor` credited to the casino per currency, `held` kept.

    The amounts taken must equal the base value of what is paid plus what is held, or the postings cannot be built.
    """
    values = {currency: sheet.base_value(amount, currency) for currency, amount in paid_minor.items()}
    lines = [Posting(account, sheet.base, -amount, Movement.AWARD) for account, amount in taken.items() if amount]
    if held:
        lines.append(Posting(accounts.AWARDS_HELD, sheet.base, held, Movement.AWARD))
    lines += _casino_lines(paid_minor, values, Movement.AWARD, casino_id=casino_id, sheet=sheet)
    return Postings(tuple(lines))


def for_correction(
    *,
    returned_minor: Mapping[str, int],
    returned_held: Decimal,
    given_back: Mapping[Account, Decimal],
    awarded_minor: Mapping[str, int],
    taken: Mapping[Account, Decimal],
    casino_id: str,
    sheet: RateSheet,
) -> Postings:
    """
    Take awards back and make others in their place; what the pools neither give nor get is the house's.

    `returned_minor` is taken from the casino per currency and `returned_held` from what is held; the pools get
    `given_back`. Then `taken` is taken from the pools, and `awarded_minor` credited to the casino. One line for
    `house:adjustments` balances it.

    Source: domain decision 25 (docs/decisions/round-corrections.md).
    """
    movement = Movement.CORRECTION
    lines = _casino_lines(
        {currency: -amount for currency, amount in returned_minor.items()},
        {currency: -sheet.base_value(amount, currency) for currency, amount in returned_minor.items()},
        movement,
        casino_id=casino_id,
        sheet=sheet,
    )
    if returned_held:
        lines.append(Posting(accounts.AWARDS_HELD, sheet.base, -returned_held, movement))
    lines += [Posting(account, sheet.base, amount, movement) for account, amount in given_back.items() if amount]
    lines += [Posting(account, sheet.base, -amount, movement) for account, amount in taken.items() if amount]
    values = {currency: sheet.base_value(amount, currency) for currency, amount in awarded_minor.items()}
    lines += _casino_lines(awarded_minor, values, movement, casino_id=casino_id, sheet=sheet)
    of_house = sum((line.amount for line in lines if line.currency == sheet.base), ZERO)
    if of_house:
        lines.append(Posting(accounts.HOUSE_ADJUSTMENTS, sheet.base, -of_house, movement))
    return Postings(tuple(lines))


def for_relief(account: Account, amount: Decimal, *, base: str) -> Postings:
    """Let the house bear what a correction would take from a pool that no longer holds it."""
    return moved(Movement.CORRECTION, accounts.HOUSE_ADJUSTMENTS, account, amount, base)


def moved(movement: Movement, source: Account, target: Account, amount: Decimal, base: str) -> Postings:
    """Move an amount between two accounts of one currency; nothing is booked for 0."""
    if not amount:
        return Postings()
    return Postings((Posting(source, base, -amount, movement), Posting(target, base, amount, movement)))


def for_seed(amount: Decimal, *, base: str) -> Postings:
    """Put the house's money into the meter: a base amount, or what is missing to the reset amount."""
    return moved(Movement.SEED, accounts.HOUSE_SEED, accounts.METER_HOUSE, amount, base)


def for_overflow(amount: Decimal, *, base: str) -> Postings:
    """Move the players' money that a limit kept off the offer to the reserve, at a hit."""
    return moved(Movement.OVERFLOW, accounts.METER_PLAYERS, accounts.RESERVE, amount, base)


def for_refill(amount: Decimal, *, base: str) -> Postings:
    """Start the next jackpot: the whole reserve becomes meter."""
    return moved(Movement.REFILL, accounts.RESERVE, accounts.METER_PLAYERS, amount, base)


def for_fill(amount: Decimal, *, base: str) -> Postings:
    """Lift the players' part of the meter, fallen below zero by late reversals, from the house's part."""
    return moved(Movement.FILL, accounts.METER_HOUSE, accounts.METER_PLAYERS, amount, base)


def for_adjustment(account: Account, amount: Decimal, *, base: str) -> Postings:
    """Correct a pool by a difference, which the house bears: what the pool gains the house gives."""
    return moved(Movement.ADJUSTMENT, accounts.HOUSE_ADJUSTMENTS, account, amount, base)


def for_recovery(amount: Decimal, *, base: str) -> Postings:
    """Give the house back money of its own that stands in the meter."""
    return moved(Movement.RECOVERY, accounts.METER_HOUSE, accounts.HOUSE_SEED, amount, base)


def for_true_up(amount: Decimal, *, base: str) -> Postings:
    """Move the prize fund by an amount, which the house bears, not as margin: margin stays turnover times its rate."""
    return moved(Movement.TRUE_UP, accounts.HOUSE_ADJUSTMENTS, accounts.PRIZE_FUND, amount, base)


def for_transfer(amounts: Mapping[Account, Decimal], *, request_id: str, base: str) -> Postings:
    """Put amounts into pools, or, negative, take them out, against the account of a transfer between two jackpots."""
    return joined(
        [
            moved(Movement.TRANSFER, accounts.transfer(request_id), pool, amount, base)
            for pool, amount in amounts.items()
        ]
    )


def joined(parts: Sequence[Postings]) -> Postings:
    """Put the postings of one entry together."""
    return Postings(tuple(line for part in parts for line in part.lines))


def for_release(
    amounts_minor: Mapping[str, int], values: Mapping[str, Decimal], *, casino_id: str, sheet: RateSheet
) -> Postings:
    """Pay held awards after all: `values` is what they cost in each currency, out of what was held for them."""
    return _paid_out(
        amounts_minor, values, Movement.RELEASE, source=accounts.AWARDS_HELD, casino_id=casino_id, sheet=sheet
    )


def for_return(returned: Mapping[Account, Decimal], *, base: str) -> Postings:
    """Give what was held for rejected awards back to the accounts that paid it."""
    parts = [
        moved(Movement.RETURN, accounts.AWARDS_HELD, account, amount, base) for account, amount in returned.items()
    ]
    return joined(parts)


def for_compensation(amount_minor: int, currency: str, *, casino_id: str, sheet: RateSheet) -> Postings:
    """Give a grant to the player of a cancelled round or a denied prize, through the casino. Raises: NoRate."""
    return _paid_out(
        {currency: amount_minor},
        {currency: sheet.base_value(amount_minor, currency)},
        Movement.COMPENSATION,
        source=accounts.HOUSE_ADJUSTMENTS,
        casino_id=casino_id,
        sheet=sheet,
    )


def returned_to(funded_by: str) -> Account:
    """The account that gets back a forfeited award which a pool paid: players had won it, so it is the players'."""
    return accounts.PRIZE_FUND if funded_by == FundedBy.PRIZE_FUND else accounts.METER_PLAYERS


def for_forfeiture(
    amount_minor: int, currency: str, *, returned_to: Account | None, casino_id: str, sheet: RateSheet
) -> Postings:
    """
    Take the unpaid rest of an award from its casino, and put it into a pool at its cost.

    Without a pool it goes to what the casino holds for the state, in the award's own currency.
    """
    movement = Movement.FORFEITURE
    if returned_to is None:
        amount = from_minor(amount_minor, sheet.rate(currency).exponent)
        return moved(movement, accounts.casino(casino_id), accounts.statutory(casino_id), amount, currency)
    cost = sheet.base_value(amount_minor, currency)
    lines = _casino_lines({currency: -amount_minor}, {currency: -cost}, movement, casino_id=casino_id, sheet=sheet)
    return Postings((*lines, Posting(returned_to, sheet.base, cost, movement)))


def for_statement(amount: Decimal, *, casino_id: str, currency: str) -> Postings:
    """Settle a casino's statement in its currency: what it paid comes in by the bank (negative: what it was paid)."""
    return moved(Movement.PAYMENT, accounts.bank(currency), accounts.casino(casino_id), amount, currency)


def for_withholding(amount_minor: int, currency: str, *, casino_id: str, sheet: RateSheet) -> Postings:
    """Move what a casino kept of a payment (negative: gives back) to its authority's account. Raises: NoRate."""
    amount = from_minor(amount_minor, sheet.rate(currency).exponent)
    return moved(Movement.WITHHOLDING, accounts.casino(casino_id), accounts.withheld(casino_id), amount, currency)


def _paid_out(
    amounts_minor: Mapping[str, int],
    values: Mapping[str, Decimal],
    movement: Movement,
    *,
    source: Account,
    casino_id: str,
    sheet: RateSheet,
) -> Postings:
    taken = Posting(source, sheet.base, -sum(values.values(), ZERO), movement)
    return Postings((taken, *_casino_lines(amounts_minor, values, movement, casino_id=casino_id, sheet=sheet)))
