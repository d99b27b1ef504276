"""Exceptions as people read them: what a refused call asked for, or what there is to look into, name by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.pages import figures, shown_changes


def facts_shown(facts: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """List the facts of an exception; each bet of a call is one of them."""
    bets = facts.get("bets") or ()
    rest = {name: value for name, value in facts.items() if name != "bets" and value not in (None, [])}
    return [*shown_changes.requested(rest), *(_bet(bet) for bet in bets)]


def _bet(bet: Sequence[Any]) -> tuple[str, str]:
    """Write a bet of a call, which is kept as a list: id, player, hand, currency, stake in minor units, and more."""
    bet_id, player_id, hand, currency, stake_minor, *_ = bet
    known = CURRENCIES.get(currency)
    stake = str(stake_minor) if known is None else figures.in_units(stake_minor, known.exponent)
    return f"bet {bet_id}", f"{currency} {stake} of player {player_id} on hand {hand}"
