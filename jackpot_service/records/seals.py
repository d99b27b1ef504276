"""The seals that were handed out, and where all stripes stand, which is what a seal is over."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import insert, select

from jackpot_service.database.transactions import Session
from jackpot_service.domain import seals
from jackpot_service.domain.seals import Seal, SealedStripe
from jackpot_service.ledger.schema import StripeRow
from jackpot_service.records.seals_schema import SealRow

PAGE = 10
"""How many seals are in memory at a time; one of a large house is a few hundred kilobytes."""


@dataclass(frozen=True, slots=True)
class KeptSeal:
    """A seal as it is kept: its bytes, whatever may have become of them, its act, and the key that signed it."""

    number: int
    content: bytes
    entry_seq: int
    public_key: bytes

    @property
    def sha256(self) -> str:
        """What the next seal names."""
        return seals.sha256(self.content)


def stripes(session: Session) -> tuple[SealedStripe, ...]:
    """Read where every stripe of every book stands: one statement, which sees one instant of them all."""
    question = select(StripeRow.jackpot_id, StripeRow.stripe_no, StripeRow.seq, StripeRow.head).order_by(
        StripeRow.jackpot_id, StripeRow.stripe_no
    )
    return tuple(SealedStripe(*row) for row in session.execute(question))


def add(session: Session, seal: Seal, *, entry_seq: int, public_key: bytes) -> None:
    """Keep a seal, with the key that shows its signature."""
    content = seal.canonical_bytes.decode("ascii")
    row = {"number": seal.number, "document": content, "entry_seq": entry_seq, "public_key": public_key}
    session.execute(insert(SealRow).values(row))


def last(session: Session) -> KeptSeal | None:
    """The seal of the highest number; None if there is none."""
    row = session.execute(select(SealRow.__table__).order_by(SealRow.number.desc()).limit(1)).one_or_none()
    return None if row is None else _kept(*row)


def find(session: Session, number: int) -> KeptSeal | None:
    """The seal of a number, if there is one."""
    row = session.execute(select(SealRow.__table__).where(SealRow.number == number)).one_or_none()
    return None if row is None else _kept(*row)


def every(session: Session) -> Iterator[KeptSeal]:
    """Read all seals by number, some at a time."""
    after = -(2**63)
    while rows := session.execute(
        select(SealRow.__table__).where(SealRow.number > after).order_by(SealRow.number).limit(PAGE)
    ).all():
        yield from (_kept(*row) for row in rows)
        after = rows[-1].number


def _kept(number: int, document: str, entry_seq: int, public_key: bytes) -> KeptSeal:
    return KeptSeal(number, document.encode(), entry_seq, public_key)
