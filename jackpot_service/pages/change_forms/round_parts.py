"""Rounds and awards as forms show them: the hands of a round, and its bets and awards as choices."""

from collections.abc import Iterable, Mapping
from typing import Any

from jackpot_service.domain.money import RateSheet
from jackpot_service.pages.change_forms.fields import Choice
from jackpot_service.pages.figures import label, money
from jackpot_service.pages.shown_rounds import ShownHand, hands_of_cancelled, shown_verdict
from jackpot_service.records.verdicts import BookedAward
from jackpot_service.reports.round_calculation import Verdict, calculation_of
from jackpot_service.reports.rounds import RoundRecord


def payload_of(record: RoundRecord) -> dict[str, Any]:
    """The members of a payload that name a round."""
    round_ = record.view.round
    return {"jackpot_id": round_.jackpot_id, "table_id": round_.table_id, "round_id": round_.round_id}


def subject_of(record: RoundRecord) -> str:
    """Name a round in words."""
    round_ = record.view.round
    return f"round {round_.round_id} at table {round_.table_id}"


def in_force(record: RoundRecord) -> Verdict | None:
    """The verdict in force on a round; None where there is none."""
    return calculation_of(record).in_force


def round_shown(record: RoundRecord) -> Mapping[str, Any]:
    """The parts of a form that show a round: its record, and its hands as they were judged."""
    verdict = in_force(record)
    hands: tuple[ShownHand, ...] = hands_of_cancelled(record)
    dealer: tuple[Any, ...] = ()
    if verdict is not None:
        shown = shown_verdict(verdict, record)
        hands, dealer = shown.hands, shown.dealer
    return {"record": record, "hands": hands, "dealer": dealer}


def awards_of_round(record: RoundRecord) -> tuple[BookedAward, ...]:
    """All awards of a round, also those taken back: those of its settlement first, then those of its corrections."""
    return (*record.awards, *(award for correction in record.corrections for award in correction.awards))


def award_label(award: BookedAward, sheet: RateSheet) -> str:
    """Name an award in words: its player, prize, amount and state."""
    amount = money(award.amount_minor, sheet.rate(award.currency))
    return f"{amount}, {label(award.tier)}, player {award.player_id}, hand {award.hand}: {award.state.value}"


def bet_choices(record: RoundRecord, bet_ids: Iterable[str]) -> tuple[Choice, ...]:
    """Some bets of a round as choices: player, hand and stake."""
    chosen = frozenset(bet_ids)
    return tuple(
        Choice(
            bet.bet_id,
            f"player {bet.player_id}, hand {bet.hand}, {money(bet.stake_minor, record.sheet.rate(bet.currency))}: "
            f"bet {bet.bet_id}",
        )
        for bet in (booked.bet for booked in record.bets)
        if bet.bet_id in chosen
    )
