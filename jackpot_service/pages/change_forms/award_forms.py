"""Forms of changes about awards: held ones, forfeiture, and the reversal of a payment."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.held_awards import Decision
from jackpot_service.domain.money import from_minor
from jackpot_service.pages.change_forms import round_parts, subjects
from jackpot_service.pages.change_forms.fields import Choice, Control, Field
from jackpot_service.pages.change_forms.form import Asker, Candidate, ChangeForm, Sheet
from jackpot_service.pages.figures import exact, label, moment
from jackpot_service.records.award_filters import AwardFilters
from jackpot_service.records.awards import AwardRecord, latest
from jackpot_service.usecases.changes.award_forfeiture import ForfeitAward
from jackpot_service.usecases.changes.held_awards import DecideAwards
from jackpot_service.usecases.changes.payment_reversal import POSSIBLE_IN, ReversePayment

GROUP: Final = "Awards and rounds"

_DECISIONS: Final[Mapping[Decision, str]] = {
    Decision.APPROVE: "approve: held awards become payable",
    Decision.REJECT: "reject: the money of held awards returns to where it came from",
    Decision.REINSTATE: "reinstate: rejected awards become payable after all",
    Decision.RELEASE: "release: stopped awards are payable again",
}

TO_DECIDE: Final = tuple({decision.state: None for decision in _DECISIONS})
"""The states of awards that people decide about."""


def _listed(session: Session, asker: Asker, states: Sequence[AwardState]) -> list[AwardRecord]:
    """List the latest awards in any of some states."""
    rows: list[AwardRecord] = []
    for state in states:
        filters = AwardFilters(state=state)
        limit = subjects.MOST_CANDIDATES - len(rows)
        rows.extend(latest(session, asker.principal, filters, limit=limit, now=asker.at) if limit else ())
    return rows


def _rounds_to_decide(session: Session, asker: Asker) -> Sequence[Candidate]:
    named = {(row.table_id, row.round_id): row for row in _listed(session, asker, TO_DECIDE)}
    return [
        Candidate(
            f"round {round_id} at table {table_id}: {row.award.state.value}", {"table": table_id, "round": round_id}
        )
        for (table_id, round_id), row in named.items()
    ]


def _held(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    record = subjects.round_of(session, asker, subject)
    awards = [award for award in round_parts.awards_of_round(record) if award.state in TO_DECIDE]
    states = {award.state for award in awards}
    decisions = tuple(Choice(each, text) for each, text in _DECISIONS.items() if each.state in states)
    labels: dict[str, list[str]] = {}
    for award in awards:  # A bet is decided as a whole: with each of its awards that is in the state.
        labels.setdefault(award.bet_id, []).append(round_parts.award_label(award, record.sheet))
    fields = (
        Field(name="decision", label="Decision", control=Control.CHOICE, choices=decisions),
        Field(
            name="bets",
            label="Awards",
            control=Control.MANY,
            choices=tuple(Choice(bet_id, "; ".join(each)) for bet_id, each in labels.items()),
            hint="Choose those that the decision is about. If none is chosen: all in that state.",
            is_required=False,
        ),
    )
    parts = round_parts.round_shown(record)
    return Sheet(round_parts.subject_of(record), round_parts.payload_of(record), fields, (), parts)


def _awards(*states: AwardState) -> Callable[[Session, Asker], Sequence[Candidate]]:
    def candidates(session: Session, asker: Asker) -> Sequence[Candidate]:
        return [
            Candidate(
                f"{_amount(row, row.award.amount_minor)}, {label(row.award.tier)}, round {row.round_id} "
                f"at table {row.table_id}",
                {"award": row.award.award_id},
            )
            for row in _listed(session, asker, states)
        ]

    return candidates


def _amount(row: AwardRecord, minor: int) -> str:
    currency = row.award.currency
    return exact(from_minor(minor, CURRENCIES[currency].exponent), currency)


def _facts(row: AwardRecord, asker: Asker) -> tuple[tuple[str, str], ...]:
    until = row.claimable_until
    return (
        ("Award", f"{_amount(row, row.award.amount_minor)}, {label(row.award.tier)}"),
        ("Player", row.award.player_id),
        ("Round", f"{row.round_id} at table {row.table_id}, casino {row.casino_id}"),
        ("State", label(row.state_at(asker.at).value)),
        ("Not paid", _amount(row, row.award.unpaid_minor)),
        ("Can be claimed until", "no end is set" if until is None else moment(until)),
    )


def _payload(row: AwardRecord) -> dict[str, str]:
    return {"jackpot_id": row.jackpot_id, "award_id": row.award.award_id}


def _forfeiture(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    row = subjects.award_of(session, asker, subject)
    return Sheet(f"award {row.award.award_id}", _payload(row), (), _facts(row, asker))


def _reversal(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    row = subjects.award_of(session, asker, subject)
    choices = tuple(
        Choice(payment.reference, f"{payment.reference}: {_amount(row, payment.amount_minor)}")
        for payment in (recorded.payment for recorded in row.payments if recorded.reversed_by is None)
    )
    default = (choices[0].value,) if len(choices) == 1 else ()
    field = Field(name="reference", label="Payment", control=Control.CHOICE, choices=choices, default=default)
    return Sheet(f"award {row.award.award_id}", _payload(row), (field,), _facts(row, asker))


FORMS: Final = (
    ChangeForm(
        kind=DecideAwards.name,
        group=GROUP,
        title="Decide about held awards",
        about="Awards of a round that were held become payable or are rejected. Rejected and stopped ones can return.",
        subject=subjects.ROUND,
        subject_fields=subjects.round_fields,
        candidates=_rounds_to_decide,
        sheet=_held,
    ),
    ChangeForm(
        kind=ForfeitAward.name,
        group=GROUP,
        title="Forfeit an award",
        about="Nobody claimed an award in time: its unpaid rest goes where the casino's setting says.",
        subject=subjects.AWARD,
        subject_fields=subjects.award_fields,
        candidates=_awards(AwardState.UNCLAIMED),
        sheet=_forfeiture,
    ),
    ChangeForm(
        kind=ReversePayment.name,
        group=GROUP,
        title="Reverse a payment",
        about="A payment was recorded wrongly: the award, or that part of it, is to be paid again.",
        subject=subjects.AWARD,
        subject_fields=subjects.award_fields,
        candidates=_awards(*sorted(POSSIBLE_IN)),
        sheet=_reversal,
    ),
)
