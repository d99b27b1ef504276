"""The proof keeps little of what it reads, and reads the same again: pools at positions, rounds, rows by seq."""

import random
from collections.abc import Iterator, Mapping

import pytest

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import Pools
from jackpot_service.ledger import replay
from jackpot_service.ledger.verification import BEFORE_ALL_ROUNDS, NOTHING, Verified, VerifiedStripe
from jackpot_service.proof import documents, positions
from jackpot_service.proof.decoding import Decoder
from jackpot_service.proof.positions import PagedRows, PoolsByPosition
from tests.support import history

pytestmark = pytest.mark.slow

BOOK = "live"


def write(url: str) -> None:
    with history.engine_of(url) as engine:
        history.write(engine)


def summed(session: Session, vector: tuple[int, ...]) -> Pools:
    """The pools at a vector, by brute force."""
    entries = (entry for number in range(3) for entry in replay.entries(session, BOOK, number, upto=vector[number]))
    return sum((entry.pools() for entry in entries), Pools())


def vectors(session: Session) -> Iterator[tuple[int, ...]]:
    chance = random.Random(3)
    ends = [stripe.seq for stripe in replay.stripes(session, BOOK)]
    yield tuple(ends)
    for _ in range(60):
        yield tuple(chance.randint(0, end + 2) for end in ends)
    yield (-7, 2**63 - 1, 0)


@pytest.mark.parametrize("far", [0, 4, 10**6], ids=["from zero", "from half way", "from the end"])
def test_pools_at_a_position_are_the_same_wherever_they_are_summed_from(
    superuser: Session, monkeypatch: pytest.MonkeyPatch, far: int
) -> None:
    monkeypatch.setattr(positions, "ENTRIES_AT_ONCE", 3)
    monkeypatch.setattr(positions, "KEPT_BLOCKS_OF_POOLS", 2)
    stripes = {
        stripe.stripe_no: VerifiedStripe(
            seq, b"", summed(superuser, tuple(seq * (n == stripe.stripe_no) for n in range(3)))
        )
        for stripe in replay.stripes(superuser, BOOK)
        for seq in [min(far, stripe.seq)]
    }
    pools = PoolsByPosition(superuser, BOOK, Verified(stripes) if far else NOTHING)

    for vector in vectors(superuser):
        assert pools.at(vector) == summed(superuser, tuple(min(seq, 10**9) for seq in vector))
        assert len(pools._blocks) <= 6, "two for each stripe"


def test_a_page_holds_few_bets_or_one_round(superuser: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_BETS", 4)

    pages = list(documents.pages(superuser, Decoder(), BOOK, after=BEFORE_ALL_ROUNDS))

    rounds = [round_.round.round_key for page in pages for round_ in page.rounds]
    assert rounds == sorted(rounds)
    assert len(rounds) == 13
    assert all(len(page.rounds) <= 1 or sum(round_.round.bet_count for round_ in page.rounds) <= 4 for page in pages)
    assert max(len(page.rounds) for page in pages) > 1
    again = documents.these(superuser, Decoder(), BOOK, reversed(rounds))
    assert [round_.round.round_key for page in again for round_ in page.rounds] == rounds


def test_rows_by_seq_are_read_again_and_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions, "ROWS_AT_ONCE", 10)
    monkeypatch.setattr(positions, "KEPT_BLOCKS_OF_ROWS", 3)
    there = [-25, *range(1, 95), 1000, 2**62]
    reads: list[int] = []

    def read(first: int, end: int) -> Mapping[int, str]:
        reads.append(first)
        return {seq: str(seq) for seq in there if first <= seq < end}

    rows = PagedRows(read, lambda seq: next((seq_ for seq_ in there if seq_ >= seq), None))

    assert list(rows) == there
    assert dict(rows.items()) == {seq: str(seq) for seq in there}
    assert len(rows) == len(there)
    assert len(rows._blocks) <= 3
    reads.clear()
    assert (rows[5], rows[6], 0 in rows, rows.get(500)) == ("5", "6", False, None)
    assert reads == [0, 500]
