"""Problems of changes that two people make: of the request and the decision, and of what was to be changed."""

from collections.abc import Mapping
from typing import Final

from jackpot_service.api.ecb_service import DocumentUnavailable
from jackpot_service.api.problem_catalogue.rows import Member, Section, row, text, texts, whole
from jackpot_service.domain.change_policy import SameDepartment, SameRole
from jackpot_service.domain.changes import (
    ChangeDecided,
    ChangeExpired,
    ChangeStale,
    ConfirmationRequired,
    SameUser,
    UnknownChange,
    UserApprovalRequired,
)
from jackpot_service.domain.corrections import AwardForfeited, AwardPartPaid, NothingToCorrect, StopInForce
from jackpot_service.domain.passkeys import BadAssertion, EffectMoved, PasskeyRequired
from jackpot_service.domain.rates import NotQuoted
from jackpot_service.domain.rules import BadRules
from jackpot_service.domain.settings import UnknownSetting
from jackpot_service.domain.table_limits import BadLimits, LooserLimits
from jackpot_service.domain.withholding import BadWithholding
from jackpot_service.records.change_policies import UnknownPolicy
from jackpot_service.usecases.acts import RequestConflict
from jackpot_service.usecases.changes.adjustment import BelowZero
from jackpot_service.usecases.changes.compensation import BetAwarded, NotGranted, RoundNotCancelled, UnknownBet
from jackpot_service.usecases.changes.declined_compensation import DeniedPrizeDecided, UnknownDeniedPrize
from jackpot_service.usecases.changes.jackpots import AboveLimit, BadAmount
from jackpot_service.usecases.changes.requests import EmergencyOff
from jackpot_service.usecases.changes.retirement import BadTarget, InsufficientFunds, StillInPlay, TargetClosed
from jackpot_service.usecases.changes.round_correction import BetCompensated, RoundNotSettled
from jackpot_service.usecases.changes.seed_recovery import SeedCommitted
from jackpot_service.usecases.changes.statement_settlement import StatementSettled
from jackpot_service.usecases.ecb_documents import BadDocument
from jackpot_service.usecases.import_rates import NothingToPropose, NotYetDated
from jackpot_service.usecases.payloads import BadPayload
from jackpot_service.usecases.publish_rates import BadRate, ExponentChanged

_REQUEST: Final = text("The id of the change request.")
_ROUND: Final[Mapping[str, Member]] = {"table_id": text("The table."), "round_id": text("Its round.")}
_BET: Final[Mapping[str, Member]] = {**_ROUND, "bet_id": text("The bet.")}
_BETS: Final = texts("The bets.")
_TARGET: Final = text("The target jackpot.")

DECISIONS: Final = Section.of(
    "Changes: requests and decisions",
    row(
        RequestConflict,
        "Send another request under an id of its own.",
        request_id=text("The id that was used before."),
    ),
    row(BadPayload, "Correct every place of the payload that `errors` points at."),
    row(UnknownChange, "Check the id of the request.", request_id=_REQUEST),
    row(
        ChangeDecided,
        "Read the request. Ask for the change anew if it is still wanted.",
        request_id=_REQUEST,
        state=text("`approved` or `rejected`."),
    ),
    row(ChangeExpired, "Ask for the change anew.", request_id=_REQUEST),
    row(
        ChangeStale,
        "Look at the state that there is now, and make a new request.",
        base_version=text("The version of the subject on which the request is based.", is_always=False),
        version=text("The version that there is now.", is_always=False),
        approvals_due=whole("How many people were to approve it.", is_always=False),
        due=whole("How many are to approve it now.", is_always=False),
    ),
    row(SameUser, "Have another person decide.", maker=text("The person who asked for the change.")),
    row(SameRole, "Have a person of another role decide.", role=text("The maker's role.")),
    row(SameDepartment, "Have a person of another department decide.", department=text("The maker's department.")),
    row(UserApprovalRequired, "Have a person decide, with their own key or token."),
    row(
        ConfirmationRequired,
        "Repeat each figure of the request's `confirm` in `confirm`; `errors` names those that are wrong.",
    ),
    row(EmergencyOff, "Have another person approve it."),
    row(
        PasskeyRequired,
        "Sign what `POST …/approval/options` answers with a passkey, and send it as `assertion`. Register one first, "
        "if there is none.",
    ),
    row(BadAssertion, "Ask for new options, look at the effect, and sign again; the detail names what is wrong."),
    row(
        EffectMoved,
        "Look at the effect as it is now, and sign that; ask for the change anew if the detail says so.",
    ),
    row(UnknownPolicy, "Ask for a version that there is.", version=whole("The version that was asked for.")),
)

CONTENTS: Final = Section.of(
    "Changes: what was to be changed",
    row(BadRules, "Correct the settings; the detail names the rule that they break."),
    row(UnknownSetting, "Use the names of the jackpot's settings.", setting=text("The name that is none.")),
    row(
        BadLimits,
        "Correct the limits; the detail names what is wrong.",
        table_id=text("The table that has these limits already.", is_always=False),
    ),
    row(
        LooserLimits,
        "Keep a table's limits within those of its jackpot.",
        least_stake=text("The jackpot's least stake.", is_always=False),
        largest_stake=text("The jackpot's largest stake.", is_always=False),
    ),
    row(BadRate, "Correct the rate.", currency=text("The currency of the rate.")),
    row(BadDocument, "Fetch the document again."),
    row(NotYetDated, "Wait until the document's day, or correct the clock."),
    row(NotQuoted, "State the rate by hand.", currency=text("The currency.")),
    row(NothingToPropose, "Publish a first sheet, or ask for all currencies."),
    row(DocumentUnavailable, "Upload the document yourself, or try again later."),
    row(
        ExponentChanged,
        "Publish no rate of this currency before the table of currencies is right.",
        currency=text("The currency."),
    ),
    row(BadAmount, "Correct the amount."),
    row(AboveLimit, "Move less, or raise the limit of the meter first."),
    row(BelowZero, "Take no more from the pool than it holds."),
    row(SeedCommitted, "Take back no more of the seed than is free."),
    row(
        StillInPlay,
        "End the open rounds and decide about the held awards first.",
        table_id=text("The table of an open round.", is_always=False),
        round_id=text("That round.", is_always=False),
    ),
    row(BadTarget, "Name another jackpot of the same base currency.", jackpot_id=_TARGET),
    row(TargetClosed, "Name a target jackpot that takes bets.", jackpot_id=_TARGET),
    row(InsufficientFunds, "Have the house make good what is below zero (`adjustment`)."),
    row(BadWithholding, "Correct the rule; the detail names what is wrong."),
    row(
        StatementSettled,
        "Nothing is to be done, or give the other statement a reference of its own.",
        casino_id=text("The casino."),
        reference=text("The reference."),
    ),
    row(RoundNotSettled, "Correct settled rounds only.", **_ROUND, state=text("The state of the round.")),
    row(
        NothingToCorrect,
        "Nothing is to be done.",
        number=whole("The number of the verdict in force: 0, or that of a correction."),
    ),
    row(AwardPartPaid, "Pay the rest, or reverse the payment, then correct the round.", bet_ids=_BETS),
    row(AwardForfeited, "Compensate the players instead.", bet_ids=_BETS),
    row(StopInForce, "Release the stopped awards first.", bet_ids=_BETS),
    row(BetCompensated, "Take the compensation back first.", bet_ids=_BETS),
    row(RoundNotCancelled, "Correct the round instead.", **_ROUND, state=text("The state of the round.")),
    row(UnknownBet, "Check the bet's id and its player.", **_BET),
    row(BetAwarded, "Nothing is to be done: the award is paid.", **_BET),
    row(
        NotGranted,
        "Take back what was granted at most.",
        bet_id=text("The bet."),
        currency=text("The currency."),
        granted_minor=whole("The amount that was granted in it, in minor units."),
    ),
    row(UnknownDeniedPrize, "Look for the exception of the kind `prize-denied`.", **_BET),
    row(DeniedPrizeDecided, "Nothing is to be done.", exception_id=text("The exception of the denied prize.")),
)
