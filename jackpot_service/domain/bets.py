"""What a jackpot bet is, and which stakes a jackpot's rules take."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from jackpot_service.domain.errors import Flaw, Refused
from jackpot_service.domain.money import RateSheet, plain
from jackpot_service.domain.rules import JackpotRules


class Bet(NamedTuple):
    """
    One player's jackpot bet on one hand of a round; the stake in whole minor units of its currency.

    A tuple rather than a dataclass: batches hold thousands, and it is made four times as fast.
    """

    bet_id: str
    player_id: str
    hand: str
    currency: str
    stake_minor: int
    occurred_at: datetime | None = None

    @property
    def content(self) -> tuple[str, str, str, int]:
        """What must be equal for a repeated bet id to be a replay. The time is a remark, not content."""
        return self.player_id, self.hand, self.currency, self.stake_minor


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


def require_stakes(bets: Mapping[int, Bet], *, rules: JackpotRules, sheet: RateSheet) -> None:
    """
    Refuse a batch that holds a stake the rules do not take, naming every such bet.

    `bets` are keyed by their place in the batch as it was sent.

    Raises: NoRate for a currency that the sheet lacks; CurrencyNotAccepted; StakeOutOfRange.
    """
    if rules.token is not None:
        _require_currency(bets, base=rules.base)
        _require_token(bets, token=rules.token, sheet=sheet)
    elif rules.largest_stake is not None:
        _require_at_most(bets, largest_stake=rules.largest_stake, sheet=sheet)


def _require_currency(bets: Mapping[int, Bet], *, base: str) -> None:
    flaws = tuple(
        Flaw(
            f"/bets/{index}/currency", CurrencyNotAccepted.code, f"This jackpot takes {base} only, not {bet.currency}."
        )
        for index, bet in bets.items()
        if bet.currency != base
    )
    if flaws:
        message = f"This jackpot takes its token in {base} only."
        raise CurrencyNotAccepted(message, flaws=flaws, currency=base)


def _require_token(bets: Mapping[int, Bet], *, token: Decimal, sheet: RateSheet) -> None:
    flaws = tuple(
        Flaw(f"/bets/{index}/stake_minor", StakeOutOfRange.code, f"The token is {token} {bet.currency}.")
        for index, bet in bets.items()
        if sheet.base_value(bet.stake_minor, bet.currency) != token
    )
    if flaws:
        message = f"This jackpot takes exactly its token of {token} {sheet.base} on a hand."
        raise StakeOutOfRange(message, flaws=flaws, token=plain(token))


def _require_at_most(bets: Mapping[int, Bet], *, largest_stake: Decimal, sheet: RateSheet) -> None:
    used = {bet.currency for bet in bets.values()}
    largest_minor = {currency: sheet.rate(currency).most_minor_within(largest_stake) for currency in used}
    flaws = tuple(
        Flaw(
            f"/bets/{index}/stake_minor",
            StakeOutOfRange.code,
            f"The largest stake is worth {largest_stake} {sheet.base}: {largest_minor[bet.currency]} minor units "
            f"of {bet.currency}.",
        )
        for index, bet in bets.items()
        if bet.stake_minor > largest_minor[bet.currency]
    )
    if flaws:
        message = f"A stake may be worth at most {largest_stake} {sheet.base}."
        raise StakeOutOfRange(message, flaws=flaws, largest_stake=plain(largest_stake))


def require_hands(bets: Mapping[int, Bet], *, standing: Iterable[Bet], rules: JackpotRules) -> None:
    """
    Refuse a batch by which a player would hold two live bets on one hand, or bet on more hands than allowed.

    `bets` are keyed by their place in the batch as it was sent; `standing` are the round's live bets already booked,
    of at least the batch's players.

    Raises: HandLimit, naming the first bet of the batch that is too much for its player.
    """
    standing = tuple(standing)
    if not standing and len({bet.player_id for bet in bets.values()}) == len(bets):
        return  # The usual batch: one bet a player, none before.
    hands_of: dict[str, set[str]] = {}
    for bet in standing:
        hands_of.setdefault(bet.player_id, set()).add(bet.hand)
    for index, bet in bets.items():
        hands = hands_of.setdefault(bet.player_id, set())
        if bet.hand in hands:
            _too_many(index, f"Player {bet.player_id} already has a live bet on hand {bet.hand}.")
        hands.add(bet.hand)
        if len(hands) > rules.hands_per_player:
            _too_many(index, f"A player may bet on {rules.hands_per_player} hand(s) of a round.")


def _too_many(index: int, detail: str) -> None:
    raise HandLimit(detail, flaws=(Flaw(f"/bets/{index}/hand", HandLimit.code, detail),))
