"""Laws that look at rows of another machine are named: only they are given up where the tables are distributed."""

import re
from collections.abc import Mapping
from typing import Any

import psycopg

from jackpot_service.database.tables import Placement
from jackpot_service.schema.distribute import LAWS_OF_ONE_MACHINE
from tests.support import catalogues
from tests.support.catalogues import PLACEMENTS

Owner = psycopg.Connection[Any]

TRIGGERS = """
SELECT tgname, relname, proname
FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE NOT tgisinternal AND NOT relispartition AND relnamespace = 'public'::regnamespace
"""

OF_THE_REFERENCE_BOOK = re.compile("= '-'")


def test_each_law_that_looks_at_another_machine_is_given_up_and_no_other(owner: Owner) -> None:
    bodies = {
        **{name: body for name, (body, _) in catalogues.functions(owner, "plpgsql").items()},
        **{name: body for name, (body, _) in catalogues.functions(owner, "sql").items()},
        **dict(owner.execute("SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'").fetchall()),
    }
    looking_elsewhere = {
        trigger: table
        for trigger, table, function in owner.execute(TRIGGERS)
        if _looks_elsewhere(_with_called(function, bodies), PLACEMENTS[table])
    }
    assert looking_elsewhere == LAWS_OF_ONE_MACHINE


def _with_called(function: str, bodies: Mapping[str, str]) -> str:
    """The body of a function, with those of the functions and views that it names, and that they name."""
    named, texts = {function}, {function: bodies[function]}
    while named:
        text = texts[named.pop()]
        more = {name for name in bodies if name not in texts and re.search(rf"\b{name}\b", text)}
        texts |= {name: bodies[name] for name in more}
        named |= more
    return " ".join(texts.values())


def _looks_elsewhere(text: str, placement: Placement) -> bool:
    """A row of every machine is judged on each of them; that of a jackpot where the jackpot's rows stand."""
    named = {PLACEMENTS[name] for name in PLACEMENTS if re.search(rf"(FROM|JOIN|INTO|UPDATE) {name}\b", text)}
    if placement is Placement.DISTRIBUTED:
        return Placement.LOCAL in named or OF_THE_REFERENCE_BOOK.search(text) is not None
    if placement is Placement.REFERENCE:
        return bool(named & {Placement.LOCAL, Placement.DISTRIBUTED})
    return False
