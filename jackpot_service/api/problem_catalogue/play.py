"""Problems of table servers: of bets, and of how rounds end."""

from collections.abc import Mapping
from typing import Final

from jackpot_service.api.problem_catalogue.rows import Member, Section, row, text, texts, texts_by_name, whole
from jackpot_service.domain.acceptance import CurrencyNotAccepted, HandLimit, StakeOutOfRange
from jackpot_service.domain.bets import BetConflict, DuplicateBet
from jackpot_service.domain.cards import CardRepeated
from jackpot_service.domain.currencies import UnknownCurrency
from jackpot_service.domain.lives import JackpotRetired
from jackpot_service.domain.money import NoRate
from jackpot_service.domain.occurrence import DatedBeforeBet, OccurredAhead
from jackpot_service.domain.outcomes import BadHands, HandMissing
from jackpot_service.domain.rounds import BettingClosed, GameNumberConflict, RoundCancelled, RoundSettled
from jackpot_service.ledger.journal import JackpotSuspended
from jackpot_service.records.immutable import NoJackpot, UnknownTable
from jackpot_service.records.rounds import UnknownRound
from jackpot_service.usecases.cancel_round import CancellationConflict
from jackpot_service.usecases.close_betting import ClosingConflict
from jackpot_service.usecases.settle_round import BetCountMismatch, ClosingRequired, ResultConflict
from jackpot_service.usecases.void_bets import ReasonRequired

ROUND: Final[Mapping[str, Member]] = {"table_id": text("The table."), "round_id": text("Its round.")}
JACKPOT: Final = text("The jackpot.")

BETS: Final = Section.of(
    "Bets",
    row(UnknownTable, "Check the table's id, and the casino and tables of the key.", table_id=text("The table.")),
    row(NoJackpot, "Send bets of tables that play for a jackpot only.", table_id=text("The table.")),
    row(
        DuplicateBet,
        "Give each bet of a batch an id of its own.",
        bet_ids=texts("The ids that stand more than once."),
    ),
    row(
        BetConflict,
        "Send the bet as it was booked, or give the other bet an id of its own: ids are never used again.",
        bet_ids=texts("The ids that were booked with other content."),
    ),
    row(
        GameNumberConflict,
        "Look whether two rounds got the same round id, and give each an id of its own.",
        **ROUND,
        game_number=text("The number that the round has."),
    ),
    row(RoundSettled, "Book nothing more in the round; finance decides about a late bet.", **ROUND),
    row(RoundCancelled, "Book nothing more in the round; its bets were refunded.", **ROUND),
    row(BettingClosed, "Give the stake back to the player, or take the bet for the next round.", **ROUND),
    row(ReasonRequired, "Send the voids again with a `reason`.", **ROUND),
    row(OccurredAhead, "Set the clock of the caller right; it may be two seconds ahead."),
    row(
        UnknownCurrency,
        "Use a code of ISO 4217 that is legal tender today.",
        currency=text("The code that was sent."),
    ),
    row(
        NoRate,
        "Refuse bets in this currency at the table, or have a rate for it published.",
        currency=text("The currency without a rate."),
        rate_sheet=whole("The number of the sheet that lacks it.", is_always=False),
    ),
    row(
        CurrencyNotAccepted,
        "Take the token in the jackpot's own currency.",
        currency=text("The currency that is taken."),
    ),
    row(
        StakeOutOfRange,
        "Keep to the stakes of the paytable, and to the limits of the table.",
        token=text("The one stake that is taken, in the base currency.", is_always=False),
        least_stake=text("The least stake, in the base currency.", is_always=False),
        largest_stake=text("The largest stake, in the base currency.", is_always=False),
        largest_stakes=texts_by_name("The largest stake of each currency that has its own.", is_always=False),
    ),
    row(HandLimit, "Take one bet of a player on a hand, and no more hands of a player than the rules allow."),
    row(
        JackpotSuspended,
        "Take no jackpot bets until the jackpot is resumed. Results, voids and cancellations still count.",
        jackpot_id=JACKPOT,
    ),
    row(JackpotRetired, "Use another jackpot: nothing more is done with this one.", jackpot_id=JACKPOT),
)

ENDS: Final = Section.of(
    "Ends of rounds",
    row(
        UnknownRound,
        "Check the ids of table and round. A cancellation may come first, any other end may not.",
        table_id=text("The table.", is_always=False),
        round_id=text("Its round."),
    ),
    row(
        BetCountMismatch,
        "Compare the bets with `bet_ids`, send or void those that differ, then send the end again.",
        **ROUND,
        bet_count=whole("How many live bets the ledger has."),
        bet_ids=texts("Their ids."),
    ),
    row(ClosingRequired, "Close the betting of the round, then send the result.", **ROUND),
    row(
        ClosingConflict,
        "Keep the first closing; settle by its count.",
        **ROUND,
        bet_count=whole("The count that the betting was closed with."),
    ),
    row(
        ResultConflict,
        "Keep the first result. Two people correct a wrong one (`round-correction`).",
        **ROUND,
        differing=texts("The members that differ: `bet_count`, `hands`, `dealer`."),
    ),
    row(CancellationConflict, "Keep the first cancellation.", **ROUND),
    row(
        DatedBeforeBet,
        "Send the time at which it happened: after the bets.",
        bet_ids=texts("The live bets that are later."),
    ),
    row(HandMissing, "Name every hand that carries a bet.", hands=texts("The hands that are missing.")),
    row(BadHands, "Name each hand once, with five cards if it was dealt."),
    row(CardRepeated, "Read the cards again: each is dealt once.", cards=texts("Each repeated card once.")),
)
