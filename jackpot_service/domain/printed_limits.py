"""The limits of single tables as a rules sheet prints them, in the words of a language."""

from collections.abc import Iterable, Mapping
from typing import Final

from jackpot_service.domain.languages import Words, message
from jackpot_service.domain.printed_rules import Section
from jackpot_service.domain.table_limits import TableLimits

_SENTENCES: Final[Mapping[tuple[str, ...], str]] = {
    ("token",): message("Table {table}: a bet is one token of {token} {base}; no other currency is accepted."),
    ("least_stake",): message("Table {table}: a bet is worth at least {least_stake} {base}."),
    ("largest_stake",): message("Table {table}: a bet is worth at most {largest_stake} {base}."),
    ("least_stake", "largest_stake"): message(
        "Table {table}: a bet is worth at least {least_stake} {base}, and at most {largest_stake} {base}."
    ),
}
"""By the bounds that a table has."""


def limits_section(sentences: Iterable[str], words: Words) -> Section:
    """Print how the limits of tables go together with the rules, and then the sentences about each of them."""
    own = (
        words.say("These tables have limits of their own: a bet there keeps its table's limits and the rules above."),
        words.say("Two people change the limits of a table, for the next bet; a bet that was taken stands."),
    )
    return Section(words.say("Limits of single tables"), (*own, *sentences))


def limits_text(table_id: str, limits: TableLimits, words: Words, *, base: str) -> str:
    """Print the limits of a table, which has some, in the base currency."""
    amounts = {name: words.number(amount) for name, amount in limits.amounts.items()}
    return words.say(_SENTENCES[tuple(amounts)], table=table_id, base=base, **amounts)
