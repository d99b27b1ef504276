"""`jackpot rounds|players|entries …`: rounds with their bets and cards, players' bets, and entries of the books."""

from collections.abc import Iterator
from typing import Any

import click

from jackpot_service.cli import words
from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import (
    LARGEST_NUMBER,
    Identifier,
    from_option,
    json_option,
    list_options,
    require_order,
    to_option,
)
from jackpot_service.cli.printing import (
    Column,
    Form,
    amount,
    count,
    exact,
    fields,
    minor,
    moment,
    print_list,
    print_one,
    second,
    shown,
    table,
    text,
    titled,
)
from jackpot_service.cli.service_api import Item, at, configured

COLUMNS = (
    text("table", "table_id"),
    text("round", "round_id"),
    text("casino", "casino_id"),
    text("jackpot", "jackpot_id"),
    text("state", "state"),
    moment("opened at", "opened_at"),
    text("game number", "game_number"),
    count("bets", "bet_count"),
    exact("stake, base currency", "total_stake_base"),
)

BETS = (
    text("bet", "bet_id"),
    text("player", "player_id"),
    text("hand", "hand"),
    minor("stake", "stake_minor"),
    text("void", "is_void"),
)

HANDS = (text("hand", "hand"), text("status", "status"), Column("cards", lambda hand: " ".join(hand["cards"]) or "-"))

AWARDS = (
    text("award", "award_id"),
    text("bet", "bet_id"),
    text("tier", "tier"),
    minor("amount", "amount_minor"),
    text("state", "state"),
)

ENTRY = (
    text("book", "book"),
    text("stripe", "stripe"),
    text("seq", "seq"),
    text("kind", "kind"),
    text("principal", "principal"),
    moment("booked at", "booked_at"),
    text("rules version", "rules_version"),
    text("digest", "digest"),
    text("head", "head"),
)

POSTINGS = (text("account", "account"), exact("amount", "amount", "currency"), text("movement", "movement"))

PLAYED = (
    moment("booked at", "booked_at"),
    text("table", "round.table_id"),
    text("round", "round.round_id"),
    text("bet", "bet_id"),
    text("hand", "hand"),
    minor("stake", "stake_minor"),
    text("void", "is_void"),
    text("round is", "round.state"),
)


@click.group("rounds", cls=Group)
def rounds() -> None:
    """Rounds: their bets, cards and awards."""


@example(
    "jackpot rounds list --table T1 --limit 20",
    "jackpot rounds list --waiting --older-than 3600",
    "jackpot rounds list --player p1 --csv > rounds.csv",
)
@rounds.command("list")
@click.option("--table", "table_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier())
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--state", type=click.Choice(words.ROUND_STATES))
@click.option("--waiting/--ended", default=None, help="Whether they wait for bets, a result or a cancellation.")
@click.option("--older-than", type=click.IntRange(0), help="Opened at least so many seconds ago.")
@click.option("--bet", "bet_id", type=Identifier(), help="With a bet of this id.")
@click.option("--player", "player_id", type=Identifier(), help="With a bet of this player.")
@click.option("--game-number", type=Identifier())
@from_option
@to_option
@list_options
def list_rounds(
    limit: int | None,
    form: Form | None,
    start: str | None,
    end: str | None,
    waiting: bool | None,  # noqa: FBT001
    **query: Any,  # noqa: ANN401  as click passes them
) -> None:
    """List rounds, the latest first."""
    require_order(start, end)
    query |= {"from": start, "to": end, "ended": None if waiting is None else not waiting}
    print_list(configured(), at("rounds"), query, COLUMNS, form=form, limit=limit)


@example("jackpot rounds show T1 R1", "jackpot rounds show T1 R1 --json")
@rounds.command("show")
@click.argument("table_id", type=Identifier())
@click.argument("round_id", type=Identifier())
@click.option("--player", "player_id", type=Identifier(), help="Only what this player has in it.")
@json_option
def show_round(table_id: str, round_id: str, player_id: str | None, is_json: bool) -> None:  # noqa: FBT001
    """Show the whole record of a round: bets, cards, settlement and entries."""
    service = configured()
    answer = service.get(at("tables", table_id, "rounds", round_id), player_id=player_id)
    print_one(answer, lambda: _round(answer), is_json=is_json)


def _round(answer: Item) -> list[str]:
    of, settlement = answer["round"], answer["settlement"]
    rows = [
        ("round", f"{of['table_id']}/{of['round_id']} of {of['jackpot_id']}"),
        ("state", of["state"]),
        ("opened at", second(answer["opened_at"])),
        ("cycle", shown(of["cycle"])),
        ("rules version", shown(of["rules_version"])),
        ("rate sheet", shown(of["rate_sheet"])),
        ("bets", f"{of['bet_count']:,}"),
        ("stake, base currency", exact("", "total_stake_base").cell(of)),
        *([] if not answer["dealer"] else [("dealer", " ".join(answer["dealer"]))]),
        *([] if not answer["tombstones"] else [("voided before they came", shown(answer["tombstones"]))]),
        *([] if not answer["corrections"] else [("corrections", str(len(answer["corrections"])))]),
    ]
    lines = [*fields(rows), "", *table(BETS, answer["bets"], indent="  ")]
    if answer["hands"]:
        lines += ["", *table(HANDS, answer["hands"], indent="  ")]
    if settlement is not None:
        names = ("meter_before", "meter_after", "carried", "reserve_after", "prize_fund_after")
        base = answer["rate_sheet"]["base"]
        amounts = ((name.replace("_", " "), amount(settlement[name], base)) for name in names)
        lines += ["", *fields([("policy", shown(settlement["policy"])), *amounts])]
        awards = list(table(AWARDS, settlement["awards"], indent="  "))
        lines += ["", *awards] if awards else []
    return lines


@click.group("players", cls=Group)
def players() -> None:
    """Players: the bets that they made."""


@example("jackpot players bets p1 --from 2026-11-01T00:00:00Z")
@players.command("bets")
@click.argument("player_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier())
@click.option("--jackpot", "jackpot_id", type=Identifier())
@from_option
@to_option
@list_options
def list_bets(
    player_id: str,
    limit: int | None,
    form: Form | None,
    start: str | None,
    end: str | None,
    **query: Any,  # noqa: ANN401  as click passes them
) -> None:
    """List the bets of a player, the latest first."""
    require_order(start, end)
    query |= {"from": start, "to": end}
    print_list(configured(), at("players", player_id, "bets"), query, PLAYED, form=form, limit=limit)


@click.group("entries", cls=Group)
def entries() -> None:
    """Entries of the books."""


@example("jackpot entries show live 3 17", "jackpot entries show - 0 5")
@entries.command("show")
@click.argument("book")
@click.argument("stripe", type=click.IntRange(0, LARGEST_NUMBER))
@click.argument("seq", type=click.IntRange(1, LARGEST_NUMBER))
@json_option
def show_entry(book: str, stripe: int, seq: int, is_json: bool) -> None:  # noqa: FBT001
    """Show an entry of a BOOK (a jackpot, or - for acts): what it posted, and its place in the chain."""
    service = configured()
    answer = service.get(at("entries", book, stripe, seq))
    print_one(answer, lambda: _entry(answer), is_json=is_json)


def _entry(answer: Item) -> Iterator[str]:
    yield from fields(titled(ENTRY, answer))
    yield ""
    yield from table(POSTINGS, answer["postings"], indent="  ")
