"""The subjects of forms: the choices of jackpots, casinos, tables and currencies, and looking up what was chosen."""

from collections.abc import Mapping, Sequence
from typing import Final

from marshmallow import ValidationError

from jackpot_service.api.lists import MOST_LISTED
from jackpot_service.database.transactions import Session
from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.pages.change_forms.fields import Choice, Control, Field
from jackpot_service.pages.change_forms.form import Asker
from jackpot_service.records import immutable, references
from jackpot_service.records.awards import AwardRecord, visible
from jackpot_service.reports.jackpots import JackpotState, jackpot_state
from jackpot_service.reports.rounds import RoundRecord, round_record
from jackpot_service.usecases.readers import identifier

JACKPOT: Final = ("jackpot",)
CASINO: Final = ("casino",)
TABLE: Final = ("table",)
ROUND: Final = ("table", "round")
AWARD: Final = ("award",)

LONGEST_ID: Final = 64

MOST_CANDIDATES: Final = 25


class UnknownSubject(Exception):
    """The address names nothing that the form can be about; the message says so to a person."""


def subject_id(subject: Mapping[str, str], name: str) -> str:
    """Return an id of the address. Raises: UnknownSubject for what no id is."""
    try:
        return identifier(subject[name])
    except ValidationError:
        message = f"There is no {name} of this id."
        raise UnknownSubject(message) from None


def jackpot_of(session: Session, asker: Asker, subject: Mapping[str, str]) -> JackpotState:
    """Read the jackpot that a form is about. Raises: UnknownJackpot."""
    return jackpot_state(session, subject_id(subject, "jackpot"), at=asker.at)


def round_of(session: Session, asker: Asker, subject: Mapping[str, str]) -> RoundRecord:
    """Read the round that a form is about. Raises: UnknownTable, UnknownRound."""
    ids = {f"{name}_id": subject_id(subject, name) for name in ROUND}
    return round_record(session, asker.principal, **ids)


def award_of(session: Session, asker: Asker, subject: Mapping[str, str]) -> AwardRecord:
    """Read the award that a form is about. Raises: UnknownAward."""
    return visible(session, asker.principal, subject_id(subject, "award"))


def table_of(session: Session, asker: Asker, subject: Mapping[str, str]) -> immutable.Table:
    """Read the table that a form is about, and its jackpot. Raises: UnknownTable."""
    return immutable.visible_table(session, asker.principal, subject_id(subject, "table"))


def casino_of(session: Session, subject: Mapping[str, str]) -> str:
    """Return the casino that a form is about. Raises: UnknownCasino."""
    return references.require_casino(session, subject_id(subject, "casino")).casino_id


def jackpot_choices(session: Session) -> tuple[Choice, ...]:
    """All jackpots."""
    return tuple(Choice(jackpot_id, jackpot_id) for jackpot_id in references.jackpot_ids(session))


def casino_choices(session: Session, asker: Asker) -> tuple[Choice, ...]:
    """All casinos, by id, each with its name; as many as a list can have."""
    casinos = references.casinos(session, asker.principal, limit=MOST_LISTED, after=None)
    return tuple(Choice(casino.casino_id, f"{casino.casino_id}: {casino.name}") for casino in casinos)


def currency_choices() -> tuple[Choice, ...]:
    """All currencies, by code."""
    return tuple(Choice(code, code) for code in sorted(CURRENCIES))


def jackpot_fields(session: Session, _asker: Asker) -> Sequence[Field]:
    """Choose a jackpot."""
    return (Field(name="jackpot", label="Jackpot", control=Control.CHOICE, choices=jackpot_choices(session)),)


def casino_fields(session: Session, asker: Asker) -> Sequence[Field]:
    """Choose a casino."""
    return (Field(name="casino", label="Casino", control=Control.CHOICE, choices=casino_choices(session, asker)),)


def table_fields(session: Session, asker: Asker) -> Sequence[Field]:
    """Choose a table that plays for a jackpot."""
    tables = references.tables(session, asker.principal, limit=MOST_LISTED, after=None)
    choices = tuple(
        Choice(table.table_id, f"{table.table_id}, jackpot {table.jackpot_id}") for table in tables if table.jackpot_id
    )
    return (Field(name="table", label="Table", control=Control.CHOICE, choices=choices),)


def round_fields(session: Session, asker: Asker) -> Sequence[Field]:
    """Choose a table, and name a round of it."""
    return (*table_fields(session, asker), Field(name="round", label="Round", hint="The id of the round."))


def award_fields(_session: Session, _asker: Asker) -> Sequence[Field]:
    """Name an award."""
    return (Field(name="award", label="Award", hint="The id of the award: it begins with aw_."),)
