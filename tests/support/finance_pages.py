"""A jackpot of some days for the finance page, and reading its panels: as parts, and as pages of their own."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from html import unescape

from jackpot_service.pages import figures
from jackpot_service.reports.reconciling import reconcile_next
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, hand
from tests.support.visitor import Visitor
from tests.support.world import World

PANELS = ("figures", "held", "books", "return", "casinos", "hits")

AS_OF = "2026-12-05T12:00:00.000000Z"


def at(day: int, hour: int = 12) -> datetime:
    return datetime(2026, 12, day, hour, tzinfo=UTC)


def play(world: World) -> None:
    """Play a hit on the 1st, rounds of two casinos on the 2nd and 4th, and a bet of the 5th: it is the 5th, at noon."""
    world.clock.at = at(1)
    world.open(base_amount="1000.5", tables=("T1",))
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    world.bet(bet("a", stake_minor=333), bet("b", hand="2", currency="GBP"))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))
    world.clock.at = at(2)
    world.bet(bet("a", stake_minor=1000), round_id="r2", table_id="T2")
    world.settle(hand("1", FLUSH), round_id="r2", table_id="T2")
    world.clock.at = at(4)
    world.bet(bet("a", stake_minor=777), bet("late"), round_id="r3")
    world.settle(hand("1", NOTHING), round_id="r3")
    world.clock.at = at(5, 11)
    world.bet(bet("a", stake_minor=100), round_id="r4")
    world.clock.at = at(5)


def read_days(world: World) -> None:
    for _ in iter(partial(reconcile_next, world.engine, now=world.clock()), None):
        pass


def shown(visitor: Visitor, panel: str, **query: object) -> Answer:
    """A panel as a page of its own, as of the instant of these tests."""
    stated = {"jackpot": "j1", "days": "30", "as_of": AS_OF, **query}
    path = "&".join(f"{name}={value}" for name, value in stated.items())
    answer = visitor.open(f"/finance{f'/{panel}' if panel else ''}?{path}")
    assert answer.status == 200, answer.text
    return answer


def part(visitor: Visitor, panel: str, **query: object) -> Answer:
    """A panel as htmx asks for it."""
    stated = {"jackpot": "j1", "days": "30", "as_of": AS_OF, **query}
    path = "&".join(f"{name}={value}" for name, value in stated.items())
    return visitor.open(f"/finance/{panel}?{path}", **{"HX-Request": "true"})


def exact(amount: str, currency: str = "EUR") -> str:
    return " ".join(figures.exact(amount, currency).split())


def cells(page: str, caption: str = "") -> list[list[str]]:
    """The rows of the tables behind an id, each with the texts of its cells."""
    behind = page.partition(f'id="{caption}"')[2] if caption else page
    table = behind.partition("<table")[2].partition("</table>")[0]
    listed = re.findall(r"<tr\b.*?</tr>", table, re.DOTALL)
    return [
        [" ".join(unescape(re.sub("<[^>]*>", "", cell)).split()) for cell in re.findall(r"<t[hd]\b.*?</t[hd]>", row)]
        for row in listed
    ]


def amount_in(text: str) -> Decimal:
    return Decimal(text.rpartition(" ")[2].replace(",", "").replace(figures.MINUS, "-"))
