"""Reading the books back from their beginning: books, stripes, each stripe's entries in order, cycles."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, DecimalException
from functools import cached_property, lru_cache
from itertools import chain, zip_longest
from typing import Any, Final

from psycopg import postgres, pq
from psycopg.adapt import Transformer
from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.types import NULLTYPE

from jackpot_service.database.models import CycleRow, EntryRow, StripeRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import POOL_ACCOUNTS, Pools
from jackpot_service.domain.entries import REFERENCE_BOOK, Attribution
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind, Movement, Posting, Postings
from jackpot_service.domain.money import POOL_DECIMALS, ZERO, has_decimals
from jackpot_service.ledger import digests
from jackpot_service.ledger.verification import BEFORE_ALL_ROUNDS, Verified

PAGE = 1000
"""How many entries are in memory at a time."""

LARGEST = Decimal(10**20)

Within = Callable[[Any], ColumnElement[bool]]
"""Which round keys are meant: the condition on a column of them."""

Line = tuple[str, str, Decimal, str]
"""A posting as it is stored: account, currency, amount, movement."""

_TEXTS: Final = Transformer().get_loader(postgres.types["text"].array_oid, pq.Format.TEXT)
_KINDS: Final = {kind.value: kind for kind in EntryKind}
_MOVEMENTS: Final = {movement.value: movement for movement in Movement}
"""By their names; the enumeration itself takes five times as long to find one."""
_NAN: Final = Decimal("NaN")


@dataclass
class BookedEntry:
    """
    An entry as the books hold it, whatever may have become of it.

    Nothing changes it. It is not frozen, since nothing else is made as often, and that would take three times as long.

    `facts` are those that it stores, empty if it stores none. Facts and figures of a round are read only with their
    round.
    """

    book: str
    stripe_no: int
    seq: int
    kind: str
    principal: str
    round_key: int | None
    step: int | None
    received_at: datetime
    booked_at: datetime
    digest: bytes
    head: bytes
    lines: tuple[Line, ...]
    attribution: Attribution
    figures: tuple[str | None, ...]
    facts: Facts = field(default_factory=dict)

    @property
    def content(self) -> list[str]:
        """The part of the digest besides facts and postings: the figures' attribution, and each as it is written."""
        return digests.content(self.attribution, [str(figure) for figure in self.figures])

    @property
    def known_kind(self) -> EntryKind:
        """Its kind. Raises: ValueError for one that no entry has."""
        return _KINDS.get(self.kind) or EntryKind(self.kind)

    @property
    def place(self) -> str:
        """Where the entry stands, in words."""
        return f"stripe {self.stripe_no}, seq {self.seq}"

    def postings(self) -> Postings:
        """Read the lines as postings. Raises: Unbalanced; ValueError for an unknown movement."""
        lines: Sequence[Any] = self.lines  # An account is a text, so there is nothing to turn it into.
        return Postings(
            tuple(
                Posting(account, currency, amount, _MOVEMENTS.get(movement) or Movement(movement))
                for account, currency, amount, movement in lines
            )
        )

    @cached_property
    def exact_lines(self) -> tuple[Line, ...]:
        """The lines whose amounts can be summed exactly: all of them, unless they were changed."""
        return _exact(self.lines)

    def pools(self) -> Pools:
        """Sum what the lines put into each pool; amounts that cannot be summed exactly count nothing."""
        return pools_of(self.exact_lines)


@dataclass(frozen=True, slots=True)
class BookedStripe:
    """A stripe as it is now. `booked_at` is None before the first entry of a stripe that began in no time."""

    stripe_no: int
    seq: int
    head: bytes
    pools: Pools
    accepting: bool
    booked_at: datetime | None
    added_by: int
    summed_to: int = 0
    limits_version: int = 0


@dataclass(frozen=True, slots=True)
class BookedCycle:
    """A cycle: where the entry stands that opened it, and its cut."""

    cycle: int
    rules_version: int
    stripe_no: int
    seq: int
    cut: tuple[int, ...]

    def seq_on(self, stripe_no: int) -> int:
        """The cut's position on a stripe; 0 on one that the cut does not reach."""
        return self.cut[stripe_no] if 0 <= stripe_no < len(self.cut) else 0


def lines_of(postings: Postings) -> tuple[Line, ...]:
    """Write postings as they would be stored."""
    return tuple((line.account, line.currency, line.amount, line.movement.value) for line in postings.lines)


def is_exact(amount: Decimal | None) -> bool:
    """Return whether a stored amount is one that the books may hold."""
    return amount is not None and has_decimals(amount, POOL_DECIMALS) and -LARGEST < amount < LARGEST


def _exact(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines with amounts that the books may hold; where the sum of their sizes is one, each of them is."""
    try:
        if is_exact(sum((abs(line[2]) for line in lines), ZERO)):
            return lines
    except DecimalException:
        pass  # Of more digits than are summed exactly.
    return tuple(line for line in lines if is_exact(line[2]))


def distinct(column: InstrumentedAttribute[Any], *conditions: ColumnElement[bool], lowest: str | int) -> Select[Any]:
    """The few different values of an indexed column above a lowest, one look into the index for each."""
    values = (
        select(func.min(column).label("value"))
        .where(column > lowest, *conditions)
        .cte(f"different_{column.class_.__tablename__}", recursive=True)
    )
    following = select(func.min(column)).where(column > values.c.value, *conditions).scalar_subquery()
    values = values.union_all(select(following).where(values.c.value.is_not(None)))
    return select(values.c.value).where(values.c.value.is_not(None))


def books_of(session: Session, columns: Sequence[InstrumentedAttribute[Any]]) -> Sequence[tuple[str, str]]:
    """
    Name every book that has rows in tables, by their columns of books: each with the table's name, in order.

    All tables are asked for their next book at once, until none has another.
    """
    last = dict.fromkeys((column.class_.__tablename__ for column in columns), "")
    following = union_all(
        *(
            select(literal(table).label("name"), func.min(column).label("book")).where(column > bindparam(table))
            for table, column in zip(last, columns, strict=True)
        )
    )
    named: list[tuple[str, str]] = []
    while True:
        next_books = {table: book for table, book in session.execute(following, last) if book is not None}
        if not next_books:
            return sorted(named)
        named += [(book, table) for table, book in next_books.items()]
        last |= next_books


def books(session: Session) -> tuple[str, ...]:
    """Name every book that has a stripe, an entry or a cycle, and the reference book, which always is."""
    named = books_of(session, (StripeRow.jackpot_id, EntryRow.jackpot_id, CycleRow.jackpot_id))
    return tuple(sorted({REFERENCE_BOOK, *(book for book, _ in named)}))


def stripes(session: Session, book: str) -> tuple[BookedStripe, ...]:
    """Read a book's stripes, by number."""
    rows = session.execute(
        select(
            StripeRow.stripe_no,
            StripeRow.seq,
            StripeRow.head,
            StripeRow.meter_players,
            StripeRow.meter_house,
            StripeRow.reserve,
            StripeRow.prize_fund,
            StripeRow.accepting,
            # A stripe may begin at -infinity, which no datetime holds.
            case((func.isfinite(StripeRow.booked_at), StripeRow.booked_at), else_=None),
            StripeRow.added_by,
            StripeRow.summed_to,
            StripeRow.limits_version,
        )
        .where(StripeRow.jackpot_id == book)
        .order_by(StripeRow.stripe_no)
    )
    return tuple(BookedStripe(row[0], row[1], row[2], Pools(*row[3:7]), *row[7:]) for row in rows)


def ends(session: Session) -> Iterator[tuple[str, int, int]]:
    """Yield every stripe there is: its book, its number, and the seq of its last entry."""
    columns = (StripeRow.jackpot_id, StripeRow.stripe_no, StripeRow.seq)
    yield from map(tuple, session.execute(select(*columns).order_by(*columns[:2])))


def stripe_numbers(session: Session, book: str) -> tuple[int, ...]:
    """Name the stripes that have an entry, whether or not they are there."""
    return tuple(sorted(session.scalars(distinct(EntryRow.stripe_no, EntryRow.jackpot_id == book, lowest=-(2**31)))))


def cycles(session: Session, book: str) -> tuple[BookedCycle, ...]:
    """Read a book's cycles, by number."""
    rows = session.execute(
        select(CycleRow.cycle, CycleRow.rules_version, CycleRow.stripe_no, CycleRow.seq, CycleRow.cut)
        .where(CycleRow.jackpot_id == book)
        .order_by(CycleRow.cycle)
    )
    return tuple(BookedCycle(*row[:4], _cut(row[4])) for row in rows)


def _cut(stored: list[Any]) -> tuple[int, ...]:
    """Read a cut; one that is no vector reads as an empty one, which is no entry's."""
    return tuple(stored) if {*map(type, stored)} <= {int} else ()


def entries(
    session: Session, book: str, stripe_no: int, *, after: int = -1, upto: int = 2**63 - 1
) -> Iterator[BookedEntry]:
    """Read a stripe's entries in the order of their seqs, a page at a time; those after one seq and up to another."""
    last = after
    while True:
        page = _entries(
            session,
            EntryRow.jackpot_id == book,
            EntryRow.stripe_no == stripe_no,
            EntryRow.seq > last,
            EntryRow.seq <= upto,
            order=(EntryRow.seq,),
            limit=PAGE,
        )
        yield from page
        if len(page) < PAGE:
            return
        last = page[-1].seq


def pools_of_entries(
    session: Session, book: str, stripe_no: int, *, after: int, upto: int
) -> Iterator[tuple[int, Pools]]:
    """
    Yield the seqs of a stripe's entries after one and up to another, in order, with what each put into the pools.

    Entries without postings, such as results that pay nothing, put nothing there, and are left out.
    """
    rows: Any = session.execute(
        select(EntryRow.seq, cast(EntryRow.accounts, Text), type_coerce(EntryRow.amounts, NULLTYPE))
        .where(EntryRow.jackpot_id == book, EntryRow.stripe_no == stripe_no)
        .where(EntryRow.seq > after, EntryRow.seq <= upto, func.cardinality(EntryRow.accounts) > 0)
        .order_by(EntryRow.seq)
    )
    for seq, accounts, amounts in rows.all():
        yield seq, pools_of(_exact(_lines(accounts, accounts, amounts, accounts)))


def entries_at(session: Session, book: str, stripe_no: int, seqs: Iterable[int]) -> Iterator[BookedEntry]:
    """Read a stripe's entries of these seqs, in their order."""
    ordered = sorted(seqs)
    for start in range(0, len(ordered), PAGE):
        yield from _entries(
            session,
            EntryRow.jackpot_id == book,
            EntryRow.stripe_no == stripe_no,
            EntryRow.seq.in_(ordered[start : start + PAGE]),
            order=(EntryRow.seq,),
        )


def entries_of_no_round(session: Session, book: str, *, since: Verified) -> Iterator[BookedEntry]:
    """
    Read the entries of no round that came since a book was verified, by stripe and seq: those of acts, a few.

    Their seqs are looked for first: the index has the round of each entry, so that the others are not read for it.
    """
    for stripe_no in stripe_numbers(session, book):
        seqs = session.scalars(
            select(EntryRow.seq).where(
                EntryRow.jackpot_id == book,
                EntryRow.stripe_no == stripe_no,
                EntryRow.seq > (since.seq_on(stripe_no) or -1),
                EntryRow.round_key.is_(None),
            )
        )
        yield from entries_at(session, book, stripe_no, seqs)


def entries_of_rounds(session: Session, book: str, *, after: int, upto: int) -> list[BookedEntry]:
    """Read the entries of the rounds whose keys lie after one and up to another, by key and step."""
    return entries_within(session, book, lambda key: and_(key > after, key <= upto))


def entries_within(session: Session, book: str, within: Within) -> list[BookedEntry]:
    """Read the entries of the rounds whose keys are such, by key and step."""
    return _entries(
        session,
        EntryRow.jackpot_id == book,
        within(EntryRow.round_key),
        order=(EntryRow.round_key, EntryRow.step),
        with_rounds=True,
    )


def count_entries_of_rounds(session: Session, book: str, *, after: int) -> int:
    """Count the entries of the rounds whose keys lie after one."""
    count = select(func.count()).where(EntryRow.jackpot_id == book, EntryRow.round_key > after)
    return session.scalars(count).one()


def rounds_touched(session: Session, book: str, *, since: Verified) -> Iterator[int]:
    """Find the rounds that were verified before and have an entry since; a round may be found again and again."""
    if since.last_round_key == BEFORE_ALL_ROUNDS:
        return
    for stripe_no in stripe_numbers(session, book):
        keys: Iterable[Any] = session.scalars(
            select(EntryRow.round_key)
            .distinct()
            .where(
                EntryRow.jackpot_id == book,
                EntryRow.stripe_no == stripe_no,
                EntryRow.seq > since.seq_on(stripe_no),
                EntryRow.round_key <= since.last_round_key,
            )
        )
        yield from keys


_PLACE = (EntryRow.jackpot_id, EntryRow.stripe_no, EntryRow.seq, EntryRow.kind, EntryRow.principal)
_BOOKED = (EntryRow.round_key, EntryRow.step, EntryRow.received_at, EntryRow.booked_at, EntryRow.digest, EntryRow.head)
_ATTRIBUTION = (EntryRow.casino_id, EntryRow.table_id, EntryRow.rules_version)

_READ = (
    *_PLACE,
    *_BOOKED,
    *_ATTRIBUTION,
    *(cast(column, Text) for column in (EntryRow.accounts, EntryRow.currencies, EntryRow.movements)),
    # As the driver reads them: SQLAlchemy would look at each value of each array once more.
    type_coerce(EntryRow.amounts, NULLTYPE),
)
"""An entry's columns but its figures and facts, in the order of `_entry`."""

_STATED = (cast(EntryRow.figures, Text), EntryRow.facts)
"""
An entry's figures, each as it is written, and its facts.

The array is read as one text: to cast it to one of texts takes the database as long as to read all else of the entry.
"""

_STATED_OF_NO_ROUND = tuple(case((EntryRow.round_key.is_(None), column)) for column in _STATED)


def _entries(
    session: Session,
    *conditions: ColumnElement[bool],
    order: tuple[InstrumentedAttribute[Any], ...],
    limit: int | None = None,
    with_rounds: bool = False,
) -> list[BookedEntry]:
    stated = _STATED if with_rounds else _STATED_OF_NO_ROUND
    rows = session.execute(select(*_READ, *stated).where(*conditions).order_by(*order).limit(limit))
    return [_entry(row) for row in rows.all()]


def _entry(row: Any) -> BookedEntry:  # noqa: ANN401  a row of `_READ`, figures and facts
    book, stripe_no, seq, kind, principal, round_key, step, received_at, booked_at, digest, head, *rest = row
    casino_id, table_id, rules_version, accounts, currencies, movements, amounts, figures, facts = rest
    return BookedEntry(
        book,
        stripe_no,
        seq,
        kind,
        principal,
        round_key,
        step,
        received_at,
        booked_at,
        digest,
        head,
        lines=_lines(accounts, currencies, amounts, movements),
        attribution=Attribution(casino_id, table_id, rules_version),
        figures=() if figures is None else tuple(_TEXTS.load(figures.encode())),
        facts=_facts(facts),
    )


def _facts(stored: Any) -> Facts:  # noqa: ANN401  whatever JSON holds
    """Read what an entry stores; what is no object reads as one that no entry stores."""
    if stored is None:
        return {}
    return stored if isinstance(stored, dict) else {"": str(stored)}


def _lines(accounts: str, currencies: str, amounts: list[Any], movements: str) -> tuple[Line, ...]:
    """Put the arrays of an entry together; what is no text, or not there, reads as an empty one, no amount as NaN."""
    columns, length = _columns(accounts, currencies, movements)
    if len(amounts) == length and {*map(type, amounts)} <= {Decimal}:
        return tuple(zip(columns[0], columns[1], amounts, columns[2], strict=True))
    return tuple(
        (_text(account), _text(currency), amount if type(amount) is Decimal else _NAN, _text(movement))
        for account, currency, amount, movement in zip_longest(columns[0], columns[1], amounts, columns[2])
    )


@lru_cache(maxsize=1024)
def _columns(*written: str) -> tuple[tuple[list[Any], ...], int]:
    """
    Read arrays from how the database writes them, and how long they are; -1 if not alike, or not of texts alone.

    Entries repeat them: not to read them again takes a tenth off the laws of an entry.
    """
    columns = tuple(_TEXTS.load(column.encode()) for column in written)
    lengths, types = {*map(len, columns)}, {*map(type, chain.from_iterable(columns))}
    return columns, lengths.pop() if len(lengths) == 1 and types <= {str} else -1


def pools_of(lines: Iterable[Line]) -> Pools:
    """Sum what exact lines put into each pool."""
    sums: dict[str, Decimal] = dict.fromkeys(POOL_ACCOUNTS, ZERO)
    for account, _, amount, _ in lines:
        if account in sums:
            sums[account] += amount
    return Pools(*sums.values())


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
