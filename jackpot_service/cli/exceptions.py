"""`jackpot exceptions list|acknowledge`: what somebody has to look into, and what came of it."""

from datetime import UTC, datetime

import click
import orjson

from jackpot_service.api.exceptions import KINDS
from jackpot_service.cli.opening import opened_engine, signed_act
from jackpot_service.cli.values import MOST_LISTED, Identifier, Instant, Text, request_id_option, require_order
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read, transact
from jackpot_service.domain.exceptions import EMERGENCY_APPROVAL, NotedException
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.records.noted_exceptions import Wanted
from jackpot_service.reports.exceptions import exceptions_page, shown
from jackpot_service.usecases.acknowledge_exception import AcknowledgeException, acknowledge_exception


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
@click.option("--limit", type=click.IntRange(1, MOST_LISTED), default=50, show_default=True, help="The latest so many.")
@click.option("--json", "is_json", is_flag=True, help="Everything of each exception, as JSON.")
@click.pass_obj
def list_exceptions(  # noqa: PLR0917  click passes what its options say
    config: Config,
    kind: str | None,
    jackpot_id: str | None,
    casino_id: str | None,
    table_id: str | None,
    is_acknowledged: bool | None,  # noqa: FBT001
    noticed_from: datetime | None,
    noticed_to: datetime | None,
    limit: int,
    is_json: bool,  # noqa: FBT001
) -> None:
    """List exceptions, the latest first, a line each."""
    require_order(noticed_from, noticed_to)
    wanted = Wanted(
        kind=kind,
        jackpot_id=jackpot_id,
        casino_id=casino_id,
        table_id=table_id,
        is_acknowledged=is_acknowledged,
        noticed_from=noticed_from,
        noticed_to=noticed_to,
    )
    opened_before = datetime.now(UTC) - config.longest_open
    with opened_engine(config) as engine:
        page = read(
            engine,
            lambda session: exceptions_page(session, SYSTEM_OPERATOR, wanted, opened_before=opened_before, limit=limit),
        )
    for exception in page.items:
        click.echo(orjson.dumps(shown(exception)).decode() if is_json else _line(exception))
    if page.next_id is not None:
        click.echo(f"There are more; --limit {limit} showed the latest.", err=True)


@exceptions.command("acknowledge")
@click.argument("exception_id", type=Identifier())
@click.option("--reason", type=Text(), required=True, help="What came of it.")
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


def _line(exception: NotedException) -> str:
    where = " ".join(filter(None, (exception.table_id, exception.round_id))) or exception.jackpot_id or "-"
    marks = "EMERGENCY  " if exception.kind == EMERGENCY_APPROVAL else ""
    looked = exception.acknowledgement
    return (
        f"{exception.exception_id}  {exception.noticed_at:%Y-%m-%d %H:%M:%S}Z  {marks}{exception.kind}  {where}  "
        f"{exception.detail}{'' if looked is None else f'  [{looked.principal}: {looked.reason}]'}"
    )


COMMANDS = (exceptions,)
