"""Other people's programs add the journal up, and come to the ledger's own sums, to the last digit."""

import csv
import decimal
import io
import random
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest
from beancount import loader
from beancount.core import data, realization
from sqlalchemy import text

from jackpot_service.database import snapshots
from jackpot_service.database.reads import Reads
from jackpot_service.database.transactions import Session
from jackpot_service.domain.facts import instant
from jackpot_service.domain.money import ZERO, plain
from jackpot_service.exports.account_names import account_of
from jackpot_service.exports.accounting import FORMS
from jackpot_service.exports.journal import (
    JournalExport,
    JournalPiece,
    Mark,
    PositionsUnknown,
    committed_positions,
    entries,
    journal_export,
    pieces,
)
from jackpot_service.records.settings_in_force import UnknownJackpot
from jackpot_service.reports.finance.trial_balance import REPORT as TRIAL_BALANCE
from jackpot_service.reports.making import made
from jackpot_service.reports.questions import Parameters
from tests.support import busy_day, history
from tests.support.bets import bet
from tests.support.fixtures import world
from tests.support.world import World

__all__ = ["world"]

Balances = dict[tuple[str, str], Decimal]
"""What each account holds in each currency, zeros left out."""


def write(url: str) -> None:
    random.seed(3)
    world = World(url)
    busy_day.play(world)
    world.close()


@pytest.fixture
def session(url: str) -> Iterator[Session]:
    with history.engine_of(url) as engine, snapshots.reading(engine) as session:
        yield session


def export_of(session: Session, jackpot_id: str, form: str) -> JournalExport:
    return journal_export(session, jackpot_id, FORMS[form])


def text_of(session: Session, jackpot_id: str, form: str) -> str:
    export = export_of(session, jackpot_id, form)
    return b"".join(piece.content for piece in pieces(session, export)).decode()


def debited(balances: Balances) -> Balances:
    """The ledger's balances as accountants sign them: what is owed to an account's owner is a credit, and negative."""
    return {key: -amount for key, amount in balances.items()}


def ledgers_own(session: Session, jackpot_id: str) -> Balances:
    sums = text("SELECT account, currency, sum(amount) FROM postings WHERE jackpot_id = :j GROUP BY 1, 2")
    return {
        (account, currency): amount for account, currency, amount in session.execute(sums, {"j": jackpot_id}) if amount
    }


# --- beancount --------------------------------------------------------------------------------------------------------


def loaded(path: Path) -> data.Directives:
    """Load a file as bean-check does; nothing may be wrong with it, and nothing may have been rounded on the way."""
    decimal.getcontext().clear_flags()
    directives, errors, _ = loader.load_file(str(path))
    assert errors == []
    assert not decimal.getcontext().flags[decimal.Inexact]
    return directives


def bean_check(path: Path) -> tuple[int, str]:
    """Run the program itself, which validates more than loading does: its exit status, and all that it says."""
    program = Path(sys.executable).with_name("bean-check")
    done = subprocess.run([program, "--no-cache", path], check=False, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def trial_balance(url: str, jackpot_id: str, end: datetime) -> tuple[tuple[int, ...], Balances]:
    """What the report says as of an instant: the positions that it stands on, and what every account holds there."""
    parameters = Parameters(jackpot_id=jackpot_id, end=end)
    with history.engine_of(url) as engine, made(Reads(engine), TRIAL_BALANCE, parameters, now=end) as document:
        accounts = next(section for section in document.sections if section.name == "accounts")
        places = [
            [column.name for column in accounts.columns].index(name) for name in ("account", "currency", "closing")
        ]
        balances: Balances = {}
        for row in accounts.rows:
            account, currency, closing = (row[place] for place in places)
            assert isinstance(closing, Decimal)
            assert (account, currency) not in balances
            balances[str(account), str(currency)] = closing
        return document.positions[jackpot_id], {key: amount for key, amount in balances.items() if amount}


def beancounts(path: Path) -> Balances:
    """What beancount says that every account holds."""
    real = realization.realize(loaded(path))  # type: ignore[no-untyped-call]
    return {
        (account_of(account.account), position.units.currency): position.units.number
        for account in realization.iter_children(real)  # type: ignore[no-untyped-call]
        for position in account.balance
    }


@pytest.mark.parametrize("jackpot_id", busy_day.JACKPOTS)
def test_beancount_comes_to_the_trial_balance(url: str, session: Session, tmp_path: Path, jackpot_id: str) -> None:
    path = tmp_path / "journal.beancount"
    path.write_text(text_of(session, jackpot_id, "beancount"), encoding="utf-8")

    assert bean_check(path) == (0, "")
    booked = session.execute(text("SELECT max(booked_at) FROM entries")).scalar_one()
    positions, balances = trial_balance(url, jackpot_id, booked + timedelta(seconds=1))
    assert positions == committed_positions(session, jackpot_id)
    assert beancounts(path) == debited(balances) == debited(ledgers_own(session, jackpot_id))


@pytest.mark.parametrize("jackpot_id", busy_day.JACKPOTS)
def test_in_the_middle_of_the_day_it_does_too(url: str, session: Session, tmp_path: Path, jackpot_id: str) -> None:
    path = tmp_path / "journal.beancount"
    booked = text("SELECT booked_at FROM entries WHERE jackpot_id = :j AND cardinality(amounts) > 0 ORDER BY booked_at")
    instants = session.execute(booked, {"j": jackpot_id}).scalars().all()

    positions, balances = trial_balance(url, jackpot_id, instants[len(instants) // 2])

    export = journal_export(session, jackpot_id, FORMS["beancount"], positions=positions)
    path.write_bytes(b"".join(piece.content for piece in pieces(session, export)))
    assert bean_check(path) == (0, "")
    assert beancounts(path) == debited(balances) != debited(ledgers_own(session, jackpot_id))


def test_beancount_finds_every_entry_with_what_it_was(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "journal.beancount"
    path.write_text(text_of(session, "j1", "beancount"), encoding="utf-8")

    transactions = [transaction for transaction in loaded(path) if isinstance(transaction, data.Transaction)]

    statement = text(
        """
        SELECT e.stripe_no, e.seq, e.kind, e.principal, e.booked_at, encode(e.digest, 'hex'),
               r.table_id || '/' || r.round_id, e.accounts, e.currencies, e.amounts, e.movements
        FROM entries e LEFT JOIN rounds r USING (jackpot_id, round_key)
        WHERE jackpot_id = 'j1' ORDER BY booked_at, stripe_no, seq
        """
    )
    listed = [
        (
            int(transaction.meta["stripe"]),
            int(transaction.meta["seq"]),
            transaction.meta["kind"],
            transaction.payee,
            transaction.meta["booked-at"],
            transaction.meta["digest"],
            transaction.meta.get("round"),
            # beancount keeps a transaction's postings together by currency, not in their order.
            sorted(map(line_of, transaction.postings)),
        )
        for transaction in transactions
    ]
    assert listed == [
        (*row[:4], instant(row[4]), *row[5:7], sorted(debits(*row[7:]))) for row in session.execute(statement)
    ]
    assert {transaction.meta["book"] for transaction in transactions} == {"j1"}
    assert busy_day.SPITEFUL in {transaction.payee for transaction in transactions}
    assert any(not transaction.postings for transaction in transactions)


def debits(
    accounts: list[str], currencies: list[str], amounts: list[Decimal], movements: list[str]
) -> Iterator[tuple[str, str, Decimal, str]]:
    return zip(accounts, currencies, [-amount for amount in amounts], movements, strict=True)


def line_of(posting: data.Posting) -> tuple[str, str, Decimal | None, str]:
    assert posting.units is not None
    assert posting.meta is not None
    return account_of(posting.account), posting.units.currency, posting.units.number, posting.meta["movement"]


@pytest.mark.parametrize("digit", ["0.000000000000000001", "1"])
def test_bean_check_does_not_forgive_the_last_decimal(session: Session, tmp_path: Path, digit: str) -> None:
    path = tmp_path / "journal.beancount"
    written = text_of(session, "j1", "beancount")
    match = re.search(r"^  Liabilities:Meter:Players  (\S+) EUR$", written, re.MULTILINE)
    assert match
    other = plain(Decimal(match[1]) + Decimal(digit))
    path.write_text(written[: match.start(1)] + other + written[match.end(1) :], encoding="utf-8")

    status, output = bean_check(path)

    assert status == 1
    assert re.findall(r"^\S+:\d+: +(.+?):", output, re.MULTILINE) == ["Transaction does not balance"]


# --- hledger ----------------------------------------------------------------------------------------------------------

POSTING: Final = re.compile(r"    (?P<account>\S+)  (?P<amount>-?\d+(\.\d+)?) (?P<currency>[A-Z]{3})  ; movement:(\w+)")
FIRST_LINE: Final = re.compile(r"\d{4}-\d\d-\d\d \* \([\w.:/-]+\) [^;|]+ \| [^;|]+")
DIRECTIVE: Final = re.compile(
    r"commodity 1000\.0{18} (?P<commodity>[A-Z]{3})|account (?P<account>\S+)  ; account:[^,\s]+"
)


def added_up(written: str) -> Balances:
    """
    Add a journal up as hledger would, by its manual: strictly, from what is declared, each transaction being zero.

    A line that is none of those that the export writes fails.
    """
    heading, *blocks = written.split("\n\n")
    assert all(line.startswith("; ") for line in heading.splitlines())
    assert blocks[0] == "decimal-mark ."
    balances: Balances = defaultdict(lambda: ZERO)
    declared: set[str] = set()
    for block in blocks[1:]:
        first, *rest = block.removesuffix("\n").split("\n")
        directive = DIRECTIVE.fullmatch(first)
        if directive:
            name = directive["commodity"] or directive["account"]
            assert name not in declared
            declared.add(name)
            assert rest == []
            continue
        assert FIRST_LINE.fullmatch(first), first
        sums: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
        for line in rest:
            if line.startswith("    ; "):
                continue
            match = POSTING.fullmatch(line)
            assert match, line
            assert {match["account"], match["currency"]} <= declared
            amount = Decimal(match["amount"])
            sums[match["currency"]] = sums[match["currency"]] + amount
            key = account_of(match["account"]), match["currency"]
            balances[key] = balances[key] + amount
        assert not any(sums.values())
    return {key: amount for key, amount in balances.items() if amount}


@pytest.mark.parametrize("jackpot_id", busy_day.JACKPOTS)
def test_the_text_for_hledger_adds_up_to_the_ledgers_own_sums(session: Session, jackpot_id: str) -> None:
    assert added_up(text_of(session, jackpot_id, "hledger")) == debited(ledgers_own(session, jackpot_id))


HLEDGER: Final = shutil.which("hledger")


@pytest.mark.skipif(HLEDGER is None, reason="hledger is not installed; Debian: apt-get install hledger")
@pytest.mark.parametrize("jackpot_id", busy_day.JACKPOTS)
def test_hledger_itself_comes_to_the_ledgers_own_sums(session: Session, tmp_path: Path, jackpot_id: str) -> None:
    path = tmp_path / "live.journal"
    path.write_text(text_of(session, jackpot_id, "hledger"), encoding="utf-8")

    assert hledger(path, "check", "--strict") == ""
    sums = csv.DictReader(io.StringIO(hledger(path, "balance", "--flat", "--layout=bare", "--output-format=csv")))
    assert {
        (account_of(row["account"]), row["commodity"]): Decimal(row["balance"])
        for row in sums
        if row["account"] != "total" and Decimal(row["balance"])
    } == debited(ledgers_own(session, jackpot_id))


def hledger(path: Path, *command: str) -> str:
    done = subprocess.run(
        [str(HLEDGER), "--file", path, *command],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={"LANG": "C.UTF-8"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("form", FORMS)
def test_the_books_open_the_right_way_up(world: World, form: str) -> None:
    """A casino that has taken a stake owes it: an asset, out of which come a liability to players and an income."""
    world.open(base_amount="1000")
    world.bet(bet(stake_minor=100))
    with snapshots.reading(world.engine) as session:
        written = text_of(session, "j1", form)

    last = {
        name: Decimal(amount) for name, amount in re.findall(r"^ +([A-Z][\w:-]+)  (\S+) EUR", written, re.MULTILINE)
    }
    assert last == {
        "Assets:Casino:C1": Decimal(1),
        "Liabilities:Meter:Players": Decimal("-0.45"),
        "Liabilities:Reserve": Decimal("-0.05"),
        "Liabilities:PrizeFund": Decimal("-0.3184"),
        "Income:House:Margin": Decimal("-0.1816"),
        "Expenses:House:Seed": Decimal(1000),
        "Liabilities:Meter:House": Decimal(-1000),
    }


def test_what_means_something_to_hledger_is_written_otherwise(session: Session) -> None:
    written = text_of(session, "j1", "hledger")

    assert (
        "Eve %22the%3B comma%2C%22 %7C date:2020-01-01 %5C %5B%3D2020-01-01%5D 100 %25 %28%241%29 é | bets" in written
    )


# --- Order, positions, pieces -----------------------------------------------------------------------------------------


def test_entries_come_by_booking_time_then_stripe_then_seq_and_each_once(session: Session) -> None:
    upto = committed_positions(session, "j1")

    exported = list(entries(session, "j1", after=(0, 0, 0), upto=upto))

    assert sorted((entry.stripe_no, entry.seq) for entry in exported) == [
        (stripe_no, seq) for stripe_no, last in enumerate(upto) for seq in range(1, last + 1)
    ]
    assert all(entry.order < other.order for entry, other in pairwise(exported))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("piece_bytes", [1, 1000, 3000])
def test_a_text_that_is_taken_up_after_any_piece_goes_on_with_the_same_bytes(
    session: Session, form: str, piece_bytes: int
) -> None:
    export = export_of(session, "j1", form)
    whole = list(pieces(session, export, piece_bytes=piece_bytes))

    assert len(whole) > 3
    for place in {0, 1, len(whole) // 2, len(whole) - 1}:
        rest = list(pieces(session, export, after=whole[place].mark, piece_bytes=piece_bytes))
        assert rest == whole[place + 1 :]


def test_a_jackpot_in_play_is_exported_as_it_was_at_the_positions(world: World) -> None:
    world.open(base_amount="1000", stripes=2)
    for number in range(9):
        world.bet(bet(), round_id=f"r{number}")
    with snapshots.reading(world.engine) as session:
        export = export_of(session, "j1", "beancount")
        before = list(pieces(session, export))
        for number in range(9):
            world.bet(bet(), round_id=f"later-{number}")
        again = journal_export(session, "j1", FORMS["beancount"], positions=export.positions)

        assert again == export
        assert list(pieces(session, again)) == before
        assert committed_positions(session, "j1") != export.positions


def test_the_beginning_of_a_journal_is_exported_by_its_positions(session: Session) -> None:
    export = journal_export(session, "j1", FORMS["hledger"], positions=(2, 1))

    assert (export.positions, export.total) == ((2, 1, 0), 3)
    (piece,) = pieces(session, export)
    assert piece.mark.positions == (2, 1, 0)
    assert piece.content.decode().count("; digest:") == 3
    assert list(pieces(session, export, after=piece.mark)) == []


def test_a_journal_without_an_entry_is_its_heading(session: Session) -> None:
    export = journal_export(session, "j1", FORMS["beancount"], positions=(0,))

    (piece,) = pieces(session, export)

    assert piece == JournalPiece(piece.content, Mark((0, 0, 0)))
    assert piece.content.startswith(b"; The journal of jackpot j1, base currency EUR.\n")


@pytest.mark.parametrize("positions", [(10**6,), (-1,), (0, 10**15), (0, 0, 0, 0), (0, 0, 0, 1)])
def test_positions_that_no_stripe_has_are_refused(session: Session, positions: tuple[int, ...]) -> None:
    with pytest.raises(PositionsUnknown):
        journal_export(session, "j1", FORMS["beancount"], positions=positions)


def test_the_journal_of_a_jackpot_that_is_not_there_is_refused(session: Session) -> None:
    with pytest.raises(UnknownJackpot):
        journal_export(session, "j9", FORMS["beancount"])
