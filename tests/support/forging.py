"""What somebody with every right in the database can do: rewrite a bet, and everything that would give it away."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.allocation import weight
from jackpot_service.ledger import digests, replay
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.ledger.verification import BEFORE_ALL_ROUNDS, NOTHING
from jackpot_service.proof import documents, jackpots, records, references
from jackpot_service.proof.decoding import Decoder
from tests.support import summing

_ENTRY = """
UPDATE entries SET digest = :digest, accounts = :accounts, currencies = :currencies, amounts = :amounts,
                   movements = :movements, figures = CAST(CAST(:figures AS text[]) AS figure[])
WHERE jackpot_id = :book AND stripe_no = :stripe_no AND seq = :seq
"""

_HEAD = "UPDATE entries SET head = :head WHERE jackpot_id = :book AND stripe_no = :stripe_no AND seq = :seq"

_STRIPE = """
UPDATE stripes SET head = :head,
                   meter_players = meter_players + :meter_players,
                   meter_house = meter_house + :meter_house,
                   reserve = reserve + :reserve,
                   prize_fund = prize_fund + :prize_fund
WHERE jackpot_id = :book AND stripe_no = :stripe_no
"""


def rewrite_stake(session: Session, jackpot_id: str, round_id: str, bet_id: str, *, stake_minor: int) -> BookedEntry:
    """
    Give a bet of an open round another stake, and rewrite all that follows from it; returns its entry as it was.

    Bet, round, postings, figures, digest, every head after it on its stripe, the stripe's head and its pools, days.
    """
    in_round = "jackpot_id = :j AND round_key = (SELECT round_key FROM rounds WHERE jackpot_id = :j AND round_id = :r)"
    _run(
        session,
        f"UPDATE bets SET stake_minor = :s WHERE {in_round} AND bet_id = :b",  # noqa: S608  constants of the tests
        {"j": jackpot_id, "r": round_id, "b": bet_id, "s": stake_minor},
    )
    known = references.read(session, Decoder())
    jackpot = jackpots.read(session, jackpot_id, known, NOTHING, ())
    pages = documents.pages(session, Decoder(), jackpot_id, after=BEFORE_ALL_ROUNDS)
    round_ = next(round_page for page in pages for round_page in page.rounds if round_page.round.round_id == round_id)
    entry = next(
        entry_
        for entry_ in round_.entries
        for bet in round_.bets
        if (bet.bet.bet_id, bet.step) == (bet_id, entry_.step)
    )
    sheet = jackpot.sheet(round_.round.rate_sheet)
    weighs = weight([booked_bet.bet for booked_bet in round_.bets if not booked_bet.is_void], sheet)
    _run(session, f"UPDATE rounds SET weight = :w WHERE {in_round}", {"j": jackpot_id, "r": round_id, "w": weighs})  # noqa: S608
    contributed = jackpot.contributed(round_.accepted(step=entry.step), round_.round)
    forged = replace(
        entry,
        lines=replay.lines_of(contributed.postings),
        figures=tuple(figure.written() for figure in contributed.figures),
    )
    forged = replace(forged, digest=digests.digest_of_booked(records.recorded(forged, round_, jackpot), forged.content))
    _rechain(session, forged, moved=forged.pools() - entry.pools())
    _roll_up_again(session)
    return entry


def _rechain(session: Session, forged: BookedEntry, *, moved: Pools) -> None:
    after = list(replay.entries(session, forged.book, forged.stripe_no, after=forged.seq))
    before = next(replay.entries(session, forged.book, forged.stripe_no, after=forged.seq - 2), None)
    head = digests.first_head(forged.book, forged.stripe_no)
    head = head if before is None or before.seq != forged.seq - 1 else before.head
    place = {"book": forged.book, "stripe_no": forged.stripe_no}
    columns: dict[str, Any] = dict(
        zip(("accounts", "currencies", "amounts", "movements"), map(list, zip(*forged.lines, strict=True)), strict=True)
    )
    columns |= {"digest": forged.digest, "figures": list(forged.figures)}
    _run(session, _ENTRY, {**place, "seq": forged.seq, **columns})
    for entry in (forged, *after):
        head = digests.next_head(head, entry.digest, entry.booked_at)
        _run(session, _HEAD, {**place, "seq": entry.seq, "head": head})
    pools = {
        "meter_players": moved.meter_players,
        "meter_house": moved.meter_house,
        "reserve": moved.reserve,
        "prize_fund": moved.prize_fund,
    }
    _run(session, _STRIPE, {**place, "head": head, **pools})


def _roll_up_again(session: Session) -> None:
    """Sum the days anew; nothing is left to be added to them."""
    session.execute(text("UPDATE stripes SET summed_to = seq"))
    session.execute(text("DELETE FROM days"))
    session.execute(text(summing.STATEMENT))


def forget_last_act(session: Session) -> None:
    """Take the last act out of the reference book, as if it had never been; here one that made a seal."""
    *_, before, last = replay.entries(session, "-", 0)
    for table, column in (("acts", "seq"), ("seals", "entry_seq")):
        _run(session, f"DELETE FROM {table} WHERE {column} = :seq", {"seq": last.seq})  # noqa: S608  as above
    _run(session, "DELETE FROM entries WHERE jackpot_id = '-' AND seq = :seq", {"seq": last.seq})
    _run(session, "UPDATE stripes SET seq = :s, head = :h WHERE jackpot_id = '-'", {"s": before.seq, "h": before.head})


def _run(session: Session, statement: str, parameters: Mapping[str, Any]) -> None:
    """Change exactly one row."""
    changed: Any = session.execute(text(statement), parameters)
    assert changed.rowcount == 1
