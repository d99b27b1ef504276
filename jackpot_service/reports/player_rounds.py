"""A round as one of its players may see it: the own bets, awards and refunds, and nothing of the others."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.records.corrections import BookedCorrection
from jackpot_service.reports.rounds import EntryPlace, RoundRecord

OF_THE_ROUND: Final = frozenset({EntryKind.CLOSING.value, EntryKind.RESULT.value, EntryKind.CANCELLATION.value})
"""The kinds of entry that are about all bets of a round."""

_WITH_BETS: Final = ("entitlements", "awards", "reversed")
"""The parts of a verdict that are lists of objects, each of one bet."""


def record_of_player(record: RoundRecord, player_id: str) -> RoundRecord:
    """
    Cut a record to one player's bets: what is of other bets is left out; cards, figures and rules are the round's.

    A player without a bet in the round has empty lists. Voids that came before their bets are nobody's, and left out.
    """
    bets = tuple(one for one in record.bets if one.bet.player_id == player_id)
    bet_ids = frozenset(one.bet.bet_id for one in bets)
    steps = frozenset({one.step for one in bets} | {one.void_step for one in bets})
    return replace(
        record,
        bets=bets,
        tombstones={},
        ending=_ending(record.ending, bet_ids),
        awards=tuple(one for one in record.awards if one.bet_id in bet_ids),
        corrections=tuple(_correction(one, bet_ids) for one in record.corrections),
        compensations=tuple(one for one in record.compensations if one.bet_id in bet_ids),
        entries=tuple(_entry(one, bet_ids) for one in record.entries if one.step in steps or one.kind in OF_THE_ROUND),
    )


def _ending(ending: Facts, bet_ids: Collection[str]) -> Facts:
    if "settlement" not in ending:
        return ending
    return {**ending, "settlement": _verdict(ending["settlement"], bet_ids)}


def _verdict(verdict: Facts, bet_ids: Collection[str]) -> Facts:
    of_bets = {
        name: [one for one in verdict[name] if one["bet_id"] in bet_ids] for name in _WITH_BETS if name in verdict
    }
    return {**verdict, **of_bets, "refunds": [bet_id for bet_id in verdict["refunds"] if bet_id in bet_ids]}


def _correction(correction: BookedCorrection, bet_ids: Collection[str]) -> BookedCorrection:
    act = replace(correction.act, after=_verdict(correction.act.after, bet_ids))
    return replace(correction, act=act, awards=tuple(one for one in correction.awards if one.bet_id in bet_ids))


def _entry(entry: EntryPlace, bet_ids: Collection[str]) -> EntryPlace:
    if entry.stated is None or entry.kind != EntryKind.VOIDS.value:
        return entry
    return replace(entry, stated=_voids(entry.stated, bet_ids))


def _voids(stated: Facts, bet_ids: Collection[str]) -> Mapping[str, Any]:
    return {
        **stated,
        "voided": [bet_id for bet_id in stated["voided"] if bet_id in bet_ids],
        "tombstones": [bet_id for bet_id in stated["tombstones"] if bet_id in bet_ids],
    }
