"""`jackpot audit`: the audit trail, a line an act."""

from datetime import datetime

import click
import orjson

from jackpot_service.cli.opening import opened_engine
from jackpot_service.cli.values import MOST_LISTED, Identifier, Instant, Text, require_order
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read
from jackpot_service.domain.journal import ACT_KINDS, EntryKind
from jackpot_service.reports.audit import AuditedAct, Wanted, audit_page, shown


@click.command("audit")
@click.option("--principal", type=Text(), help="Who acted.")
@click.option("--kind", type=click.Choice(sorted(kind.value for kind in ACT_KINDS)))
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--request-id", type=Identifier(), help="Also finds what decided or did the change request of this id.")
@click.option("--from", "booked_from", type=Instant(), help="Booked then or later.")
@click.option("--to", "booked_to", type=Instant(), help="Booked before then.")
@click.option("--limit", type=click.IntRange(1, MOST_LISTED), default=50, show_default=True, help="The latest so many.")
@click.option("--json", "is_json", is_flag=True, help="Everything of each act, as JSON.")
@click.pass_obj
def audit(  # noqa: PLR0917  click passes what its options say
    config: Config,
    principal: str | None,
    kind: str | None,
    jackpot_id: str | None,
    request_id: str | None,
    booked_from: datetime | None,
    booked_to: datetime | None,
    limit: int,
    is_json: bool,  # noqa: FBT001
) -> None:
    """List administrative acts, the latest first, a line each: who did what, when and why."""
    require_order(booked_from, booked_to)
    wanted = Wanted(
        principal=principal,
        kind=None if kind is None else EntryKind(kind),
        jackpot_id=jackpot_id,
        request_id=request_id,
        booked_from=booked_from,
        booked_to=booked_to,
    )
    with opened_engine(config) as engine:
        page = read(engine, lambda session: audit_page(session, wanted, limit=limit))
    for audited in page.items:
        click.echo(orjson.dumps(shown(audited)).decode() if is_json else _line(audited))
    if page.next_seq is not None:
        click.echo(f"There are more; --limit {limit} showed the latest.", err=True)


def _line(audited: AuditedAct) -> str:
    act = audited.act
    marks = "EMERGENCY  " if audited.is_emergency else ""
    asked = act.decides or act.request_id
    because = "" if act.reason is None else f": {act.reason}"
    return (
        f"{act.seq:>6}  {act.booked_at:%Y-%m-%d %H:%M:%S}Z  {marks}{act.kind}  {act.subject}  by {act.principal}"
        f"{'' if asked is None else f' ({asked})'}{because}"
    )


COMMANDS = (audit,)
