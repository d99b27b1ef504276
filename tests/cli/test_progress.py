"""A long command says how far it is in lines, and how long the rest will take once that can be reckoned."""

from types import SimpleNamespace

import pytest

from jackpot_service.cli import progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The steady clock of the module, at its last element."""
    times = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: times[-1]))
    monkeypatch.delenv("TTY_COMPATIBLE", raising=False)
    return times


def test_what_is_left_is_reckoned_from_all_that_was_done(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.shown_progress() as show:
        for clock_at, done in ((20, 1_000), (30, 6_000), (33, 6_500), (40, 21_000)):
            clock.append(clock_at)
            show(done, 101_000, "looks")

    assert capsys.readouterr().err.splitlines() == [
        "looks: 1,000 of 101,000 (0 %), 0/s, no telling yet how long it takes",
        "looks: 6,000 of 101,000 (5 %), 500/s, 190 s left",
        "looks: 21,000 of 101,000 (20 %), 1,000/s, 80 s left",
    ]


def test_of_the_first_hundredth_nothing_is_reckoned(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with progress.shown_progress() as show:
        for clock_at, done in ((0, 0), (10, 999), (20, 1_000)):
            clock.append(clock_at)
            show(done, 100_000, "looks")

    assert capsys.readouterr().err.splitlines() == [
        "looks: 999 of 100,000 (0 %), 100/s, no telling yet how long it takes",
        "looks: 1,000 of 100,000 (1 %), 50/s, 1,980 s left",
    ]
