"""Which bets a jackpot's rules take: their currencies, their stakes, and how many hands of a player's."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache, partial
from typing import Final, NamedTuple, NoReturn

from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.counting import counted
from jackpot_service.domain.errors import Fact, FieldError, LedgerError, Refused, raised_by
from jackpot_service.domain.money import Rate, RateSheet, plain
from jackpot_service.domain.rules import JackpotRules


class StakeOutOfRange(Refused, code="stake-out-of-range", title="The stake is out of range"):
    """A stake is beyond what the rules, or the limits of the table, take."""


class CurrencyNotAccepted(Refused, code="currency-not-accepted", title="The jackpot does not take this currency"):
    """The jackpot takes its token in its own currency only."""


class HandLimit(Refused, code="hand-limit", title="Too many hands"):
    """A player bets on more hands than the rules allow, or twice on one."""


class Taker(StrEnum):
    """The owner of bounds that a stake has to keep."""

    JACKPOT = "jackpot"
    TABLE = "table"


_OF: Final = {Taker.JACKPOT: "", Taker.TABLE: " of this table"}


class Bounds(NamedTuple):
    """
    The bounds that a stake has to keep, in the base currency: a token, or a least and a largest stake.

    `own` are the largest stakes of other currencies, each in its own.
    """

    taker: Taker
    token: Decimal | None
    least_stake: Decimal | None
    largest_stake: Decimal | None
    own: Mapping[str, Decimal]

    @classmethod
    def from_rules(cls, rules: JackpotRules) -> "Bounds":
        """Take those of a jackpot's rules."""
        return cls(Taker.JACKPOT, rules.token, rules.least_stake, rules.largest_stake, rules.largest_stakes)


def require_stakes(bets: Bets, *, rules: JackpotRules, sheet: RateSheet) -> None:
    """
    Refuse a batch that holds a stake the rules do not take, naming every bet that is wrong in the same way.

    Raises: NoRate for a currency that the sheet lacks; CurrencyNotAccepted; StakeOutOfRange.
    """
    for refusal in stake_refusals(bets, Bounds.from_rules(rules), sheet=sheet):
        raise refusal


def stake_refusals(bets: Bets, bounds: Bounds, *, sheet: RateSheet) -> Iterator[LedgerError]:
    """
    Find what refuses a batch for its stakes, one way of being wrong after another, each naming every such bet.

    These are NoRate for a currency that the sheet lacks, CurrencyNotAccepted and StakeOutOfRange. The currencies are
    right in all of the bets.
    """
    if bounds.token is not None:
        yield from raised_by(partial(_require_currency, bets, bounds, sheet))
    staked = bets.right_in("stake_minor")
    if not staked:
        return
    if bounds.token is not None:
        yield from raised_by(partial(_require_token, staked, bounds, sheet, bounds.token))
    elif bounds.largest_stake is not None:
        yield from raised_by(partial(_require_at_most, staked, bounds, sheet, bounds.largest_stake))
    if bounds.least_stake is not None:
        yield from raised_by(partial(_require_at_least, staked, bounds, sheet, bounds.least_stake))


def _require_currency(bets: Bets, bounds: Bounds, sheet: RateSheet) -> None:
    field_errors = tuple(
        FieldError(
            f"/bets/{place}/currency",
            CurrencyNotAccepted.code,
            f"This {bounds.taker} takes {sheet.base} only, not {currency}.",
        )
        for place, currency in zip(bets.places, bets.currencies, strict=True)
        if currency != sheet.base
    )
    if field_errors:
        message = f"This {bounds.taker} takes its token in {sheet.base} only."
        raise CurrencyNotAccepted(message, field_errors=field_errors, currency=sheet.base)


def _require_token(bets: Bets, bounds: Bounds, sheet: RateSheet, token: Decimal) -> None:
    """Hold each stake in the base currency against the token."""
    wrong = {stake for stake in set(bets.stakes_minor) if sheet.base_value(stake, sheet.base) != token}
    field_errors = tuple(
        FieldError(f"/bets/{place}/stake_minor", StakeOutOfRange.code, f"The token is {token} {sheet.base}.")
        for place, currency, stake in zip(bets.places, bets.currencies, bets.stakes_minor, strict=True)
        if stake in wrong and currency == sheet.base
    )
    if field_errors:
        message = f"This {bounds.taker} takes exactly its token of {token} {sheet.base} on a hand."
        raise StakeOutOfRange(message, field_errors=field_errors, token=plain(token))


def _require_at_most(bets: Bets, bounds: Bounds, sheet: RateSheet, largest_stake: Decimal) -> None:
    """Hold each stake against the largest in the base currency and, where there is one, its currency's own."""
    used = set(bets.currencies)
    largest_minor = {
        currency: largest_minor_of(sheet.rate(currency), largest_stake, bounds.own.get(currency)) for currency in used
    }
    if max(bets.stakes_minor) <= min(largest_minor.values()):
        return  # The usual batch: what no currency minds.
    beyond = {
        place: currency
        for place, currency, stake in zip(bets.places, bets.currencies, bets.stakes_minor, strict=True)
        if stake > largest_minor[currency]
    }
    if beyond:
        _refuse_beyond(beyond, largest_minor, bounds, sheet, largest_stake)


def _require_at_least(bets: Bets, bounds: Bounds, sheet: RateSheet, least_stake: Decimal) -> None:
    """Hold each stake against the least in the base currency."""
    least_minor = {currency: sheet.rate(currency).least_minor_within(least_stake) for currency in set(bets.currencies)}
    if min(bets.stakes_minor) >= max(least_minor.values()):
        return  # The usual batch, as above.
    bound = f"The least stake{_OF[bounds.taker]} is worth {plain(least_stake)} {sheet.base}"
    field_errors = tuple(
        FieldError(
            f"/bets/{place}/stake_minor",
            StakeOutOfRange.code,
            f"{bound}: {least_minor[currency]} minor units of {currency}.",
        )
        for place, currency, stake in zip(bets.places, bets.currencies, bets.stakes_minor, strict=True)
        if stake < least_minor[currency]
    )
    if field_errors:
        message = f"{bound}."
        raise StakeOutOfRange(message, field_errors=field_errors, least_stake=plain(least_stake))


@lru_cache
def largest_minor_of(rate: Rate, largest_stake: Decimal, own: Decimal | None) -> int:
    """Count the minor units that a stake in a currency may have: within the largest stake, and the currency's own."""
    within = rate.most_minor_within(largest_stake)
    return within if own is None else min(within, rate.most_minor_of(own))


def _refuse_beyond(
    beyond: Mapping[int, str],
    largest_minor: Mapping[str, int],
    bounds: Bounds,
    sheet: RateSheet,
    largest_stake: Decimal,
) -> NoReturn:
    """Refuse stakes, given as the currency at each place, naming of a currency's two bounds the narrower."""
    used = sorted(set(beyond.values()))
    within = {currency: sheet.rate(currency).most_minor_within(largest_stake) for currency in used}
    narrower = {
        currency: plain(bounds.own[currency]) for currency in used if largest_minor[currency] < within[currency]
    }
    largest_by_currency = dict.fromkeys(
        used, f"The largest stake{_OF[bounds.taker]} is worth {plain(largest_stake)} {sheet.base}"
    )
    largest_by_currency |= {
        currency: f"The largest stake in {currency} is {most}" for currency, most in narrower.items()
    }
    field_errors = tuple(
        FieldError(
            f"/bets/{place}/stake_minor",
            StakeOutOfRange.code,
            f"{largest_by_currency[currency]}: {largest_minor[currency]} minor units of {currency}.",
        )
        for place, currency in beyond.items()
    )
    broken: dict[str, Fact] = {"largest_stakes": narrower} if narrower else {}
    if len(narrower) < len(used):
        broken["largest_stake"] = plain(largest_stake)
    raise StakeOutOfRange(
        " ".join(f"{bound}." for bound in sorted(set(largest_by_currency.values()))),
        field_errors=field_errors,
        **broken,
    )


def require_hands(bets: Bets, *, live: Iterable[Bet], rules: JackpotRules) -> None:
    """
    Refuse a batch by which a player would hold two live bets on one hand, or bet on more hands than allowed.

    `live` are the round's live bets already booked, of at least the batch's players.

    Raises: HandLimit, naming every bet of the batch that is too much for its player.
    """
    live = tuple(live)
    if not live and len(set(bets.player_ids)) == len(bets):
        return  # The usual batch: one bet a player, none before.
    hands_of: dict[str, set[str]] = {}
    for bet in live:
        hands_of.setdefault(bet.player_id, set()).add(bet.hand)
    too_many: list[tuple[int, str]] = []
    for place, player_id, hand in zip(bets.places, bets.player_ids, bets.hands, strict=True):
        hands = hands_of.setdefault(player_id, set())
        if hand and hand in hands:
            too_many.append((place, f"Player {player_id} already has a live bet on hand {hand}."))
        elif len(hands) >= rules.hands_per_player:
            too_many.append((place, f"A player may bet on {counted(rules.hands_per_player, 'hand')} of a round."))
        elif hand:
            hands.discard("")
            hands.add(hand)
        elif not hands:  # One that could not be read may be any other of the player's, so it counts only while alone.
            hands.add("")
    if too_many:
        raise HandLimit(
            too_many[0][1],
            field_errors=tuple(
                FieldError(f"/bets/{place}/hand", HandLimit.code, message) for place, message in too_many
            ),
        )
