"""Whether entries come to what they say: their figures, and whose they are, are figured again from documents."""

from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import figures
from jackpot_service.domain.entries import Attribution, casino_of
from jackpot_service.domain.figures import Figure
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.outcomes import refunded_hands
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.ledger.verification import NOTHING, Verified
from jackpot_service.proof.bets import terms_of, won_since
from jackpot_service.proof.decoding import UNDERIVABLE, unless_refused
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot

OF_PAYMENTS = frozenset({EntryKind.AWARD_PAID, EntryKind.PAYMENT_REVERSED})

HAVE_FIGURES = frozenset(
    {
        EntryKind.ROUND_CORRECTED,
        EntryKind.AWARDS_APPROVED,
        EntryKind.AWARDS_REJECTED,
        EntryKind.AWARDS_REINSTATED,
        EntryKind.AWARD_STOPPED,
        EntryKind.AWARDS_RELEASED,
        EntryKind.AWARD_FORFEITED,
    }
)
"""The acts about awards: their figures are checked where they are decided again, in `corrections` and `awards`."""


def entries_come_to_what_they_say(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """Each entry of a round has its round's casino, table and rules, and the figures that its documents make."""
    of = Attribution.of(round_.round)
    for entry in round_.entries:
        try:
            expected = due_of(entry, round_, jackpot)
        except UNDERIVABLE as error:
            yield _mismatch(entry, f"comes to {entry.content}, and what is due cannot be figured: {error}")
            continue
        yield from are(entry, of, expected)


def due_of(entry: BookedEntry, round_: RoundDocuments, jackpot: Jackpot) -> Sequence[Figure]:
    """The figures that an entry's documents make. Raises: LedgerError, LookupError, ValueError and the like."""
    sheet, step = jackpot.sheet(round_.round.rate_sheet), entry.step or 0
    if entry.kind == EntryKind.BETS:
        return jackpot.contributed(round_.accepted(step=step), round_.round).figures
    if entry.kind == EntryKind.CLOSING:
        return ()
    running = jackpot.cycle_at(entry)
    terms, won = terms_of(round_, jackpot, running=running, following=None), won_since(running, round_)
    live = round_.live(before_step=step)
    if entry.kind == EntryKind.VOIDS:
        voided = {row.bet_id for row in round_.of("voids") if row.step == step and not row.is_tombstone}
        return figures.figures_of_refunds(
            [booked_bet.bet for booked_bet in round_.bets if booked_bet.bet.bet_id in voided],
            terms=terms,
            won_since=won,
        )
    if entry.kind == EntryKind.CANCELLATION:
        return figures.figures_of_refunds(live, terms=terms, won_since=won)
    dead = refunded_hands(round_.result.hands, jackpot.rules[round_.round.rules_version])
    return (
        *figures.figures_of_refunds([bet for bet in live if bet.hand in dead], terms=terms, won_since=won),
        *figures.figures_of_awards(round_.awards),
        *figures.figures_of_hands((bet for bet in live if bet.hand not in dead), sheet),
    )


def effects_come_to_nothing_more(entries: Sequence[BookedEntry]) -> Found:
    """Entries of other acts are of the casino whose account they move, and come to nothing besides their postings."""
    for entry in entries:
        if entry.kind not in HAVE_FIGURES:
            yield from are(entry, Attribution(casino_of(line[0] for line in entry.lines)), ())


def act_comes_to_payments_alone(entry: BookedEntry) -> Found:
    """An entry of the reference book comes to one payment if it is of one, or reverses it, and otherwise to nothing."""
    if entry.kind not in OF_PAYMENTS:
        yield from are(entry, Attribution(), ())
    elif len(entry.figures) != 1:
        yield _mismatch(entry, f"comes to {list(entry.figures)}, due was one payment")


# The award that a payment is of, its round, and what had been paid before, are looked up by their keys.
_PAYMENTS = text(
    """
    WITH due AS (
        SELECT s.act_seq AS seq, r.casino_id, r.table_id, 0 AS rules_version, a.currency, a.tier,
               a.funded_by AS account, d.made_on,
               (b.paid_minor + s.amount_minor = a.amount_minor)::int - (b.paid_minor = a.amount_minor)::int AS number,
               s.amount_minor AS minor, s.cost AS value
        FROM payments s
        JOIN rounds r ON r.jackpot_id = :book AND r.round_key = s.round_key
        JOIN awards a ON a.jackpot_id = :book AND a.round_key = s.round_key AND a.bet_id = s.bet_id
                     AND a.tier = s.tier AND a.correction = s.correction
        LEFT JOIN LATERAL (
            SELECT v.made_on
            FROM verdict_days v
            WHERE v.jackpot_id = :book AND v.round_key = a.round_key AND v.number = a.correction
            LIMIT 1
        ) AS d ON true
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(o.amount_minor), 0) AS paid_minor
            FROM payments o
            WHERE o.jackpot_id = :book AND o.round_key = s.round_key AND o.bet_id = s.bet_id
              AND o.tier = s.tier AND o.correction = s.correction AND o.act_seq < s.act_seq
        ) AS b
        WHERE s.jackpot_id = :book AND s.act_seq > :after
    ),
    kept AS (
        SELECT seq, casino_id, table_id, rules_version, currency, tier, account, made_on, number, minor, value
        FROM carried_figures
        WHERE jackpot_id = '-' AND stripe_no = 0 AND kind = 'payments' AND detail = :book
          AND seq > :after
    )
    SELECT seq, CASE WHEN kept.number IS NOT NULL THEN kept::text END,
           CASE WHEN due.number IS NOT NULL THEN due::text END
    FROM due FULL JOIN kept USING (seq)
    WHERE (due.casino_id, due.table_id, due.rules_version, due.currency, due.tier, due.account, due.made_on,
           due.number, due.minor, due.value)
          IS DISTINCT FROM (kept.casino_id, kept.table_id, kept.rules_version, kept.currency, kept.tier, kept.account,
                            kept.made_on, kept.number, kept.minor, kept.value)
    ORDER BY seq
    """
)


def payments_come_to_their_awards(session: Session, book: str, since: Verified = NOTHING) -> Found:
    """The payments of a jackpot's awards come to what these were, made on their day, at the table of their round."""
    mismatches = _wrong_payments(session, book, since)
    yield from unless_refused(session, mismatches, partial(Mismatch, Code.DAY_FIGURES, book, "payments"))


def _wrong_payments(session: Session, book: str, since: Verified) -> Found:
    for seq, stored, expected in session.execute(_PAYMENTS, {"book": book, "after": since.acts}):
        detail = f"comes to {stored or 'nothing'}, due was {expected or 'nothing'}"
        yield Mismatch(Code.DAY_FIGURES, book, f"act {seq}", detail)


def are(entry: BookedEntry, attribution: Attribution, expected: Sequence[Figure]) -> Found:
    """An entry comes to the figures that are due, and they are whose they should be."""
    written = tuple(figure.written() for figure in expected)
    if (entry.attribution, entry.figures) != (attribution, written):
        yield _mismatch(entry, f"comes to {entry.content}, due was {[*attribution, *written]}")


def _mismatch(entry: BookedEntry, detail: str) -> Mismatch:
    return Mismatch(Code.DAY_FIGURES, entry.book, entry.place, f"{entry.kind}: {detail}")


CHECKS: tuple[Callable[[RoundDocuments, Jackpot], Found], ...] = (entries_come_to_what_they_say,)
