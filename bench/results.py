"""
Results of many rounds in one transaction: what `settle_round` does for one at a time, when it is the meter that pays.

The service has no such use case, since every table waits for its own answer. What is decided and what is written is
`settle_round`'s; `jackpot verify` proves it of a sample each time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jackpot_service.database.transactions import Session, committed, pipelined
from jackpot_service.domain import facts, figures
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.outcomes import judge
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.domain.settlement import Settlement, settle
from jackpot_service.ledger import books, journal, stripes
from jackpot_service.ledger.books import Books
from jackpot_service.records import immutable, rounds, verdicts
from jackpot_service.usecases import round_terms
from jackpot_service.usecases.accept_bets import AcceptBets
from jackpot_service.usecases.settle_round import SettleRound


@dataclass(frozen=True, slots=True)
class Ended:
    """A round of which one batch of bets is all that is booked, and its result."""

    round: Round
    bets: AcceptBets
    result: SettleRound


@dataclass(frozen=True, slots=True)
class _Settled:
    """What was told; the round after its settlement; what books it."""

    stated: SettleRound
    round: Round
    settlement: Settlement
    entry: Entry


def settle_together(session: Session, ended: Sequence[Ended]) -> list[str]:
    """
    Settle rounds of one jackpot on one stripe, one after another; returns the ids of the awards that are payable.

    Commits, with its last statements. Locks all stripes: settlements on one stripe must not see less of another than
    those that were booked there have seen of it. No hand may win from the meter, nor be dead.
    """
    jackpot_id = ended[0].round.jackpot_id
    with pipelined(session) as pipe:
        stripes.lock_all(pipe, jackpot_id)
        books_cursor = books.send_read(pipe, jackpot_id)
    held, settled = books.books_of(books_cursor), list[_Settled]()
    stripe_no = stripes.choose(len(held.positions))
    for ended_round in ended:
        settled.append(_settled(session, ended_round, held))
        positions = (seq + (number == stripe_no) for number, seq in enumerate(held.positions))
        held = replace(held, positions=tuple(positions), pools=held.pools + settled[-1].entry.postings.pools())
    with committed(session) as pipe:
        rounds.save(pipe, [done.round for done in settled])
        for done in settled:
            verdicts.add_awards(pipe, done.round, done.settlement.awards, now=done.stated.now)
        journal.post_all(pipe, [done.entry for done in settled], stripe_no=stripe_no)
    return [
        verdicts.award_id(done.round, award)
        for done in settled
        for award in done.settlement.awards
        if award.state is AwardState.PAYABLE
    ]


def _settled(session: Session, ended_round: Ended, held: Books) -> _Settled:
    rules = immutable.rules(session, ended_round.round.jackpot_id, ended_round.round.rules_version)
    verdict = judge(ended_round.bets.bets, ended_round.result.result.hands, rules)
    if verdict.pays_from_meter:
        message = "A result that wins from the meter is settled by itself."
        raise ValueError(message)
    after = ended_round.round.stepped(state=RoundState.SETTLED)
    terms = round_terms.terms(session, ended_round.round, held.cycle)
    settlement = settle(verdict, terms=terms, pools=held.pools, won_since=frozenset())
    entry = Entry(
        book=ended_round.round.jackpot_id,
        kind=EntryKind.RESULT,
        principal=ended_round.result.principal.name,
        received_at=ended_round.result.now,
        facts={
            "result": facts.facts_of_result(ended_round.result.result),
            "settlement": facts.facts_of_settlement(
                settlement, ended_round.bets.bets, cycle=held.cycle.cycle, positions=held.positions
            ),
        },
        in_rows={
            "awards": facts.facts_of_awards(settlement.awards),
            **facts.facts_of_next_cycle(settlement, rules_version=held.cycle.following_version, cut=None),
            **facts.facts_of_opening(after),
        },
        postings=settlement.postings,
        round_step=RoundStep.of(after),
        figures=figures.figures_of_settlement(settlement, ended_round.bets.bets, terms=terms, won_since=()),
    )
    return _Settled(ended_round.result, after, settlement, entry)
