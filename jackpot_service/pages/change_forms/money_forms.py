"""Forms of changes that move a jackpot's money by hand: adjustment, seed recovery, true-up and retirement."""

from collections.abc import Mapping
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.lives import Life
from jackpot_service.pages.change_forms import subjects
from jackpot_service.pages.change_forms.fields import Choice, Control, Field
from jackpot_service.pages.change_forms.form import Asker, ChangeForm, Sheet
from jackpot_service.pages.figures import exact, label
from jackpot_service.reports.jackpots import JackpotState, jackpot_states
from jackpot_service.usecases.changes.adjustment import AdjustJackpot, Cause, Pool
from jackpot_service.usecases.changes.prize_fund_true_up import TrueUp
from jackpot_service.usecases.changes.retirement import RetireJackpot
from jackpot_service.usecases.changes.seed_recovery import RecoverSeed

GROUP: Final = "Money of a jackpot"

_POOLS: Final[Mapping[Pool, str]] = {
    Pool.METER: "meter, players' money",
    Pool.RESERVE: "reserve",
    Pool.PRIZE_FUND: "prize fund",
}


def _held(state: JackpotState) -> dict[Pool, str]:
    amounts = {
        Pool.METER: state.pools.meter_players,
        Pool.RESERVE: state.pools.reserve,
        Pool.PRIZE_FUND: state.pools.prize_fund,
    }
    return {pool: exact(amount, state.rules.base) for pool, amount in amounts.items()}


def _facts(state: JackpotState) -> tuple[tuple[str, str], ...]:
    base, held = state.rules.base, _held(state)
    return (
        ("Meter, players' money", held[Pool.METER]),
        ("Meter, the house's money", exact(state.pools.meter_house, base)),
        ("Reserve", held[Pool.RESERVE]),
        ("Prize fund", held[Pool.PRIZE_FUND]),
    )


def _amount(state: JackpotState, label_: str, hint: str, *, is_required: bool = True) -> Field:
    return Field(
        name="amount",
        label=label_,
        control=Control.AMOUNT,
        hint=hint,
        unit=state.rules.base,
        is_required=is_required,
    )


def _sheet(state: JackpotState, *fields: Field) -> Sheet:
    payload = {"jackpot_id": state.jackpot_id}
    return Sheet(f"jackpot {state.jackpot_id}", payload, fields, _facts(state))


def _adjustment(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    state = subjects.jackpot_of(session, asker, subject)
    pools = tuple(Choice(pool, f"{_POOLS[pool]}: holds {held}") for pool, held in _held(state).items())
    return _sheet(
        state,
        Field(name="account", label="Pool", control=Control.CHOICE, choices=pools),
        _amount(
            state,
            "Difference",
            "Above zero, the house pays the pool. Below zero, the pool pays the house.",
        ),
        Field(
            name="cause",
            label="Cause",
            control=Control.CHOICE,
            choices=tuple(Choice(cause, label(cause)) for cause in Cause),
        ),
        Field(name="document", label="Document", hint="The document that shows the difference."),
    )


def _recovery(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    state = subjects.jackpot_of(session, asker, subject)
    return _sheet(
        state,
        _amount(state, "Amount for the house", "Above zero, the house takes it back. Below zero, it pays it in."),
    )


def _true_up(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    state = subjects.jackpot_of(session, asker, subject)
    hint = "Empty: the fund is brought to exactly zero. Above zero, the fund receives it. Below zero, the fund pays it."
    return _sheet(state, _amount(state, "Amount for the prize fund", hint, is_required=False))


def _retirement(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    state = subjects.jackpot_of(session, asker, subject)
    base, held = state.rules.base, _held(state)
    targets = tuple(
        Choice(other.jackpot_id, f"{other.jackpot_id}: {label(other.rules.rulebook)}")
        for other in jackpot_states(session, at=asker.at)
        if other.jackpot_id != state.jackpot_id and other.rules.base == base and other.life is Life.OPEN
    )
    hint = f"An open jackpot in {base}. If there is none, the money has no place to go."
    field = Field(name="to", label="Jackpot that receives", control=Control.CHOICE, hint=hint, choices=targets)
    facts = (
        ("Meter, players' money: to the meter of the other", held[Pool.METER]),
        ("Reserve: to the reserve of the other", held[Pool.RESERVE]),
        ("Prize fund: to that of the other, or to its meter", held[Pool.PRIZE_FUND]),
        ("Meter, the house's money: back to the house", exact(state.pools.meter_house, base)),
    )
    return Sheet(f"jackpot {state.jackpot_id}", {"jackpot_id": state.jackpot_id}, (field,), facts)


FORMS: Final = (
    ChangeForm(
        kind=AdjustJackpot.name,
        group=GROUP,
        title="Correct a pool",
        about="A pool of a jackpot is corrected by a difference that a document shows. The house pays or receives it.",
        subject=subjects.JACKPOT,
        subject_fields=subjects.jackpot_fields,
        sheet=_adjustment,
    ),
    ChangeForm(
        kind=RecoverSeed.name,
        group=GROUP,
        title="Take back seed, or pay some in",
        about="The house takes back money of its own from the meter, or puts some there.",
        subject=subjects.JACKPOT,
        subject_fields=subjects.jackpot_fields,
        sheet=_recovery,
    ),
    ChangeForm(
        kind=TrueUp.name,
        group=GROUP,
        title="True up a prize fund",
        about="The house pays what a prize fund lacks, or takes what it has too much.",
        subject=subjects.JACKPOT,
        subject_fields=subjects.jackpot_fields,
        sheet=_true_up,
    ),
    ChangeForm(
        kind=RetireJackpot.name,
        group=GROUP,
        title="Retire a jackpot",
        about="A jackpot takes no bets any more, for good. Its players' money goes to another jackpot.",
        subject=subjects.JACKPOT,
        subject_fields=subjects.jackpot_fields,
        sheet=_retirement,
    ),
)
