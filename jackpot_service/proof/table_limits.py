"""The limits of a jackpot's tables over time, and whether rows and stripes are as the acts say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, select

from jackpot_service.database.models import TableLimitsRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.table_limits import LimitsOfTables, SetLimits, from_document
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry, BookedStripe
from jackpot_service.proof.decoding import UNDERIVABLE, is_written_alike
from jackpot_service.proof.references import RecordedEffect

Rows = Sequence[Row[Any]]


@dataclass(frozen=True, slots=True)
class LimitsChange:
    """The limits of a table from an entry on stripe 0 on: entries beyond its positions came after it."""

    seq: int
    table_id: str
    set: SetLimits
    positions: tuple[int, ...]

    def is_before(self, entry: BookedEntry) -> bool:
        """Whether the limits changed before an entry was booked. A stripe that it does not name was added later."""
        number = entry.stripe_no
        return (self.positions[number] if number < len(self.positions) else 0) < entry.seq


def rows_of(session: Session, jackpot_id: str) -> Rows:
    """Read the rows of a jackpot's table limits, by version."""
    table = TableLimitsRow.__table__
    return session.execute(select(table).where(table.c.jackpot_id == jackpot_id).order_by(table.c.version)).all()


def changes_of(effects: Mapping[int, RecordedEffect]) -> tuple[LimitsChange, ...]:
    """Read from the acts how the limits of a jackpot's tables changed, in the order of stripe 0; what can be read."""
    changes = []
    for seq, effect in sorted(effects.items()):
        if effect.kind != EntryKind.TABLE_LIMITS_CHANGED or effect.positions is None:
            continue
        try:
            set_limits, table_id = _recorded(effect.recorded["limits"]), str(effect.recorded["table_id"])
        except UNDERIVABLE:  # The decision, made again, names it.
            continue
        changes.append(LimitsChange(seq, table_id, set_limits, effect.positions))
    return tuple(changes)


def _recorded(limits: Mapping[str, Any]) -> SetLimits:
    return SetLimits(int(limits["version"]), from_document(limits["document"]))


def in_force(changes: Sequence[LimitsChange]) -> LimitsOfTables:
    """The limits after some changes; a table whose limits were taken away is not there."""
    last = {change.table_id: change.set for change in changes}
    return {table_id: set_limits for table_id, set_limits in last.items() if set_limits.limits.amounts}


def version_after(changes: Sequence[LimitsChange]) -> int:
    """The version after some changes, 0 before the first."""
    return changes[-1].set.version if changes else 0


def before(changes: Sequence[LimitsChange], entry: BookedEntry) -> LimitsOfTables:
    """The limits that were in force when an entry was booked."""
    return in_force([change for change in changes if change.is_before(entry)])


def check(book: str, rows: Rows, stripes: Sequence[BookedStripe], effects: Mapping[int, RecordedEffect]) -> Found:
    """Each row is as an entry recorded it, each such entry has its row, and every stripe names the last version."""
    for row in rows:
        place, effect = f"table limits {row.version}", effects.get(row.entry_seq)
        if effect is None or effect.kind != EntryKind.TABLE_LIMITS_CHANGED:
            detail = f"there is no {EntryKind.TABLE_LIMITS_CHANGED} at stripe 0, seq {row.entry_seq}"
            yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, book, place, detail)
            continue
        expected = {"table_id": effect.recorded.get("table_id"), "limits": effect.recorded.get("limits")}
        stored = {"table_id": row.table_id, "limits": {"version": row.version, "document": row.document}}
        if not is_written_alike(stored, expected):
            yield Mismatch(Code.ENTRY_DIGEST, book, place, f"is not as stripe 0, seq {row.entry_seq} recorded it")
    recorded = {row.entry_seq for row in rows}
    for seq, effect in effects.items():
        if effect.kind == EntryKind.TABLE_LIMITS_CHANGED and seq not in recorded:
            detail = "the limits that it recorded are not there"
            yield Mismatch(Code.ENTRY_DIGEST, book, f"stripe 0, seq {seq}", detail)
    version = version_after(changes_of(effects))
    for stripe in stripes:
        if stripe.limits_version != version:
            detail = f"names version {stripe.limits_version} of the table limits, in force is {version}"
            yield Mismatch(Code.STRIPE_LIMITS, book, f"stripe {stripe.stripe_no}", detail)
