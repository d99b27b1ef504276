"""Forms of changes about a round: compensation of a bettor, and declining it."""

from collections.abc import Mapping, Sequence
from typing import Final

from jackpot_service.api.exceptions import opened_before
from jackpot_service.database.transactions import Session
from jackpot_service.domain.exceptions import PRIZE_DENIED
from jackpot_service.domain.rounds import RoundState
from jackpot_service.pages.change_forms import award_forms, round_parts, subjects
from jackpot_service.pages.change_forms.fields import Choice, Control, Field
from jackpot_service.pages.change_forms.form import Asker, Candidate, ChangeForm, Sheet
from jackpot_service.pages.figures import moment
from jackpot_service.records import exceptions
from jackpot_service.records.noted_exceptions import ExceptionFilters
from jackpot_service.records.round_search import RoundFilters, latest_rounds
from jackpot_service.reports.audit import latest_exceptions
from jackpot_service.reports.rounds import RoundRecord
from jackpot_service.usecases.changes.compensation import Compensate, compensable
from jackpot_service.usecases.changes.declined_compensation import DeclineCompensation

GROUP: Final = award_forms.GROUP


def _denied_prizes(session: Session, asker: Asker) -> Sequence[Candidate]:
    filters = ExceptionFilters(kind=PRIZE_DENIED, is_acknowledged=False)
    rows = latest_exceptions(
        session, asker.principal, filters, opened_before=opened_before(), limit=subjects.MOST_CANDIDATES
    )
    named = {(row.table_id, row.round_id): None for row in rows if row.table_id and row.round_id}
    return [_candidate(*each, "a prize was denied") for each in named]


def _compensable(session: Session, asker: Asker) -> Sequence[Candidate]:
    filters = RoundFilters(state=RoundState.CANCELLED)
    rows = latest_rounds(session, asker.principal, filters, limit=subjects.MOST_CANDIDATES, now=asker.at)
    cancelled = [_candidate(row.table_id, row.round_id, f"cancelled, opened {moment(row.opened_at)}") for row in rows]
    return [*_denied_prizes(session, asker), *cancelled][: subjects.MOST_CANDIDATES]


def _candidate(table_id: str, round_id: str, why: str) -> Candidate:
    return Candidate(f"round {round_id} at table {table_id}: {why}", {"table": table_id, "round": round_id})


def _bet_field(record: RoundRecord, bet_ids: Sequence[str]) -> Field:
    choices = round_parts.bet_choices(record, bet_ids)
    default = (choices[0].value,) if len(choices) == 1 else ()
    return Field(name="bet_id", label="Bet", control=Control.CHOICE, choices=choices, default=default)


def _compensation(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    record = subjects.round_of(session, asker, subject)
    round_ = record.view.round
    denied = exceptions.denied_in(session, table_id=round_.table_id, round_id=round_.round_id)
    is_cancelled = round_.state is RoundState.CANCELLED
    bets = compensable(record.bets, denied)
    bet_ids = [bet_id for bet_id in bets if is_cancelled or bet_id in denied]
    currencies = sorted(record.sheet.rates)
    likely = {bets[bet_id].currency for bet_id in bet_ids}
    fields = (
        _bet_field(record, bet_ids),
        Field(
            name="currency",
            label="Currency",
            control=Control.CHOICE,
            choices=tuple(Choice(code, code) for code in currencies),
            default=(likely.pop(),) if len(likely) == 1 else (),
            hint=f"Of rate sheet {round_.rate_sheet}, which is the round's own.",
        ),
        Field(
            name="amount_minor",
            label="Amount granted",
            control=Control.MINOR,
            unit_field="currency",
            may_be_negative=True,
            hint="In units of the currency. Below zero takes back what was granted.",
        ),
        Field(name="document", label="Document", hint="The decision by which it is granted."),
    )
    parts = round_parts.round_shown(record)
    return Sheet(round_parts.subject_of(record), round_parts.payload_of(record), fields, (), parts)


def _declined(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    record = subjects.round_of(session, asker, subject)
    round_ = record.view.round
    denied = exceptions.denied_in(session, table_id=round_.table_id, round_id=round_.round_id)
    field = _bet_field(record, [bet_id for bet_id, bet in denied.items() if bet.is_open])
    parts = round_parts.round_shown(record)
    return Sheet(round_parts.subject_of(record), round_parts.payload_of(record), (field,), (), parts)


FORMS: Final = (
    ChangeForm(
        kind=Compensate.name,
        group=GROUP,
        title="Compensate a bettor",
        about="The house grants an amount to a bettor of a cancelled round, or to one that was denied a prize.",
        subject=subjects.ROUND,
        subject_fields=subjects.round_fields,
        candidates=_compensable,
        sheet=_compensation,
    ),
    ChangeForm(
        kind=DeclineCompensation.name,
        group=GROUP,
        title="Decline compensation",
        about="Nothing is granted to a bettor that was denied a prize: the exception is closed.",
        subject=subjects.ROUND,
        subject_fields=subjects.round_fields,
        candidates=_denied_prizes,
        sheet=_declined,
    ),
)
