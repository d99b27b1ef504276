"""The parts of a round as pages show them: hands with their cards, verdicts, and bets with all that came of them."""

from collections import defaultdict
from dataclasses import dataclass

from jackpot_service.domain import facts
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.bets import BookedBet
from jackpot_service.domain.outcomes import Hand, HandStatus
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rounds import RoundState
from jackpot_service.domain.rules import DeadHand
from jackpot_service.pages.cards import ShownCard, shown_cards
from jackpot_service.pages.figures import label
from jackpot_service.records.manual_payments import Compensation
from jackpot_service.reports.round_calculation import CalculatedAward, RoundCalculation, Verdict
from jackpot_service.reports.rounds import RoundRecord


@dataclass(frozen=True, slots=True)
class ShownHand:
    """A hand with its cards; `remark` says in a sentence why it is not judged, and is empty for a dealt one."""

    name: str
    status: HandStatus
    cards: tuple[ShownCard, ...]
    tier: Tier | None
    bet_count: int
    remark: str


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    """A verdict with its hands and its dealer's as they are drawn."""

    verdict: Verdict
    hands: tuple[ShownHand, ...]
    dealer: tuple[ShownCard, ...]


@dataclass(frozen=True, slots=True)
class ShownBet:
    """
    A bet with all awards that any verdict made for it, and what was granted for it by hand.

    `remark` says in a sentence why it plays no part, if so; `chip` says it in a word. `no_award` says in a sentence why
    a bet that played won nothing; it is empty for any other.
    """

    booked: BookedBet
    awards: tuple[CalculatedAward, ...]
    compensations: tuple[Compensation, ...]
    chip: str
    remark: str
    no_award: str

    @property
    def standing_awards(self) -> tuple[CalculatedAward, ...]:
        """Its awards that no correction took back."""
        return tuple(award for award in self.awards if award.award.state is not AwardState.REVERSED)


def shown_verdict(verdict: Verdict, record: RoundRecord) -> ShownVerdict:
    """Show a verdict of a round."""
    hands = tuple(_shown_hand(hand, verdict.tiers[hand.hand], record) for hand in verdict.hands)
    return ShownVerdict(verdict, hands, shown_cards(verdict.dealer))


def _shown_hand(hand: Hand, tier: Tier | None, record: RoundRecord) -> ShownHand:
    live = sum(1 for booked in record.bets if booked.bet.hand == hand.hand and not booked.is_void)
    return ShownHand(hand.hand, hand.status, shown_cards(hand.cards), tier, live, _remark(hand, record))


def _remark(hand: Hand, record: RoundRecord) -> str:
    match hand.status:
        case HandStatus.FORFEITED:
            return "The player forfeited this hand: its bets get neither award nor refund, and have no part in a share."
        case HandStatus.DEAD if record.rules.dead_hand is DeadHand.PLAY_ON:
            return "Dealt with a wrong number of cards: it wins nothing, but its bets still have a part in a share."
        case HandStatus.DEAD:
            return "Dealt with a wrong number of cards: its bets are given back."
    return ""


def hands_of_cancelled(record: RoundRecord) -> tuple[ShownHand, ...]:
    """Show the hands that had been dealt when a round was cancelled, if its server said which."""
    if record.view.round.state is not RoundState.CANCELLED:
        return ()
    return tuple(_shown_hand(hand, None, record) for hand in facts.hands_of(record.ending["hands"]))


def shown_bets(record: RoundRecord, calculation: RoundCalculation) -> tuple[ShownBet, ...]:
    """Show the bets of a record, which may be that of one player; the calculation is the whole round's."""
    awards: defaultdict[str, list[CalculatedAward]] = defaultdict(list)
    for verdict in calculation.verdicts:
        for award in verdict.awards:
            awards[award.award.bet_id].append(award)
    compensations: defaultdict[str, list[Compensation]] = defaultdict(list)
    for compensation in record.compensations:
        compensations[compensation.bet_id].append(compensation)
    shown = []
    for booked in record.bets:
        bet_id, in_force = booked.bet.bet_id, calculation.in_force
        chip, remark = _why_not(booked, record, in_force)
        won_nothing = in_force is not None and not chip and not awards[bet_id]
        no_award = _no_award(booked.bet.hand, in_force) if in_force is not None and won_nothing else ""
        shown.append(ShownBet(booked, tuple(awards[bet_id]), tuple(compensations[bet_id]), chip, remark, no_award))
    return tuple(shown)


def _no_award(hand: str, verdict: Verdict) -> str:
    """Say why nothing came of a bet that played: its hand won no tier, or no payable unit came of its prize."""
    tier, of_share = verdict.tiers[hand], verdict.share is not None
    if tier is None:
        also = ", and the share was too small to pay out" if of_share else ""
        return f"No award: the hand won no fixed prize{also}."
    prize = "share" if of_share else f"prize of its hand, {label(tier.value)},"
    return f"No award: the {prize} was too small to pay out."


def _why_not(booked: BookedBet, record: RoundRecord, verdict: Verdict | None) -> tuple[str, str]:
    """Say, in a word and in a sentence, why a bet plays no part in the round; both are empty if it does."""
    if booked.is_void:
        return "void", "This bet is void: its stake was given back, and it does not count."
    if record.view.round.state is RoundState.CANCELLED:
        return "given back", "The round was cancelled: the stake was given back."
    if verdict is None:
        return "", ""
    status = {hand.hand: hand.status for hand in verdict.hands}.get(booked.bet.hand)
    if booked.bet.bet_id in verdict.refunds:
        return "given back", "The hand was dead: the stake was given back."
    if status is HandStatus.FORFEITED:
        return "forfeited", "The hand was forfeited: neither award nor refund."
    return "", ""
