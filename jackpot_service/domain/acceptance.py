"""Which bets a jackpot's rules take: their currencies, their stakes, and how many hands of a player's."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Final, NoReturn

from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.errors import Fact, FieldError, Refused
from jackpot_service.domain.money import Rate, RateSheet, plain
from jackpot_service.domain.rules import JackpotRules


class StakeOutOfRange(Refused, code="stake-out-of-range", title="The stake is out of range"):
    """A stake beyond what the rules take."""


class CurrencyNotAccepted(Refused, code="currency-not-accepted", title="The jackpot does not take this currency"):
    """The jackpot takes its token in its own currency only."""


class HandLimit(Refused, code="hand-limit", title="Too many hands"):
    """A player bets on more hands than the rules allow, or twice on one."""


class Taker(StrEnum):
    """The owner of bounds that a stake has to keep."""

    JACKPOT = "jackpot"
    TABLE = "table"


_OF: Final = {Taker.JACKPOT: "", Taker.TABLE: " of this table"}


def require_stakes(bets: Bets, *, rules: JackpotRules, sheet: RateSheet) -> None:
    """
    Refuse a batch that holds a stake the rules do not take, naming every such bet.

    Raises: NoRate for a currency that the sheet lacks; CurrencyNotAccepted; StakeOutOfRange.
    """
    bounds = rules.token, rules.least_stake, rules.largest_stake
    require_within(bets, *bounds, own=rules.largest_stakes, sheet=sheet, taker=Taker.JACKPOT)


def require_within(
    bets: Bets,
    token: Decimal | None,
    least_stake: Decimal | None,
    largest_stake: Decimal | None,
    *,
    own: Mapping[str, Decimal],
    sheet: RateSheet,
    taker: Taker,
) -> None:
    """
    Refuse a batch with a stake out of bounds: a token, or a range in the base currency and largest stakes of others.

    Raises: as `require_stakes`.
    """
    if token is not None:
        _require_currency(bets, base=sheet.base, taker=taker)
        _require_token(bets, token=token, sheet=sheet, taker=taker)
    elif largest_stake is not None:
        _require_at_most(bets, largest_stake=largest_stake, own=own, sheet=sheet, taker=taker)
    if least_stake is not None:
        _require_at_least(bets, least_stake, sheet=sheet, taker=taker)


def _require_currency(bets: Bets, *, base: str, taker: Taker) -> None:
    field_errors = tuple(
        FieldError(
            f"/bets/{place}/currency", CurrencyNotAccepted.code, f"This {taker} takes {base} only, not {currency}."
        )
        for place, currency in zip(bets.places, bets.currencies, strict=True)
        if currency != base
    )
    if field_errors:
        message = f"This {taker} takes its token in {base} only."
        raise CurrencyNotAccepted(message, field_errors=field_errors, currency=base)


def _require_token(bets: Bets, *, token: Decimal, sheet: RateSheet, taker: Taker) -> None:
    wrong = {stake for stake in set(bets.stakes_minor) if sheet.base_value(stake, sheet.base) != token}
    field_errors = tuple(
        FieldError(f"/bets/{place}/stake_minor", StakeOutOfRange.code, f"The token is {token} {sheet.base}.")
        for place, stake in zip(bets.places, bets.stakes_minor, strict=True)
        if stake in wrong
    )
    if field_errors:
        message = f"This {taker} takes exactly its token of {token} {sheet.base} on a hand."
        raise StakeOutOfRange(message, field_errors=field_errors, token=plain(token))


def _require_at_most(
    bets: Bets, *, largest_stake: Decimal, own: Mapping[str, Decimal], sheet: RateSheet, taker: Taker
) -> None:
    """Hold each stake against the largest in the base currency and, where there is one, its currency's own."""
    used = set(bets.currencies)
    largest_minor = {
        currency: largest_minor_of(sheet.rate(currency), largest_stake, own.get(currency)) for currency in used
    }
    if max(bets.stakes_minor) <= min(largest_minor.values()):
        return  # The usual batch: what no currency minds.
    beyond = {
        place: currency
        for place, currency, stake in zip(bets.places, bets.currencies, bets.stakes_minor, strict=True)
        if stake > largest_minor[currency]
    }
    if beyond:
        _refuse_beyond(beyond, largest_minor, largest_stake=largest_stake, own=own, sheet=sheet, taker=taker)


def _require_at_least(bets: Bets, least_stake: Decimal, *, sheet: RateSheet, taker: Taker) -> None:
    """Hold each stake against the least in the base currency."""
    least_minor = {currency: sheet.rate(currency).least_minor_within(least_stake) for currency in set(bets.currencies)}
    if min(bets.stakes_minor) >= max(least_minor.values()):
        return  # The usual batch, as above.
    said = f"The least stake{_OF[taker]} is worth {plain(least_stake)} {sheet.base}"
    field_errors = tuple(
        FieldError(
            f"/bets/{place}/stake_minor",
            StakeOutOfRange.code,
            f"{said}: {least_minor[currency]} minor units of {currency}.",
        )
        for place, currency, stake in zip(bets.places, bets.currencies, bets.stakes_minor, strict=True)
        if stake < least_minor[currency]
    )
    if field_errors:
        message = f"{said}."
        raise StakeOutOfRange(message, field_errors=field_errors, least_stake=plain(least_stake))


def largest_minor_of(rate: Rate, largest_stake: Decimal, own: Decimal | None) -> int:
    """Count the minor units that a stake in a currency may have: within the largest stake, and the currency's own."""
    within = rate.most_minor_within(largest_stake)
    return within if own is None else min(within, rate.most_minor_of(own))


def _refuse_beyond(
    beyond: Mapping[int, str],
    largest_minor: Mapping[str, int],
    *,
    largest_stake: Decimal,
    own: Mapping[str, Decimal],
    sheet: RateSheet,
    taker: Taker,
) -> NoReturn:
    """Refuse stakes, given as the currency at each place, naming of a currency's two bounds the narrower."""
    used = sorted(set(beyond.values()))
    within = {currency: sheet.rate(currency).most_minor_within(largest_stake) for currency in used}
    narrower = {currency: plain(own[currency]) for currency in used if largest_minor[currency] < within[currency]}
    said = dict.fromkeys(used, f"The largest stake{_OF[taker]} is worth {plain(largest_stake)} {sheet.base}")
    said |= {currency: f"The largest stake in {currency} is {most}" for currency, most in narrower.items()}
    field_errors = tuple(
        FieldError(
            f"/bets/{place}/stake_minor",
            StakeOutOfRange.code,
            f"{said[currency]}: {largest_minor[currency]} minor units of {currency}.",
        )
        for place, currency in beyond.items()
    )
    broken: dict[str, Fact] = {"largest_stakes": narrower} if narrower else {}
    if len(narrower) < len(used):
        broken["largest_stake"] = plain(largest_stake)
    raise StakeOutOfRange(
        " ".join(f"{bound}." for bound in sorted(set(said.values()))), field_errors=field_errors, **broken
    )


def require_hands(bets: Bets, *, live: Iterable[Bet], rules: JackpotRules) -> None:
    """
    Refuse a batch by which a player would hold two live bets on one hand, or bet on more hands than allowed.

    `live` are the round's live bets already booked, of at least the batch's players.

    Raises: HandLimit, naming the first bet of the batch that is too much for its player.
    """
    live = tuple(live)
    if not live and len(set(bets.player_ids)) == len(bets):
        return  # The usual batch: one bet a player, none before.
    hands_of: dict[str, set[str]] = {}
    for bet in live:
        hands_of.setdefault(bet.player_id, set()).add(bet.hand)
    for place, player_id, hand in zip(bets.places, bets.player_ids, bets.hands, strict=True):
        hands = hands_of.setdefault(player_id, set())
        if hand in hands:
            _too_many(place, f"Player {player_id} already has a live bet on hand {hand}.")
        hands.add(hand)
        if len(hands) > rules.hands_per_player:
            _too_many(place, f"A player may bet on {rules.hands_per_player} hand(s) of a round.")


def _too_many(place: int, detail: str) -> None:
    raise HandLimit(detail, field_errors=(FieldError(f"/bets/{place}/hand", HandLimit.code, detail),))
