"""Whether the books still say what seals say: those that the ledger kept, and those that somebody kept outside."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import seals
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.seals import BadSeal, Seal, SealedStripe, SealLink
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.records import seals as records
from jackpot_service.signing import PublicKey, public_key_of

Found = Iterator[Mismatch]

# Of each stripe that was sealed: where it ends now, and the head of the entry at which it was sealed.
_NOW = text(
    """
    SELECT sealed.number, s.seq, e.head
    FROM unnest(CAST(:books AS text[]), CAST(:stripe_nos AS int[]), CAST(:seqs AS bigint[]), CAST(:heads AS bytea[]))
         WITH ORDINALITY AS sealed (book, stripe_no, seq, head, number)
    LEFT JOIN stripes s ON s.jackpot_id = sealed.book AND s.stripe_no = sealed.stripe_no
    LEFT JOIN entries e ON e.jackpot_id = sealed.book AND e.stripe_no = sealed.stripe_no AND e.seq = sealed.seq
    WHERE s.seq IS NULL OR s.seq < sealed.seq OR (sealed.seq > 0 AND e.head IS DISTINCT FROM sealed.head)
    ORDER BY sealed.number
    """
)


@dataclass(frozen=True, slots=True)
class GivenSeal:
    """A seal that was kept outside, and where: the name by which it is spoken of."""

    name: str
    seal: Seal


def kept_seals_hold(session: Session) -> Found:
    """The seals that the ledger kept are numbered from 1, signed, each names the last, and the books say the same."""
    previous: SealLink | None = None
    for kept in records.every(session):
        name = f"seal {kept.number}"
        try:
            seal = seals.read(kept.content)
        except BadSeal as error:
            yield _mismatch(Code.SEAL_CHAIN, name, error.detail)
        else:
            due = (1 if previous is None else previous.number + 1, previous)
            if (kept.number, seal.previous) != due or seal.number != kept.number:
                yield _mismatch(Code.SEAL_CHAIN, name, "does not name the seal before it")
            key = public_key_of(kept.public_key)
            yield from _is_signed(GivenSeal(name, seal), {key.key_id: key})
            yield from stripes_stand(session, name, seal)
        previous = SealLink(kept.number, kept.sha256)


def given_seals_hold(session: Session, given: Iterable[GivenSeal], keys: Mapping[str, PublicKey]) -> Found:
    """
    Seals from outside are signed by one of these keys, the ledger kept the same, and the books say so still.

    Each names the one before it, where that is given too, and no two have one number. `keys` are by their ids.
    """
    by_number: dict[int, _Known] = {}
    for one in given:
        yield from _is_signed(one, keys)
        yield from _was_kept(session, one)
        yield from stripes_stand(session, one.name, one.seal)
        known = _Known(one.name, one.seal.link, one.seal.previous)
        other = by_number.setdefault(one.seal.number, known)
        if other.link != known.link:
            yield _mismatch(Code.SEAL_CHAIN, one.name, f"is another seal {one.seal.number} than {other.name}")
    for number, known in sorted(by_number.items()):
        before = by_number.get(number - 1)
        if before is not None and known.previous != before.link:
            yield _mismatch(Code.SEAL_CHAIN, known.name, f"does not name {before.name}, which is the seal before it")


@dataclass(frozen=True, slots=True)
class _Known:
    """What is kept of a seal when it was looked at: its chain."""

    name: str
    link: SealLink
    previous: SealLink | None


def _was_kept(session: Session, one: GivenSeal) -> Found:
    kept = records.find(session, one.seal.number)
    if kept is None:
        yield _mismatch(Code.SEAL_CHAIN, one.name, f"the ledger has no seal {one.seal.number}")
    elif kept.sha256 != one.seal.link.sha256:
        yield _mismatch(Code.SEAL_CHAIN, one.name, f"the ledger kept another seal {one.seal.number}")


def _is_signed(one: GivenSeal, keys: Mapping[str, PublicKey]) -> Found:
    key = keys.get(one.seal.public_key_id)
    if key is None:
        yield _mismatch(Code.SEAL_SIGNATURE, one.name, f"says that key {one.seal.public_key_id} signed it: not known")
    elif not key.signed(one.seal.signed_bytes, one.seal.signature):
        yield _mismatch(Code.SEAL_SIGNATURE, one.name, f"was not signed by key {key.key_id}, or was changed since")


def stripes_stand(session: Session, name: str, seal: Seal) -> Found:
    """At every position that was sealed stands an entry with the head that was sealed, on a stripe that is there."""
    columns = {
        "books": [one.book for one in seal.stripes],
        "stripe_nos": [one.stripe_no for one in seal.stripes],
        "seqs": [one.seq for one in seal.stripes],
        "heads": [one.head for one in seal.stripes],
    }
    for number, end, head in session.execute(_NOW, columns):
        yield _differs(name, seal.stripes[number - 1], end, head)


def _differs(name: str, sealed: SealedStripe, end: int | None, head: bytes | None) -> Mismatch:
    where = f"{sealed.place}, seq {sealed.seq}"
    if end is None:
        return Mismatch(Code.SEAL_STRIPE, sealed.book, where, f"{name}: the stripe is not there")
    if end < sealed.seq or head is None:
        return Mismatch(
            Code.SEAL_STRIPE, sealed.book, where, f"{name}: the entry is not there; the stripe ends at {end}"
        )
    detail = f"{name}: head {sealed.head.hex()} was sealed, now it is {head.hex()}"
    return Mismatch(Code.SEAL_HEAD, sealed.book, where, detail)


def _mismatch(code: Code, name: str, detail: str) -> Mismatch:
    return Mismatch(code, REFERENCE_BOOK, name, detail)
