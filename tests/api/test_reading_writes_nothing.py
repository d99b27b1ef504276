"""Who reads leaves no row: whatever is asked, as of whichever instant, by whichever key."""

from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.reports.finance.registry import REPORTS
from tests.support.asking import stated
from tests.support.bets import bet
from tests.support.hands import FLUSH, ROYAL_FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.long

FORMS: Final = ("json", "csv", "xlsx")


@pytest.fixture
def played(world: World) -> World:
    """A jackpot of idle stripes, and the keys of those who read."""
    world.open(base_amount="1000", stripes=8)
    for number, cards in enumerate((FLUSH, ROYAL_FLUSH)):
        world.bet(bet(), round_id=f"r{number}")
        world.settle(hand("1", cards), round_id=f"r{number}")
    world.key(Role.FINANCE, casino_id="c1")
    world.key(Role.FINANCE)
    return world


def instant(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S.%fZ}"


def ask(world: World, path: str, key: str, **stated: str) -> None:
    """Ask, and read the whole answer, which may be a workbook."""
    headers = {"Authorization": f"Bearer {key}"}
    with world.app.test_client().get(f"{path}?{urlencode(stated)}", headers=headers) as response:
        assert response.get_data()
        assert response.status_code == 200, stated


def edges(at: datetime) -> list[dict[str, str]]:
    """Periods that no other call has asked about."""
    now, before = instant(at), instant(at - timedelta(hours=1))
    return [{"as_of": now}, {"to": now}, {"from": before, "as_of": now}, {"from": before, "to": now}, {"from": now}]


def test_every_report_as_of_any_instant(played: World, subtests: pytest.Subtests) -> None:
    of_house, of_casino = played.key(Role.FINANCE), played.key(Role.FINANCE, casino_id="c1")
    for name, report in REPORTS.items():
        keys = [of_house, *([of_casino] if report.is_for_casinos else [])]
        for key in keys:
            with subtests.test(f"{name} by {'the house' if key == of_house else 'a casino'}"):
                before = played.books.counts()
                for form in FORMS:
                    for edge in edges(played.clock()):
                        ask(played, f"/v1/reports/{name}", key, format=form, **edge, **stated(report))
                assert played.books.counts() == before


def test_rate_sheets_as_of_any_instant(played: World) -> None:
    before = played.books.counts()
    for _ in range(5):
        ask(played, "/v1/rates", played.key(Role.AUDITOR), base="EUR", as_of=instant(played.clock()))
    assert played.books.counts() == before


def test_two_hundred_instants_by_a_casino_leave_nothing(played: World) -> None:
    before = played.books.counts()
    key = played.key(Role.FINANCE, casino_id="c1")

    for _ in range(200):
        ask(played, "/v1/reports/casino-statement", key, as_of=instant(played.clock()))

    assert played.books.counts() == before
