"""The clock of the campaign's second service jumps while the service runs."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.chaos.shifted_clock import ShiftedClock

A_MINUTE = timedelta(minutes=1)


def test_a_clock_is_right_until_it_jumps_and_jumps_for_everybody_who_has_it(tmp_path: Path) -> None:
    file = tmp_path / "shift"
    clock, of_another_process = ShiftedClock(file), ShiftedClock(file)

    for shift_s in (None, 0, 40 * 86_400, -7200, 0):
        if shift_s is not None:
            clock.jump(shift_s)
        right = datetime.now(UTC) + timedelta(seconds=shift_s or 0)
        assert right <= of_another_process() < right + A_MINUTE
