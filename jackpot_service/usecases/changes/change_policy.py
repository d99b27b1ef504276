"""A change of the change policy: for some kinds of change, who asks and who decides from now on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from marshmallow import ValidationError

from jackpot_service.database.transactions import Session
from jackpot_service.domain.change_policy import OPERATORS_ALONE, ChangePolicy, KindPolicy
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import CHANGE_ROLES, Role
from jackpot_service.records import change_policies, keys, passkeys
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Kind, Plan
from jackpot_service.usecases.fields import ObjectOf, ReadField, StrictSchema, Truth, each
from jackpot_service.usecases.payloads import BadPayload, bad_field

ROLES: Final = tuple(sorted(role.value for role in CHANGE_ROLES))


class RolesField(ReadField[frozenset[Role]]):
    """The roles that ask, or decide: at least one, each named once."""

    described: ClassVar = {
        "type": "array",
        "minItems": 1,
        "maxItems": len(ROLES),
        "uniqueItems": True,
        "items": {"type": "string", "enum": list(ROLES)},
    }

    def read(self, value: object) -> frozenset[Role]:
        """Raises: ValidationError, by place."""
        if not isinstance(value, list) or not 0 < len(value) <= len(ROLES):
            message = f"must name at least one of the roles {', '.join(ROLES)}: otherwise nobody could"
            raise ValidationError(message)
        roles = frozenset(each(_role, enumerate(value)).values())
        if len(roles) < len(value):
            message = "names a role twice"
            raise ValidationError(message)
        return roles


def _role(value: object) -> Role:
    if value not in ROLES:
        message = f"must be one of the roles {', '.join(ROLES)}"
        raise ValidationError(message)
    return Role(value)


class _KindPolicySchema(StrictSchema):
    """The policy that is requested for one kind of change."""

    requested_by = RolesField(required=True)
    decided_by = RolesField(required=True)
    needs_other_department = Truth(load_default=False)
    needs_other_role = Truth(load_default=False)
    needs_passkey = Truth(load_default=False)


class KindPolicyField(ReadField[KindPolicy]):
    """
    The policy of a kind of change: the roles that ask and decide, and whether departments and roles differ.

    With `needs_passkey` every approval is signed by a passkey.
    """

    described: ClassVar = {
        "type": "object",
        "required": ["requested_by", "decided_by"],
        "additionalProperties": False,
        "properties": {
            "requested_by": dict(RolesField.described),
            "decided_by": dict(RolesField.described),
            "needs_other_department": {"type": "boolean", "default": False},
            "needs_other_role": {"type": "boolean", "default": False},
            "needs_passkey": {"type": "boolean", "default": False},
        },
    }

    def read(self, value: object) -> KindPolicy:
        """Raises: ValidationError, by place."""
        if not isinstance(value, dict):
            message = "must be an object"
            raise ValidationError(message)
        return KindPolicy(**_SCHEMA.load(value))


_SCHEMA: Final = _KindPolicySchema()


@dataclass(frozen=True, kw_only=True)
class ChangeChangePolicy(Kind):
    """Some kinds of change are asked for and decided by others from the approval on; the rest stay as they are."""

    name = "change-policy"
    about = "change policy"
    acts: ClassVar = {EntryKind.CHANGE_POLICY_CHANGED: "jackpot.change-policy.changed"}
    policy = OPERATORS_ALONE
    needs_unretired = False

    kinds: Annotated[
        Mapping[str, KindPolicy], ObjectOf(KindPolicyField(), metadata={"description": "By kind of change."})
    ]

    def version(self, session: Session) -> str:
        """Name the version in force."""
        return str(change_policies.in_force(session).version)

    def decide(self, before: ChangePolicy) -> ChangePolicy:
        """Put the request over the policy before. Raises: BadPayload for an unknown kind, or where nothing changes."""
        for kind in self.kinds:
            if kind not in before.kinds:
                raise _bad_kind(kind, "is no kind of change")
        after = {**before.kinds, **self.kinds}
        if after == before.kinds:
            raise bad_field("kinds", "says what is in force already")
        return ChangePolicy(before.version + 1, after)

    def plan(self, session: Session, _act: Act) -> Plan:
        """Decide the next version. Raises: as `apply`."""
        before, after = self._decided(session)
        return Plan(before.facts, after.facts)

    def apply(self, session: Session, act: Act) -> Applied:
        """Put the next version in force. Raises: as `decide`; BadPayload for a kind about which nobody could decide."""
        before, after = self._decided(session)
        seq = acts.record(
            session,
            act,
            EntryKind.CHANGE_POLICY_CHANGED,
            subject=self.subject,
            before=before.facts,
            after=after.facts,
        )
        change_policies.add(session, after, entry_seq=seq)
        return Applied(before.facts, after.facts)

    def _decided(self, session: Session) -> tuple[ChangePolicy, ChangePolicy]:
        before = change_policies.in_force(session)
        after = self.decide(before)
        self._require_people(session)
        return before, after

    def _require_people(self, session: Session) -> None:
        """Raises: BadPayload for a kind that this changes, unless there are two people who could ask and decide."""
        people = keys.people_of_house(session)
        with_passkey = passkeys.holders(session, [person.name for person in people])
        for kind, policy in self.kinds.items():
            if not policy.is_decidable_among(people, with_passkey=with_passkey):
                shown = "a key and a passkey" if policy.needs_passkey else "a key"
                message = f"leaves nobody with a key who could ask, or no other user with {shown} who could decide then"
                raise _bad_kind(kind, message)


def _bad_kind(kind: str, wrong: str) -> BadPayload:
    escaped = kind.replace("~", "~0").replace("/", "~1")
    return bad_field(f"kinds/{escaped}", wrong)
