"""The forms that there are, by the kind of change that each asks for."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

from jackpot_service.domain.change_policy import ChangePolicy, is_of_roles
from jackpot_service.domain.principals import Principal
from jackpot_service.pages.change_forms import (
    award_forms,
    casino_forms,
    correction_form,
    money_forms,
    policy_form,
    round_forms,
    rules_form,
)
from jackpot_service.pages.change_forms.form import ChangeForm

FORMS: Final[Mapping[str, ChangeForm]] = MappingProxyType(
    {
        form.kind: form
        for form in (
            *correction_form.FORMS,
            *round_forms.FORMS,
            *award_forms.FORMS,
            *money_forms.FORMS,
            *casino_forms.FORMS,
            *rules_form.FORMS,
            *policy_form.FORMS,
        )
    }
)
"""A rate sheet is not among them: its table has a page of its own."""


def forms_for(person: Principal, policy: ChangePolicy) -> Collection[ChangeForm]:
    """Return the forms of the kinds of change that somebody may ask for, by a change policy."""
    return [form for form in FORMS.values() if is_of_roles(person, policy.kinds[form.kind].requested_by)]
