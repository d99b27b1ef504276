"""Which bets a jackpot's rules take: their currencies, their stakes, and how many hands of a player's."""

from collections.abc import Iterable
from decimal import Decimal

from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.errors import Flaw, Refused
from jackpot_service.domain.money import RateSheet, plain
from jackpot_service.domain.rules import JackpotRules


class StakeOutOfRange(Refused):
    """A stake beyond what the rules take."""

    code = "stake-out-of-range"
    title = "The stake is out of range"


class CurrencyNotAccepted(Refused):
    """The jackpot takes its token in its own currency only."""

    code = "currency-not-accepted"
    title = "The jackpot does not take this currency"


class HandLimit(Refused):
    """A player bets on more hands than the rules allow, or twice on one."""

    code = "hand-limit"
    title = "Too many hands"


def require_stakes(bets: Bets, *, rules: JackpotRules, sheet: RateSheet) -> None:
    """
    Refuse a batch that holds a stake the rules do not take, naming every such bet.

    Raises: NoRate for a currency that the sheet lacks; CurrencyNotAccepted; StakeOutOfRange.
    """
    if rules.token is not None:
        _require_currency(bets, base=rules.base)
        _require_token(bets, token=rules.token, sheet=sheet)
    elif rules.largest_stake is not None:
        _require_at_most(bets, largest_stake=rules.largest_stake, sheet=sheet)


def _require_currency(bets: Bets, *, base: str) -> None:
    flaws = tuple(
        Flaw(f"/bets/{place}/currency", CurrencyNotAccepted.code, f"This jackpot takes {base} only, not {currency}.")
        for place, currency in zip(bets.places, bets.currencies, strict=True)
        if currency != base
    )
    if flaws:
        message = f"This jackpot takes its token in {base} only."
        raise CurrencyNotAccepted(message, flaws=flaws, currency=base)


def _require_token(bets: Bets, *, token: Decimal, sheet: RateSheet) -> None:
    wrong = {stake for stake in set(bets.stakes_minor) if sheet.base_value(stake, sheet.base) != token}
    flaws = tuple(
        Flaw(f"/bets/{place}/stake_minor", StakeOutOfRange.code, f"The token is {token} {sheet.base}.")
        for place, stake in zip(bets.places, bets.stakes_minor, strict=True)
        if stake in wrong
    )
    if flaws:
        message = f"This jackpot takes exactly its token of {token} {sheet.base} on a hand."
        raise StakeOutOfRange(message, flaws=flaws, token=plain(token))


def _require_at_most(bets: Bets, *, largest_stake: Decimal, sheet: RateSheet) -> None:
    used = set(bets.currencies)
    largest_minor = {currency: sheet.rate(currency).most_minor_within(largest_stake) for currency in used}
    if max(bets.stakes_minor) <= min(largest_minor.values()):
        return  # The usual batch: what no currency minds.
    flaws = tuple(
        Flaw(
            f"/bets/{place}/stake_minor",
            StakeOutOfRange.code,
            f"The largest stake is worth {largest_stake} {sheet.base}: {largest_minor[currency]} minor units "
            f"of {currency}.",
        )
        for place, currency, stake in zip(bets.places, bets.currencies, bets.stakes_minor, strict=True)
        if stake > largest_minor[currency]
    )
    if flaws:
        message = f"A stake may be worth at most {largest_stake} {sheet.base}."
        raise StakeOutOfRange(message, flaws=flaws, largest_stake=plain(largest_stake))


def require_hands(bets: Bets, *, standing: Iterable[Bet], rules: JackpotRules) -> None:
    """
    Refuse a batch by which a player would hold two live bets on one hand, or bet on more hands than allowed.

    `standing` are the round's live bets already booked, of at least the batch's players.

    Raises: HandLimit, naming the first bet of the batch that is too much for its player.
    """
    standing = tuple(standing)
    if not standing and len(set(bets.player_ids)) == len(bets):
        return  # The usual batch: one bet a player, none before.
    hands_of: dict[str, set[str]] = {}
    for bet in standing:
        hands_of.setdefault(bet.player_id, set()).add(bet.hand)
    for place, player_id, hand in zip(bets.places, bets.player_ids, bets.hands, strict=True):
        hands = hands_of.setdefault(player_id, set())
        if hand in hands:
            _too_many(place, f"Player {player_id} already has a live bet on hand {hand}.")
        hands.add(hand)
        if len(hands) > rules.hands_per_player:
            _too_many(place, f"A player may bet on {rules.hands_per_player} hand(s) of a round.")


def _too_many(place: int, detail: str) -> None:
    raise HandLimit(detail, flaws=(Flaw(f"/bets/{place}/hand", HandLimit.code, detail),))
