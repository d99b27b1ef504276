"""Spans of round keys: together they are the keys asked about, the latest first, and each is longer than the last."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

import pytest

from jackpot_service.domain.rounds import LAST_KEY, KeyRange, first_key_at, spans_back

NOW: Final = datetime(2026, 11, 26, 8, 0, tzinfo=UTC)
EVER: Final = KeyRange(0, LAST_KEY)


@pytest.mark.parametrize(
    "keys",
    [
        EVER,
        KeyRange(0, 1),
        KeyRange(first_key_at(NOW - timedelta(days=30)), first_key_at(NOW)),
        KeyRange(first_key_at(NOW - timedelta(days=4000)), first_key_at(NOW - timedelta(days=2000))),
        KeyRange(first_key_at(NOW + timedelta(days=1)), LAST_KEY),
    ],
)
def test_spans_together_are_the_keys_without_a_gap_and_the_latest_come_first(keys: KeyRange) -> None:
    spans = list(spans_back(keys, now=NOW))

    assert (spans[-1].first, spans[0].end) == keys
    assert all(later.first == earlier.end for later, earlier in pairwise(spans))
    assert all(span.first < span.end for span in spans)


def test_the_first_span_is_the_last_day_and_all_that_may_be_ahead_of_the_clock() -> None:
    assert next(spans_back(EVER, now=NOW)) == KeyRange(first_key_at(NOW - timedelta(days=1)), LAST_KEY)


def test_eight_spans_reach_back_to_the_first_key() -> None:
    assert len(list(spans_back(EVER, now=NOW))) == 8


def test_no_keys_have_no_spans() -> None:
    assert list(spans_back(KeyRange(7, 7), now=NOW)) == list(spans_back(KeyRange(8, 7), now=NOW)) == []
