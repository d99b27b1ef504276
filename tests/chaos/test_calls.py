"""What is noted of calls is read again, also if the process that noted it was killed; and how long they took."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.chaos import building as build
from tests.chaos import timing
from tests.chaos.building import BETS, RESULT
from tests.chaos.call_log import CallLog, CallReader, now_s
from tests.chaos.calls import Attempt, Call, Content, content_of
from tests.chaos.generators import Generators
from tests.chaos.violations import Fact


def test_a_call_is_read_as_it_was_noted(tmp_path: Path) -> None:
    log, reader = CallLog(tmp_path / "one.calls"), CallReader(tmp_path)
    log.sent("c1", "g1-0", BETS, attempt=1)
    log.ended("c1", attempt=1, status=0, answer=None, why="ConnectionResetError", is_sent=True)
    log.sent("c1", "g1-0", BETS, attempt=2)
    log.ended("c1", attempt=2, status=201, answer={**build.ACCEPTED, "meter": {}}, why="", is_sent=True)
    log.sent("c2", "g1-0", RESULT, attempt=1, must_refuse="round-settled")
    reader.update()

    first, second = reader.calls()

    assert first.content == BETS
    assert [attempt.status for attempt in first.attempts] == [0, 201]
    assert first.acknowledgements[0].answer == build.ACCEPTED
    assert (second.content, second.must_refuse, second.is_unknown) == (RESULT, "round-settled", True)


def test_a_line_that_was_cut_short_waits_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "one.calls"
    CallLog(path).sent("c1", "g1-0", BETS, attempt=1)
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    reader = CallReader(tmp_path)

    reader.update()
    assert reader.calls() == ()

    with path.open("ab") as file:
        file.write(whole[-10:])
        os.fsync(file.fileno())
    reader.update()
    assert [call.content for call in reader.calls()] == [BETS]


@pytest.mark.parametrize("content", [BETS, RESULT, build.VOIDS, build.LATE_VOIDS, build.CLOSING, build.CANCELLATION])
def test_a_content_is_read_back_from_its_body(content: Content) -> None:
    assert content_of(content.kind, content.round, content.body()) == content


def test_what_was_never_sent_is_not_unknown() -> None:
    refused = Attempt(1.0, 1.1, why="ConnectionRefusedError", is_sent=False)

    assert not Call("c", "s", BETS, (refused,)).is_unknown
    assert Call("c", "s", BETS, (refused, Attempt(2.0))).is_unknown


def test_an_attempt_that_is_waited_for_too_long_hung_whatever_its_end() -> None:
    late = timing.LONGEST_ANSWER_S + 0.5
    answered = Call("c", "s", BETS, (Attempt(1.0, 1.0 + late, 201, {}),))
    broken = Call("c", "s", BETS, (Attempt(1.0, 1.0 + late, why="TimeoutError"),))
    quick = Call("c", "s", BETS, (Attempt(1.0, 1.0 + timing.LONGEST_ANSWER_S, 201, {}),))

    assert [violation.fact for violation in timing.hung([answered, broken, quick])] == [Fact.HUNG, Fact.HUNG]


def test_figures_count_what_overlaps_the_time() -> None:
    early = Call("a", "s", BETS, (Attempt(1.0, 2.0, 503, {}), Attempt(5.0, 5.2, 201, {})))
    waiting = Call("b", "s", RESULT, (Attempt(4.0, 9.0),))

    over = Call("c", "s", RESULT, (Attempt(1.0, 4.0, 201, {}),))
    in_progress = Call("d", "s", RESULT, (Attempt(7.0),))

    figures_ = timing.figures([early, waiting, over, in_progress], since_s=4.5, until_s=8.0, killed_s={})

    assert (figures_.calls, figures_.acknowledged, figures_.unknown, figures_.refused) == (3, 1, 2, 0)
    assert (figures_.refused_for_now, figures_.broken, round(figures_.longest_s, 1)) == (0, 1, 0.2)


def test_the_last_call_of_a_killed_table_server_counts_until_it_was_killed() -> None:
    open_call = Call("c", "g1-0", BETS, (Attempt(1.0),))

    during, later = (
        timing.figures([open_call], since_s=since_s, until_s=since_s + 2.0, killed_s={"g1-0": 2.5})
        for since_s in (2.0, 5.0)
    )

    assert (during.calls, during.unknown) == (1, 1)
    assert (later.calls, later.unknown) == (0, 0)


def test_the_time_of_a_kill_is_that_of_all_table_servers_of_the_process(tmp_path: Path) -> None:
    process = subprocess.Popen(["sleep", "60"])
    generators = Generators(tmp_path, "127.0.0.1", (), 1, {"g1": process}, {"g1": 2})
    before_s = now_s()

    generators.kill("g1")

    assert generators.killed_s.keys() == {"g1-0", "g1-1"}
    assert all(before_s <= killed_s <= now_s() for killed_s in generators.killed_s.values())


def test_a_site_has_recovered_when_every_table_server_was_acknowledged_something_sent_since() -> None:
    def acknowledged(server: str, sent_s: float) -> Call:
        return Call("c", server, BETS, (Attempt(sent_s, sent_s + 0.5, 201, {}),))

    before, first, other = acknowledged("s1", 9.0), acknowledged("s1", 11.0), acknowledged("s2", 12.0)

    assert timing.recovered_s([before, other], ["s1", "s2"], since_s=10.0) is None
    assert timing.recovered_s([before, first, other], ["s1", "s2"], since_s=10.0) == 12.5
