"""
The tables as statements name them: columns, their types, and which of them may be null.

Laws, keys and indexes stand in `migrations/` alone. Nearly every table is append-only: the service's login may only
insert, and triggers refuse the rest. Others are `stripes`, `days`, `rounds`, `keys`, `exception_chain`,
`exception_counts`, `passkey_uses`, `open_awards`, which the database itself keeps, and those of jobs, sessions and
challenges.

Tables of a jackpot carry `jackpot_id` in every key; reference tables (casinos, tables, keys, rate sheets) never point
at them. `entry_seq` is the entry of the reference stripe that wrote a reference row. `jackpot db check` compares all of
it with the revisions.
"""

from jackpot_service.database.models.administration import (
    ActRow,
    ChangeDecisionRow,
    ChangePolicyRow,
    ChangeRequestRow,
    EmergencySwitchRow,
)
from jackpot_service.database.models.awards import (
    AwardRow,
    AwardStepRow,
    CompensationRow,
    OpenAwardRow,
    PaymentRow,
    SlipPrintRow,
    StatementSettlementRow,
)
from jackpot_service.database.models.base import Base
from jackpot_service.database.models.books import CycleRow, EntryRow, StripeRow
from jackpot_service.database.models.checkpoints import ClosedPeriodRow, ReconciledDayRow, SealRow, VerificationRow
from jackpot_service.database.models.days import DayRow, PastDayRow
from jackpot_service.database.models.exceptions import (
    AcknowledgementRow,
    ExceptionChainRow,
    ExceptionCountRow,
    ExceptionRow,
)
from jackpot_service.database.models.jackpots import JackpotRow, RateRow, RateSheetRow, RulesVersionRow, TableLimitsRow
from jackpot_service.database.models.jobs import IS_TO_DO, IS_TO_REMOVE, JobChunkRow, JobRow
from jackpot_service.database.models.parties import (
    BrowserSessionRow,
    CasinoClaimsRow,
    CasinoRow,
    KeyRow,
    PrincipalRow,
    TableRow,
    WithholdingRuleRow,
)
from jackpot_service.database.models.passkeys import (
    PasskeyChallengeRow,
    PasskeyRevocationRow,
    PasskeyRow,
    PasskeyUseRow,
)
from jackpot_service.database.models.rounds import NOT_ENDED, BetRow, CorrectionRow, RoundRow, VoidRow

__all__ = [
    "IS_TO_DO",
    "IS_TO_REMOVE",
    "NOT_ENDED",
    "AcknowledgementRow",
    "ActRow",
    "AwardRow",
    "AwardStepRow",
    "Base",
    "BetRow",
    "BrowserSessionRow",
    "CasinoClaimsRow",
    "CasinoRow",
    "ChangeDecisionRow",
    "ChangePolicyRow",
    "ChangeRequestRow",
    "ClosedPeriodRow",
    "CompensationRow",
    "CorrectionRow",
    "CycleRow",
    "DayRow",
    "EmergencySwitchRow",
    "EntryRow",
    "ExceptionChainRow",
    "ExceptionCountRow",
    "ExceptionRow",
    "JackpotRow",
    "JobChunkRow",
    "JobRow",
    "KeyRow",
    "OpenAwardRow",
    "PasskeyChallengeRow",
    "PasskeyRevocationRow",
    "PasskeyRow",
    "PasskeyUseRow",
    "PastDayRow",
    "PaymentRow",
    "PrincipalRow",
    "RateRow",
    "RateSheetRow",
    "ReconciledDayRow",
    "RoundRow",
    "RulesVersionRow",
    "SealRow",
    "SlipPrintRow",
    "StatementSettlementRow",
    "StripeRow",
    "TableLimitsRow",
    "TableRow",
    "VerificationRow",
    "VoidRow",
    "WithholdingRuleRow",
]
