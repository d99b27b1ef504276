"""`jackpot changes …`: change requests, asked for and decided under the name that JACKPOT_KEY gives."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

import click
import sqlalchemy
import structlog
from marshmallow import ValidationError

from jackpot_service.api.changes import ChangePolicySchema, ChangeSchema, ChangeView, policy_view
from jackpot_service.cli.opening import opened_engine, signed_act
from jackpot_service.cli.values import Identifier, JsonDocument, Text, pairs, reason_option, request_id_option
from jackpot_service.cli.writing import limit_option, print_json, print_list
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import Session, read, read_at_once, rehearse, transact
from jackpot_service.domain.changes import Change, ChangeState, Outcome
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.records import change_policies
from jackpot_service.records import changes as records
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.effects import effect_of
from jackpot_service.usecases.changes.registry import KINDS
from jackpot_service.usecases.changes.requests import (
    ChangeRequested,
    DecideChange,
    RequestChange,
    decide_change,
    find,
    request_change,
)
from jackpot_service.usecases.fields import Figures

T = TypeVar("T")

log = structlog.get_logger()

dry_run_option = click.option("--dry-run", is_flag=True, help="Show what it would do, and do nothing.")


@click.group("changes")
def changes() -> None:
    """Changes that need two people: one requests, another approves. JACKPOT_KEY says who you are."""


@changes.command("request")
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.argument("payload", type=JsonDocument())
@reason_option
@request_id_option
@click.option("--base-version", type=Text(), help="The version that you saw; refused if it is another by now.")
@dry_run_option
@click.pass_obj
def request(  # noqa: PLR0917  click passes what its options say
    config: Config,
    kind: str,
    payload: dict[str, Any],
    reason: str,
    request_id: str,
    base_version: str | None,
    dry_run: bool,  # noqa: FBT001
) -> None:
    """Request a change; PAYLOAD is JSON, or @FILE."""
    with opened_engine(config) as engine:
        act = signed_act(config, engine, request_id=request_id, reason=reason)
        command = RequestChange(act, kind, payload, base_version, rate_band=config.rate_band)
        done = _run(engine, lambda session: request_change(session, command), dry_run=dry_run)
    print_request(done, at=act.now, dry_run=dry_run)


@changes.command("approve")
@click.argument("request_id", type=Identifier())
@click.option("--confirm", multiple=True, metavar="NAME=FIGURE", help="Repeat a figure of the request's `confirm`.")
@reason_option
@click.option("--emergency", is_flag=True, help="Approve your own request, alone, where jackpot db emergency is on.")
@dry_run_option
@click.pass_obj
def approve(  # noqa: PLR0917  click passes what its options say
    config: Config,
    request_id: str,
    confirm: tuple[str, ...],
    reason: str,
    emergency: bool,  # noqa: FBT001
    dry_run: bool,  # noqa: FBT001
) -> None:
    """Approve what somebody else requested; it is done by the last approval that is due."""
    with opened_engine(config) as engine:
        command = DecideChange(
            act=signed_act(config, engine, request_id=None, reason=reason),
            request_id=request_id,
            outcome=Outcome.APPROVED,
            confirm=_figures(confirm),
            is_emergency=emergency,
            is_dry_run=dry_run,
        )
        done = _run(engine, lambda session: decide_change(session, command), dry_run=dry_run)
    if emergency and not (dry_run or done.is_replay):
        log.critical("emergency approval by one person", request_id=request_id, principal=command.act.principal.name)
    _print(ChangeView(done.change, done.effect, command.act.now, dry_run))
    waits_for = done.change.approvals_due - len(done.change.decisions)
    approved = "approved and done" if done.change.decision else f"approved; {waits_for} more must approve it"
    click.echo(f"Change request {request_id}: {_said(dry_run, approved)}.", err=True)


@changes.command("reject")
@click.argument("request_id", type=Identifier())
@reason_option
@click.pass_obj
def reject(config: Config, request_id: str, reason: str) -> None:
    """Reject what somebody else requested."""
    with opened_engine(config) as engine:
        act = signed_act(config, engine, request_id=None, reason=reason)
        done = transact(engine, lambda session: decide_change(session, DecideChange(act, request_id, Outcome.REJECTED)))
    _print(ChangeView(done.change, None, act.now))
    click.echo(f"Change request {request_id}: rejected.", err=True)


@changes.command("list")
@click.option("--state", type=click.Choice([state.value for state in ChangeState]), default="pending")
@limit_option
@click.pass_obj
def list_changes(config: Config, state: str, limit: int) -> None:
    """List the latest change requests in a state."""
    now = datetime.now(UTC)
    print_list(
        config,
        lambda session, most: records.latest(session, limit=most, before=None, at=now, state=ChangeState(state)),
        lambda row: _line(row[1]),
        limit=limit,
    )


@changes.command("show")
@click.argument("request_id", type=Identifier())
@click.pass_obj
def show(config: Config, request_id: str) -> None:
    """Show a change request."""
    act = Act(SYSTEM_OPERATOR, datetime.now(UTC))

    def shown(session: Session) -> ChangeView:
        change = find(session, request_id)
        return ChangeView(change, effect_of(session, change, act), act.now)

    with opened_engine(config) as engine:
        view = read_at_once(engine, shown)
    _print(view)


@changes.command("policy")
@click.pass_obj
def show_policy(config: Config) -> None:
    """Show who asks for each kind of change, and who decides it."""
    with opened_engine(config) as engine:
        policy = read(engine, change_policies.in_force)
    print_json(ChangePolicySchema().dump(policy_view(policy)))


def _run(engine: sqlalchemy.Engine, act: Callable[[Session], T], *, dry_run: bool) -> T:
    return rehearse(engine, act) if dry_run else transact(engine, act)


def print_request(done: ChangeRequested, *, at: datetime, dry_run: bool) -> None:
    """Print a change request that was asked for, and say whether it was just now."""
    _print(ChangeView(done.change, done.effect, at, dry_run))
    found = f"it was asked for before, and is {done.change.state(at=at)}"
    said = found if done.is_replay else _said(dry_run, "it waits for another user")
    click.echo(f"Change request {done.change.request_id}: {said}.", err=True)


def _figures(texts: tuple[str, ...]) -> dict[str, Decimal]:
    try:
        return Figures().read(pairs(texts, option="--confirm"))
    except ValidationError as error:
        raise click.BadParameter(str(error.messages), param_hint="--confirm") from error


def _said(dry_run: bool, done: str) -> str:  # noqa: FBT001
    return "nothing was done, this was a dry run" if dry_run else done


def _print(view: ChangeView) -> None:
    print_json(ChangeSchema().dump(view))


def _line(change: Change) -> str:
    return f"{change.request_id}  {change.kind}  {change.subject}  by {change.maker}: {change.reason}"


COMMANDS = (changes,)
