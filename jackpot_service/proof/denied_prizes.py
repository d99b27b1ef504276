"""Whether each bet that would have won and did not count is an exception, and no other bet is one."""

from collections import Counter

import orjson

from jackpot_service.domain import facts
from jackpot_service.domain.denied_prizes import Denied, EndedRound
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot


def denied_prizes_are_exceptions(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """
    The exceptions of a round state just the bets, tiers and denials that its stated cards make, each once.

    Their amounts are not figured again: they are what the meter was when the round ended, which nothing depends on.
    """
    expected = [_written(denied.facts) for denied in _denied(round_, jackpot)]
    stored = [_written(_without_amount(row.detail.get("request"))) for row in round_.denied]
    if not expected and not stored:
        return  # As of nearly all rounds.
    for facts_due in (Counter(expected) - Counter(stored)).elements():
        yield Mismatch(Code.PRIZE_DENIED, jackpot.jackpot_id, round_.place, f"no exception states {facts_due}")
    for facts_kept in (Counter(stored) - Counter(expected)).elements():
        detail = f"an exception states {facts_kept}, which was not denied"
        yield Mismatch(Code.PRIZE_DENIED, jackpot.jackpot_id, round_.place, detail)


def _denied(round_: RoundDocuments, jackpot: Jackpot) -> tuple[Denied, ...]:
    """Derive the denied bets of a round again; none as long as it has not ended."""
    if round_.ending is None:
        return ()
    is_cancelled = round_.ending.kind == EntryKind.CANCELLATION
    ending = facts.cancellation_of(round_.ended) if is_cancelled else round_.result
    closed_by = next((entry.step for entry in round_.entries if entry.kind == EntryKind.CLOSING), None)
    ended = EndedRound.of(round_.bets, ending.hands, closed_by=closed_by, is_cancelled=is_cancelled)
    return ended.denied(jackpot.rules[round_.round.rules_version])


def _without_amount(request: object) -> object:
    if not isinstance(request, dict):
        return request
    return {name: value for name, value in request.items() if name != "amount_minor"}


def _written(stated: object) -> str:
    return orjson.dumps(stated, option=orjson.OPT_SORT_KEYS).decode()


CHECKS = (denied_prizes_are_exceptions,)
