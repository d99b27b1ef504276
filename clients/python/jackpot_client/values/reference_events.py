"""The data of events about rates, policies, rules of casinos, casinos and tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_client.values.documents import DocumentSheet
from jackpot_client.values.event_data import ActData, EventAct
from jackpot_client.values.tables import Source
from jackpot_client.values.words import ForfeitedTo, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesPublishedData(DocumentSheet):
    """A rate sheet comes into force at `effective_at`; rates that were entered by hand have no source."""

    effective_at: datetime
    source: Source | None
    act: EventAct | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOfKind:
    """The roles that request and decide a kind of change, and what an approval needs besides."""

    requested_by: tuple[Role | str, ...]
    decided_by: tuple[Role | str, ...]
    needs_other_department: bool
    needs_other_role: bool
    needs_passkey: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePolicyChangedData(ActData):
    """Other roles request or decide: the whole policy from now on, by kind of change."""

    version: int
    kinds: Mapping[str, PolicyOfKind]


@dataclass(frozen=True, slots=True, kw_only=True)
class WithholdingChangedData(ActData):
    """
    A casino got a withholding rule in a currency, for rounds that are opened `from_` then on.

    Awards of at least `least_multiple` times their stake are reported and withheld from these amounts on.
    """

    casino_id: str
    currency: str
    version: int
    from_: datetime
    least_multiple: int | None
    report_at_minor: int
    withhold_at_minor: int | None
    percent: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CasinoClaimsChangedData(ActData):
    """Awards can be claimed at a casino for so many days (None: for ever); later forfeited ones go there."""

    casino_id: str
    version: int
    claim_days: int | None
    forfeited_to: ForfeitedTo | str


@dataclass(frozen=True, slots=True, kw_only=True)
class CasinoAddedData(ActData):
    """A casino was added; without a zone its gaming days are those of UTC."""

    casino_id: str
    name: str
    zone: str | None = None
    day_starts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAddedData(ActData):
    """A gaming table was added; without a jackpot it takes no jackpot bets."""

    table_id: str
    casino_id: str
    game: str
    jackpot_id: str | None
