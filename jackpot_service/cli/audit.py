"""`jackpot audit|exceptions`: the audit trail, and the cases that finance must look into."""

from datetime import UTC, datetime
from typing import Any

import click

from jackpot_service.api.exceptions import KINDS, ExceptionSchema
from jackpot_service.cli.opening import opened_engine, signed_act
from jackpot_service.cli.values import Identifier, Instant, Text, request_id_option, require_order
from jackpot_service.cli.writing import json_line, json_option, limit_option, print_list
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import transact
from jackpot_service.domain.exceptions import EMERGENCY_APPROVAL, NotedException
from jackpot_service.domain.journal import ACT_KINDS, EntryKind
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.records import noted_exceptions
from jackpot_service.reports import audit as acts
from jackpot_service.usecases.acknowledge_exception import AcknowledgeException, acknowledge_exception


@click.command("audit")
@click.option("--principal", type=Text(), help="The user or service account that acted.")
@click.option("--kind", type=click.Choice(sorted(kind.value for kind in ACT_KINDS)))
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--request-id", type=Identifier(), help="Also finds what decided or did the change request of this id.")
@click.option("--from", "booked_from", type=Instant(), help="Booked then or later.")
@click.option("--to", "booked_to", type=Instant(), help="Booked before then.")
@limit_option
@json_option
@click.pass_obj
def audit(config: Config, /, *, limit: int, is_json: bool, kind: str | None, **query: Any) -> None:  # noqa: ANN401  as click passes them
    """List administrative acts, the latest first, a line each: who did what, when and why."""
    require_order(query["booked_from"], query["booked_to"])
    filters = acts.ActQuery(kind=None if kind is None else EntryKind(kind), **query)
    print_list(
        config,
        lambda session, most: acts.latest_acts(session, filters, limit=most),
        (lambda audited: json_line(acts.shown(audited))) if is_json else _act_line,
        limit=limit,
    )


def _act_line(audited: acts.AuditedAct) -> str:
    act = audited.act
    marks = "EMERGENCY  " if audited.is_emergency else ""
    asked = act.decides or act.request_id
    because = "" if act.reason is None else f": {act.reason}"
    return (
        f"{act.seq:>6}  {act.booked_at:%Y-%m-%d %H:%M:%S}Z  {marks}{act.kind}  {act.subject}  by {act.principal}"
        f"{'' if asked is None else f' ({asked})'}{because}"
    )


@click.group("exceptions")
def exceptions() -> None:
    """Late bets, miscounts, conflicts, rounds open too long, emergency approvals."""


@exceptions.command("list")
@click.option("--kind", type=click.Choice(KINDS))
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier())
@click.option("--table", "table_id", type=Identifier())
@click.option("--acknowledged/--unacknowledged", "is_acknowledged", default=None, help="Default: both.")
@click.option("--from", "noticed_from", type=Instant(), help="Happened then or later.")
@click.option("--to", "noticed_to", type=Instant(), help="Happened before then.")
@limit_option
@json_option
@click.pass_obj
def list_exceptions(config: Config, /, *, limit: int, is_json: bool, **query: Any) -> None:  # noqa: ANN401  as click passes them
    """List exceptions, the latest first, a line each."""
    require_order(query["noticed_from"], query["noticed_to"])
    filters = noted_exceptions.ExceptionFilters(**query)
    opened_before = datetime.now(UTC) - config.longest_open
    print_list(
        config,
        lambda session, most: acts.latest_exceptions(
            session, SYSTEM_OPERATOR, filters, opened_before=opened_before, limit=most
        ),
        (lambda exception: json_line(ExceptionSchema().dump(exception))) if is_json else _exception_line,
        limit=limit,
    )


@exceptions.command("acknowledge")
@click.argument("exception_id", type=Identifier())
@click.option("--reason", type=Text(), required=True, help="The outcome.")
@request_id_option
@click.pass_obj
def acknowledge(config: Config, exception_id: str, reason: str, request_id: str) -> None:
    """Say what came of an exception; JACKPOT_KEY says who you are."""
    with opened_engine(config) as engine:
        signed = signed_act(config, engine, request_id=request_id, reason=reason)
        command = AcknowledgeException(signed, exception_id, signed.now - config.longest_open)
        done = transact(engine, lambda session: acknowledge_exception(session, command))
    said = "was acknowledged before, by this request" if done.is_replay else "acknowledged"
    click.echo(f"Exception {exception_id}: {said}.", err=True)


def _exception_line(exception: NotedException) -> str:
    times = "" if exception.count == 1 else f"{exception.count} times  "
    where = " ".join(filter(None, (exception.table_id, exception.round_id))) or exception.jackpot_id or "-"
    marks = "EMERGENCY  " if exception.kind == EMERGENCY_APPROVAL else ""
    looked = exception.acknowledgement
    closed = "" if looked is None else f"  [{looked.resolution} by {looked.principal}: {looked.reason}]"
    granted = "".join(f"  granted: {minor} {currency}" for currency, minor in sorted((exception.granted or {}).items()))
    return (
        f"{exception.exception_id}  {exception.noticed_at:%Y-%m-%d %H:%M:%S}Z  {marks}{exception.kind}  {where}  "
        f"{times}{exception.detail}{granted}{closed}"
    )


COMMANDS = (audit, exceptions)
