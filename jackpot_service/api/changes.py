"""Change requests: requested by one user, approved or rejected by another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog
from marshmallow import fields, validate

from jackpot_service.api import change_refusals
from jackpot_service.api.change_effects import EffectSchema
from jackpot_service.api.lists import ListQuerySchema, cursor, page, page_schema
from jackpot_service.api.passkeys import AssertionSchema, OptionsSchema, assertion_of, site
from jackpot_service.api.rates import LARGEST_NUMBER
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, act_or_rehearse, context, look, now, principal, signed
from jackpot_service.api.schemas import AnswerSchema, Moment, ReasonedSchema, RequestSchema, described, listed, word
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.failures import Busy
from jackpot_service.database.transactions import Session, read_at_once
from jackpot_service.domain.change_policy import ChangePolicy
from jackpot_service.domain.changes import Change, ChangeState, Outcome
from jackpot_service.domain.errors import BooksBroken
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.principals import CHANGE_ROLES, Role
from jackpot_service.records import change_policies
from jackpot_service.records import changes as records
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.effects import ChangeEffect, effect_of, impossible
from jackpot_service.usecases.changes.registry import KINDS
from jackpot_service.usecases.changes.requests import (
    ChangeDecidedNow,
    ChangeRequested,
    DecideChange,
    RequestChange,
    decide_change,
    request_change,
    require_may_decide,
    visible,
)
from jackpot_service.usecases.changes.signed_approvals import Shown, begin_approval
from jackpot_service.usecases.fields import Figures, Flag, JsonObject, QueryNumber, Text, Truth

log = structlog.get_logger()

blueprint = Blueprint(
    "change-requests",
    __name__,
    url_prefix="/v1/change-requests",
    description="Changes that need two people: one requests, another approves. A service account only requests.",
)

DECIDERS = tuple(sorted(CHANGE_ROLES))
"""The roles that request and decide; the change policy says which of them for each kind of change."""

READERS = (*DECIDERS, Role.AUDITOR)


policies = Blueprint(
    "change-policy",
    __name__,
    url_prefix="/v1/change-policy",
    description="The roles that ask for each kind of change and decide it. A change request of its own changes them.",
)


class KindPolicySchema(AnswerSchema):
    """The policy of a kind of change. Nobody decides an own request."""

    kind = fields.String(required=True)
    requested_by = fields.List(word(Role), required=True, metadata={"description": "The roles that request."})
    decided_by = fields.List(word(Role), required=True, metadata={"description": "The roles that decide."})
    needs_other_department = described(fields.Boolean, "Whether the checker is of another department than the maker.")
    needs_other_role = described(fields.Boolean, "Whether the checker is of another role than the maker.")
    needs_passkey = described(fields.Boolean, "Whether a passkey signs every approval, not only of who has one.")


class ChangePolicySchema(AnswerSchema):
    """A version of the change policy."""

    version = described(fields.Integer, "Counts from 1, the policy that the service is shipped with.")
    kinds = listed(KindPolicySchema, "Each kind of change, by name.")


class PolicyQuerySchema(RequestSchema):
    """The version of the change policy."""

    version = QueryNumber(
        1, LARGEST_NUMBER, load_default=None, metadata={"description": "Without it the one in force."}
    )


@policies.route("", methods=["GET"])
@allow(*READERS)
@refused_with("change-policy-unknown")
@policies.arguments(PolicyQuerySchema(), location="query")
@policies.response(200, ChangePolicySchema())
def get_change_policy(query: Mapping[str, Any]) -> Facts:
    """Show who asks for each kind of change and who decides it, in force or by a version before."""
    version = query["version"]
    if version is None:
        return policy_view(look(change_policies.in_force))
    return policy_view(look(lambda session: change_policies.policy_of_version(session, version)))


def policy_view(policy: ChangePolicy) -> Facts:
    """Return the policy as `ChangePolicySchema` shows it."""
    kinds = policy.facts["kinds"]
    return {"version": policy.version, "kinds": [{"kind": name, **kinds[name]} for name in sorted(kinds)]}


class DryRunQuerySchema(RequestSchema):
    """Whether to do it or only to show what it would do."""

    dry_run = Flag(load_default=False)


class ApprovalOptionsQuerySchema(RequestSchema):
    """Whether the maker is to approve alone."""

    emergency = Flag(load_default=False)


class ChangesQuerySchema(ListQuerySchema):
    """Which change requests."""

    state = fields.Enum(ChangeState, by_value=True, load_default=None)
    kind = fields.String(validate=validate.OneOf(list(KINDS)), load_default=None)


class ChangeRequestSchema(ReasonedSchema):
    """A change, and the reason for it."""

    kind = fields.String(validate=validate.OneOf(list(KINDS)), required=True)
    payload = JsonObject(required=True, metadata={"description": "The parameters of the change, by its kind."})
    base_version = Text(load_default=None, metadata={"description": "The version that the maker saw."})


class ApprovalSchema(RequestSchema):
    """An approver's statement."""

    confirm = Figures(load_default=dict, metadata={"description": "The request's `confirm`, repeated as numbers."})
    reason = Text(required=True)
    emergency = Truth(
        load_default=False,
        metadata={
            "description": "The maker approves alone: only while the owner of the database has switched that on."
        },
    )
    assertion = fields.Nested(
        AssertionSchema(),
        load_default=None,
        allow_none=True,
        metadata={"description": "The answer of the approver's passkey: see `POST …/approval/options`."},
    )


class RejectionSchema(RequestSchema):
    """Why not."""

    reason = Text(required=True)


class SignedSchema(AnswerSchema):
    """
    An assertion of WebAuthn: who has the passkey's public key can check it. Bytes are base64url.

    The challenge in `client_data` is the SHA-256 of the change request with `effect`.
    """

    passkey_id = fields.String(required=True, attribute="facts.passkey_id")
    authenticator_data = fields.String(required=True, attribute="facts.authenticator_data")
    client_data = fields.String(required=True, attribute="facts.client_data")
    signature = fields.String(required=True, attribute="facts.signature")
    effect = described(fields.Dict, "The effect that the checker was shown.")


class DecisionSchema(AnswerSchema):
    """A decision on a change request."""

    outcome = word(Outcome)
    checker = fields.String(required=True)
    reason = fields.String(required=True)
    is_emergency = fields.Boolean(required=True)
    decided_at = Moment(required=True)
    assertion = fields.Nested(
        SignedSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "The assertion of a passkey of the checker; null without one."},
    )


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A change request as it stands at an instant, and what it did or would do; a dry run changed nothing of it."""

    change: Change
    effect: ChangeEffect | None
    at: datetime
    is_dry_run: bool = False

    @property
    def is_waiting(self) -> bool:
        """Whether it can still be decided."""
        return self.change.state(at=self.at) is ChangeState.PENDING


class ListedChangeSchema(AnswerSchema):
    """A change request without its effect, which `GET /v1/change-requests/{request_id}` figures of one at a time."""

    request_id = fields.String(required=True)
    kind = fields.String(required=True, validate=validate.OneOf(list(KINDS)))
    subject = fields.String(required=True)
    jackpot_id = fields.String(required=True, allow_none=True)
    payload = fields.Dict(required=True)
    reason = fields.String(required=True)
    base_version = described(fields.String, "The version of its subject on which it is based.")
    confirm = described(
        fields.Dict,
        "Unusual figures that the approver must repeat under the same name.",
        attribute="to_confirm",
        values=fields.String(),
    )
    maker = fields.String(required=True)
    made_at = Moment(required=True)
    expires_at = Moment(required=True)
    state = word(ChangeState)
    approvals_due = described(fields.Integer, "So many people approve it; the last of them does it.")
    decisions = listed(DecisionSchema, "The approvals so far, or the rejection.")
    decision = fields.Nested(
        DecisionSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "The one that ended it; null while it waits."},
    )

    def get_attribute(self, obj: ChangeView, attr: str, default: Any) -> Any:  # noqa: ANN401  as the base
        """Read all else from the change itself."""
        if attr == "state":
            return obj.change.state(at=obj.at)
        return super().get_attribute(obj.change, attr, default)


class ChangeSchema(ListedChangeSchema):
    """A change request with its effect."""

    dry_run = described(fields.Boolean, "Whether this was a dry run: nothing was recorded, and all stands as shown.")
    effect = fields.Nested(
        EffectSchema(),
        required=True,
        allow_none=True,
        metadata={
            "description": "While it waits: what it would do now. Once it is approved: what it did. Null if it was "
            "rejected or has expired."
        },
    )

    def get_attribute(self, obj: ChangeView, attr: str, default: Any) -> Any:  # noqa: ANN401  as the base
        """Read the effect and the dry run from the view."""
        if attr == "dry_run":
            return obj.is_dry_run
        return obj.effect if attr == "effect" else super().get_attribute(obj, attr, default)


@dataclass(frozen=True, slots=True)
class ApprovalOptions:
    """The options for a browser to sign an approval, and the effect that is signed."""

    public_key: Mapping[str, Any]
    effect: ChangeEffect


class ApprovalOptionsSchema(OptionsSchema):
    """The options for a browser, and the effect that is signed."""

    effect = fields.Nested(EffectSchema(), required=True)


@blueprint.route("", methods=["POST"])
@allow(*DECIDERS)
@refused_with(*change_refusals.OF_REQUESTS)
@blueprint.arguments(DryRunQuerySchema(), location="query")
@blueprint.arguments(ChangeRequestSchema())
@blueprint.response(201, ChangeSchema(), description="It waits for another user.")
@blueprint.alt_response(200, schema=ChangeSchema(), description="It was asked for before, or this is a dry run.")
def post_change(query: Mapping[str, Any], body: Mapping[str, Any]) -> tuple[ChangeView, int]:
    """Ask for a change. With `dry_run=true` nothing is recorded, and the answer shows what approving it would do."""
    command = RequestChange(
        signed(body), body["kind"], body["payload"], body["base_version"], rate_band=context().config.rate_band
    )
    is_dry_run = query["dry_run"]
    done = act_or_rehearse(lambda session: request_change(session, command), dry_run=is_dry_run)
    return answered(done, is_dry_run=is_dry_run), 200 if done.is_replay or is_dry_run else 201


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(ChangesQuerySchema(), location="query")
@blueprint.response(200, page_schema(ListedChangeSchema, "Changes"))
def get_changes(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    List change requests, the latest first, without their effects; a key with a casino sees none of the house's.

    `GET /v1/change-requests/{request_id}` has the effect.
    """
    if principal().casino_id is not None:
        return {"items": [], "next": None}

    def rows(session: Session, limit: int) -> Sequence[tuple[int, Change]]:
        return records.latest(
            session, limit=limit, before=query["after"], at=now(), state=query["state"], kind=query["kind"]
        )

    page_ = page(query, rows, lambda row: cursor(row[0]))
    return {**page_, "items": [ChangeView(change, None, now()) for _, change in page_["items"]]}


@blueprint.route("/<id:request_id>", methods=["GET"])
@allow(*READERS)
@refused_with("change-unknown")
@blueprint.response(200, ChangeSchema())
def get_change(request_id: str) -> ChangeView:
    """
    Show a change request with its effect: of one that waits, what it would do now.

    The effect is figured in a snapshot, without a lock, so bets go on meanwhile. It is the same for all who may read
    the request. If the change cannot be made as the books are, `effect.problem` says why.
    """
    return shown_change(request_id)


def answered(done: ChangeRequested | ChangeDecidedNow, *, is_dry_run: bool) -> ChangeView:
    """Show what a call has done; of one that repeats an earlier, what is there. Raises: UnknownChange."""
    if done.is_replay:
        return replace(shown_change(done.change.request_id), is_dry_run=is_dry_run)
    return ChangeView(done.change, done.effect, now(), is_dry_run)


def shown_change(request_id: str) -> ChangeView:
    """Return a change request with its effect, as the caller may see it now. Raises: UnknownChange."""
    seen: list[ChangeView] = []

    def report(session: Session) -> ChangeView:
        change = visible(session, principal(), request_id)
        act = Act(principal(), now())  # Only now is there a snapshot; its effect is of this instant.
        seen.append(ChangeView(change, None, act.now))
        return replace(seen[-1], effect=effect_of(session, change, act))

    try:
        return read_at_once(context().engine, report)
    except Busy as error:
        if not seen or not seen[-1].is_waiting:
            raise
        return replace(seen[-1], effect=impossible(error, at=seen[-1].at))


@blueprint.route("/<id:request_id>/approval", methods=["POST"])
@allow(*DECIDERS)
@refused_with(*change_refusals.OF_APPROVALS)
@blueprint.arguments(DryRunQuerySchema(), location="query")
@blueprint.arguments(ApprovalSchema())
@blueprint.response(200, ChangeSchema())
def post_approval(query: Mapping[str, Any], body: Mapping[str, Any], request_id: str) -> ChangeView:
    """
    Approve a change that somebody else asked for: it is done before this is answered. The same again is a replay.

    `GET /v1/change-policy` shows who decides it. Anybody else is answered 403 `role-forbidden`, or `same-department`
    or `same-role` where another department or role than the maker's must decide.

    Where several people must approve it, it stays `pending` until the last has; `effect` is what it would do.

    With `dry_run=true` all of it is tried and taken back: the answer shows what would be done, and the request and its
    decisions as they stand.

    The maker of a key by which a round was played approves nothing that its players get: 403 `key-maker`.

    An approver with a passkey signs the approval: 403 `passkey-required` without `assertion`. A dry run is not signed.
    If the books have moved so that the change would do something else than was signed, by any of its approvers, nothing
    is done: 409 `effect-moved`.
    """
    command = DecideChange(
        act=signed(body),
        request_id=request_id,
        outcome=Outcome.APPROVED,
        confirm=body["confirm"],
        is_emergency=body["emergency"],
        is_dry_run=query["dry_run"],
        shown=shown_by(body),
    )
    done = act_or_rehearse(lambda session: decide_change(session, command), dry_run=query["dry_run"])
    if command.is_emergency and not (query["dry_run"] or done.is_replay):
        log.critical("emergency approval by one person", request_id=request_id, principal=principal().name)
    return answered(done, is_dry_run=query["dry_run"])


def shown_by(body: Mapping[str, Any]) -> Shown:
    """Return what a passkey has signed, as the body of an approval holds it."""
    stated = body["assertion"]
    return Shown(None if stated is None else assertion_of(stated), site())


@blueprint.route("/<id:request_id>/approval/options", methods=["POST"])
@allow(*DECIDERS)
@refused_with(*change_refusals.OF_APPROVAL_OPTIONS)
@blueprint.arguments(ApprovalOptionsQuerySchema(), location="query")
@blueprint.response(200, ApprovalOptionsSchema())
def post_approval_options(query: Mapping[str, Any], request_id: str) -> ApprovalOptions:
    """
    Begin an approval that a passkey signs: answer what `navigator.credentials.get` takes, and the effect to be signed.

    The challenge is the SHA-256 of the approval of the request with this effect. It waits for a quarter of an hour, and
    is good once. With `emergency=true` it is for the maker's own approval.
    """
    return begin_approval_of(shown_change(request_id), is_emergency=query["emergency"])


def begin_approval_of(view: ChangeView, *, is_emergency: bool) -> ApprovalOptions:
    """
    Have the caller's passkey asked for a signature of a request with its effect as shown.

    Raises: PasskeyRequired; as `require_may_decide`; whatever the change itself is refused by.
    """
    asking = Act(principal(), now())
    decision = DecideChange(asking, view.change.request_id, Outcome.APPROVED, is_emergency=is_emergency)
    look(lambda session: require_may_decide(session, view.change, decision))
    effect = view.effect
    if effect is None:
        message = f"Change request {view.change.request_id} waits, and has no effect."
        raise BooksBroken(message)
    if effect.problem is not None:
        raise effect.problem
    options = act(
        lambda session: begin_approval(session, asking, view.change, effect, site(), is_emergency=is_emergency)
    )
    return ApprovalOptions(options, effect)


@blueprint.route("/<id:request_id>/rejection", methods=["POST"])
@allow(*DECIDERS)
@refused_with(*change_refusals.OF_REJECTIONS)
@blueprint.arguments(RejectionSchema())
@blueprint.response(200, ChangeSchema())
def post_rejection(body: Mapping[str, Any], request_id: str) -> ChangeView:
    """Reject a change that somebody else asked for. The same again is a replay."""
    command = DecideChange(signed(body), request_id, Outcome.REJECTED)
    done = act_or_rehearse(lambda session: decide_change(session, command), dry_run=False)
    return ChangeView(done.change, None, now())
