"""The end of a jackpot: its door closes for good, the players' money goes to another, the house's back to the house."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jackpot_service.database.transactions import Session
from jackpot_service.domain import life_facts, retirement
from jackpot_service.domain.accounts import HOUSE_SEED
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.errors import Conflict, Refused
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import Life
from jackpot_service.domain.retirement import Estate
from jackpot_service.records import changes, lives, references
from jackpot_service.usecases import acts, jackpot_acts
from jackpot_service.usecases.acts import Act, Effect
from jackpot_service.usecases.changes.kinds import Applied, Kind, Subject
from jackpot_service.usecases.changes.payloads import Payload
from jackpot_service.usecases.jackpot_acts import StillJackpot


class BadHeir(Refused):
    """The estate cannot go to that jackpot."""

    code = "heir-invalid"
    title = "The jackpot cannot receive it"


class HeirClosed(Conflict):
    """The jackpot that shall receive the estate takes no bets now."""

    code = "heir-closed"
    title = "The receiving jackpot is not open"


class StillInPlay(Conflict):
    """The jackpot has open rounds, or awards that nobody has decided about."""

    code = "jackpot-in-play"
    title = "The jackpot is still in play"


@dataclass(frozen=True, slots=True)
class RetireJackpot:
    """Which jackpot ends, and which receives the players' money."""

    jackpot_id: str
    to: str


def read(values: Mapping[str, Any]) -> RetireJackpot:
    """Read `{"jackpot_id", "to"}`. Raises: BadPayload; BadHeir for a jackpot to itself."""
    payload = Payload(values)
    change = RetireJackpot(payload.identifier("jackpot_id"), payload.identifier("to"))
    payload.end()
    if change.to == change.jackpot_id:
        message = "A jackpot does not receive its own money."
        raise BadHeir(message, jackpot_id=change.to)
    return change


def version(session: Session, change: RetireJackpot) -> str:
    """Name the state of both. Raises: UnknownJackpot."""
    references.require_base(session, change.to)
    return f"{jackpot_acts.money_version(session, change.jackpot_id)}/{changes.last_approved(session, change.to)}"


def apply(session: Session, act: Act, change: RetireJackpot) -> Applied:
    """
    Close the door and empty the jackpot: two entries, one in each book, which together move nothing but between them.

    The jackpot that ends is locked before it is looked at, so that no bet comes between; looking may take long, so
    the other is locked only then.

    Raises: UnknownJackpot, JackpotRetired, StillInPlay, BadHeir, HeirClosed, PoolsShort.
    """
    ending = jackpot_acts.hold_unretired(session, change.jackpot_id)
    _require_out_of_play(session, change.jackpot_id)
    heir = jackpot_acts.hold(session, change.to)
    if heir.base != ending.base:
        message = f"Jackpot {change.to} is in {heir.base}, {change.jackpot_id} in {ending.base}."
        raise BadHeir(message, jackpot_id=change.to)
    if heir.life is not Life.OPEN:
        message = f"Jackpot {change.to} is {heir.life}."
        raise HeirClosed(message, jackpot_id=change.to)
    estate = retirement.estate_of(ending.books.pools)
    place = _Place(acts.next_seq(session), jackpot_acts.booking_time(session, act, (ending, heir)))
    effects = (
        _book_the_end(session, act, ending, estate, to=change.to, place=place),
        _book_the_receipt(session, act, heir, estate, came_from=change.jackpot_id, place=place),
    )
    before = {"state": ending.life.value, **life_facts.of_pools(ending.books.pools)}
    after = effects[0].recorded
    acts.post(
        session,
        act,
        EntryKind.JACKPOT_RETIRED,
        subject=f"jackpot {change.jackpot_id}",
        before=before,
        after=after,
        jackpot_id=change.jackpot_id,
        effects=effects,
    )
    return Applied(before, after, effects)


def _require_out_of_play(session: Session, jackpot_id: str) -> None:
    lives.take_time(session)
    found = lives.open_round(session, jackpot_id)
    if found is not None:
        message = f"Round {found.round_id} of table {found.table_id} is open: settle or cancel it, and all others."
        raise StillInPlay(message, table_id=found.table_id, round_id=found.round_id)
    if lives.has_held_award(session, jackpot_id):
        message = f"Jackpot {jackpot_id} has a held award: approve or reject it, and all others."
        raise StillInPlay(message)


@dataclass(frozen=True, slots=True)
class _Place:
    """The act's seq, and when both entries are booked."""

    act_seq: int
    not_before: datetime


def _book_the_end(
    session: Session, act: Act, ending: StillJackpot, estate: Estate, *, to: str, place: _Place
) -> Effect:
    pools = ending.books.pools
    postings = retirement.left(pools, request_id=_request(act), base=ending.base)
    recorded = life_facts.of_retirement(
        estate,
        to=to,
        house=postings.moved(HOUSE_SEED),
        positions=ending.books.positions,
        after=pools + postings.pools(),
    )
    return jackpot_acts.book(
        session,
        act,
        ending,
        EntryKind.JACKPOT_RETIRED,
        act_seq=place.act_seq,
        not_before=place.not_before,
        recorded=recorded,
        postings=postings,
        accepting=False,
    )


def _book_the_receipt(
    session: Session, act: Act, heir: StillJackpot, estate: Estate, *, came_from: str, place: _Place
) -> Effect:
    pools = heir.books.pools
    postings = retirement.received(
        estate, request_id=_request(act), fixed_prizes_from=heir.rules.fixed_prizes_from, base=heir.base
    )
    recorded = life_facts.of_transfer_received(
        estate, came_from=came_from, positions=heir.books.positions, after=pools + postings.pools()
    )
    return jackpot_acts.book(
        session,
        act,
        heir,
        EntryKind.TRANSFER_RECEIVED,
        act_seq=place.act_seq,
        not_before=place.not_before,
        recorded=recorded,
        postings=postings,
    )


def _request(act: Act) -> str:
    """The change request that is carried out: what the transfer's account is named by."""
    if act.decides is None:
        message = "A retirement carries out a change request."
        raise ValueError(message)
    return act.decides


KIND = Kind(
    name=ChangeKind.RETIREMENT,
    read=read,
    subject=lambda change: Subject(f"jackpot {change.jackpot_id}", change.jackpot_id),
    version=version,
    apply=apply,
)
