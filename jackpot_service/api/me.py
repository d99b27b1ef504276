"""The caller, as the service knows it: every key may ask but a display's, which reads its feed alone."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from jackpot_service.api.request_context import Blueprint, look, principal
from jackpot_service.api.schemas import AnswerSchema, SortedTexts, described, word
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.change_policy import ChangePolicy, is_of_roles
from jackpot_service.domain.principals import READERS, Principal, Role
from jackpot_service.records import change_policies

blueprint = Blueprint("me", __name__, url_prefix="/v1/me", description="The caller, for everyone with a key.")


class MeSchema(AnswerSchema):
    """The principal of the key or token that was shown."""

    principal = described(fields.String, "The name.", attribute="name")
    role = word(Role)
    casino_id = described(fields.String, "The casino that it is bound to; null is the house.", allow_none=True)
    department = fields.String(required=True)
    table_ids = SortedTexts(
        required=True, metadata={"description": "The tables that the key is bound to; all of its casino if empty."}
    )
    is_service_account = described(fields.Boolean, "Whether no person stands behind it: then it approves nothing.")
    requests = SortedTexts(required=True, metadata={"description": "The kinds of change that it may request."})
    decides = SortedTexts(
        required=True,
        metadata={"description": "The kinds of change that it may decide, where somebody else requested them."},
    )


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@blueprint.response(200, MeSchema())
def get_me() -> Mapping[str, Any]:
    """Show the caller: name, role, casino and tables, and which changes it may request and decide."""
    return _shown(principal(), look(change_policies.in_force))


def _shown(caller: Principal, policy: ChangePolicy) -> Mapping[str, Any]:
    kinds = policy.kinds.items()
    return {
        "name": caller.name,
        "role": caller.role,
        "casino_id": caller.casino_id,
        "department": caller.department,
        "table_ids": caller.table_ids,
        "is_service_account": caller.is_service_account,
        "requests": [name for name, kind_policy in kinds if is_of_roles(caller, kind_policy.requested_by)],
        "decides": [
            name for name, kind_policy in kinds if caller.may_approve and is_of_roles(caller, kind_policy.decided_by)
        ],
    }
