"""
The meaning of a batch of bets: the first thing that refuses it, and everything that is wrong with any of its bets.

The order decides which code a refused batch is answered by. A caller who mends the batch sees all of it at once.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

from jackpot_service.domain import currencies, table_limits
from jackpot_service.domain.acceptance import Bounds, require_hands, stake_refusals
from jackpot_service.domain.bets import Bets, BookedBet, require_distinct, require_same
from jackpot_service.domain.errors import FieldError, LedgerError, in_order, raised_by
from jackpot_service.domain.money import NoRate, RateSheet
from jackpot_service.domain.occurrence import require_bets_not_ahead
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.domain.table_limits import SetLimits


class BatchTerms(NamedTuple):
    """The rules, the sheet and the limits that the bets of a batch have to keep, and the time at which it came."""

    rules: JackpotRules
    sheet: RateSheet
    limits: SetLimits | None
    now: datetime


def require_acceptable(new: Bets, booked: Sequence[BookedBet], terms: BatchTerms) -> None:
    """
    Require what the bets of a batch mean; `booked` are those of the round, of at least the batch's players.

    Raises: OccurredAhead, UnknownCurrency, NoRate, CurrencyNotAccepted, StakeOutOfRange, HandLimit, in this order; each
    names every bet that is wrong in the same way.
    """
    for refusal in _refusals(new, new, booked, terms):
        raise refusal


def refusals(
    bets: Bets,
    booked: Sequence[BookedBet],
    tombstones: Collection[str],
    terms: BatchTerms | None,
    *,
    opens_round: bool,
    suspension: LedgerError | None,
) -> Iterator[LedgerError]:
    """
    Find everything that refuses a batch for its bets, in the order in which each would.

    A batch whose round takes no more bets has no terms: of its bets, only the identity is looked at. `suspension` is
    what refuses every new bet now, if anything does.

    Of bets with wrong fields it finds what is true whatever those fields would have said. A bet without an id may be
    one that the round knows, unless the batch opens the round.
    """
    named = bets.right_in("bet_id")
    yield from raised_by(partial(require_distinct, named))
    yield from raised_by(partial(require_same, bets.completed_by(booked), booked))
    known = {booked_bet.bet.bet_id for booked_bet in booked}.union(tombstones)
    bets = bets if opens_round else named
    new = [index for index, bet_id in enumerate(bets.bet_ids) if bet_id not in known]
    if terms is not None and new:
        yield from _refusals(bets.picked(new), bets.picked(_first_of_each(bets, new)), booked, terms)
        if suspension is not None:
            yield suspension


def with_all(refusal: LedgerError, every_refusal: Sequence[LedgerError]) -> None:
    """
    Let the refusal of a batch name everything that was found, as errors of its own and as those that follow it.

    Its sentence stays what it was: finance keeps it without the errors.
    """
    further = tuple(error for error in every_refusal if (error.code, error.detail) != (refusal.code, refusal.detail))
    if further:
        refusal.field_errors, refusal.further = in_order(field_errors_of((refusal, *further))), further


def field_errors_of(every_refusal: Iterable[LedgerError]) -> Iterator[FieldError]:
    """Return the field errors of refusals; what names no place refuses all of the body, whose pointer is empty."""
    for refusal in every_refusal:
        yield from refusal.field_errors or (FieldError("", refusal.code, refusal.detail),)


def _refusals(new: Bets, once: Bets, booked: Sequence[BookedBet], terms: BatchTerms) -> Iterator[LedgerError]:
    """
    Find what refuses new bets, one thing after another, each as late as somebody asks.

    `once` are the same without those whose id stands in the batch before.
    """
    yield from raised_by(partial(require_bets_not_ahead, new.right_in("occurred_at"), now=terms.now))
    payable = new.right_in("currency")
    wrong = _wrong_currencies(payable, terms)
    yield from wrong.values()
    if wrong:
        payable = payable.picked([index for index, currency in enumerate(payable.currencies) if currency not in wrong])
    yield from _stake_refusals(payable, terms)
    live = [booked_bet.bet for booked_bet in booked if not booked_bet.is_void]
    yield from raised_by(partial(require_hands, once.right_in("bet_id", "player_id"), live=live, rules=terms.rules))


def _wrong_currencies(new: Bets, terms: BatchTerms) -> dict[str, LedgerError]:
    """Find the currencies that are no tender or have no rate, in their order, with the error of each."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, currency in zip(new.places, new.currencies, strict=True):
        places[currency].append(place)
    wrong: dict[str, LedgerError] = {}
    for currency in sorted(places):
        try:
            currencies.tender(currency, on=terms.now.date())
            terms.sheet.rate(currency)
        except (currencies.UnknownCurrency, NoRate) as error:
            error.field_errors = tuple(
                FieldError(f"/bets/{place}/currency", error.code, error.detail) for place in places[currency]
            )
            wrong[currency] = error.with_traceback(None)
    return wrong


def _stake_refusals(new: Bets, terms: BatchTerms) -> Iterator[LedgerError]:
    """Hold stakes against the jackpot's rules, then against the limits of the table."""
    yield from stake_refusals(new, Bounds.from_rules(terms.rules), sheet=terms.sheet)
    if terms.limits is not None:
        yield from stake_refusals(new, table_limits.bounds_of(terms.limits.limits), sheet=terms.sheet)


def _first_of_each(bets: Bets, chosen: Sequence[int]) -> Sequence[int]:
    """Choose of each bet id the first bet."""
    return sorted({bets.bet_ids[index]: index for index in reversed(chosen)}.values())
