"""The ways in which the books can be wrong, by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Code(StrEnum):
    """A way in which the books are wrong, and its meaning. The codes are stable: alerts and runbooks name them."""

    meaning: str

    def __new__(cls, code: str, meaning: str = "") -> Self:
        """Make a member of its code, and keep the meaning with it; a member is looked up by its code alone."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    # The books by themselves: entries, stripes, cycles.
    ENTRY_INEXACT = (
        "entry-inexact",
        "An amount of an entry is not finite, has more than 18 decimals, or is 10^20 or more.",
    )
    ENTRY_UNBALANCED = "entry-unbalanced", "An entry's postings of one movement do not sum to zero in some currency."
    SEQ_GAP = "seq-gap", "A stripe's entries are not numbered 1, 2, 3 and so on."
    CHAIN_BROKEN = "chain-broken", "An entry's head is not the hash of the head before it and of its digest."
    BOOKED_AT_FALLS = "booked-at-falls", "An entry is dated before the one that stands before it on its stripe."
    BOOKED_BEFORE_RECEIVED = "booked-before-received", "An entry is dated before its request came in."
    BOOKED_AHEAD = (
        "booked-ahead",
        "An entry or a stripe is dated ahead of the clock, or an entry later after its request than one may take.",
    )
    STRIPE_MISSING = (
        "stripe-missing",
        "A book's stripes are not numbered from 0 without a gap, or entries stand on a stripe that is not there.",
    )
    STRIPE_END = "stripe-end", "A stripe's seq, head or time is not that of its last entry."
    STRIPE_POOLS = "stripe-pools", "A stripe's pools are not the sum of its postings."
    STRIPE_ACCEPTING = (
        "stripe-accepting",
        "A stripe takes no bets though its jackpot is open, or takes them though it is suspended or retired.",
    )
    STRIPE_LIMITS = "stripe-limits", "A stripe names another version of its jackpot's table limits than the last."
    STRIPE_ADDITION = (
        "stripe-addition",
        "A stripe came neither with the jackpot's opening nor by an entry that added it.",
    )
    TRIAL_BALANCE = "trial-balance", "The balances of all accounts of a book do not sum to zero in some currency."
    RESERVE_NEGATIVE = "reserve-negative", "The reserve, which only ever gives back what it received, is below zero."
    CYCLE_GAP = "cycle-gap", "A jackpot's cycles are not numbered 1, 2, 3 and so on."
    CYCLE_CUT = (
        "cycle-cut",
        "A cycle's cut does not end with the entry that opened it, or names positions that do not exist.",
    )
    CUTS_CROSS = (
        "cuts-cross",
        "A cut lies before the cut of the cycle before it on some stripe, or opens a cycle that was open already.",
    )
    CUT_RESERVE = "cut-reserve", "The reserve was not empty right after a hit, which turns all of it into meter."
    DAY_FIGURES = (
        "day-figures",
        (
            "An entry does not come to what its documents make, or a day is not the sum of its entries' figures. "
            "Of a day a row was changed, is missing, or is one too many."
        ),
    )

    RECONCILED_DAY = (
        "reconciled-day",
        (
            "Three hours that were reconciled are not what was booked in them, or do not say what their documents and "
            "entries make."
        ),
    )

    # The records of entries, and those without one.
    BOOK_UNKNOWN = "book-unknown", "Rows belong to a jackpot that does not exist."
    ROUND_MISSING = "round-missing", "Rows belong to a round that does not exist."
    ENTRY_KIND = "entry-kind", "An entry's kind is unknown, or does not belong where it stands."
    ENTRY_DIGEST = (
        "entry-digest",
        "The rows that an entry wrote are not those that its digest covers: changed, removed or added.",
    )
    ENTRY_POSTINGS = "entry-postings", "An entry's postings are not those that its bets, refunds or awards make."
    ENTRY_UNDERIVABLE = (
        "entry-underivable",
        "The expected content of an entry cannot be derived from the rows that are there.",
    )
    RECORD_UNREADABLE = "record-unreadable", "A column of JSON or of an array holds what the ledger never writes there."
    DOCUMENT_WITHOUT_ENTRY = (
        "document-without-entry",
        "A row was written by no entry of the kind that writes such rows.",
    )

    # Administrative acts, and what they booked in jackpots' books.
    ACT_RECORD = (
        "act-record",
        "An act says something else than the documents that it is about make due, or did not book what its kind books.",
    )
    ACT_PRINCIPAL = (
        "act-principal",
        "An act, or what it booked, is of somebody who was not there yet, or whose role or casino does no such thing.",
    )
    ACT_EFFECTS = (
        "act-effects",
        "An act says that it booked an entry which is not there, or which another act says that it booked.",
    )
    EFFECT_POSITIONS = (
        "effect-positions",
        "An act on a jackpot did not see all its stripes right before the entry that it booked.",
    )
    EFFECT_FIGURES = (
        "effect-figures",
        (
            "An act on a jackpot shows other figures than its request and the pools then make, or could not have "
            "been done."
        ),
    )
    JACKPOT_STATUS = (
        "jackpot-status",
        "An act came that the jackpot's life did not let, such as any after its retirement.",
    )

    # Rounds and bets.
    ROUND_TABLE = "round-table", "A round's table is unknown, or belongs to another casino or jackpot than the round."
    ROUND_TERMS = (
        "round-terms",
        "A round has a rules version or a rate sheet that does not exist or was not yet in force.",
    )
    ROUND_OPENED = "round-opened", "A round's opening time, or the time in its key, is not that of its first entry."
    ROUND_GAME_NUMBER = (
        "round-game-number",
        "A round has another game number than the first that its bets or result said, or they said two.",
    )
    ROUND_STEPS = (
        "round-steps",
        "A round's entries are not its steps 1, 2, 3 and so on, or it counts another number of them.",
    )
    ROUND_STATE = "round-state", "A round's state is not what its entries make of it."
    ROUND_ENDING = (
        "round-ending",
        (
            "A settled round lacks result or settlement, a cancelled one its cancellation, or a round has what it "
            "must not."
        ),
    )
    PRIZE_DENIED = (
        "prize-denied",
        "A bet that would have won and did not count is no exception, or one is that was not denied.",
    )
    LATE_VOID = (
        "late-void",
        "A void after its round's betting was closed is no exception, or one is that was not booked so.",
    )
    AWARD_UNCLAIMED = (
        "award-unclaimed",
        "An exception states an unclaimed award that there was not, a sum or period that it had not, or it twice.",
    )
    ROUND_BET_COUNT = "round-bet-count", "A round counts another number of live bets than it has."
    ROUND_WEIGHT = "round-weight", "A round's weight is not the base value of its live bets."
    BET_STAKE = (
        "bet-stake",
        "A bet was accepted whose stake or currency its round's rules, rate sheet or table limits do not take.",
    )
    BET_LIMITS = "bet-limits", "Bets say that they were taken under other limits of their table than were in force."
    BET_HANDS = (
        "bet-hands",
        "A player held two live bets on one hand, or bet on more hands than the round's rules allow.",
    )
    BET_SUSPENDED = "bet-suspended", "Bets were accepted while their jackpot was suspended or retired."
    RETIRED_IN_PLAY = "retired-in-play", "A jackpot was retired while a round of it was open that had a live bet."
    VOID_BET = "void-bet", "A void has no earlier bet, or a tombstone has a bet."

    # Results, settlements, awards, cancellations.
    RESULT_COUNT = "result-count", "A round was settled whose result counts another number of bets than were live."
    RESULT_HANDS = "result-hands", "A result's hands cannot come from one deck, or lack one that carries a bet."
    SETTLEMENT_CYCLE = "settlement-cycle", "A settlement names another cycle than the one in which its entry stands."
    SETTLEMENT_POSITIONS = (
        "settlement-positions",
        "A settlement's positions do not end right before its entry, or lie outside its cycle.",
    )
    SETTLEMENTS_CROSS = (
        "settlements-cross",
        "Two settlements each lack what the other saw, or one overlooks an award from the meter before it.",
    )
    SETTLEMENT_FIGURES = (
        "settlement-figures",
        "A settlement's figures are not those that cards, bets, rules, rates and pools make.",
    )
    AWARD_FIGURES = (
        "award-figures",
        "A settlement's awards are not those that are due: one is missing, too many, or of another amount.",
    )
    AWARD_ID = "award-id", "An award's id is not the one that its round, bet and tier make."
    AWARD_STEPS = (
        "award-steps",
        "An award's steps are not those that its settlement and acts took, or not then, or cannot follow one another.",
    )
    AWARD_PAYMENTS = (
        "award-payments",
        (
            "An award's payments are not those that acts recorded, or not possible then, or come to more, or "
            "withheld more."
        ),
    )
    SLIP_SERIES = (
        "slip-series",
        "A casino's slips are not numbered as they were printed, or were printed of awards that were not to be paid.",
    )
    AWARD_PRINCIPAL = (
        "award-principal",
        "Awards of a round were released, or recorded as paid, by somebody who made a key by which it was played.",
    )
    HELD_BALANCE = "held-balance", "The amount held for awards is not the cost of the awards that are held."
    COMPENSATION_ROUND = (
        "compensation-round",
        "A compensation is for no live bet of a cancelled round and no denied prize, or not at the round's rates.",
    )
    STATEMENT_BALANCE = (
        "statement-balance",
        "A settled statement states another balance than the casino's postings make.",
    )
    HIT_CYCLE = (
        "hit-cycle",
        "A hit opened no cycle, a cycle was opened without a hit, or its cut is not the hit's position.",
    )
    CANCELLATION_CYCLE = (
        "cancellation-cycle",
        "A cancellation names another cycle than the one in which its entry stands.",
    )

    # Corrections of settled rounds.
    CORRECTION_ACT = (
        "correction-act",
        "A correction's row is not that of an act which corrected its round, or such an act has no row.",
    )
    CORRECTION_FIGURES = (
        "correction-figures",
        "A correction's figures, or the verdict that it says it replaced, are not those that the round's rows make.",
    )

    # Reference documents.
    JACKPOT_OPENING = (
        "jackpot-opening",
        "A jackpot was not opened by the first entry of its stripe 0, or its first cycle is not that entry's.",
    )
    JACKPOT_BASE = "jackpot-base", "A jackpot's base currency is not that of its rules."
    RULES_DOCUMENT = "rules-document", "A rules version cannot be read, or says something that rules do not say."
    RULES_MISSING = "rules-missing", "A cycle was opened under a rules version that does not exist."
    CYCLE_RULES = "cycle-rules", "A cycle was opened under another rules version than the newest there was."
    TABLE_BINDING = "table-binding", "A table belongs to a casino or a jackpot that does not exist."
    KEY_BINDING = (
        "key-binding",
        "A key names a principal or a table that does not exist, or a principal a casino that does not.",
    )
    KEY_REVOCATION = (
        "key-revocation",
        "A key is not revoked at the time at which an act revoked it, or by more than one, or by none.",
    )
    CHANGE_RECORD = (
        "change-record",
        "A change request or its decision is not what its act says, or one was decided that nobody asked for.",
    )
    CHANGE_PRINCIPAL = (
        "change-principal",
        (
            "A change was decided by who asked for it, and is no emergency; or by who might not decide it then. "
            "That is a service account, a role that decides no such change, somebody with a name that looks like "
            "the maker's, and an emergency while those were switched off."
        ),
    )
    ASSERTION_SIGNATURE = (
        "assertion-signature",
        "A passkey's signature of an approval does not fit, or its person was not there, or its counter went back.",
    )
    ASSERTION_CHALLENGE = (
        "assertion-challenge",
        "A passkey signed something else than the change request with what was done, or did so for another site.",
    )
    ASSERTION_PASSKEY = (
        "assertion-passkey",
        "An approval is signed by a passkey that its person did not have then: not registered, or revoked.",
    )
    ASSERTION_MISSING = (
        "assertion-missing",
        "An approval is not signed, of somebody who had a passkey then, or of a kind whose policy asked for one.",
    )
    PASSKEY_RECORD = (
        "passkey-record",
        "A passkey was registered by somebody else than its person, or revoked by somebody who may not.",
    )
    CHANGE_DONE = (
        "change-done",
        (
            "An approved change was not done right after its approval, or not as it was asked for, or one was "
            "done without."
        ),
    )
    EXCEPTION_CHAIN = (
        "exception-chain",
        (
            "Exceptions are not as they were noted, or not numbered 1, 2, 3, or end elsewhere than their chain. "
            "One was changed, removed or added, or its count was left behind."
        ),
    )

    SHEET_RATES = "sheet-rates", "A rate sheet has no rates or lacks its base currency, or rates have no sheet."
    SHEET_CHANGE = "sheet-change", "A rate sheet is not what its change request makes of the sheet before it."
    CLOSED_PERIOD = (
        "closed-period",
        (
            "A closed period does not follow the one before, or a report of it says something else than when it "
            "was closed."
        ),
    )

    # Seals, and where verifications stood.
    SEAL_SIGNATURE = (
        "seal-signature",
        "A seal was not signed by its key, or by one that was given, or says something else than was signed.",
    )
    SEAL_CHAIN = (
        "seal-chain",
        "A seal does not name the one before it, or is not the one that the ledger kept under its number.",
    )
    SEAL_HEAD = (
        "seal-head",
        "An entry at which a stripe was sealed has another head now: it, or one before it, was rewritten.",
    )
    SEAL_STRIPE = "seal-stripe", "A stripe that was sealed is not there, or ends before the entry at which it was."
    VERIFIED_HEAD = (
        "verified-head",
        "The entry at which an earlier verification stood is not there, or has another head now.",
    )


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing that is wrong: its code, the book (a jackpot's id, or `-`), where in it, and what was found."""

    code: Code
    book: str
    place: str
    detail: str

    def __str__(self) -> str:
        return f"{self.code}: {self.book}, {self.place}: {self.detail}"


Found = Iterator[Mismatch]
