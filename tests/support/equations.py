"""
The equations of the reports: what the figures of each come to, whenever it is asked and whoever books meanwhile.

They take rows by column as any door tells them: exact texts, or counts and nothing as JSON shows them.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO
from jackpot_service.reports.finance.casino_statement import MOVEMENTS

Row = Mapping[str, Any]

Rows = Sequence[Row]

Sections = Mapping[str, Rows]

PARTS: Final = ("meter", "reserve", "prize_fund", "house")
"""Where the value of stakes goes."""

OF_BALANCES: Final = ("trial-balance", "pool-movements", "meters", "liability", "casino-statement", "fx")
"""Reports that show balances of accounts."""


def require(name: str, sections: Sections) -> None:
    """The figures of a report agree with each other."""
    EQUATIONS[name](sections)


def require_one_balance(reports: Mapping[str, Sections]) -> None:
    """Reports of all jackpots as of one instant, those `OF_BALANCES`, show the same balances of the same accounts."""
    balances = sums(reports["trial-balance"]["accounts"], ("jackpot_id", "account", "currency"), ("closing",))

    def booked(jackpot_id: str, *accounts: str, currency: str) -> Decimal:
        return sum((balances.get((jackpot_id, account_, currency), (ZERO,))[0] for account_ in accounts), ZERO)

    pools = {(row["jackpot_id"], row["pool"]): amount(row, "closing") for row in reports["pool-movements"]["totals"]}
    for row in reports["meters"]["meters"]:
        jackpot_id, base = row["jackpot_id"], row["currency"]
        meter = booked(jackpot_id, "pool:meter:players", "pool:meter:house", currency=base)
        assert amount(row, "meter") == pools[jackpot_id, "meter"] == meter
        reserve = booked(jackpot_id, "pool:reserve", currency=base)
        assert amount(row, "reserve") == pools[jackpot_id, "reserve"] == reserve
        prize_fund = booked(jackpot_id, "pool:prize_fund", currency=base)
        assert amount(row, "prize_fund") == pools[jackpot_id, "prize fund"] == prize_fund
        held = booked(jackpot_id, "awards:held", currency=base)
        (liability,) = (row for row in reports["liability"]["jackpots"] if row["jackpot_id"] == jackpot_id)
        assert amount(liability, "total") == meter + reserve + prize_fund + held
    for row in reports["casino-statement"]["accounts"]:
        owed = booked(row["jackpot_id"], "casino:c1", currency=row["currency"])
        assert amount(row, "closing") == -owed
    for row in reports["fx"]["positions"]:
        held_in = booked(row["jackpot_id"], f"fx:{row['currency']}", currency=row["currency"])
        assert amount(row, "position") == held_in


def _trial_balance(sections: Sections) -> None:
    for row in (*sections["accounts"], *sections["totals"]):
        assert amount(row, "opening") + -amount(row, "debit") + amount(row, "credit") == amount(row, "closing")
    for row in sections["totals"]:
        assert (amount(row, "opening"), amount(row, "closing")) == (ZERO, ZERO)
    figures = ("opening", "debit", "credit", "closing")
    by_currency = ("jackpot_id", "currency")
    assert sums(sections["accounts"], by_currency, figures) == sums(sections["totals"], by_currency, figures)


def _pool_movements(sections: Sections) -> None:
    """Opening, contributions, reversals, awards, refill and all others come to the closing balance, pool by pool."""
    for row in (*sections["movements"], *sections["totals"]):
        assert sum((amount(row, "opening"), *amounts(row, Movement)), ZERO) == amount(row, "closing")
    _require_chained(sections["movements"], sections["totals"], ("jackpot_id", "pool"))
    by_pool = ("jackpot_id", "pool")
    assert sums(sections["movements"], by_pool, Movement) == sums(sections["totals"], by_pool, Movement)
    parts = [row for row in sections["totals"] if row["pool"] in {"meter players", "meter house"}]
    meters = [row for row in sections["totals"] if row["pool"] == "meter"]
    figures = ("opening", *Movement, "closing")
    assert sums(parts, ["jackpot_id"], figures) == sums(meters, ["jackpot_id"], figures)


def _liability(sections: Sections) -> None:
    figures = ("players", "house", "total")
    for row in (*sections["liability"], *sections["jackpots"], *sections["totals"]):
        assert sum(amounts(row, ("players", "house")), ZERO) == amount(row, "total")
    by_jackpot = ("jackpot_id", "currency")
    assert sums(sections["liability"], by_jackpot, figures) == sums(sections["jackpots"], by_jackpot, figures)
    assert sums(sections["liability"], ["currency"], figures) == sums(sections["totals"], ["currency"], figures)


def _contributions(sections: Sections) -> None:
    """The value of bets, of what was taken back and of the net went to the pools and the house, to the last digit."""
    for row in (*sections["contributions"], *sections["totals"]):
        assert sum(amounts(row, PARTS), ZERO) == amount(row, "value")
        for part in ("reversed_", "net_"):
            charged = amount(row, f"{part}adjustments")
            assert sum((*amounts(row, [f"{part}{name}" for name in PARTS]), charged), ZERO) == amount(
                row, f"{part}value"
            )
        for name in ("bets", "value", *PARTS, *(["stakes"] if "stakes" in row else [])):
            left = amount(row, name) - amount(row, f"reversed_{name}")
            assert amount(row, f"net_{name}") == left
        assert amount(row, "net_adjustments") == -amount(row, "reversed_adjustments")
    figures = [f"{part}{name}" for part in ("", "reversed_", "net_") for name in ("bets", "value", *PARTS)]
    assert sums(sections["contributions"], ["base"], figures) == sums(sections["totals"], ["base"], figures)


def _casino_statement(sections: Sections) -> None:
    """What was owed before, what then came of it and what was settled come to what is owed at the end, day by day."""
    moved = list(MOVEMENTS.values())
    for row in (*sections["accounts"], *sections["days"]):
        assert sum(amounts(row, moved), ZERO) == amount(row, "net")
        assert sum(amounts(row, ("opening", "net", "settled")), ZERO) == amount(row, "closing")
    account = ("jackpot_id", "currency")
    _require_chained(sections["days"], sections["accounts"], account)
    figures = (*moved, "net", "settled")
    assert sums(sections["days"], account, figures) == sums(sections["accounts"], account, figures)
    assert sums(sections["accounts"], account, ["settled"]) == sums(sections["settled"], account, ["settled"])


def _reconciliation(sections: Sections) -> None:
    compared = [row for name in ("contributions", "reversals", "accounts", "held") for row in sections[name]]
    for row in compared:
        assert amount(row, "expected") == amount(row, "booked")
        assert amount(row, "variance") == ZERO
    for row in (*sections["contributions"], *sections["reversals"]):
        assert amount(row, "value") * amount(row, "rate") == amount(row, "booked")
    assert [amount(row, "differing") for row in sections["summary"]] == [ZERO] * len(sections["summary"])
    by_jackpot = sums(sections["summary"], ["jackpot_id"], ["compared"])
    assert by_jackpot == counts(compared, ["jackpot_id"])


def _meters(sections: Sections) -> None:
    """What is on offer and what the limit keeps off it are the booked meter; rules give all of a stake to somebody."""
    for row in sections["meters"]:
        assert sum(amounts(row, ("display", "overflow")), ZERO) == max(amount(row, "meter"), ZERO)
        assert not row["limit"] or amount(row, "display") <= amount(row, "limit")
    for row in sections["parameters"]:
        assert sum(amounts(row, [f"{pool}_rate" for pool in ("meter", "reserve", "prize_fund", "house")]), ZERO) == 1


def _fx(sections: Sections) -> None:
    """Turnover less what was given back is the net, which moves the position; positions together are what is booked."""
    for row in sections["currencies"]:
        for rated in ("", "_base"):
            outflows = [-amount(row, f"{movement}{rated}") for movement in ("refunds", "awards", "compensations")]
            assert sum((amount(row, f"turnover{rated}"), *outflows), ZERO) == amount(row, f"net{rated}")
        assert sum(amounts(row, ("opening", "net")), ZERO) == amount(row, "closing")
        assert amount(row, "variance") == ZERO
    of_currency = ("jackpot_id", "currency")
    assert sums(sections["currencies"], of_currency, ["closing"]) == sums(
        sections["positions"], of_currency, ["position"]
    )
    for row in sections["positions"]:
        assert amount(row, "position") * amount(row, "rate") == amount(row, "revalued")
    for row in (*sections["positions"], *sections["residue"]):
        assert amount(row, "revalued") - amount(row, "value") == amount(row, "difference")
    for row in sections["residue"]:
        assert amount(row, "value") == amount(row, "booked")
        assert amount(row, "variance") == ZERO
    by_jackpot, figures = ("jackpot_id", "base"), ("value", "revalued")
    assert sums(sections["positions"], by_jackpot, figures) == sums(sections["residue"], by_jackpot, figures)


def _awards(sections: Sections) -> None:
    by_state = ("jackpot_id", "base", "tier", "currency", "state")
    listed, figures = list(_in_parts(sections["awards"])), ("amount", "cost_base", "awards")
    assert sums(sections["totals"], by_state, figures) == sums(listed, by_state, figures)


def _in_parts(listed: Rows) -> Iterator[Row]:
    """What was paid of an award is paid; its rest stands as the award does, and is payable if that is paid in part."""
    for row in listed:
        paid, whole = amount(row, "paid_amount"), amount(row, "amount")
        paid_cost = amount(row, "cost_base") * paid / whole
        if paid:
            yield {**row, "state": "paid", "awards": int(paid == whole), "amount": paid, "cost_base": paid_cost}
        if paid < whole:
            rest = {"amount": whole - paid, "cost_base": amount(row, "cost_base") - paid_cost}
            state = "payable" if row["state"] == "part-paid" else row["state"]
            yield {**row, "state": state, "awards": 1, **rest}


def _payables(sections: Sections) -> None:
    for row in sections["payables"]:
        assert amount(row, "amount") - amount(row, "paid_amount") == amount(row, "unpaid_amount")
    of, figures = ("jackpot_id", "casino_id", "currency", "age"), ("unpaid_amount", "unpaid_cost_base")
    assert sums(sections["ageing"], of, figures) == sums(sections["payables"], of, figures)
    assert sums(sections["ageing"], of, ["awards"]) == counts(sections["payables"], of)


def _hits(sections: Sections) -> None:
    """What was on offer was paid or carried, and what was paid is what the awards from the meter cost."""
    for row in sections["hits"]:
        assert sum(amounts(row, ("paid", "carried")), ZERO) == amount(row, "meter")
    cycle = ("jackpot_id", "cycle")
    of_meter = [row for row in sections["payoffs"] if row["paid_from"] == "meter"]
    assert sums(sections["hits"], cycle, ["paid"]) == sums(of_meter, cycle, ["cost_base"])
    assert sums(sections["hits"], cycle, ["awards"]) == counts(of_meter, cycle)
    assert counts(sections["hits"], cycle) == counts(sections["order"], cycle)


def _rtp(sections: Sections) -> None:
    for rows in sections.values():
        for row in rows:
            if row["theoretical"]:
                assert amount(row, "actual") - amount(row, "theoretical") == amount(row, "variance")


def _rtp_by_day(sections: Sections) -> None:
    """The days up to each come to its cumulative row, pool by pool."""
    _rtp(sections)
    key = ("jackpot_id", "paid_from")
    figures = ("turnover", "awards", "actual")
    for number, row in enumerate(sections["cumulative"], 1):
        alone = [day for day in sections["days"][:number] if all(day[name] == row[name] for name in key)]
        assert row["day"] == alone[-1]["day"]
        for figure in figures:
            assert sum(amounts_of(alone, figure), ZERO) == amount(row, figure)


def _casino_balances(sections: Sections) -> None:
    for row in sections["accounts"]:
        assert sum(amounts(row, MOVEMENTS.values()), ZERO) == amount(row, "net")
        assert sum(amounts(row, ("opening", "net", "settled")), ZERO) == amount(row, "closing")


def _finance_summary(sections: Sections) -> None:
    """What is held of a jackpot at the end is what its pools closed with, if they moved, and what is held of awards."""
    _casino_balances(sections)
    closing = {(row["jackpot_id"], row["pool"]): amount(row, "closing") for row in sections["movements"]}
    moved = {jackpot_id for jackpot_id, _ in closing}
    for row in sections["liability"]:
        if row["item"] != "held awards" and row["jackpot_id"] in moved:
            assert amount(row, "total") == closing[row["jackpot_id"], row["item"]]
    assert len(sections["hits"]) == len({(row["jackpot_id"], row["cycle"]) for row in sections["hits"]})


def _exceptions(sections: Sections) -> None:
    for row in sections["kinds"]:
        assert sum(amounts(row, ("acknowledged", "unacknowledged")), ZERO) == amount(row, "exceptions")
    assert sums(sections["kinds"], ["kind"], ["exceptions"]) == counts(sections["exceptions"], ["kind"])


def _postings(sections: Sections) -> None:
    """Each account opens, moves and closes; a movement is the sum of its postings, which balance in each currency."""
    key = ("jackpot_id", "account", "currency")
    for row in sections["accounts"]:
        assert amount(row, "opening") + amount(row, "net") == amount(row, "closing")
    assert sums(sections["movements"], key, ("amount",)) == sums(sections["accounts"], key, ("net",))
    by_movement = (*key, "movement")
    assert sums(sections["postings"], by_movement, ("amount",)) == sums(sections["movements"], by_movement, ("amount",))
    assert sums(sections["postings"], ("jackpot_id", "entry", "currency"), ("amount",)) == {}


def _rounds(sections: Sections) -> None:
    """Rounds are their bets and their refunds, and the value of each bet went to the pools and the house."""
    of_round = ("jackpot_id", "round_key", "currency")
    rounds, bets, refunds = sections["rounds"], sections["bets"], sections["refunds"]
    for row in (*bets, *refunds):
        assert sum(amounts(row, PARTS), ZERO) == amount(row, "value")
    assert sums(rounds, of_round, ["bets"]) == counts(bets, of_round)
    assert sums(rounds, of_round, ("stakes", "value")) == sums(bets, of_round, ("stake", "value"))
    assert sums(rounds, of_round, ("refunds", "refunds_value")) == sums(refunds, of_round, ("stake", "value"))


EQUATIONS: Final[Mapping[str, Callable[[Sections], None]]] = MappingProxyType(
    {
        "meters": _meters,
        "liability": _liability,
        "pool-movements": _pool_movements,
        "contributions": _contributions,
        "hits": _hits,
        "casino-statement": _casino_statement,
        "trial-balance": _trial_balance,
        "reconciliation": _reconciliation,
        "rtp": _rtp,
        "rtp-by-day": _rtp_by_day,
        "casino-balances": _casino_balances,
        "finance-summary": _finance_summary,
        "fx": _fx,
        "exceptions": _exceptions,
        "awards": _awards,
        "payables": _payables,
        "rounds": _rounds,
        "postings": _postings,
    }
)


def _require_chained(rows: Rows, whole: Rows, of: Sequence[str]) -> None:
    """Each row opens with what the one before closed with, from where the whole period opens to where it closes."""
    for total in whole:
        own = [row for row in rows if all(row[name] == total[name] for name in of)]
        opened = [amount(row, "opening") for row in own]
        closed = [amount(row, "closing") for row in own]
        assert [*opened, amount(total, "closing")] == [amount(total, "opening"), *closed]


def amount(row: Row, name: str) -> Decimal:
    """A figure of a row; nothing is 0."""
    return Decimal(row[name] or 0)


def amounts(row: Row, names: Iterable[str]) -> list[Decimal]:
    return [amount(row, name) for name in names]


def amounts_of(rows: Rows, name: str) -> list[Decimal]:
    """A figure of each row."""
    return [amount(row, name) for row in rows]


def sums(rows: Rows, by: Sequence[str], names: Iterable[str]) -> dict[tuple[Any, ...], tuple[Decimal, ...]]:
    """The sums of some columns by what others say, of those that come to anything."""
    columns = tuple(names)
    summed: dict[tuple[Any, ...], tuple[Decimal, ...]] = {}
    for row in rows:
        key = tuple(row[name] for name in by)
        summed[key] = tuple(map(operator.add, summed.get(key, (ZERO,) * len(columns)), amounts(row, columns)))
    return {key: figures for key, figures in summed.items() if any(figures)}


def counts(rows: Rows, by: Sequence[str]) -> dict[tuple[Any, ...], tuple[Decimal, ...]]:
    """How many rows there are by what some columns say, as `sums` would tell it."""
    return sums([{**row, "": 1} for row in rows], by, [""])
