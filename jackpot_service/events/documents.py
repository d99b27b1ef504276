"""What a page's entries recorded, read in one go; and what each of them tells."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select, text

from jackpot_service.database.models import JackpotRow, TableRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.journal import EntryKind
from jackpot_service.events import award_documents, of_acts, of_rounds, round_documents
from jackpot_service.events.award_documents import SettledAwards
from jackpot_service.events.drafts import Telling
from jackpot_service.events.entries import OfRound, ToldEntry
from jackpot_service.events.round_documents import (
    CancelledRound,
    RoundName,
    SettledRound,
    Stakes,
    Step,
    Voids,
)
from jackpot_service.records.acts import RecordedAct

# In the order of `RecordedAct`; looked up by their seqs, as the rows of rounds are by their keys.
_ACTS = text(
    """
    SELECT a.seq, e.kind, e.principal, e.received_at, e.booked_at, a.request_id, a.decides, a.subject, a.jackpot_id,
           a.reason, a.asked, a.before, a.after, a.effects
    FROM unnest(CAST(:seqs AS bigint[])) AS k (seq)
    CROSS JOIN LATERAL (SELECT o.* FROM acts o WHERE o.seq = k.seq LIMIT 1) AS a
    CROSS JOIN LATERAL (
        SELECT o.kind, o.principal, o.received_at, o.booked_at
        FROM entries o
        WHERE o.jackpot_id = :book AND o.stripe_no = 0 AND o.seq = k.seq
        LIMIT 1
    ) AS e
    """
)


@dataclass(frozen=True, slots=True)
class Documents:
    """What was read for some entries; base currencies are by jackpot, casinos by table."""

    bases: Mapping[str, str]
    casinos: Mapping[str, str]
    acts: Mapping[int, RecordedAct]
    settlements: Mapping[RoundName, SettledRound]
    awards: Mapping[RoundName, SettledAwards]
    cancellations: Mapping[RoundName, CancelledRound]
    stakes: Mapping[RoundName, Stakes]
    voids: Mapping[Step, Voids]

    def tellings(self, entry: ToldEntry) -> list[Telling]:
        """All that an entry tells, also what its reader may not see: events keep their numbers."""
        if entry.round is None:
            return of_acts.tell(self.acts[entry.place.seq], bases=self.bases, casinos=self.casinos)
        told = of_rounds.Told(entry.place.book, self.bases[entry.place.book], entry.round)
        name = _name(entry, entry.round)
        if entry.kind is EntryKind.RESULT:
            stakes, awards = self.stakes.get(name, Stakes()), self.awards.get(name, SettledAwards())
            return of_rounds.settled(told, self.settlements[name], stakes, awards)
        if entry.kind is EntryKind.CANCELLATION:
            return of_rounds.cancelled(told, self.cancellations[name], self.stakes.get(name, Stakes()))
        return of_rounds.voided(told, self.voids[Step(name, entry.round.step)])


def read_documents(session: Session, entries: Sequence[ToldEntry]) -> Documents:
    """Read what some entries recorded."""
    rounds = [(entry, entry.round) for entry in entries if entry.round is not None]
    settled = [_name(*of) for of in rounds if of[0].kind is EntryKind.RESULT]
    cancelled = [_name(*of) for of in rounds if of[0].kind is EntryKind.CANCELLATION]
    voided = [Step(_name(*of), of[1].step) for of in rounds if of[0].kind is EntryKind.VOIDS]
    foreign = {_name(*of) for of in rounds if of[0].only_public}
    acts = _acts(session, [entry.place.seq for entry in entries if entry.place.book == REFERENCE_BOOK])
    return Documents(
        bases=dict(session.execute(select(JackpotRow.jackpot_id, JackpotRow.base)).all()),
        casinos=_casinos(session, acts.values()),
        acts=acts,
        settlements=round_documents.settlements(session, settled),
        awards=award_documents.of_settlements(session, settled),
        cancellations=round_documents.cancellations(session, cancelled),
        stakes=round_documents.stakes(session, [*(name for name in settled if name not in foreign), *cancelled]),
        voids=round_documents.voids(session, voided),
    )


def _name(entry: ToldEntry, round_: OfRound) -> RoundName:
    return RoundName(entry.place.book, round_.round_key)


def _acts(session: Session, seqs: Collection[int]) -> Mapping[int, RecordedAct]:
    if not seqs:
        return {}
    found = [RecordedAct(*row) for row in session.execute(_ACTS, {"book": REFERENCE_BOOK, "seqs": list(seqs)})]
    return {act.seq: act for act in found}


def _casinos(session: Session, acts: Iterable[RecordedAct]) -> Mapping[str, str]:
    """The casinos of the tables whose rounds were corrected: those acts do not name them."""
    tables = {act.after["table_id"] for act in acts if act.kind == EntryKind.ROUND_CORRECTED}
    if not tables:
        return {}
    question = select(TableRow.table_id, TableRow.casino_id).where(TableRow.table_id.in_(tables))
    return dict(session.execute(question).all())
