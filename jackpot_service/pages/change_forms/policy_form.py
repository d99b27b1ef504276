"""The form of a change of the change policy: for a kind of change, who asks and who decides from now on."""

from collections.abc import Mapping, Sequence
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.change_policy import KindPolicy
from jackpot_service.pages.change_forms.fields import Choice, Control, Field
from jackpot_service.pages.change_forms.form import Asker, ChangeForm, Sheet
from jackpot_service.pages.change_forms.subjects import UnknownSubject
from jackpot_service.pages.figures import label
from jackpot_service.records import change_policies
from jackpot_service.usecases.changes.change_policy import ROLES, ChangeChangePolicy

GROUP: Final = "Rules of the house"

_FLAGS: Final = {
    "needs_other_department": "Somebody of another department must decide",
    "needs_other_role": "Somebody of another role must decide",
    "needs_passkey": "A passkey signs every approval",
}


def _kinds(session: Session, _asker: Asker) -> Sequence[Field]:
    kinds = sorted(change_policies.in_force(session).kinds)
    choices = tuple(Choice(kind, label(kind)) for kind in kinds)
    return (Field(name="of", label="Kind of change", control=Control.CHOICE, choices=choices),)


def _policy(session: Session, _asker: Asker, subject: Mapping[str, str]) -> Sheet:
    kind, policies = subject["of"], change_policies.in_force(session).kinds
    policy = policies.get(kind)
    if policy is None:
        message = "There is no such kind of change."
        raise UnknownSubject(message)
    roles = tuple(Choice(role, role) for role in ROLES)
    fields = (
        *(
            Field(
                name=f"kinds/{kind}/{name}",
                label=label_,
                control=Control.MANY,
                choices=roles,
                default=sorted(before),
            )
            for name, label_, before in (
                ("requested_by", "Asked for by", policy.requested_by),
                ("decided_by", "Decided by", policy.decided_by),
            )
        ),
        *(
            Field(
                name=f"kinds/{kind}/{name}",
                label=label_,
                control=Control.TRUTH,
                default=("yes",) if getattr(policy, name) else (),
            )
            for name, label_ in _FLAGS.items()
        ),
    )
    version = ChangeChangePolicy(kinds={}).version(session)
    return Sheet(f"changes of the kind {label(kind)}", {}, fields, _facts(policy), version=version)


def _facts(policy: KindPolicy) -> tuple[tuple[str, str], ...]:
    held = [text for name, text in _FLAGS.items() if getattr(policy, name)]
    return (
        ("Asked for by, now", ", ".join(sorted(policy.requested_by))),
        ("Decided by, now", ", ".join(sorted(policy.decided_by))),
        ("Besides, now", "; ".join(held) or "somebody other than the person who asks decides"),
    )


FORMS: Final = (
    ChangeForm(
        kind=ChangeChangePolicy.name,
        group=GROUP,
        title="Change who asks and who decides",
        about="For a kind of change other roles ask or decide, from the approval on.",
        subject=("of",),
        subject_fields=_kinds,
        sheet=_policy,
    ),
)
