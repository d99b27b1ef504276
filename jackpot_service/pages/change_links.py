"""Links to the forms by which changes are asked for: only of those that the person may ask for."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

import flask

from jackpot_service.api.request_context import look, principal
from jackpot_service.domain.change_policy import ChangePolicy
from jackpot_service.domain.exceptions import AWARD_UNCLAIMED, PRIZE_DENIED, NotedException
from jackpot_service.domain.rounds import RoundState
from jackpot_service.pages.change_forms.award_forms import TO_DECIDE
from jackpot_service.pages.change_forms.form import ChangeForm
from jackpot_service.pages.change_forms.registry import forms_for
from jackpot_service.pages.change_forms.round_parts import awards_of_round
from jackpot_service.records import change_policies, exceptions
from jackpot_service.records.verdicts import BookedAward
from jackpot_service.reports.rounds import RoundRecord
from jackpot_service.usecases.changes.adjustment import AdjustJackpot
from jackpot_service.usecases.changes.award_forfeiture import ForfeitAward
from jackpot_service.usecases.changes.compensation import Compensate
from jackpot_service.usecases.changes.declined_compensation import DeclineCompensation
from jackpot_service.usecases.changes.held_awards import DecideAwards
from jackpot_service.usecases.changes.kinds import Kind
from jackpot_service.usecases.changes.payment_reversal import POSSIBLE_IN, ReversePayment
from jackpot_service.usecases.changes.prize_fund_true_up import TrueUp
from jackpot_service.usecases.changes.retirement import RetireJackpot
from jackpot_service.usecases.changes.round_correction import CorrectRound
from jackpot_service.usecases.changes.rules import ChangeRules
from jackpot_service.usecases.changes.seed_recovery import RecoverSeed

FORM: Final = "pages.show_new_change"

_JACKPOT_KINDS: Final[Sequence[type[Kind]]] = (ChangeRules, AdjustJackpot, RecoverSeed, TrueUp, RetireJackpot)


class Link(NamedTuple):
    """A link to a form: the title of the form, and its address."""

    title: str
    address: str


class Links:
    """The links of a page, for the person that sees it; the change policy in force is read once, unless it is known."""

    def __init__(self, policy: ChangePolicy | None = None) -> None:
        in_force = look(change_policies.in_force) if policy is None else policy
        self._forms = {form.kind: form for form in forms_for(principal(), in_force)}

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of change that have a form for who is signed in."""
        return self._forms.keys()

    def address(self, kind: str, **query: Any) -> str | None:  # noqa: ANN401  as `url_for`
        """Return the address of the form of a kind, filled in with fields of its payload; None if it is not theirs."""
        return flask.url_for(FORM, kind=kind, **query) if kind in self._forms else None

    def jackpot_links(self, jackpot_id: str) -> Sequence[Link]:
        """The changes of a jackpot."""
        return [*self._links(_JACKPOT_KINDS, jackpot=jackpot_id)]

    def round_links(self, record: RoundRecord) -> Sequence[Link]:
        """The changes of a round that its state leaves."""
        if not self._forms:
            return ()
        round_ = record.view.round
        return [*self._links([*_round_kinds(record)], table=round_.table_id, round=round_.round_id)]

    def award_links(self, award: BookedAward, *, corrections: int) -> Sequence[Link]:
        """The changes of an award that its payments leave; its round has so many corrections."""
        kinds = (ReversePayment,) if can_be_unpaid(award, corrections=corrections) else ()
        return [*self._links(kinds, award=award.award_id)]

    def exception_links(self, exception: NotedException) -> Sequence[Link]:
        """The changes that settle an exception which nobody has looked into."""
        if exception.acknowledgement is not None:
            return ()
        facts = exception.facts
        if exception.kind == AWARD_UNCLAIMED:
            return [*self._links((ForfeitAward,), award=facts["award_id"])]
        if exception.kind == PRIZE_DENIED:
            round_ids = {"table": exception.table_id or "", "round": exception.round_id or ""}
            return [*self._links((Compensate, DeclineCompensation), **round_ids, bet_id=facts["bet_id"])]
        return ()

    def _links(self, kinds: Sequence[type[Kind]], **query: Any) -> Iterator[Link]:  # noqa: ANN401  as `url_for`
        for kind in kinds:
            form: ChangeForm | None = self._forms.get(kind.name)
            if form is not None:
                yield Link(form.title, flask.url_for(FORM, kind=form.kind, **query))


def can_be_unpaid(award: BookedAward, *, corrections: int) -> bool:
    """Whether payments of an award can be reversed: not once a later verdict on its round has counted them."""
    return award.state in POSSIBLE_IN and award.correction == corrections


def _round_kinds(record: RoundRecord) -> Iterator[type[Kind]]:
    round_ = record.view.round
    denied = look(lambda session: exceptions.denied_in(session, table_id=round_.table_id, round_id=round_.round_id))
    if round_.state is RoundState.SETTLED:
        yield CorrectRound
    if any(award.state in TO_DECIDE for award in awards_of_round(record)):
        yield DecideAwards
    if denied or (round_.state is RoundState.CANCELLED and record.bets):
        yield Compensate
    if any(bet.is_open for bet in denied.values()):
        yield DeclineCompensation
