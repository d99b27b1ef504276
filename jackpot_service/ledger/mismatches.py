"""What can be wrong with the books, by name."""

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """A way in which the books are wrong. The codes are stable: alerts and runbooks name them."""

    # The books by themselves: entries, stripes, cycles.
    ENTRY_INEXACT = "entry-inexact"
    """An amount of an entry is not finite, has more than 18 decimals, or is 10^20 or more."""
    ENTRY_UNBALANCED = "entry-unbalanced"
    """An entry's postings of one movement do not sum to zero in some currency."""
    SEQ_GAP = "seq-gap"
    """A stripe's entries are not numbered 1, 2, 3 and so on."""
    CHAIN_BROKEN = "chain-broken"
    """An entry's head is not the hash of the head before it and of its digest."""
    BOOKED_AT_FALLS = "booked-at-falls"
    """An entry is dated before the one that stands before it on its stripe."""
    BOOKED_BEFORE_RECEIVED = "booked-before-received"
    """An entry is dated before its request came in."""
    STRIPE_MISSING = "stripe-missing"
    """A book's stripes are not numbered from 0 without a gap, or entries stand on a stripe that is not there."""
    STRIPE_END = "stripe-end"
    """A stripe's seq, head or time is not that of its last entry."""
    STRIPE_POOLS = "stripe-pools"
    """A stripe's pools are not the sum of its postings."""
    STRIPE_ACCEPTING = "stripe-accepting"
    """A stripe takes no bets, and no entry says that its jackpot was suspended."""
    STRIPE_ADDITION = "stripe-addition"
    """A stripe came neither with the jackpot's opening nor by an entry that added it."""
    TRIAL_BALANCE = "trial-balance"
    """The balances of all accounts of a book do not sum to zero in some currency."""
    RESERVE_NEGATIVE = "reserve-negative"
    """The reserve, which only ever gives back what was put in, is below zero."""
    CYCLE_GAP = "cycle-gap"
    """A jackpot's cycles are not numbered 1, 2, 3 and so on."""
    CYCLE_CUT = "cycle-cut"
    """A cycle's cut does not end with the entry that opened it, or names positions that do not exist."""
    CUTS_CROSS = "cuts-cross"
    """A cut lies before the cut of the cycle before it on some stripe, or opens a cycle that was open already."""
    CUT_RESERVE = "cut-reserve"
    """The reserve was not empty right after a hit, which turns all of it into meter."""

    # What entries recorded, and what is recorded without one.
    BOOK_UNKNOWN = "book-unknown"
    """Rows belong to a jackpot that does not exist."""
    ROUND_MISSING = "round-missing"
    """Rows belong to a round that does not exist."""
    ENTRY_KIND = "entry-kind"
    """An entry's kind is unknown, or does not belong where it stands."""
    ENTRY_DIGEST = "entry-digest"
    """The rows that an entry wrote are not those that its digest covers: changed, removed or added."""
    ENTRY_POSTINGS = "entry-postings"
    """An entry's postings are not those that its bets, refunds or awards make."""
    ENTRY_UNDERIVABLE = "entry-underivable"
    """What an entry should have booked cannot be derived from the rows that are there."""
    DOCUMENT_WITHOUT_ENTRY = "document-without-entry"
    """A row was written by no entry of the kind that writes such rows."""

    ACT_EFFECTS = "act-effects"
    """An act says that it booked an entry which is not there."""

    # Rounds and bets.
    ROUND_TABLE = "round-table"
    """A round's table is unknown, or belongs to another casino or jackpot than the round."""
    ROUND_PINS = "round-pins"
    """A round is pinned to a rules version or a rate sheet that does not exist or was not yet in force."""
    ROUND_OPENED = "round-opened"
    """A round's opening time, or the time in its key, is not that of its first entry."""
    ROUND_STEPS = "round-steps"
    """A round's entries are not its steps 1, 2, 3 and so on, or it counts another number of them."""
    ROUND_STATE = "round-state"
    """A round's state is not what its entries make of it."""
    ROUND_ENDING = "round-ending"
    """A settled round lacks result or settlement, a cancelled one its cancellation, or a round has what it must not."""
    ROUND_BET_COUNT = "round-bet-count"
    """A round counts another number of live bets than it has."""
    ROUND_WEIGHT = "round-weight"
    """A round's weight is not the base value of its live bets."""
    BET_STAKE = "bet-stake"
    """A bet was accepted whose stake or currency the round's rules or rate sheet do not take."""
    BET_HANDS = "bet-hands"
    """A player held two live bets on one hand, or bet on more hands than the round's rules allow."""
    VOID_BET = "void-bet"
    """A void has no earlier bet, or a tombstone has a bet."""

    # Results, settlements, awards, cancellations.
    RESULT_COUNT = "result-count"
    """A round was settled whose result counts another number of bets than were live."""
    RESULT_HANDS = "result-hands"
    """A result's hands cannot come from one deck, or lack one that carries a bet."""
    SETTLEMENT_CYCLE = "settlement-cycle"
    """A settlement names another cycle than the one in which its entry stands."""
    SETTLEMENT_POSITIONS = "settlement-positions"
    """A settlement's positions do not end right before its entry, or lie outside its cycle."""
    SETTLEMENTS_CROSS = "settlements-cross"
    """Two settlements each lack what the other saw, or one overlooks an award from the meter before it."""
    SETTLEMENT_FIGURES = "settlement-figures"
    """A settlement's figures are not those that cards, bets, rules, rates and pools make."""
    AWARD_FIGURES = "award-figures"
    """A settlement's awards are not those that are due: one is missing, too many, or of another amount."""
    AWARD_ID = "award-id"
    """An award's id is not the one that its round, bet and tier make."""
    AWARD_STEPS = "award-steps"
    """An award's steps are not those that entries took: first payable or held, at the time of its settlement."""
    HIT_CYCLE = "hit-cycle"
    """A hit opened no cycle, a cycle was opened without a hit, or its cut is not the hit's position."""
    CANCELLATION_CYCLE = "cancellation-cycle"
    """A cancellation names another cycle than the one in which its entry stands."""

    # Corrections of settled rounds.
    CORRECTION_ACT = "correction-act"
    """A correction's row is not that of an act which corrected its round, or such an act has no row."""
    CORRECTION_FIGURES = "correction-figures"
    """A correction's figures, or the verdict that it says it replaced, are not those that the round's rows make."""

    # Reference documents.
    JACKPOT_OPENING = "jackpot-opening"
    """A jackpot was not opened by the first entry of its stripe 0, or its first cycle is not that entry's."""
    JACKPOT_BASE = "jackpot-base"
    """A jackpot's base currency is not that of its rules."""
    RULES_DOCUMENT = "rules-document"
    """A rules version cannot be read, or says something that rules do not say."""
    RULES_MISSING = "rules-missing"
    """A cycle was opened under a rules version that does not exist."""
    TABLE_BINDING = "table-binding"
    """A table belongs to a casino or a jackpot that does not exist."""
    KEY_BINDING = "key-binding"
    """A key is bound to a casino or a table that does not exist."""
    KEY_REVOCATION = "key-revocation"
    """A key is revoked, and no entry of that time says so."""
    SHEET_RATES = "sheet-rates"
    """A rate sheet has no rates or lacks its base currency, or rates have no sheet."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing that is wrong: its code, the book (a jackpot's id, or `-`), where in it, and what was found."""

    code: Code
    book: str
    place: str
    detail: str

    def __str__(self) -> str:
        return f"{self.code}: {self.book}, {self.place}: {self.detail}"
