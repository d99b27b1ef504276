"""The usual shape of a change that moves a jackpot's money: one act, which books one entry, and shows what it says."""

from jackpot_service.db import Session, pipelined
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Subject


def book(
    session: Session,
    act: Act,
    kind: EntryKind,
    *,
    book: str,
    subject: Subject,
    before: Facts,
    after: Facts,
    postings: Postings,
) -> tuple[int, Applied]:
    """
    Book an entry of a kind in a jackpot's book, and the act of the same kind that names it; returns the act's seq.

    What the act shows `after` it is what the entry records. Stripe 0 is locked from here to the commit: a hit, which
    holds all stripes, comes before or after it.
    """
    act_seq = acts.next_seq(session)
    with pipelined(session) as pipe:
        cursor = acts.book_effect(pipe, act, act_seq=act_seq, book=book, kind=kind, recorded=after, postings=postings)
    effect = acts.effect_of(cursor, book=book, kind=kind, recorded=after)
    acts.post(
        session,
        act,
        kind,
        subject=subject.name,
        before=before,
        after=after,
        jackpot_id=subject.jackpot_id,
        effects=[effect],
    )
    return act_seq, Applied(before=before, after=after, effects=(effect,))
