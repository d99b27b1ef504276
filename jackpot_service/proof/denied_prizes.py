"""Whether each bet that would have won and did not count is an exception, and no other bet is one."""

from jackpot_service.domain import facts
from jackpot_service.domain.denied_prizes import EndedRound
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.proof import records
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot


def denied_prizes_are_exceptions(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """
    The exceptions of a round name the bets, the tiers and the reasons that its stated cards make.

    Their amounts are not figured again: they are what the meter was when the round ended, which nothing depends on.
    """
    if round_.ending is None:
        return
    is_cancelled = round_.ending.kind == EntryKind.CANCELLATION
    ending = facts.cancellation_of(round_.ended) if is_cancelled else records.result(round_)
    closed_by = next((entry.step for entry in round_.entries if entry.kind == EntryKind.CLOSING), None)
    ended = EndedRound.of(round_.bets, ending.hands, closed_by=closed_by, is_cancelled=is_cancelled)
    denied = ended.denied(jackpot.rules[round_.round.rules_version])
    due: set[tuple[str, ...]] = {(one.bet.bet_id, str(one.tier), str(one.denial)) for one in denied}
    kept = {_named(row.detail.get("request")) for row in round_.denied}
    for bet_id, tier, denial in sorted(due - kept):
        detail = f"bet {bet_id} is {denial} and would have won {tier}: that is no exception"
        yield Mismatch(Code.PRIZE_DENIED, jackpot.jackpot_id, round_.place, detail)
    for bet_id, tier, denial in sorted(kept - due):
        detail = f"an exception names bet {bet_id}, {denial}, for {tier}: it was not denied that"
        yield Mismatch(Code.PRIZE_DENIED, jackpot.jackpot_id, round_.place, detail)


def _named(request: object) -> tuple[str, ...]:
    """The bet, tier and reason that an exception names, whatever it says."""
    said = request if isinstance(request, dict) else {}
    return tuple(str(said.get(name)) for name in ("bet_id", "tier", "denial"))


CHECKS = (denied_prizes_are_exceptions,)
