from bench.latencies import Stopwatch


def _latencies(*began_and_took: tuple[int, int]) -> Stopwatch:
    stopwatch = Stopwatch()
    for began_ns, took_ns in began_and_took:
        stopwatch.take(began_ns=began_ns, ended_ns=began_ns + took_ns)
    return stopwatch


def test_a_percentile_is_the_least_latency_that_so_many_per_cent_do_not_exceed() -> None:
    latencies = _latencies(*((0, milliseconds * 1_000_000) for milliseconds in range(1000, 0, -1))).latencies()

    assert [latencies.percentile_ms(percent) for percent in (50, 99, 99.9, 100)] == [500, 990, 999, 1000]
    assert latencies.longest_ms == 1000


def test_the_percentiles_of_one_request_are_its_own() -> None:
    latencies = _latencies((5, 7_000_000)).latencies()

    assert {latencies.percentile_ms(percent) for percent in (50, 99.9)} == {7}


def test_only_requests_in_flight_during_an_interval_count_for_its_longest() -> None:
    latencies = _latencies((0, 90), (95, 10), (120, 30), (200, 500)).latencies()

    assert latencies.longest_ms_between(100, 200) == 30 / 1e6
    assert latencies.longest_ms_between(90, 95) == 0
