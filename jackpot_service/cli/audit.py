"""`jackpot audit`: the audit trail, a line an act."""

from typing import Any

import click

from jackpot_service.cli.values import Identifier, Instant, Text, require_order
from jackpot_service.cli.writing import json_line, json_option, limit_option, print_list
from jackpot_service.config.settings import Config
from jackpot_service.domain.journal import ACT_KINDS, EntryKind
from jackpot_service.reports.audit import AuditedAct, Wanted, latest_acts, shown


@click.command("audit")
@click.option("--principal", type=Text(), help="Who acted.")
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
    wanted = Wanted(kind=None if kind is None else EntryKind(kind), **query)
    print_list(
        config,
        lambda session, most: latest_acts(session, wanted, limit=most),
        (lambda audited: json_line(shown(audited))) if is_json else _line,
        limit=limit,
    )


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
