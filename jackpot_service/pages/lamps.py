"""Lamps: each says by a shape, a word and a sentence whether a check of the books is well."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from jackpot_service.pages import figures
from jackpot_service.pages.chips import GOLD, GOOD, QUIET, WRONG
from jackpot_service.reports.book_checks import BookChecks
from jackpot_service.reports.checkpoints import DUE_EVERY
from jackpot_service.reports.last_reconciliations import Reconciliation, Variance

PROOF_FROM_ZERO_EVERY: Final = timedelta(days=32)
"""A proof from zero is due every month."""

MOST_NAMED: Final = 3
"""How many accounts that differ a lamp names; the page has all."""


@dataclass(frozen=True, slots=True)
class Lamp:
    """
    A check: its subject, its state as a kind of chip, the state in a word, and sentences.

    `jackpot_id` is the jackpot it is about, if it is about one; `variances` are the figures that differ.
    """

    title: str
    kind: str
    word: str
    text: str
    jackpot_id: str = ""
    variances: Sequence[Variance] = ()

    @property
    def named(self) -> Sequence[Variance]:
        """The variances that the lamp names, the largest first."""
        return sorted(self.variances, key=lambda variance: -abs(variance.variance))[:MOST_NAMED]


def lamps(
    reconciliations: Sequence[Reconciliation], checks: BookChecks, *, at: datetime, stale_after: timedelta
) -> Sequence[Lamp]:
    """Return the lamps as of an instant; a rate sheet that is older than `stale_after` is old."""
    return (
        *(_reconciliation(row, at=at) for row in reconciliations),
        _waiting(reconciliations, at=at),
        _proof(checks, at=at),
        _seal(checks, at=at),
        _sheet(checks, at=at, stale_after=stale_after),
    )


def _reconciliation(row: Reconciliation, *, at: datetime) -> Lamp:
    """Whether documents and journal of a jackpot agree."""
    if row.end is None or row.read_at is None:
        return Lamp(row.jackpot_id, QUIET, "not yet", "No day of it was compared yet.", row.jackpot_id)
    upto = f"up to {figures.moment(row.end)}, read {_ago(row.read_at, at)}"
    if row.agrees:
        number = "1 figure" if row.compared == 1 else f"{figures.number(row.compared)} figures"
        text = f"{number} of documents and journal compared, none differs: {upto}."
        return Lamp(row.jackpot_id, GOOD, "agrees", text, row.jackpot_id)
    text = f"{len(row.variances)} of {row.compared} figures differ between documents and journal: {upto}."
    return Lamp(row.jackpot_id, WRONG, "differs", text, row.jackpot_id, row.variances)


def _waiting(reconciliations: Sequence[Reconciliation], *, at: datetime) -> Lamp:
    title = "Days not yet reconciled"
    waiting = [row for row in reconciliations if row.waits_since is not None]
    if not waiting:
        return Lamp(title, GOOD, "none", "Every day that is over was compared.")
    days = max(row.days_waiting(at=at) for row in waiting)
    since = min(row.waits_since for row in waiting if row.waits_since is not None)
    jackpots = ", ".join(row.jackpot_id for row in waiting)
    number = "1 day waits" if days == 1 else f"{days} days wait"
    return Lamp(title, GOLD, "waiting", f"{number}, since {figures.day(since)}: {jackpots}.")


def _proof(checks: BookChecks, *, at: datetime) -> Lamp:
    title, last, zero = "Proof from zero", checks.proof, checks.zero_begun_at
    wrong = checks.found_wrong
    if wrong is not None and wrong.ended_at is not None:
        text = f"A verification found mismatches, {_ago(wrong.ended_at, at)}: see Proof."
        return Lamp(title, WRONG, "wrong", text)
    if last is None or zero is None:
        return Lamp(title, GOLD, "not yet", "The books were not verified from zero yet.")
    is_old = at - last.noted_at > DUE_EVERY or at - zero > PROOF_FROM_ZERO_EVERY
    kind, word = (GOLD, "old") if is_old else (GOOD, "proved")
    ago = _ago(last.noted_at, at)
    upto = f"All that was booked before {figures.moment(zero)} was calculated again"
    if last.continues is None:
        counts = f"{figures.number(last.entries)} entries, {figures.number(last.bets)} bets"
        return Lamp(title, kind, word, f"{upto}, {ago}: {counts}.")
    return Lamp(title, kind, word, f"{upto}. A later proof went on up to {figures.moment(last.begun_at)}, {ago}.")


def _seal(checks: BookChecks, *, at: datetime) -> Lamp:
    if checks.seal is None:
        return Lamp("Seal", QUIET, "none yet", "The books were not sealed yet.")
    seal = checks.seal
    text = f"Seal {seal.number} was made on {figures.moment(seal.booked_at)}, {_ago(seal.booked_at, at)}."
    return Lamp("Seal", GOOD, "sealed", text)


def _sheet(checks: BookChecks, *, at: datetime, stale_after: timedelta) -> Lamp:
    title = f"Rate sheet of {checks.sheet.base}"
    head = checks.sheet.head
    if head is None:
        return Lamp(title, WRONG, "none", checks.sheet.warning(at=at, stale_after=stale_after) or "")
    is_old = checks.sheet.warning(at=at, stale_after=stale_after) is not None
    age = figures.age(at - head.effective_at)
    text = f"Sheet {head.number} has been in force since {figures.moment(head.effective_at)}: {age}."
    return Lamp(title, GOLD if is_old else GOOD, "old" if is_old else "in force", text)


def _ago(then: datetime, at: datetime) -> str:
    return f"{figures.age(at - then)} before this instant"


def variances(reconciliations: Sequence[Reconciliation]) -> Iterator[tuple[Reconciliation, Variance]]:
    """Yield each figure that differs, with the reconciliation that it is of."""
    for row in reconciliations:
        for variance in row.variances:
            yield row, variance
