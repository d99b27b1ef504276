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
    bets = tuple(booked_bet for booked_bet in record.bets if booked_bet.bet.player_id == player_id)
    bet_ids = frozenset(booked_bet.bet.bet_id for booked_bet in bets)
    steps = frozenset({booked_bet.step for booked_bet in bets} | {booked_bet.void_step for booked_bet in bets})
    return replace(
        record,
        bets=bets,
        tombstones={},
        ending=_ending(record.ending, bet_ids),
        awards=tuple(award for award in record.awards if award.bet_id in bet_ids),
        corrections=tuple(_correction(correction, bet_ids) for correction in record.corrections),
        compensations=tuple(compensation for compensation in record.compensations if compensation.bet_id in bet_ids),
        entries=tuple(
            _entry(entry, bet_ids) for entry in record.entries if entry.step in steps or entry.kind in OF_THE_ROUND
        ),
    )


def _ending(ending: Facts, bet_ids: Collection[str]) -> Facts:
    if "settlement" not in ending:
        return ending
    return {**ending, "settlement": _verdict(ending["settlement"], bet_ids)}


def _verdict(verdict: Facts, bet_ids: Collection[str]) -> Facts:
    of_bets = {
        name: [part for part in verdict[name] if part["bet_id"] in bet_ids] for name in _WITH_BETS if name in verdict
    }
    return {**verdict, **of_bets, "refunds": [bet_id for bet_id in verdict["refunds"] if bet_id in bet_ids]}


def _correction(correction: BookedCorrection, bet_ids: Collection[str]) -> BookedCorrection:
    act = replace(correction.act, after=_verdict(correction.act.after, bet_ids))
    return replace(correction, act=act, awards=tuple(award for award in correction.awards if award.bet_id in bet_ids))


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
