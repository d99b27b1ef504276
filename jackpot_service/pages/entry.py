"""One entry of the books: both sides of it, the act or the round behind it, its bets, and its link in the chain."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import flask

from jackpot_service.api.request_context import act, look, principal
from jackpot_service.database.transactions import Session
from jackpot_service.domain.bets import BookedBet
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.money import ZERO, RateSheet
from jackpot_service.domain.principals import Role
from jackpot_service.ledger.digests import next_head
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.links import page_address
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.records import acts
from jackpot_service.records.acts import RecordedAct
from jackpot_service.reports.audit import AuditedAct, act_at
from jackpot_service.reports.audit import shown as shown_act
from jackpot_service.reports.entries import ShownEntry, UnknownEntry, entry_at
from jackpot_service.reports.rounds import round_record

MOST_BETS: Final = 200

SEE_ACTS: Final = (Role.FINANCE, Role.AUDITOR)
"""Those who see the act behind an entry, also if it was not their own: they answer for what it booked."""


@dataclass(frozen=True, slots=True)
class Line:
    """A posting of an entry: a debit lowers the balance of its account, a credit raises it."""

    account: str
    movement: str
    debit: Decimal | None
    credit: Decimal | None
    address: str | None


@dataclass(frozen=True, slots=True)
class Sides:
    """The postings of an entry in one currency, and what each side comes to: the same, as the books demand."""

    currency: str
    lines: Sequence[Line]
    debit: Decimal
    credit: Decimal


@blueprint.route("/entries/<id:book>/<number:stripe>/<number:seq>", methods=["GET"])
@people(*WATCHERS)
def show_entry(book: str, stripe: int, seq: int) -> str:
    """Show the entry at a place. Raises: UnknownEntry, also for one that somebody may not see."""
    entry = look(lambda session: entry_at(session, principal(), book=book, stripe_no=stripe, seq=seq))
    bets, sheet = _bets(entry)
    audited = _act(entry)
    recorded = None if audited is None else audited.act
    return flask.render_template(
        "entry.html",
        entry=entry,
        is_act=book == REFERENCE_BOOK,
        sides=_sides(entry),
        bets=bets[:MOST_BETS],
        bets_listed=len(bets),
        sheet=sheet,
        act=None if audited is None else shown_act(audited),
        request_address=None
        if recorded is None or recorded.decides is None
        else page_address("pages.show_change", request_id=recorded.decides),
        act_address=None if recorded is None or book == REFERENCE_BOOK else _address_of_act(recorded.seq),
        effects=[] if recorded is None or book != REFERENCE_BOOK else _effects(recorded),
        is_chained=next_head(entry.head_before, entry.digest, entry.booked_at) == entry.head,
        before=_neighbour(book, stripe, seq - 1),
        after=_neighbour(book, stripe, seq + 1),
    )


def _sides(entry: ShownEntry) -> Sequence[Sides]:
    by_currency: defaultdict[str, list[Line]] = defaultdict(list)
    for account, currency, amount, movement in entry.postings:
        address = page_address("pages.show_account_book", jackpot_id=entry.book, account=account, currency=currency)
        debit, credit = (-amount, None) if amount < ZERO else (None, amount)
        by_currency[currency].append(Line(account, movement, debit, credit, address))
    return [
        Sides(
            currency,
            lines,
            sum((line.debit for line in lines if line.debit is not None), ZERO),
            sum((line.credit for line in lines if line.credit is not None), ZERO),
        )
        for currency, lines in by_currency.items()
    ]


def _bets(entry: ShownEntry) -> tuple[Sequence[BookedBet], RateSheet | None]:
    """Return the bets that an entry accepted, and the rates of its round: they are its document."""
    name = entry.round_name
    if entry.kind != "bets" or name is None:
        return (), None
    record = act(lambda session: round_record(session, principal(), table_id=name.table_id, round_id=name.round_id))
    return [booked for booked in record.bets if booked.step == entry.step], record.sheet


def _act(entry: ShownEntry) -> AuditedAct | None:
    """Return the act that an entry is, or that booked it; none of a round's entry. An operator sees own acts alone."""
    if entry.round_name is not None or principal().casino_id is not None:
        return None

    def read(session: Session) -> AuditedAct | None:
        if entry.book == REFERENCE_BOOK:
            return act_at(session, entry.seq)
        booking = acts.booking(session, entry.book, entry.seq)
        return None if booking is None else act_at(session, booking.seq)

    audited = look(read)
    is_own = audited is not None and audited.act.principal == principal().name
    return audited if is_own or principal().role in SEE_ACTS else None


def _address_of_act(seq: int) -> str | None:
    if principal().role is not Role.AUDITOR:
        return None
    return flask.url_for("pages.show_entry", book=REFERENCE_BOOK, stripe=0, seq=seq)


def _effects(recorded: RecordedAct) -> Sequence[Mapping[str, Any]]:
    return [
        {
            "book": effect["book"],
            "seq": effect["seq"],
            "address": flask.url_for("pages.show_entry", book=effect["book"], stripe=0, seq=effect["seq"]),
        }
        for effect in recorded.effects
        if {"book", "seq"} <= effect.keys()
    ]


def _neighbour(book: str, stripe: int, seq: int) -> str | None:
    """Return the address of the entry before or after on the stripe, if there is one for who is signed in."""

    def read(session: Session) -> bool:
        try:
            entry_at(session, principal(), book=book, stripe_no=stripe, seq=seq)
        except UnknownEntry:
            return False
        return True

    if seq < 1 or not look(read):
        return None
    return flask.url_for("pages.show_entry", book=book, stripe=stripe, seq=seq)
