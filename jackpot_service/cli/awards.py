"""`jackpot awards …`: the latest in a state, those that nobody claimed, and the evidence that waiting ones need."""

from datetime import UTC, datetime
from functools import partial
from typing import Final

import click
import sqlalchemy

from jackpot_service.api.evidence import RECORDERS, RoundEvidenceSchema
from jackpot_service.auth.authenticator import require_role
from jackpot_service.cli.opening import opened_engine, signed_act
from jackpot_service.cli.values import Identifier, Sha256, Text, request_id_option
from jackpot_service.cli.writing import limit_option, print_json, print_list
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read, transact
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.records import awards as records
from jackpot_service.records.awards import AwardFilters, AwardRecord, Position
from jackpot_service.usecases.note_unclaimed import note_unclaimed
from jackpot_service.usecases.record_evidence import RecordEvidence, evidence_of, record_evidence

NOTING: Final = frozenset({Role.FINANCE, Role.OPERATOR})
"""The roles that note unclaimed awards."""


@click.group("awards")
def awards() -> None:
    """Awards; held, rejected and stopped ones are decided by: jackpot changes request held-awards."""


@awards.command("list")
@click.option("--state", type=click.Choice([state.value for state in AwardState]), default="held", show_default=True)
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier())
@limit_option
@click.pass_obj
def list_awards(config: Config, state: str, jackpot_id: str | None, casino_id: str | None, limit: int) -> None:
    """List the latest awards in a state."""
    filters, now = AwardFilters(AwardState(state), jackpot_id, casino_id), datetime.now(UTC)
    print_list(
        config,
        lambda session, most: records.latest(session, SYSTEM_OPERATOR, filters, limit=most, now=now),
        partial(_award_line, now=now),
        limit=limit,
    )


@awards.command("unclaimed")
@click.pass_obj
def note_unclaimed_awards(config: Config) -> None:
    """Keep an exception of each award that nobody claimed, once. A timer runs it daily, without a key."""
    unclaimed = new = 0
    after: Position | None = None
    with opened_engine(config) as engine:
        principal, now = _noting(config, engine)
        while True:
            noted = transact(engine, partial(note_unclaimed, principal=principal, now=now, after=after))
            unclaimed, new, after = unclaimed + noted.unclaimed, new + noted.new, noted.after
            if after is None:
                break
    click.echo(f"Unclaimed awards: {unclaimed}, noted now: {new}.")


def _noting(config: Config, engine: sqlalchemy.Engine) -> tuple[Principal, datetime]:
    """The owner of the key in JACKPOT_KEY, or else the host's operator; and the time. Raises: RoleForbidden."""
    if config.key is None:
        return SYSTEM_OPERATOR, datetime.now(UTC)
    act = signed_act(config, engine, request_id=None, reason=None)
    require_role(act.principal, NOTING)
    return act.principal, act.now


@awards.command("evidence")
@click.argument("table_id", type=Identifier())
@click.argument("round_id", type=Identifier())
@click.option("--kind", type=click.Choice([kind.value for kind in Evidence]), help="Which evidence to record.")
@click.option("--statement", type=Text(), help="For example the recording's reference.")
@click.option("--sha256", type=Sha256(), help="Of a file that is kept elsewhere.")
@request_id_option
@click.pass_obj
def show_evidence(  # noqa: PLR0917  click passes what its options say
    config: Config,
    table_id: str,
    round_id: str,
    kind: str | None,
    statement: str | None,
    sha256: str | None,
    request_id: str,
) -> None:
    """Show what the waiting awards of a round need, after recording evidence if --kind says which."""
    if (kind is None) is not (statement is None):
        message = "--kind and --statement go together"
        raise click.UsageError(message)
    with opened_engine(config) as engine:
        act = signed_act(config, engine, request_id=request_id, reason=None)
        if kind is None or statement is None:
            found = read(engine, lambda session: evidence_of(session, act.principal, table_id, round_id))
        else:
            command = RecordEvidence(act, table_id, round_id, Evidence(kind), statement, sha256)
            require_role(act.principal, frozenset(RECORDERS))
            found = transact(engine, lambda session: record_evidence(session, command))
    print_json(RoundEvidenceSchema().dump(found))


def _award_line(record: AwardRecord, *, now: datetime) -> str:
    award = record.award
    return (
        f"{award.award_id}  {record.jackpot_id}  {record.table_id}/{record.round_id}  bet {award.bet_id}  "
        f"{award.tier}  {award.amount_minor} {award.currency} minor  {record.state_at(now)}"
    )


COMMANDS = (awards,)
