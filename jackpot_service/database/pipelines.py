"""
Statements that are sent together and answered together: one round trip, however many they are.

The driver has pipelines too. At each statement they ask the kernel whether it may be sent, and let other threads run
meanwhile. That costs a group of bets more of a processor than all else that is said to the database
(docs/decisions/hot-statements.md). These go to the same libpq by the driver's own interface to it, `psycopg.pq`: the
driver still writes the values, reads the rows and names the errors.
"""

import re
import select
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import psycopg
from psycopg import abc, adapt, errors
from psycopg.pq import ExecStatus, PipelineStatus, TransactionStatus

from jackpot_service.database import deadlines
from jackpot_service.database.deadlines import Patience, patience_of

if TYPE_CHECKING:
    from psycopg.pq.abc import PGresult

Row = tuple[Any, ...]

Wait = Callable[[int, int, Patience], int]
"""Waits for one of some events at a file descriptor, as `select.poll` names them; returns which there are."""

_PLACEHOLDER: Final = re.compile(r"%(?:\((\w+)\)s|%)")

_LAPSED: Final = frozenset({"0A000", "26000"})
"""States of a prepared statement whose tables were changed under it, or that somebody took away."""

_FAILED: Final = frozenset({ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED})
"""The statuses of a statement that failed, and of each after it."""


@contextmanager
def pipelined(connection: psycopg.Connection[Any], prepared: "Prepared") -> Iterator["Pipeline"]:
    """
    Send the statements of the block together; each sees what those before it did.

    A transaction is begun with them where the driver would have begun it. Nothing else may be asked of the connection
    in the block. If the block raises, what was sent is waited for, and its errors are nobody's.

    Raises: the error of the first statement that failed, at the end of the block; RuntimeError within another pipeline.
    """
    require_none_open(connection)
    connection.pgconn.enter_pipeline_mode()
    pipe = Pipeline(connection, prepared)
    try:
        yield pipe
    except BaseException:
        with suppress(psycopg.Error):  # The block has an error of its own to raise.
            pipe.end()
        raise
    pipe.end()


def require_none_open(connection: psycopg.Connection[Any]) -> None:
    """Raises: RuntimeError in a pipeline's block: a caller that asked there would wait for good."""
    if connection.pgconn.pipeline_status != PipelineStatus.OFF:
        message = "A pipeline is open on this connection."
        raise RuntimeError(message)


class Cursor:
    """The answer to a statement; its rows can be read when the pipeline's block has ended."""

    __slots__ = ("_connection", "_result")

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._result: PGresult | None = None

    def __iter__(self) -> Iterator[Row]:
        """Read the rows. Raises: as `fetchall`."""
        return iter(self.fetchall())

    def fetchone(self) -> Row | None:
        """Read the first row, None if there is none. Raises: as `fetchall`."""
        return next(iter(self), None)

    def fetchall(self) -> list[Row]:
        """Read the rows. Raises: RuntimeError before the block has ended, or if it ended with an error."""
        result = self._answered()
        transformer = adapt.Transformer(self._connection)  # Of its own: the connection may be another's by now.
        transformer.set_pgresult(result)
        return transformer.load_rows(0, result.ntuples, tuple)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of its rows. Raises: as `fetchall`."""
        result = self._answered()
        return tuple((result.fname(number) or b"").decode() for number in range(result.nfields))

    @property
    def status(self) -> str:
        """The command that the statement was, in the words of the database: `COMMIT`."""
        return (self._answered().command_status or b"").decode()

    def _answered(self) -> "PGresult":
        if self._result is None or self._result.status in _FAILED:
            message = "This statement was not answered: it is read after its block, unless it failed."
            raise RuntimeError(message)
        return self._result


def is_readable(connection: psycopg.Connection[Any]) -> bool:
    """Whether the database has said something that was not read, or can say nothing any more."""
    if connection.closed:
        return True
    poller = select.poll()
    poller.register(connection.pgconn.socket, select.POLLIN)
    return bool(poller.poll(0))


@dataclass(slots=True)
class Prepared:
    """
    A connection's prepared statements: names, by their texts; how values are written, how answers are waited for.

    `written` writes a statement, whose parameters are numbered, as the database is to prepare it.
    """

    transformer: abc.Transformer
    written: Callable[[str], str] = str
    wait: Wait = deadlines.poll
    names: dict[str, bytes] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    @classmethod
    def of(cls, connection: psycopg.Connection[Any], *, written: Callable[[str], str] = str) -> "Prepared":
        """
        Of a connection that knows no statement yet.

        Raises: ValueError if the driver prepares statements too: at each rollback it would take all of them away.
        """
        if connection.prepare_threshold is not None:
            message = "Pipelines need a connection with a `prepare_threshold` of None."
            raise ValueError(message)
        return cls(adapt.Transformer(connection), written)


class Pipeline:
    """
    Statements that are sent together; see `pipelined`.

    Each is planned once a connection, at its first use. The database finds the types of the values from where they
    stand in it: a number that a column cannot hold is an error, also where it is only compared.
    """

    __slots__ = ("_connection", "_pgconn", "_prepared", "_results", "_sent")

    def __init__(self, connection: psycopg.Connection[Any], prepared: Prepared) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._prepared = prepared
        self._sent: list[_Sent] = []
        self._results: _Results | None = None

    def send(self, statement: str, parameters: Mapping[str, Any]) -> Cursor:
        """Send a statement with parameters as `%(name)s`; its rows can be read when the block has ended."""
        self._begin_if_due()
        prepared = self._prepared
        sql, names, formats = _numbered(statement)
        values = prepared.transformer.dump_sequence([parameters[name] for name in names], formats)
        name = prepared.names.get(statement)
        if name is None:
            name = b"jackpot_%d" % next(prepared.numbers)
            self._pgconn.send_prepare(name, prepared.written(sql).encode())
            self._expect(statement, prepares=True)
            prepared.names[statement] = name
        self._pgconn.send_query_prepared(name, values, prepared.transformer.formats)
        cursor = self._expect(statement)
        self._pgconn.flush()  # As far as that needs no waiting: the database begins with it while more is prepared.
        return cursor

    def command(self, command: str) -> Cursor:
        """Send a command that takes no parameters, such as `COMMIT`."""
        self._begin_if_due()
        self._pgconn.send_query_params(command.encode(), None)
        return self._expect(command)

    def is_all(self) -> None:
        """
        Have what was sent answered while the block does something else. Nothing may be sent after it.

        Raises: OperationalError if the connection is lost.
        """
        self._results = _Results(self._connection, self._prepared.wait)

    def _begin_if_due(self) -> None:
        """Begin the transaction where the driver would: outside of it, unless statements are to stand alone."""
        if self._sent or self._connection.autocommit or self._pgconn.transaction_status != TransactionStatus.IDLE:
            return
        level = self._connection.isolation_level
        begin = "BEGIN" if level is None else f"BEGIN ISOLATION LEVEL {level.name.replace('_', ' ')}"
        self._pgconn.send_query_params(begin.encode(), None)
        self._expect(begin)

    def _expect(self, statement: str, *, prepares: bool = False) -> Cursor:
        """Note what an answer is expected to. It leaves with the next statement, or at the end."""
        cursor = Cursor(self._connection)
        self._sent.append(_Sent(cursor, statement, prepares))
        return cursor

    def end(self) -> None:
        """
        Wait until all that was sent is answered.

        Raises: the error of the first statement that failed; OperationalError if the connection is lost.
        """
        try:
            error = self._await_answers() if self._sent else None
            self._pgconn.exit_pipeline_mode()
        except BaseException:  # Nobody knows any more what an answer would belong to.
            self._pgconn.finish()
            raise
        if error is not None:
            raise error

    def _await_answers(self) -> psycopg.Error | None:
        error = None
        results = self._results or _Results(self._connection, self._prepared.wait)
        for cursor, statement, prepares in self._sent:
            result = results.next_result()
            cursor._result = result  # noqa: SLF001  nobody else may set it
            is_gone = prepares and result.status in _FAILED
            if result.status == ExecStatus.FATAL_ERROR:
                error = errors.error_from_result(result)  # Nothing after it is tried: it is the only one.
                is_gone = is_gone or error.sqlstate in _LAPSED
            if is_gone:
                self._prepared.names.pop(statement, None)
        results.end()
        return error


class _Sent(NamedTuple):
    """A statement that was sent; answers are expected in the order of sending."""

    cursor: Cursor
    statement: str
    prepares: bool


class _Results:
    """The results of a pipeline in their order; those that arrive together take one wait."""

    def __init__(self, connection: psycopg.Connection[Any], wait: Wait) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._wait = wait
        try:
            self._pgconn.pipeline_sync()
        except psycopg.OperationalError:  # It would say that this is no pipeline, whatever the reason.
            self._raise_lost()
        # Answers wake it too: a database whose answers nobody reads would not go on reading.
        while self._pgconn.flush():
            self._read_after(select.POLLIN | select.POLLOUT)

    def next_result(self) -> "PGresult":
        """The next statement's. Raises: OperationalError if the connection is lost."""
        result = self._next()
        if result is None:
            self._raise_lost()
        self._pgconn.get_result()  # None, for which nobody waits: a statement has one result.
        return result

    def _raise_lost(self) -> NoReturn:
        message = f"The connection was lost: {self._pgconn.get_error_message()}"
        raise psycopg.OperationalError(message)

    def end(self) -> None:
        """Take the mark that ends them."""
        self._next()

    def _next(self) -> "PGresult | None":
        while self._pgconn.is_busy():  # Asked before it has come, libpq would wait, and hold the interpreter's lock.
            self._read_after(select.POLLIN)
        return self._pgconn.get_result()

    def _read_after(self, events: int) -> None:
        if self._wait(self._pgconn.socket, events, patience_of(self._connection)) & ~select.POLLOUT:
            self._pgconn.consume_input()


@cache
def _numbered(statement: str) -> tuple[str, Sequence[str], Sequence[adapt.PyFormat]]:
    """Number the parameters as the database does; their names in that order, and their formats."""
    numbers: dict[str, int] = {}

    def number(placeholder: re.Match[str]) -> str:
        name = placeholder[1]
        return "%" if name is None else f"${numbers.setdefault(name, len(numbers) + 1)}"

    sql = _PLACEHOLDER.sub(number, statement)
    return sql, tuple(numbers), (adapt.PyFormat.TEXT,) * len(numbers)
