"""Sealing the books: where all stripes stand, signed, chained to the seal before, for somebody outside to keep."""

from dataclasses import dataclass, replace

from jackpot_service.database.transactions import Session
from jackpot_service.domain import seals
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.seals import Seal, SealLink
from jackpot_service.records import checkpoints as records
from jackpot_service.signing import SigningKey
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act


@dataclass(frozen=True, slots=True)
class SealBooks:
    """Somebody seals the books with a key, by some version of the service."""

    act: Act
    key: SigningKey
    service_version: str


def seal_books(session: Session, command: SealBooks) -> Seal:
    """
    Sign where every stripe stands, and record it.

    Acts come one by one, so seals do too, and each is chained to the one before. The stripes are read by one statement,
    which sees one instant of all of them whatever is booked meanwhile; no stripe but that of acts is locked. The act
    that records the seal comes after what it seals: the next seal is over it.
    """
    acts.lock(session)
    last = records.last_seal(session)
    unsigned = Seal(
        number=1 if last is None else last.number + 1,
        sealed_at=seals.sealed_at(acts.booking_time(session, command.act)),
        service_version=command.service_version,
        previous=None if last is None else SealLink(last.number, last.sha256),
        stripes=records.stripes_to_seal(session),
        public_key_id=command.key.public.key_id,
    )
    seal = replace(unsigned, signature=command.key.sign(unsigned.signed_bytes))
    seq = acts.record(
        session,
        command.act,
        EntryKind.BOOKS_SEALED,
        subject=f"seal {seal.number}",
        after=seals.facts_of(number=seal.number, digest=seal.link.sha256),
    )
    records.add_seal(session, seal, entry_seq=seq, public_key=command.key.public.raw)
    return seal
