"""Finance closes a period: its reports are kept by their hashes, and what is found later is booked in the open one."""

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from jackpot_service.domain.closed_periods import Period
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.reports.finance.registry import REPORTS
from jackpot_service.reports.making import resolve
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.close_period import ClosePeriod, close_period
from tests.support import people, workbooks
from tests.support.answers import Answer, Body
from tests.support.asking import raise_version, rows
from tests.support.bets import bet
from tests.support.correcting import correct
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, hand
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = pytest.mark.slow

DAY = timedelta(days=1)
PATH = "/v1/closed-periods"

PAGE: Final = (Path(__file__).resolve().parents[2] / "docs" / "reports.md").read_text(encoding="utf-8")


@pytest.fixture
def busy(world: World) -> World:
    """Three days with a round each, one of them a hit; the clock stands on the fourth."""
    world.open(base_amount="1000")
    for number, cards in enumerate((FLUSH, ROYAL_FLUSH, NOTHING)):
        world.bet(bet("a", hand="1"), round_id=f"r{number}")
        world.settle(hand("1", cards), round_id=f"r{number}")
        world.clock.advance(DAY)
    return world


def midnight(world: World, days_ago: int = 0) -> datetime:
    return world.clock().replace(hour=0, minute=0, second=0, microsecond=0) - days_ago * DAY


def close(world: World, end: datetime, *, request_id: str = "p1", by: str = "Fay", **more: object) -> Answer:
    body = {"request_id": request_id, "to": instant(end), "reason": "month end", **more}
    return world.post(PATH, body, key=world.person(by, Role.FINANCE))


def report(world: World, name: str, query: str) -> Body:
    body: Body = world.get(f"/v1/reports/{name}?{query}", key=world.person("Fay", Role.FINANCE)).ok()
    return body


def test_a_closed_period_keeps_what_its_reports_said(busy: World) -> None:
    end = midnight(busy)

    closed = close(busy, end).ok(201)

    assert (closed["from"], closed["to"]) == (None, instant(end))
    assert closed["reports"].keys() == {value.name for value in REPORTS.values() if value.is_kept}
    assert busy.get(PATH, key=busy.person("Fay", Role.FINANCE)).ok()["items"] == [closed]
    shown = report(busy, "trial-balance", f"to={instant(end)}")
    assert shown["content_sha256"] == closed["reports"]["trial-balance"]["sha256"]
    assert report(busy, "trial-balance", f"to={instant(end)}&jackpot_id=j1")["content_sha256"] is None
    assert report(busy, "trial-balance", "")["content_sha256"] is None


def test_a_report_shows_the_hash_only_if_it_is_that_of_its_own_version(
    busy: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = f"to={instant(midnight(busy))}"
    reports = close(busy, midnight(busy)).ok(201)["reports"]
    first = report(busy, "rtp", query)
    assert raise_version(monkeypatch, "rtp") == reports["rtp"]["report_version"] + 1

    shown, open_period, other = (
        report(busy, *query_) for query_ in (("rtp", query), ("rtp", ""), ("trial-balance", query))
    )

    members = ("report_version", "closed_report_version", "content_sha256")
    report_version, sha256 = reports["rtp"]["report_version"], reports["rtp"]["sha256"]
    assert [first[name] for name in members] == [report_version, report_version, sha256]
    assert [shown[name] for name in members] == [report_version + 1, report_version, None]
    assert [open_period[name] for name in members] == [report_version + 1, None, None]
    assert [other[name] for name in members] == [
        *[reports["trial-balance"]["report_version"]] * 2,
        reports["trial-balance"]["sha256"],
    ]


def test_a_file_says_in_which_version_the_report_was_closed(busy: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/v1/reports/trial-balance?format=xlsx&to={instant(midnight(busy))}"
    closed = close(busy, midnight(busy)).ok(201)["reports"]["trial-balance"]

    def head() -> dict[str, str]:
        headers = {"Authorization": f"Bearer {busy.person('Fay', Role.FINANCE)}"}
        with busy.app.test_client().get(path, headers=headers) as response:
            return dict(workbooks.texts(workbooks.read(response.get_data())["head"]))

    assert head()["closed as"] == closed["sha256"]
    now = raise_version(monkeypatch, "trial-balance")
    later = head()
    assert "closed as" not in later
    assert (
        later["closed in"] == f"version {now - 1} of the report, whose version is {now} now: no hash of this was kept"
    )


@pytest.mark.long
def test_a_stranger_figures_the_hashes_from_the_answers_alone(
    busy: World, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """By the program that docs/reports.md prints, of the first period and of one that follows, with any text in it."""
    reason = 'Größe "λ" \\ / </é> 🂡'
    busy.ask("rules", {"jackpot_id": "j1", "settings": {"limit": "5000"}}, reason=reason).ok(201)
    busy.approve().ok()
    busy.clock.advance(DAY)
    first = close(busy, midnight(busy, 2)).ok(201)
    second = close(busy, midnight(busy), request_id="p2").ok(201)
    assert reason in [row["reason"] for row in rows(busy, "meters", "parameters")]
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

    for period in (first, second):
        start = "" if period["from"] is None else f"from={period['from']}&"
        for name, closed in period["reports"].items():
            with subtests.test(name, start=period["from"]):
                path = f"/v1/reports/{name}?{start}to={period['to']}"
                answered = busy.get(path, key=busy.person("Fay", Role.FINANCE))
                (tmp_path / "report.json").write_text(answered.text, encoding="utf-8")

                figured = subprocess.run(
                    [sys.executable, "-c", program, str(tmp_path / "report.json")],
                    capture_output=True,
                    text=True,
                    check=True,
                )

                assert figured.stdout == f"{closed['sha256']}\n" == f"{answered.ok()['content_sha256']}\n"


def test_what_is_found_later_is_booked_in_the_open_period(busy: World) -> None:
    end = midnight(busy)
    close(busy, end).ok(201)
    before = report(busy, "trial-balance", f"to={instant(end)}")

    correct(busy, hand("1", NOTHING), round_id="r0")
    busy.open(jackpot_id="j2", tables=("T2",))
    busy.bet(bet("z"), round_id="later")

    after = report(busy, "trial-balance", f"to={instant(end)}")
    assert {**after, "made_at": None} == {**before, "made_at": None}
    assert report(busy, "trial-balance", f"from={instant(end)}")["sections"] != before["sections"]


def test_a_period_follows_the_one_before(busy: World) -> None:
    first = close(busy, midnight(busy, 2)).ok(201)

    second = close(busy, midnight(busy), request_id="p2").ok(201)

    assert second["from"] == first["to"]
    for end in (midnight(busy), midnight(busy, 1), midnight(busy, 9)):
        close(busy, end, request_id="p3").problem(409, "period-conflict")


def test_a_period_that_is_not_over_is_not_closed(busy: World) -> None:
    ahead = busy.clock() + DAY

    problem = close(busy, ahead).problem(422, "instant-ahead")

    assert problem["detail"] == f"{instant(ahead)} has not come yet; state an instant that is over."


def test_a_period_that_ends_before_the_books_begin_is_not_closed(busy: World) -> None:
    """It would be closed for ever, by a slip of the year."""
    first: datetime = busy.books.value("SELECT min(booked_at) FROM entries")
    for end in (datetime(1990, 1, 1, tzinfo=UTC), first - DAY, first):
        problem = close(busy, end).problem(422, "period-before-books", "/to")

        assert problem["detail"] == (
            f"The books begin at {instant(first)}: a period that ends at {instant(end)} lies before them."
        )
    assert busy.get(PATH, key=busy.person("Fay", Role.FINANCE)).ok()["items"] == []

    close(busy, first + timedelta(microseconds=1)).ok(201)


def test_a_month_without_an_entry_is_closed_once_the_books_have_begun(world: World) -> None:
    """A casino that has no jackpot yet has its keys, and each was an act."""
    world.person("Fay", Role.FINANCE)
    world.clock.advance(40 * DAY)
    first, second = midnight(world, 35), midnight(world, 5)
    close(world, first).ok(201)

    closed = close(world, second, request_id="p2").ok(201)

    assert (closed["from"], closed["to"]) == (instant(first), instant(second))


def test_the_same_closing_again_is_a_replay(busy: World) -> None:
    first = close(busy, midnight(busy)).ok(201)

    assert close(busy, midnight(busy)).ok(200) == first
    close(busy, midnight(busy), reason="another").problem(409, "request-conflict")
    close(busy, midnight(busy), by="Flo").problem(409, "request-conflict")


def test_of_two_that_close_it_at_once_the_second_is_a_replay(busy: World) -> None:
    """Both have made the reports before either has closed it."""
    act = Act(Principal("Fay", Role.FINANCE), busy.clock(), request_id="p1", reason="month end")
    end = midnight(busy)
    for book in (REFERENCE_BOOK, "j1"):
        resolve(busy.engine, book, end, now=busy.clock())
    command = ClosePeriod(people.enrolled(busy.engine, act), Period(None, end), {})

    first, second = (busy.transact(lambda session: close_period(session, command)) for _ in range(2))

    assert (first.is_replay, second.is_replay) == (False, True)
    assert first.period == second.period


def test_closing_is_an_act_of_finance_of_the_house(busy: World) -> None:
    body = {"request_id": "p1", "to": instant(midnight(busy)), "reason": "month end"}
    busy.post(PATH, body, key=busy.person("Ann", Role.OPERATOR)).problem(403, "role-forbidden")
    busy.post(PATH, body, key=busy.key(Role.FINANCE, casino_id="c1")).problem(403, "role-forbidden")
    busy.get(PATH, key=busy.key(Role.FINANCE, casino_id="c1")).problem(403, "role-forbidden")

    close(busy, midnight(busy)).ok(201)

    (act,) = busy.get("/v1/audit?kind=period_closed", key=busy.key(Role.AUDITOR)).ok()["items"]
    assert (act["principal"], act["reason"], act["before"]) == ("Fay", "month end", {"closed_to": None})


NO_PERIODS: Final[tuple[tuple[Body, str], ...]] = (
    ({"to": "2026-13-01"}, "/to"),
    ({"to": "2026-11-01T00:00:00"}, "/to"),
    ({"to": None}, "/to"),
    ({"reason": ""}, "/reason"),
    ({"zzz": 1}, "/zzz"),
)


def test_what_cannot_be_read_is_refused(busy: World, subtests: pytest.Subtests) -> None:
    for change, pointer in NO_PERIODS:
        with subtests.test(change=change):
            close(busy, midnight(busy), **change).problem(422, "validation", pointer)


def compared(world: World, act: int) -> dict[str, str]:
    items = world.get(f"{PATH}/{act}/comparison").ok()["items"]
    return {item["name"]: item["outcome"] for item in items}


def test_a_closed_period_is_figured_again(busy: World, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = close(busy, midnight(busy)).ok(201)
    busy.bet(bet("later"), round_id="later")
    stored = {name for name, report_ in REPORTS.items() if report_.is_kept}
    assert compared(busy, closed["act"]) == dict.fromkeys(stored, "same")

    later = raise_version(monkeypatch, "rtp")
    (item,) = (item for item in busy.get(f"{PATH}/{closed['act']}/comparison").ok()["items"] if item["name"] == "rtp")
    assert (item["outcome"], item["sha256"], item["report_version_now"]) == ("not-compared", None, later)

    change = "UPDATE closed_periods SET reports = jsonb_set(reports, '{meters,sha256}', to_jsonb('%s'::text))"
    past_the_service(busy.database_url, change % ("0" * 64))
    assert compared(busy, closed["act"])["meters"] == "differs"
    past_the_service(busy.database_url, change % closed["reports"]["meters"]["sha256"])


def test_a_period_that_was_not_closed_or_is_asked_about_by_a_casino_is_unknown(busy: World) -> None:
    closed = close(busy, midnight(busy)).ok(201)
    for act in (0, closed["act"] + 1, 10**18 - 1):
        busy.get(f"{PATH}/{act}/comparison").problem(404, "period-unknown")
    of_casino = busy.key(Role.FINANCE, casino_id="c1")
    busy.get(f"{PATH}/{closed['act']}/comparison", key=of_casino).problem(404, "period-unknown")
    busy.get(f"{PATH}/{closed['act']}/comparison", role=Role.OPERATOR).problem(403, "role-forbidden")
