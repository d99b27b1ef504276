from bench.figures import Figure, medians, pick, rounded
from bench.targets import Target


def _figure(value: float, *, bets: int = 1, target: Target | None = None) -> Figure:
    return Figure("ingest", "ours", value, "bets/s", {"N": bets, "connections": 32}, target)


def test_a_goal_above_its_floor_asks_for_more_and_one_below_it_for_less() -> None:
    more, less = Target(floor=5, goal=10), Target(floor=250, goal=50)

    assert [_figure(value, target=more).is_missed for value in (4.9, 5, 11)] == [True, False, False]
    assert [_figure(value, target=less).is_missed for value in (251, 250, 40)] == [True, False, False]


def test_a_figure_without_a_target_misses_nothing() -> None:
    assert not _figure(0).is_missed


def test_rounds_are_summed_up_figure_by_figure() -> None:
    rounds = [[_figure(value), _figure(10 * value, bets=7)] for value in (3, 1, 2)]

    assert medians(rounds) == (_figure(2), _figure(20, bets=7))


def test_figures_are_found_by_their_circumstances() -> None:
    figures = [_figure(1), _figure(2, bets=7)]

    assert pick(figures, "ingest", "ours", N=7) == (figures[1],)
    assert pick(figures, "ingest", "ours", connections=32) == tuple(figures)
    assert pick(figures, "ingest", "ours", millions=1) == ()


def test_digits_that_are_noise_are_left_out() -> None:
    assert [rounded(value) for value in (1234.567, 0.123456, 98765.4)] == [1235, 0.1235, 98770]
