"""The cast of the demo: who runs which tables, for which jackpots, and what a unit of each currency is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from jackpot_demo.dealer import MOST_HANDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Casino:
    """An operator whose players bet."""

    casino_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who has a key, by name and role; no two have the same first name."""

    name: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Jackpot:
    """A jackpot to open: from which rulebook, in which base currency, with what on offer at first."""

    jackpot_id: str
    rules: str
    currency: str
    base_amount: str
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """
    A table, and how it is played: dealt hands a round, bettors' currencies, hands one player may bet on.

    With `token_minor` every stake is exactly that; without, any whole number of minor units. `has_partner` means that
    a second process posts bets to the table's rounds.
    """

    table_id: str
    casino_id: str
    jackpot_id: str
    game: str = "caribbean-stud"
    currencies: tuple[str, ...]
    most_hands: int
    hands_per_player: int = 1
    token_minor: int | None = None
    has_partner: bool = False


@dataclass(frozen=True, slots=True)
class Money:
    """How a currency is used at the tables: its decimals, its rate to the euro, and the usual stakes in minor units."""

    exponent: int
    euro_rate: Decimal
    usual_stakes_minor: tuple[int, ...]


CASINOS: Final = (
    Casino(casino_id="riga", name="Casino Riga"),
    Casino(casino_id="malta", name="Casino Malta"),
    Casino(casino_id="jersey", name="Casino Jersey"),
)

PEOPLE: Final = (
    Person(name="Olga Operator", role="operator"),
    Person(name="Otto Operator", role="operator"),
    Person(name="Fiona Finance", role="finance"),
    Person(name="Felix Finance", role="finance"),
    Person(name="Rosa Rates", role="rates"),
    Person(name="Rolf Rates", role="rates"),
    Person(name="Ada Auditor", role="auditor"),
    Person(name="Wall display", role="display"),
)
"""Two of each role that requests and decides: nobody decides about an own request."""

JACKPOTS: Final = (
    Jackpot(
        jackpot_id="live",
        rules="live-caribbean-stud",
        currency="EUR",
        base_amount="50000.00",
        settings=MappingProxyType({"displayed": "true", "reset_amount": "25000"}),
    ),
    Jackpot(
        jackpot_id="cyber",
        rules="cyber-caribbean-stud",
        currency="USD",
        base_amount="10000.00",
        settings=MappingProxyType({"token": "1.00"}),
    ),
    Jackpot(
        jackpot_id="seneca",
        rules="seneca-caribbean-stud",
        currency="USD",
        base_amount="10000.00",
        settings=MappingProxyType({"token": "1.00"}),
    ),
)

MONEY: Final[Mapping[str, Money]] = MappingProxyType(
    {
        "EUR": Money(2, Decimal(1), (10, 50, 100, 200, 500, 1_000, 2_500)),
        "GBP": Money(2, Decimal("1.17"), (50, 100, 200, 500, 1_000, 2_000)),
        "SEK": Money(2, Decimal("0.0873"), (500, 1_000, 2_000, 5_000, 10_000)),
        "JPY": Money(0, Decimal("0.0061"), (100, 200, 500, 1_000, 2_000, 5_000)),
        "USD": Money(2, Decimal("0.92"), (50, 100, 200, 500, 1_000, 2_500)),
    }
)

SHEETS: Final[Mapping[str, Mapping[str, Decimal]]] = MappingProxyType(
    {
        "EUR": MappingProxyType({code: money.euro_rate for code, money in MONEY.items() if code != "EUR"}),
        "USD": MappingProxyType({}),
    }
)

LARGEST_STAKE_EURO: Final = Decimal(100)


def _live(table_id: str, casino_id: str, *, most_hands: int, has_partner: bool = False) -> Table:
    return Table(
        table_id=table_id,
        casino_id=casino_id,
        jackpot_id="live",
        currencies=tuple(MONEY),
        most_hands=most_hands,
        has_partner=has_partner,
    )


def _token(table_id: str, casino_id: str, jackpot_id: str, *, hands_per_player: int) -> Table:
    return Table(
        table_id=table_id,
        casino_id=casino_id,
        jackpot_id=jackpot_id,
        currencies=("USD",),
        most_hands=MOST_HANDS,
        hands_per_player=hands_per_player,
        token_minor=100,
    )


TABLES: Final = (
    _live("live-riga-1", "riga", most_hands=1),
    _live("live-riga-2", "riga", most_hands=MOST_HANDS, has_partner=True),
    _token("cyber-riga-1", "riga", "cyber", hands_per_player=3),
    _live("live-malta-1", "malta", most_hands=1),
    _token("cyber-malta-1", "malta", "cyber", hands_per_player=3),
    _token("seneca-malta-1", "malta", "seneca", hands_per_player=1),
    _live("live-jersey-1", "jersey", most_hands=6),
    _token("seneca-jersey-1", "jersey", "seneca", hands_per_player=1),
)

SCRIPTED_TABLE: Final = TABLES[0]
