"""What the races are about: a casino with jackpots, and the acts of table servers as short calls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TypeVar

import sqlalchemy

from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.cards import parse_cards
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.outcomes import Cancellation, Closing, Hand, HandStatus, Result
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.domain.settings import Setting
from jackpot_service.records.immutable import Table
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.cancel_round import CancelRound, RoundCancelledNow, cancel_round
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.changes.effects import ChangeEffect
from jackpot_service.usecases.close_betting import BettingClosedNow, CloseBetting, close_betting
from jackpot_service.usecases.jackpots import OpenJackpot, open_jackpot
from jackpot_service.usecases.settle_round import RoundSettledNow, SettleRound, settle_round
from jackpot_service.usecases.void_bets import BetsVoided, VoidBets, void_bets
from tests.support import publishing, two_people
from tests.support.accepting import accept_bets

CASINO = "c1"
SERVER = Principal("server", Role.TABLE, CASINO)
RATES = {"GBP": Decimal("1.17"), "SEK": Decimal("0.0873"), "JPY": Decimal("0.0061")}

ROYAL = "As Ks Qs Js Ts"
STRAIGHT_FLUSH = "9h 8h 7h 6h 5h"
FLUSH = "Ad Kd Jd Td 3d"
NOTHING = "2c 3d 4h 7s 9c"

T = TypeVar("T")


def now() -> datetime:
    return datetime.now(UTC)


def open_house(engine: sqlalchemy.Engine) -> None:
    """Add the casino and the first rate sheet, a second ago: clocks that are behind know them too."""
    act = replace(_act(), now=now() - timedelta(seconds=1))
    transact(engine, lambda session: add_casino(session, act, casino_id=CASINO, name="One"))
    transact(engine, lambda session: publishing.publish(session, "EUR", RATES, now=act.now))


def publish(engine: sqlalchemy.Engine, **rates: str) -> None:
    """Put another rate sheet of EUR in force."""
    sheet = {currency: Decimal(rate) for currency, rate in rates.items()}
    transact(engine, lambda session: publishing.publish(session, "EUR", sheet, now=now()))


def open_live(
    engine: sqlalchemy.Engine,
    jackpot_id: str,
    *,
    tables: Sequence[str],
    base_amount: str = "0",
    stripes: int = 4,
    settings: Mapping[str, Setting] | None = None,
) -> None:
    command = OpenJackpot(
        _act(),
        jackpot_id,
        "live-caribbean-stud",
        "EUR",
        Decimal(base_amount),
        {"payout_tiers": (), **(settings or {})},
        stripes,
    )
    _open(engine, command, tables)


def open_cyber(
    engine: sqlalchemy.Engine,
    jackpot_id: str,
    *,
    tables: Sequence[str],
    base_amount: str = "10000",
    stripes: int = 4,
    settings: Mapping[str, Setting] | None = None,
) -> None:
    command = OpenJackpot(
        _act(),
        jackpot_id,
        "cyber-caribbean-stud",
        "EUR",
        Decimal(base_amount),
        {"payout_tiers": (), **(settings or {})},
        stripes,
    )
    _open(engine, command, tables)


def _open(engine: sqlalchemy.Engine, command: OpenJackpot, tables: Sequence[str]) -> None:
    transact(engine, lambda session: open_jackpot(session, command))
    for table_id in tables:
        table = Table(table_id, CASINO, "caribbean-stud", command.jackpot_id)
        transact(engine, partial(add_table, act=_act(), new=table))


def _act() -> Act:
    return Act(SYSTEM_OPERATOR, now())


def euro(bet_id: str, *, hand: str = "1", stake_minor: int = 100) -> Bet:
    """A bet in EUR of a player of its own."""
    return Bet(bet_id, f"player-of-{bet_id}", hand, "EUR", stake_minor)


def batch(table_id: str, round_id: str, *bets: Bet, at: datetime | None = None) -> AcceptBets:
    return AcceptBets(SERVER, table_id, round_id, Bets.of(bets), at or now())


def bet(
    engine: sqlalchemy.Engine, table_id: str, round_id: str, *bets: Bet, at: datetime | None = None
) -> BetsAccepted:
    command = batch(table_id, round_id, *bets, at=at)
    return transact(engine, lambda session: accept_bets(session, command))


def close(engine: sqlalchemy.Engine, table_id: str, round_id: str, bet_count: int) -> BettingClosedNow:
    command = CloseBetting(SERVER, table_id, round_id, Closing(bet_count), now())
    return transact(engine, lambda session: close_betting(session, command))


def void(
    engine: sqlalchemy.Engine, table_id: str, round_id: str, *bet_ids: str, reason: str | None = None
) -> BetsVoided:
    command = VoidBets(SERVER, table_id, round_id, bet_ids, now(), reason=reason)
    return transact(engine, lambda session: void_bets(session, command))


def settle(
    engine: sqlalchemy.Engine,
    table_id: str,
    round_id: str,
    bet_count: int,
    hands: Mapping[str, str],
    *,
    at: datetime | None = None,
) -> RoundSettledNow:
    """Give a result: the cards of each hand, or "dead" or "forfeited", which cards may follow."""
    result = Result(bet_count, tuple(_hand(name, cards) for name, cards in hands.items()))
    command = SettleRound(SERVER, table_id, round_id, result, at or now())
    return transact(engine, lambda session: settle_round(session, command))


def correct(
    engine: sqlalchemy.Engine, jackpot_id: str, name: RoundName, bet_count: int, hands: Mapping[str, str]
) -> ChangeEffect:
    """Have two people give a settled round another result."""
    result = Result(bet_count, tuple(_hand(name, cards) for name, cards in hands.items()))
    return transact(engine, lambda session: two_people.correct(session, jackpot_id, name, result, now=now()))


def _hand(name: str, cards: str) -> Hand:
    first, *rest = cards.split()
    if first in {HandStatus.DEAD, HandStatus.FORFEITED}:
        return Hand(name, HandStatus(first), parse_cards(rest))
    return Hand(name, HandStatus.DEALT, parse_cards([first, *rest]))


def cancel(engine: sqlalchemy.Engine, table_id: str, round_id: str, reason: str = "misdeal") -> RoundCancelledNow:
    command = CancelRound(SERVER, table_id, round_id, Cancellation(reason), now())
    return transact(engine, lambda session: cancel_round(session, command))


def attempted(act: Callable[[], T]) -> T | LedgerError:
    """What an act returned, or how the ledger refused it."""
    try:
        return act()
    except LedgerError as error:
        return error


def read(engine: sqlalchemy.Engine, question: Callable[[Session], T]) -> T:
    return transact(engine, question)
