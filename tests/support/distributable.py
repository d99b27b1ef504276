"""
Whether a statement could be sent to a database whose hot tables are distributed by jackpot: a checker of SQL.

It parses the statement as PostgreSQL does (pglast), and looks at each of its query levels. A level is one FROM with its
conditions. A condition restricts a table if it must hold for each of the table's rows that the level returns.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any, Final

from pglast import ast, parse_sql
from pglast.enums import A_Expr_Kind, BoolExprType, JoinType

from jackpot_service.database.tables import Placement

COLUMN: Final = "jackpot_id"

Node = Any
"""A node of a parsed statement. To pglast's types, any member of one may be None."""

nodes: Final[Any] = ast
"""The kinds of node."""


class Rule(StrEnum):
    """What a statement may break."""

    UNRESTRICTED = "each distributed table is restricted by a parameter at its own level"
    INSERTED = "a row of a distributed table is inserted under a parameter"
    ONE_JACKPOT = "a statement is about one jackpot"
    SUBSCRIPT = "no subscript in SET"
    VOLATILE = "no volatile function in SET"
    CONFLICT = "no ON CONFLICT on a reference table"
    LOCKED = "no row of a reference table is locked by FOR"
    COPIED = "a change of a reference table reads no other: Citus would lock that, which the service may not"
    INSIDE = "no part of a statement changes a reference table: the transaction would not see it on this machine"
    MIXED = "no level reads a local table with a distributed one"
    SETTING = "no statement that reads a jackpot's rows leaves a setting: it would stay on the machine that has them"
    UNKNOWN = "the checker knows each table, and each kind of statement"


@dataclass(frozen=True, slots=True, order=True)
class Breach:
    """A rule that a statement breaks, and by what: a table, a function, a column or a word of SQL."""

    rule: Rule
    what: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """
    What the checker knows of a database.

    `placements` holds tables and those views that pass on the `jackpot_id` of distributed tables; `views` the queries
    of the other views, by their names. `volatile` names each function that is volatile. `relations` has functions that
    read a jackpot's rows, with the place of the argument that names the jackpot.
    """

    placements: Mapping[str, Placement]
    views: Mapping[str, Node] = field(default_factory=dict)
    volatile: frozenset[str] = frozenset()
    relations: Mapping[str, int] = field(default_factory=dict)


def breaches(
    text: str, values: Mapping[str, str | None], catalogue: Catalogue, *, arguments: frozenset[str] = frozenset()
) -> frozenset[Breach]:
    """
    Find what a statement breaks, given the values of its parameters by their names (`$1`).

    In the body of a function its `arguments` are parameters too. Raises: pglast.parser.ParseError.
    """
    check = _Check(values, catalogue, arguments)
    for raw in parse_sql(text):
        check.statement(raw.stmt, frozenset())
        check.calls(raw.stmt)
    if len(check.jackpots) > 1:
        check.breaches.add(Breach(Rule.ONE_JACKPOT, f"{len(check.jackpots)} jackpots"))
    return frozenset(check.breaches)


_WITHOUT_ROWS: Final = (
    nodes.TransactionStmt,
    nodes.VariableSetStmt,
    nodes.VariableShowStmt,
    nodes.DeallocateStmt,
    nodes.FetchStmt,
    nodes.ClosePortalStmt,
    nodes.DiscardStmt,
)

_LEAVES_A_SETTING: Final = "set_config"

_SYSTEM: Final = {"pg_catalog", "information_schema"}

_QUERIES: Final = (nodes.SelectStmt, nodes.InsertStmt, nodes.UpdateStmt, nodes.DeleteStmt)

_CHANGES: Final = (nodes.InsertStmt, nodes.UpdateStmt, nodes.DeleteStmt)

_LEFT_ROWS: Final = {JoinType.JOIN_INNER, JoinType.JOIN_RIGHT}
"""Joins whose condition must hold for each row of their left side that comes out."""

_RIGHT_ROWS: Final = {JoinType.JOIN_INNER, JoinType.JOIN_LEFT}


@dataclass(slots=True)
class _Level:
    """The tables of a query level by their aliases, and what restricts each alias."""

    tables: dict[str, str] = field(default_factory=dict)
    conditions: list[tuple[frozenset[str], Any]] = field(default_factory=list)

    def add(self, relation: Node) -> str:
        alias: str = relation.alias.aliasname if relation.alias else relation.relname
        self.tables[alias] = relation.relname
        return alias


class _Check:
    """Goes through one statement, and notes what it breaks and which jackpots it names."""

    def __init__(
        self, values: Mapping[str, str | None], catalogue: Catalogue, arguments: frozenset[str] = frozenset()
    ) -> None:
        self._values = values
        self._arguments = arguments
        self._catalogue = catalogue
        self.breaches: set[Breach] = set()
        self.jackpots: set[str] = set()

    def statement(self, statement: Any, known: frozenset[str]) -> None:
        """Check a statement within which some names are those of WITH queries."""
        if isinstance(statement, _WITHOUT_ROWS):
            return
        if isinstance(statement, nodes.DeclareCursorStmt | nodes.ExplainStmt):
            self.statement(statement.query, known)
            return
        known = self._with_queries(statement, known)
        if isinstance(statement, nodes.SelectStmt):
            self._select(statement, known)
        elif isinstance(statement, nodes.InsertStmt):
            self._insert(statement, known)
        elif isinstance(statement, nodes.UpdateStmt):
            self._update(statement, known)
        elif isinstance(statement, nodes.DeleteStmt):
            self._level(statement.usingClause, statement.whereClause, known, target=statement.relation)
            self._nested((statement.usingClause, statement.whereClause, statement.returningClause), known)
        else:
            self.breaches.add(Breach(Rule.UNKNOWN, type(statement).__name__))

    def calls(self, statement: Any) -> None:
        """Check the functions that stand anywhere in a statement: what they read of a jackpot, and what they leave."""
        tables = {node.relname for node in _all_nodes(statement) if isinstance(node, nodes.RangeVar)}
        reads_rows = any(self._placement(table) is Placement.DISTRIBUTED for table in tables)
        for change in _all_nodes(statement):
            if isinstance(change, _CHANGES) and self._placement(change.relation.relname) is Placement.REFERENCE:
                self._require_alone(change)
        for call in _all_nodes(statement):
            name = str(call.funcname[-1].sval) if isinstance(call, nodes.FuncCall) else ""
            if name == _LEAVES_A_SETTING and reads_rows:
                self.breaches.add(Breach(Rule.SETTING, name))
            place = self._catalogue.relations.get(name)
            if place is not None and (len(call.args or ()) <= place or not self._note(call.args[place])):
                self.breaches.add(Breach(Rule.UNRESTRICTED, name))

    def _require_alone(self, change: Node) -> None:
        for node in _all_nodes([getattr(change, name) for name in change if name != "relation"]):
            if isinstance(node, nodes.RangeVar) and self._placement(node.relname) is Placement.REFERENCE:
                self.breaches.add(Breach(Rule.COPIED, node.relname))

    def _with_queries(self, statement: Any, known: frozenset[str]) -> frozenset[str]:
        clause = getattr(statement, "withClause", None)
        if clause is None:
            return known
        names = frozenset(cte.ctename for cte in clause.ctes)
        before = known
        for cte in clause.ctes:
            if isinstance(cte.ctequery, _CHANGES):
                changed = cte.ctequery.relation.relname
                if self._placement(changed) is Placement.REFERENCE:
                    self.breaches.add(Breach(Rule.INSIDE, changed))
            self.statement(cte.ctequery, known | names if clause.recursive else before)
            before |= {cte.ctename}
        return known | names

    def _select(self, select: Node, known: frozenset[str]) -> None:
        if select.larg is not None:
            self.statement(select.larg, known)
            self.statement(select.rarg, known)
        level = self._level(select.fromClause, select.whereClause, known)
        for locking in select.lockingClause or ():
            aliases = [lock.relname for lock in locking.lockedRels] if locking.lockedRels else list(level.tables)
            for alias in aliases:
                if self._placement(level.tables.get(alias)) is Placement.REFERENCE:
                    self.breaches.add(Breach(Rule.LOCKED, level.tables[alias]))
        self._nested([getattr(select, name) for name in select if name not in {"withClause", "larg", "rarg"}], known)

    def _insert(self, insert: Node, known: frozenset[str]) -> None:
        table = insert.relation.relname
        self._require_known(insert.relation)
        if self._placement(table) is Placement.DISTRIBUTED:
            self._inserted(insert, table)
        conflict = insert.onConflictClause
        if conflict is not None:
            if self._placement(table) is Placement.REFERENCE:
                self.breaches.add(Breach(Rule.CONFLICT, table))
            self._set(conflict.targetList or ())
            self._nested((conflict.targetList, conflict.whereClause), known)
        if insert.selectStmt is not None:
            self.statement(insert.selectStmt, known)
        self._nested((insert.returningClause,), known)

    def _inserted(self, insert: Node, table: str) -> None:
        columns = [column.name for column in insert.cols or ()]
        rows = list(_rows(insert.selectStmt)) if insert.selectStmt is not None else []
        place = columns.index(COLUMN) if COLUMN in columns else None
        for row in rows:
            if place is None or len(row) <= place or not self._note(row[place]):
                self.breaches.add(Breach(Rule.INSERTED, table))
        if not rows:
            self.breaches.add(Breach(Rule.INSERTED, table))

    def _update(self, update: Node, known: frozenset[str]) -> None:
        self._level(update.fromClause, update.whereClause, known, target=update.relation)
        self._set(update.targetList)
        self._nested((update.targetList, update.fromClause, update.whereClause, update.returningClause), known)

    def _set(self, targets: Iterable[Node]) -> None:
        for target in targets:
            if any(isinstance(node_, nodes.A_Indices) for node_ in _all_nodes((target.indirection, target.val))):
                self.breaches.add(Breach(Rule.SUBSCRIPT, target.name))
            for call in _all_nodes(target.val):
                if isinstance(call, nodes.FuncCall) and call.funcname[-1].sval in self._catalogue.volatile:
                    self.breaches.add(Breach(Rule.VOLATILE, call.funcname[-1].sval))

    # Query levels.

    def _level(
        self, sources: Any, condition: Any, known: frozenset[str], *, target: nodes.RangeVar | None = None
    ) -> _Level:
        """Find what restricts each table of a level; views that are not tables of a jackpot are looked into."""
        level = _Level()
        if target is not None:
            self._require_known(target)
            level.add(target)
        for source in sources or ():
            self._source(source, level, known)
        level.conditions.append((frozenset(level.tables), condition))
        restricted = set(chain.from_iterable(self._restricted(level, *condition) for condition in level.conditions))
        for alias, table in level.tables.items():
            if self._placement(table) is Placement.DISTRIBUTED and alias not in restricted:
                self.breaches.add(Breach(Rule.UNRESTRICTED, table))
        self._require_near(level)
        return level

    def _require_near(self, level: _Level) -> None:
        placed = {table: self._placement(table) for table in level.tables.values()}
        if Placement.DISTRIBUTED in placed.values():
            self.breaches |= {Breach(Rule.MIXED, table) for table, place in placed.items() if place is Placement.LOCAL}

    def _source(self, source: Any, level: _Level, known: frozenset[str]) -> frozenset[str]:
        """Note the tables of one source of a level; return their aliases."""
        if isinstance(source, nodes.RangeVar):
            if source.schemaname is None and source.relname in known:
                return frozenset()
            view = self._catalogue.views.get(source.relname)
            if view is not None:
                self.statement(view, frozenset())
                return frozenset()
            self._require_known(source)
            return frozenset({level.add(source)})
        if isinstance(source, nodes.JoinExpr):
            left, right = (self._source(side, level, known) for side in (source.larg, source.rarg))
            if source.quals is not None:
                restrictable = (left if source.jointype in _LEFT_ROWS else frozenset()) | (
                    right if source.jointype in _RIGHT_ROWS else frozenset()
                )
                level.conditions.append((restrictable, source.quals))
            return left | right
        return frozenset()  # Functions and subqueries: what stands in them are levels of their own.

    def _restricted(self, level: _Level, aliases: frozenset[str], condition: Any) -> Iterator[str]:
        """The aliases, of some, that a condition restricts to the jackpot of a parameter."""
        for part in _conjuncts(condition):
            if not isinstance(part, nodes.A_Expr) or part.kind != A_Expr_Kind.AEXPR_OP or part.name[-1].sval != "=":
                continue
            for column, value in ((part.lexpr, part.rexpr), (part.rexpr, part.lexpr)):
                alias = self._alias_of(level, column)
                if alias not in aliases or self._placement(level.tables[alias]) is not Placement.DISTRIBUTED:
                    continue
                if self._note(value):
                    yield alias

    def _alias_of(self, level: _Level, column: Any) -> str | None:
        """The alias whose `jackpot_id` a column of this level is; without an alias, the only table that has one."""
        if not isinstance(column, nodes.ColumnRef):
            return None
        *aliases, name = [getattr(field_, "sval", "*") for field_ in column.fields]
        if name != COLUMN:
            return None
        if aliases:
            return aliases[-1] if aliases[-1] in level.tables else None
        distributed = [a for a, table in level.tables.items() if self._placement(table) is Placement.DISTRIBUTED]
        return distributed[0] if len(distributed) == 1 else None

    def _note(self, value: Any) -> bool:
        """Whether a value is a parameter or a constant; the jackpot that it names is noted."""
        while isinstance(value, nodes.TypeCast | nodes.CollateClause):
            value = value.arg
        if isinstance(value, nodes.ResTarget):
            return self._note(value.val)
        if isinstance(value, nodes.ParamRef):
            name = f"${value.number}"
            self.jackpots.add(self._values.get(name) or name)
            return True
        if isinstance(value, nodes.ColumnRef) and len(value.fields) == 1:
            name = getattr(value.fields[0], "sval", "*")
            self.jackpots |= {name} & self._arguments
            return name in self._arguments
        if isinstance(value, nodes.A_Const) and isinstance(value.val, nodes.String):
            self.jackpots.add(value.val.sval)
            return True
        return False

    def _require_known(self, relation: Node) -> None:
        """PostgreSQL's own tables are on every machine; a partition must be found by its parent's name."""
        is_system = relation.schemaname in _SYSTEM or relation.relname.startswith("pg_")
        if not is_system and self._placement(relation.relname) is None:
            self.breaches.add(Breach(Rule.UNKNOWN, relation.relname))

    def _nested(self, parts: Iterable[Any], known: frozenset[str]) -> None:
        """Check the queries that stand in parts of a query."""
        for query in _outermost(tuple(parts), lambda node: isinstance(node, _QUERIES)):
            self.statement(query, known)

    def _placement(self, table: str | None) -> Placement | None:
        return None if table is None else self._catalogue.placements.get(table)


def _rows(select: Node) -> Iterator[tuple[Any, ...]]:
    """The rows that are inserted: those of VALUES, or the columns of each query of a UNION."""
    if select.larg is not None:
        yield from _rows(select.larg)
        yield from _rows(select.rarg)
    elif select.valuesLists:
        yield from select.valuesLists
    else:
        yield tuple(select.targetList or ())


def _conjuncts(condition: Any) -> Iterator[Any]:
    """The parts of a condition that must all hold."""
    if isinstance(condition, nodes.BoolExpr) and condition.boolop == BoolExprType.AND_EXPR:
        for part in condition.args:
            yield from _conjuncts(part)
    elif condition is not None:
        yield condition


def _outermost(node: Any, is_it: Callable[[Any], bool]) -> Iterator[Any]:
    """The nodes of a tree that are it, without what stands in them."""
    if isinstance(node, tuple | list):
        for node_ in node:
            yield from _outermost(node_, is_it)
    elif isinstance(node, nodes.Node):
        if is_it(node):
            yield node
        else:
            yield from _outermost([getattr(node, name) for name in node], is_it)


def _all_nodes(node: Any) -> Iterator[Node]:
    """A node and all that stand in it."""
    if isinstance(node, tuple | list):
        for node_ in node:
            yield from _all_nodes(node_)
    elif isinstance(node, nodes.Node):
        yield node
        yield from _all_nodes([getattr(node, name) for name in node])
