"""`jackpot rates …`: rate sheets, published, proposed and looked at."""

import hashlib
from datetime import UTC, datetime

import click

from jackpot_service.cli import ecb
from jackpot_service.cli.changes import dry_run_option, print_request
from jackpot_service.cli.opening import opened_engine, operator_act, signed_act
from jackpot_service.cli.values import Amount, CurrencyCode, Identifier, Instant, pairs, reason_option
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import Session, read, rehearse, transact
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.money import plain
from jackpot_service.domain.rates import RateSource
from jackpot_service.records.rate_sheets import SheetHead
from jackpot_service.reports.rates import SheetShown, sheet_in_force, sheet_of_number
from jackpot_service.reports.rates import history as history_of
from jackpot_service.usecases.propose_reference_rates import ProposeReferenceRates, propose_reference_rates
from jackpot_service.usecases.publish_rates import PublishRates, publish_first_sheet

MOST_LISTED = 50

base_option = click.option("--base", type=CurrencyCode(), required=True, help="The base currency.")


@click.group("rates")
def rates() -> None:
    """Rate sheets."""


@rates.command("publish")
@base_option
@click.argument("quotes", nargs=-1, metavar="[CURRENCY=RATE]...")
@reason_option
@click.pass_obj
def publish_a_sheet(config: Config, base: str, quotes: tuple[str, ...], reason: str) -> None:
    """
    Publish the first rate sheet of a base currency, in force at once; a rate is base units per unit of its currency.

    Every later sheet is a change that two people make: jackpot changes request rate-sheet.
    """
    stated = {
        CurrencyCode().convert(code, None, None): Amount().convert(rate, None, None)
        for code, rate in pairs(quotes, option="CURRENCY=RATE").items()
    }
    with opened_engine(config) as engine:
        act = operator_act(config, engine, reason=reason)
        command = PublishRates(act=act, base=base, rates=stated, effective_at=act.now)
        transact(engine, lambda session: publish_first_sheet(session, command))
    click.echo(f"The first rate sheet of {base} is in force.", err=True)


@rates.command("show")
@base_option
@click.option("--number", type=click.IntRange(1, 2**31 - 1), help="Another sheet than the one in force.")
@click.option("--as-of", type=Instant(), help="The sheet in force at an instant, such as 2026-11-20T09:30:00Z.")
@click.pass_obj
def show(config: Config, base: str, number: int | None, as_of: datetime | None) -> None:
    """Show a rate sheet: the one in force, unless another is asked for."""
    if number is not None and as_of is not None:
        message = "--number and --as-of each name a sheet; give one of them"
        raise click.UsageError(message)

    def find(session: Session) -> SheetShown:
        if number is not None:
            return sheet_of_number(session, base, number)
        return sheet_in_force(session, base, at=as_of or datetime.now(UTC))

    with opened_engine(config) as engine:
        found = read(engine, find)
    click.echo(_headline(found.head))
    for rate in found.sheet.rates.values():
        click.echo(f"  {rate.currency} {plain(rate.base_per_unit):>24}")


@rates.command("history")
@base_option
@click.option("--after", type=click.IntRange(1, 2**31 - 1), help="Only the sheets before this number.")
@click.argument("currency", type=CurrencyCode())
@click.pass_obj
def history(config: Config, base: str, after: int | None, currency: str) -> None:
    """List what a currency was worth, sheet by sheet, the latest first."""
    with opened_engine(config) as engine:
        found = read(engine, lambda session: history_of(session, base, currency, limit=MOST_LISTED, before=after))
    for then in found:
        rate = "-" if then.rate is None else plain(then.rate.base_per_unit)
        click.echo(f"{rate:>24}  {_headline(then.head)}")


@rates.command("import-ecb")
@click.argument("place", metavar="FILE|URL")
@click.option("--base", type=CurrencyCode(), default=ecb.PIVOT, show_default=True, help="The base currency.")
@click.option("--all", "all_currencies", is_flag=True, help="Also currencies that the sheet in force does not have.")
@click.option("--request-id", type=Identifier(), help="Default: ecb-BASE-DAY, so that a document is proposed once.")
@dry_run_option
@click.pass_obj
def import_ecb(  # noqa: PLR0917  click passes what its options say
    config: Config,
    place: str,
    base: str,
    all_currencies: bool,  # noqa: FBT001
    request_id: str | None,
    dry_run: bool,  # noqa: FBT001
) -> None:
    """
    Propose the ECB's daily reference rates (eurofxref-daily.xml) to those who approve rates; puts nothing in force.

    A rate is the quotient of two quotes, rounded to 10 decimals, half to even. Only currencies of the sheet in force
    are taken, since a sheet opens every currency that it holds to bets; --all takes the others too. Those that the
    document does not quote keep their rates.
    """
    document = ecb.fetch(place, most=ecb.LARGEST_DOCUMENT)
    quoted = ecb.read_document(document)
    source = RateSource(ecb.NAME, quoted.day, hashlib.sha256(document).hexdigest())
    request_id = request_id or f"{ecb.NAME}-{base}-{quoted.day}"
    with opened_engine(config) as engine:
        maker = signed_act(config, engine, request_id=request_id, reason=f"ECB reference rates of {quoted.day}")
        command = ProposeReferenceRates(maker, base, quoted, source, all_currencies, config.rate_band)
        run = rehearse if dry_run else transact
        done = run(engine, lambda session: propose_reference_rates(session, command))
    for code in done.kept:
        click.echo(f"{code} is not in the document and keeps its rate; to have it leave, ask for that.", err=True)
    print_request(done.request, at=maker.now, dry_run=dry_run)


def _headline(head: SheetHead) -> str:
    from_when = f"{head.effective_at:%Y-%m-%d %H:%M:%S} UTC"
    return f"{head.base} sheet {head.number}, in force from {from_when}{_origin(head.source)}"


def _origin(source: Facts | None) -> str:
    return "" if source is None else f", by {source['name']} of {source['date']} (SHA-256 {source['sha256']})"


COMMANDS = (rates,)
