"""What a round's entry recorded, put together again from the rows it wrote, and whether its digest covers that."""

from dataclasses import replace
from fractions import Fraction

from jackpot_service.domain import facts
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.cards import Card
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.outcomes import Cancellation, Hand, HandStatus, Result
from jackpot_service.domain.rules import FundedBy, Tier
from jackpot_service.domain.settlement import Award, Entitlement, Settlement
from jackpot_service.ledger import digests
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot

FIRST_STATES = (AwardState.PAYABLE, AwardState.HELD)
"""How an award begins."""


def digests_cover_the_rows(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """Each entry's digest is that of the rows it wrote."""
    for entry in round_.entries:
        try:
            is_covered = digests.of_booked(recorded(entry, round_, jackpot), entry.content) == entry.digest
            detail = f"{round_.place}, step {entry.step}: the rows of its {entry.kind} are not those it recorded"
        except (LedgerError, LookupError, ValueError, ArithmeticError) as error:
            is_covered, detail = False, f"{round_.place}, step {entry.step}: {error}"
        if not is_covered:
            yield Mismatch(Code.ENTRY_DIGEST, entry.book, entry.place, detail)


def recorded(entry: BookedEntry, round_: RoundDocuments, jackpot: Jackpot) -> Entry:
    """
    Put an entry together again as it was booked, from the rows as they are now.

    Raises: LookupError where a row is missing, ValueError where one cannot be read, Unbalanced.
    """
    step = entry.step or 0
    then = replace(round_.round, steps=step)
    return Entry(
        book=entry.book,
        kind=EntryKind(entry.kind),
        principal=entry.principal,
        received_at=entry.received_at,
        facts={**_facts(entry, step, round_, jackpot), **facts.of_opening(then)},
        postings=entry.postings(),
        round_step=RoundStep.of(then),
    )


def _facts(entry: BookedEntry, step: int, round_: RoundDocuments, jackpot: Jackpot) -> Facts:
    match entry.kind:
        case EntryKind.BETS:
            return {"bets": facts.of_bets(Bets.of(one.bet for one in round_.bets if one.step == step))}
        case EntryKind.VOIDS:
            voids = [row for row in round_.of("voids") if row.step == step]
            return facts.of_voids(
                [row.bet_id for row in voids if not row.is_tombstone],
                [row.bet_id for row in voids if row.is_tombstone],
                occurred_at=next((row.occurred_at for row in voids), None),
            )
        case EntryKind.CANCELLATION:
            return facts.of_cancellation(cancellation(round_), cycle=round_.required("cancellations").cycle)
        case EntryKind.RESULT:
            return _facts_of_result(entry, round_, jackpot)
    message = f"no round has a {entry.kind}"
    raise ValueError(message)


def _facts_of_result(entry: BookedEntry, round_: RoundDocuments, jackpot: Jackpot) -> Facts:
    row = round_.required("settlements")
    booked = settlement(round_)
    if facts.of_entitlements(booked.entitlements) != row.entitlements:
        message = f"entitlements are not as they are written: {row.entitlements}"
        raise ValueError(message)
    opened = jackpot.opened_by(entry)
    return {
        "result": facts.of_result(result(round_)),
        "settlement": facts.of_settlement(booked, cycle=row.cycle, positions=row.positions),
        **(
            {}
            if opened is None
            else facts.of_cycle(cycle=opened.cycle, rules_version=opened.rules_version, cut=opened.cut)
        ),
    }


def hands(round_: RoundDocuments) -> tuple[Hand, ...]:
    """Read the round's hands. Raises: ValueError for an unknown status."""
    return tuple(Hand(row.hand, HandStatus(row.status), tuple(map(Card, row.cards))) for row in round_.of("hands"))


def result(round_: RoundDocuments) -> Result:
    """Read the round's result. Raises: LookupError, ValueError."""
    row = round_.required("results")
    return Result(row.bet_count, hands(round_), tuple(map(Card, row.dealer)), row.occurred_at)


def cancellation(round_: RoundDocuments) -> Cancellation:
    """Read the round's cancellation. Raises: LookupError, ValueError."""
    row = round_.required("cancellations")
    return Cancellation(row.reason, hands(round_), row.occurred_at)


def settlement(round_: RoundDocuments) -> Settlement:
    """Read the round's settlement with its awards and refunds, without postings. Raises: LookupError, ValueError."""
    row = round_.required("settlements")
    live = [one.bet for one in round_.live(before_step=row.step)]
    dead_hands = result(round_).dead_hands
    return Settlement(
        policy=row.policy,
        meter_before=row.meter_before,
        weight=row.weight,
        awards=awards(round_),
        entitlements=tuple(
            Entitlement(claim["bet_id"], Tier(claim["tier"]), Fraction(claim["amount"])) for claim in row.entitlements
        ),
        refunds=tuple(sorted((bet for bet in live if bet.hand in dead_hands), key=lambda bet: bet.bet_id)),
        meter_after=row.meter_after,
        reserve_after=row.reserve_after,
        prize_fund_after=row.prize_fund_after,
        overflow=row.overflow,
        carried=row.carried,
        house_seed=row.house_seed,
        cycle_after=row.cycle_after,
        postings=Postings(),
    )


def awards(round_: RoundDocuments) -> tuple[Award, ...]:
    """Read the awards of the round's settlement as they began, by bet id and tier. Raises: ValueError."""
    steps = {(row.bet_id, row.tier, row.step) for row in round_.of("award_steps") if not row.correction}
    return tuple(
        Award(
            bet=Bet(row.bet_id, player_id="", hand="", currency=row.currency, stake_minor=0),
            tier=Tier(row.tier),
            amount_minor=row.amount_minor,
            cost=row.cost,
            funded_by=FundedBy(row.funded_by),
            state=_first_state(row.bet_id, row.tier, steps),
        )
        for row in sorted(round_.of("awards"), key=lambda row: (row.bet_id, row.tier))
        if not row.correction
    )


def _first_state(bet_id: str, tier: str, steps: set[tuple[str, str, str]]) -> AwardState:
    """How an award began; rejected, as none begins, where no such step is there."""
    begun = (state for state in FIRST_STATES if (bet_id, tier, state.value) in steps)
    return next(begun, AwardState.REJECTED)
