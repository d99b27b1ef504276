"""The rules sheet as a page to print."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from jackpot_service.api import pages
from jackpot_service.domain.languages import Words
from jackpot_service.domain.printed_limits import limits_section, limits_text
from jackpot_service.domain.printed_rates import SheetInForce, source_text
from jackpot_service.domain.printed_rules import odds_text, prize_text, return_text, sections, tier_name
from jackpot_service.reports.rules_sheet import RulesSheet

TEMPLATE: Final = "rules_sheet.html"


def rendered(sheet: RulesSheet, words: Words, *, printed_at: datetime) -> str:
    """Write the page."""
    rate, pending = sheet.conversion.rate, sheet.pending
    return pages.write(
        TEMPLATE,
        words,
        rate,
        sheet=sheet,
        printed_at=printed_at,
        on_offer=words.money(sheet.state.meter.amount_minor(rate), rate),
        prizes=list(_prizes(sheet, words)),
        split=list(_split(sheet, words)),
        whole_return=return_text(sheet.state.rules, words),
        rate=words.number(rate.base_per_unit),
        source=_source(sheet.conversion.sheet, words),
        sections=sections(sheet.state.rules, words, sheet.conversion, periods=sheet.claim_periods),
        limits=limits_section(_limits(sheet, words), words),
        pending_sections=() if pending is None else sections(pending.rules, words, periods=sheet.claim_periods),
    )


def _prizes(sheet: RulesSheet, words: Words) -> Iterator[tuple[str, str, str, int, int]]:
    """Name, prize and odds of each tier, and its amounts for one unit and for the stake that was asked for."""
    for line in sheet.lines:
        rules, tier = sheet.state.rules, line.tier
        stake = sheet.amounts.unit if sheet.stake_minor is None else sheet.stake_minor
        yield (
            tier_name(tier, words),
            prize_text(rules, tier, words),
            odds_text(tier, words),
            line.amount_minor,
            line.amount_for(stake),
        )


def _limits(sheet: RulesSheet, words: Words) -> Iterator[str]:
    base = sheet.state.rules.base
    return (limits_text(table.table_id, table.limits, words, base=base) for table in sheet.tables)


def _split(sheet: RulesSheet, words: Words) -> Iterator[tuple[str, str]]:
    split = sheet.state.rules.split
    yield words.say("The current prize"), words.per_cent(split.meter)
    yield words.say("The start of the next"), words.per_cent(split.reserve)
    yield words.say("The fixed prizes"), words.per_cent(split.prize_fund)
    yield words.say("The house"), words.per_cent(split.house)


def _source(sheet: SheetInForce | None, words: Words) -> str:
    return words.say("no rate sheet in force") if sheet is None else source_text(sheet, words)
