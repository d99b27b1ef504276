"""The bets of a round: one to forty players, each in the own currency, within the rules of the table."""

import random
from fractions import Fraction
from typing import Final

from jackpot_client import Bet
from jackpot_demo.scene import LARGEST_STAKE_EURO, MONEY, Table

MOST_BETTORS: Final = 40
_PLAYERS_PER_CASINO: Final = 250
_ODD_STAKES: Final = 0.2
"""How often a stake is any number of minor units rather than a usual one."""


def draw_bets(rng: random.Random, table: Table, *, hands: int, fewest_bettors: int = 1) -> tuple[Bet, ...]:
    """Draw the bets of one round: distinct players, each betting on one hand or on as many as the table allows."""
    bettors = max(fewest_bettors, int(rng.triangular(1, MOST_BETTORS + 1, 8)))
    players = rng.sample(range(_PLAYERS_PER_CASINO), min(MOST_BETTORS, bettors))
    return tuple(bet for player in players for bet in _draw_player(rng, table, player, hands=hands))


def one_of_each_currency(rng: random.Random, table: Table) -> tuple[Bet, ...]:
    """Draw one bet on hand `1` in each of the table's currencies, by players whom `draw_bets` never draws."""
    return tuple(
        Bet(
            player_id=f"{table.casino_id}-guest-{currency}",
            currency=currency,
            stake_minor=draw_stake_minor(rng, table, currency),
        )
        for currency in table.currencies
    )


def draw_stake_minor(rng: random.Random, table: Table, currency: str) -> int:
    """Draw a stake: the token where there is one, else mostly a usual stake and sometimes an odd one."""
    if table.token_minor is not None:
        return table.token_minor
    usual = MONEY[currency].usual_stakes_minor
    if rng.random() >= _ODD_STAKES:
        return rng.choice(usual)
    return rng.randint(usual[0], largest_stake_minor(currency) // 2)


def largest_stake_minor(currency: str) -> int:
    """
    Return the largest stake of the live jackpot in a currency's minor units, under the demo's own rate sheet.

    Odd stakes stay below half of it, so that a newer sheet does not make the demo's stakes too large.
    """
    money = MONEY[currency]
    return int(Fraction(LARGEST_STAKE_EURO) / Fraction(money.euro_rate) * 10**money.exponent)


def _draw_player(rng: random.Random, table: Table, player: int, *, hands: int) -> list[Bet]:
    currency = table.currencies[player % len(table.currencies)]
    chosen = rng.sample(range(1, hands + 1), rng.randint(1, min(hands, table.hands_per_player)))
    return [
        Bet(
            player_id=f"{table.casino_id}-{player:03}",
            currency=currency,
            stake_minor=draw_stake_minor(rng, table, currency),
            hand=str(hand),
        )
        for hand in chosen
    ]
