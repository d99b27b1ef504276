"""Bets that race against what ends their round's betting: the same rounds, bets and tables for each end."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import sqlalchemy

from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.settings import Setting
from tests.races import scene
from tests.races.processes import Racer, race

ROUNDS = tuple(f"r{number}" for number in range(15))
BETS_BEFORE = 3
LATE_BETS = 6


def prepare(engine: sqlalchemy.Engine, settings: Mapping[str, Setting] | None = None) -> None:
    """Open a jackpot, and bet on each round."""
    scene.open_live(engine, "live", tables=["T1"], settings=settings)
    for round_id in ROUNDS:
        scene.bet(engine, "T1", round_id, *(scene.euro(f"before{number}") for number in range(BETS_BEFORE)))


def race_against(end: Any, database_url: str, *, refused_as: type[LedgerError]) -> tuple[list[int], list[int]]:
    """
    Let two table servers bet while a third ends the betting of each round.

    Returns the counts that ended it, and those of the bets that were accepted. Once a round took a bet no more, it
    takes none.
    """
    betting = [partial(bet_on, who=who, refused_as=refused_as) for who in ("first", "second")]
    ended, first, second = race(database_url, end, *betting)
    assert all(row == sorted(row, reverse=True) for row in (*first, *second))
    return ended, [BETS_BEFORE + sum(first[index]) + sum(second[index]) for index in range(len(ROUNDS))]


def bet_on(racer: Racer, *, who: str, refused_as: type[LedgerError]) -> list[list[bool]]:
    """Bet one by one on each round as its betting ends; tells of each bet whether it was accepted."""
    accepted = []
    for round_id in ROUNDS:
        racer.meet()
        accepted.append([_is_accepted(racer, round_id, f"{who}{number}", refused_as) for number in range(LATE_BETS)])
    return accepted


def _is_accepted(racer: Racer, round_id: str, bet_id: str, refused_as: type[LedgerError]) -> bool:
    answer = scene.attempted(lambda: scene.bet(racer.engine, "T1", round_id, scene.euro(bet_id)))
    assert not isinstance(answer, LedgerError) or isinstance(answer, refused_as)
    return not isinstance(answer, LedgerError)
