"""The proof of a jackpot's rounds: each is derived again by itself, so several processes can share them out."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import ZERO
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.verification import Verified
from jackpot_service.proof import (
    bets,
    corrections,
    denied_prizes,
    documents,
    figures,
    late_voids,
    records,
    rounds,
    settlements,
    unclaimed_awards,
)
from jackpot_service.proof.awards import ActsOnRounds, HeldMoney
from jackpot_service.proof.decoding import UNDERIVABLE, Decoder
from jackpot_service.proof.documents import Page, RoundDocuments
from jackpot_service.proof.jackpots import Jackpot

OBJECTS_BETWEEN_COLLECTIONS: Final = 200_000
"""
More than two pages have: rows and entries have no cycles, and are gone before they are looked at.

Looking every 700 objects, as usual, took a quarter of the time.
"""

CHECKS: Final = (
    records.digests_cover_the_rows,
    *rounds.CHECKS,
    *bets.CHECKS,
    *settlements.CHECKS,
    *denied_prizes.CHECKS,
    *late_voids.CHECKS,
    *unclaimed_awards.CHECKS,
    *corrections.CHECKS,
    *figures.CHECKS,
)
"""The checks of every round, each by itself."""


@dataclass(frozen=True, slots=True)
class ProvedRounds:
    """
    The result of proving some rounds: how much of theirs was checked, and every mismatch found.

    `last` is the key of the last of them, None if there were none. `held` is what their held awards cost, of rounds
    that were verified before what that has changed by. `unreadable` are the rows, of whatever table, whose contents
    cannot be read.
    """

    last: int | None
    entries: int
    rounds: int
    bets: int
    awards: int
    held: Decimal
    unreadable: tuple[Mismatch, ...]
    mismatches: tuple[Mismatch, ...]


def guarded(mismatches: Found, *, book: str, place: str) -> Found:
    """Turn what the domain raises on rows that cannot be into a mismatch, so that one broken row hides no other."""
    try:
        yield from mismatches
    except UNDERIVABLE as error:
        yield _underivable(error, book, place)


def _underivable(error: Exception, book: str, place: str) -> Mismatch:
    return Mismatch(Code.ENTRY_UNDERIVABLE, book, place, f"{type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class RoundProof:
    """The proof of a jackpot's rounds: where they are read, and all that their checks need besides."""

    session: Session
    decoder: Decoder
    jackpot: Jackpot
    acts: ActsOnRounds
    since: Verified

    @classmethod
    def of(cls, session: Session, decoder: Decoder, jackpot: Jackpot, since: Verified) -> "RoundProof":
        """Prove the rounds of a jackpot that was verified so far."""
        return cls(session, decoder, jackpot, ActsOnRounds(jackpot, jackpot.outside), since)

    def these(self, keys: Iterable[int]) -> Iterator[ProvedRounds]:
        """Prove the rounds of some keys, page by page in their order."""
        yield from map(self._prove, documents.these(self.session, self.decoder, self.jackpot.jackpot_id, keys))

    def between(self, after: int, upto: int) -> Iterator[ProvedRounds]:
        """Prove the rounds whose keys lie after one and up to another, page by page in their order."""
        book = self.jackpot.jackpot_id
        yield from map(self._prove, documents.pages(self.session, self.decoder, book, after=after, upto=upto))

    def _prove(self, page: Page) -> ProvedRounds:
        held = HeldMoney(self.since)
        for round_ in page.rounds:
            held.add(round_)
        return ProvedRounds(
            last=page.rounds[-1].round.round_key if page.rounds else None,
            entries=sum(len(round_.entries) for round_ in page.rounds),
            rounds=len(page.rounds),
            bets=sum(len(round_.bets) for round_ in page.rounds),
            awards=sum(len(round_.of("awards")) for round_ in page.rounds),
            held=held.expected,
            unreadable=tuple(self.decoder.take()),
            mismatches=(*page.mismatches, *chain.from_iterable(self._mismatches(page.rounds))),
        )

    def _mismatches(self, rounds: Sequence[RoundDocuments]) -> Sequence[Sequence[Mismatch]]:
        """
        Find the mismatches of each round.

        One check goes through all the rounds before the next begins: what it needs stays in the processor's caches,
        which takes a fifth of the time off.
        """
        by_round: list[list[Mismatch]] = [[] for _ in rounds]
        for check in (*CHECKS, self._check_acts):
            for round_, mismatches in zip(rounds, by_round, strict=True):
                try:  # As `guarded` does, without one more generator for each check of each round.
                    mismatches.extend(check(round_, self.jackpot))
                except UNDERIVABLE as error:
                    mismatches.append(_underivable(error, self.jackpot.jackpot_id, round_.place))
        return by_round

    def _check_acts(self, round_: RoundDocuments, _jackpot: Jackpot) -> Found:
        return self.acts.check(round_)


@contextmanager
def few_collections() -> Iterator[None]:
    """Have Python look for cycles of objects seldom in the block."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def merged(proved: Iterable[ProvedRounds]) -> ProvedRounds:
    """Put the results of rounds that follow one another together."""
    parts = tuple(proved)
    return ProvedRounds(
        last=next((part.last for part in reversed(parts) if part.last is not None), None),
        entries=sum(part.entries for part in parts),
        rounds=sum(part.rounds for part in parts),
        bets=sum(part.bets for part in parts),
        awards=sum(part.awards for part in parts),
        held=sum((part.held for part in parts), ZERO),
        unreadable=tuple(mismatch for part in parts for mismatch in part.unreadable),
        mismatches=tuple(mismatch for part in parts for mismatch in part.mismatches),
    )
