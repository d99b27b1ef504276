"""Forms of changes about a casino or a table: statements, claims, withholding rules and limits."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from marshmallow import ValidationError

from jackpot_service.database.transactions import Session
from jackpot_service.domain import currencies
from jackpot_service.domain.claims import ForfeitedTo
from jackpot_service.domain.money import from_minor
from jackpot_service.domain.table_limits import TableLimits
from jackpot_service.pages.change_forms import subjects
from jackpot_service.pages.change_forms.fields import Control, Field, amount_of, choices_of, plain_or_empty
from jackpot_service.pages.change_forms.form import Asker, ChangeForm, Sheet
from jackpot_service.pages.change_forms.subjects import UnknownSubject
from jackpot_service.pages.figures import exact, moment
from jackpot_service.records import claims, withholding_rules
from jackpot_service.reports.table_limits import limited_tables
from jackpot_service.usecases.changes.casino_claims import SetCasinoClaims
from jackpot_service.usecases.changes.casino_withholding import SetWithholding
from jackpot_service.usecases.changes.statement_settlement import SettleStatement
from jackpot_service.usecases.changes.table_limits import LimitTable
from jackpot_service.usecases.readers import currency_code

GROUP: Final = "Casinos and tables"

_FORFEITED_TO: Final[Mapping[str, str]] = {
    ForfeitedTo.STATUTORY: "kept for the authority of the casino",
    ForfeitedTo.METER: "back to the jackpot",
}


def _statement(session: Session, asker: Asker, _subject: Mapping[str, str]) -> Sheet:
    fields = (
        Field(
            name="casino_id",
            label="Casino",
            control=Control.CHOICE,
            choices=subjects.casino_choices(session, asker),
        ),
        Field(name="jackpot_id", label="Jackpot", control=Control.CHOICE, choices=subjects.jackpot_choices(session)),
        Field(name="currency", label="Currency", control=Control.CHOICE, choices=subjects.currency_choices()),
        Field(name="from", label="Statement from", control=Control.INSTANT, hint="In UTC."),
        Field(name="to", label="Statement to", control=Control.INSTANT, hint="In UTC; the end is excluded."),
        Field(
            name="amount",
            label="Amount paid",
            control=Control.AMOUNT,
            unit_field="currency",
            hint="In units of the currency. Above zero the casino paid, below zero it was paid.",
        ),
        Field(name="reference", label="Reference", hint="The reference of the statement, which is settled once."),
    )
    return Sheet("a statement", {}, fields)


def _claims(session: Session, _asker: Asker, subject: Mapping[str, str]) -> Sheet:
    casino_id = subjects.casino_of(session, subject)
    before = claims.in_force(session, casino_id)
    days = "none" if before.claim_days is None else str(before.claim_days)
    fields = (
        Field(
            name="claim_days",
            label="Days to claim an award",
            control=Control.WHOLE,
            hint="Of 24 hours, since the award's last step. Empty: no award becomes unclaimed.",
            default=() if before.claim_days is None else (str(before.claim_days),),
            is_required=False,
        ),
        Field(
            name="forfeited_to",
            label="Forfeited awards go",
            control=Control.CHOICE,
            choices=choices_of(_FORFEITED_TO),
            default=(before.forfeited_to.value,),
        ),
    )
    facts = (("Days in force", days), ("Forfeited awards go", _FORFEITED_TO[before.forfeited_to]))
    version = SetCasinoClaims(casino_id=casino_id).version(session)
    return Sheet(f"casino {casino_id}", {"casino_id": casino_id}, fields, facts, version=version)


def _withholding_fields(session: Session, asker: Asker) -> Sequence[Field]:
    currency = Field(name="currency", label="Currency", control=Control.CHOICE, choices=subjects.currency_choices())
    return (*subjects.casino_fields(session, asker), currency)


def _withholding(session: Session, _asker: Asker, subject: Mapping[str, str]) -> Sheet:
    casino_id, currency = subjects.casino_of(session, subject), _known_currency(subject)
    before = withholding_rules.last(session, casino_id, currency)
    rule = None if before is None else before.rule
    fields = (
        Field(
            name="report_at_minor",
            label="Reported from",
            control=Control.MINOR,
            unit=currency,
            hint="From this amount on an award is reportable.",
            default=amount_of(None if rule is None else rule.report_at_minor, currency),
        ),
        Field(
            name="withhold_at_minor",
            label="Withheld from",
            control=Control.MINOR,
            unit=currency,
            hint="From this amount on a part of an award is withheld. Empty: nothing is.",
            default=amount_of(None if rule is None else rule.withhold_at_minor, currency),
            is_required=False,
        ),
        Field(
            name="percent",
            label="Part withheld, in per cent",
            control=Control.AMOUNT,
            hint="Of all of such an award: above 0, below 100.",
            default=plain_or_empty(None if rule is None else rule.percent),
            is_required=False,
        ),
        Field(
            name="least_multiple",
            label="Least multiple of the stake",
            control=Control.WHOLE,
            hint="Only awards count that are at least so many times their stake. Empty: all count.",
            default=() if rule is None or rule.least_multiple is None else (str(rule.least_multiple),),
            is_required=False,
        ),
        Field(
            name="from",
            label="In force from",
            control=Control.INSTANT,
            hint="In UTC. Empty: from the approval on.",
            is_required=False,
        ),
    )
    facts: tuple[tuple[str, str], ...] = (("Last version", "none"),)
    if before is not None:
        reported = from_minor(before.rule.report_at_minor, currencies.known(currency).exponent)
        facts = (
            ("Last version", f"{before.version}, from {moment(before.rule.in_force_from)}"),
            ("Reported from", exact(reported, currency)),
        )
    payload = {"casino_id": casino_id, "currency": currency}
    version = "0" if before is None else str(before.version)
    return Sheet(f"casino {casino_id} in {currency}", payload, fields, facts, version=version)


def _known_currency(subject: Mapping[str, str]) -> str:
    """Return the currency of the address. Raises: UnknownSubject, UnknownCurrency."""
    try:
        return currencies.known(currency_code(subject["currency"])).code
    except ValidationError:
        message = "There is no currency of this code."
        raise UnknownSubject(message) from None


def _limits(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    table = subjects.table_of(session, asker, subject)
    if table.jackpot_id is None:
        message = f"Table {table.table_id} plays for no jackpot."
        raise UnknownSubject(message)
    state = subjects.jackpot_of(session, asker, {"jackpot": table.jackpot_id})
    own = limited_tables(session, asker.principal, table.jackpot_id)
    before = next((each.limits for each in own.tables if each.table_id == table.table_id), TableLimits())
    bounds = {
        "token": ("Token", before.token, state.rules.token),
        "least_stake": ("Least stake", before.least_stake, state.rules.least_stake),
        "largest_stake": ("Largest stake", before.largest_stake, state.rules.largest_stake),
    }
    base = state.rules.base
    fields = [
        Field(
            name=name,
            label=label,
            control=Control.AMOUNT,
            unit=base,
            hint=f"Empty: that of the jackpot, {_or_none(of_jackpot, base)}.",
            default=plain_or_empty(own_bound),
            is_required=False,
        )
        for name, (label, own_bound, of_jackpot) in bounds.items()
    ]
    facts = [
        (f"{label} now", _or_none(own_bound or of_jackpot, base)) for label, own_bound, of_jackpot in bounds.values()
    ]
    payload = {"jackpot_id": table.jackpot_id, "table_id": table.table_id}
    version = LimitTable(jackpot_id=table.jackpot_id, table_id=table.table_id).version(session)
    return Sheet(f"table {table.table_id} of jackpot {table.jackpot_id}", payload, fields, facts, version=version)


def _or_none(amount: Decimal | None, base: str) -> str:
    return "none" if amount is None else exact(amount, base)


FORMS: Final = (
    ChangeForm(
        kind=SettleStatement.name,
        group=GROUP,
        title="Settle a statement",
        about="A casino paid what it owed for a period, or was paid what it was owed.",
        sheet=_statement,
    ),
    ChangeForm(
        kind=SetCasinoClaims.name,
        group=GROUP,
        title="Set for how long awards can be claimed",
        about="A casino gets a claim period, or none, and a place where forfeited awards go.",
        subject=subjects.CASINO,
        subject_fields=subjects.casino_fields,
        sheet=_claims,
    ),
    ChangeForm(
        kind=SetWithholding.name,
        group=GROUP,
        title="Set a withholding rule",
        about="From which amount a casino reports awards, and which part it withholds. It holds for new rounds.",
        subject=(*subjects.CASINO, "currency"),
        subject_fields=_withholding_fields,
        sheet=_withholding,
    ),
    ChangeForm(
        kind=LimitTable.name,
        group=GROUP,
        title="Limit the stakes of a table",
        about="A table gets a token or limits of its own, from the next bet on. None is wider than its jackpot's.",
        subject=subjects.TABLE,
        subject_fields=subjects.table_fields,
        sheet=_limits,
    ),
)
