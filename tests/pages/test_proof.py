"""The proof on pages: what was found and where, heads and seals as the tables hold them, and a verification started."""

import hashlib
import json
import re
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import text

from jackpot_service import signing
from jackpot_service.domain.principals import Role
from jackpot_service.usecases.seal_books import SealBooks, seal_books
from tests.exports.jobs.test_verification import after, has_note, interrupted, often
from tests.support import everything
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.page_text import content_of, links_of
from tests.support.reading import past_the_service
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

READERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)
KEY = signing.new_key()


@pytest.fixture
def played(world: World) -> World:
    """Some rounds of a jackpot, two seals and a closed period."""
    world.open(base_amount="1000", stripes=2)
    for number in range(4):
        world.bet(bet("a"), round_id=f"r{number}")
        world.settle(hand("1", NOTHING), round_id=f"r{number}")
    for _ in range(2):
        world.transact(lambda session: seal_books(session, SealBooks(world.act(), KEY, "1.2")))
    everything.close_a_period(world.engine, world.clock())
    return world


def shown(visitor: Visitor, path: str = "/proof") -> str:
    answer = visitor.open(path)
    assert answer.status == 200, answer.text
    return content_of(answer.text)


def auditor(world: World, name: str = "Ada") -> Visitor:
    return Visitor(world).sign_in(key=world.person(name, Role.AUDITOR))


def start(visitor: Visitor, start_at: str = "zero") -> Answer:
    page = visitor.open("/proof").text
    return send(visitor, page, start_at)


def send(visitor: Visitor, page: str, start_at: str = "zero") -> Answer:
    hidden = {
        name: unescape(re.findall(rf'name="{name}" value="([^"]+)"', page)[-1]) for name in ("csrf_token", "request_id")
    }
    return visitor.post("/proof", {**hidden, "from": start_at})


def runs(world: World) -> list[Body]:
    items: list[Body] = world.get("/v1/verification-runs").ok()["items"]
    return items


def corrupt(world: World) -> None:
    past_the_service(world.database_url, "UPDATE rounds SET bet_count = 7 WHERE round_id = 'r3'")


def mend(world: World) -> None:
    past_the_service(world.database_url, "UPDATE rounds SET bet_count = 1 WHERE round_id = 'r3'")


@pytest.mark.parametrize("role", READERS)
def test_books_that_nobody_proved_say_so(world: World, role: Role) -> None:
    world.open()
    page = shown(Visitor(world).sign_in(role))
    assert "not proved" in page
    assert "The books were not verified yet." in page
    assert ("Start a verification" in page) is (role is Role.AUDITOR)


def test_people_of_rates_and_of_casinos_see_no_proof(played: World) -> None:
    of_casino = Visitor(played).sign_in(key=played.key(Role.FINANCE, casino_id="c1"))
    for visitor in (Visitor(played).sign_in(Role.RATES), of_casino):
        for path in ("/proof", "/proof/progress", "/proof/seals/1", "/proof/runs/x"):
            assert visitor.open(path).status == 404
        assert visitor.submit("/proof", {"from": "zero", "request_id": "v"}, page="/account").status == 404
        assert "/proof" not in links_of(visitor.open("/account").text)


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR])
def test_only_an_auditor_starts_and_ends_one(played: World, role: Role) -> None:
    visitor = Visitor(played).sign_in(role)
    assert visitor.submit("/proof", {"from": "zero", "request_id": "v"}, page="/account").status == 404
    start(auditor(played))
    job_id = runs(played)[0]["job_id"]
    assert visitor.submit("/proof/end", {"job_id": job_id}, page="/account").status == 404
    assert "End it" not in shown(visitor)
    assert runs(played)[0]["state"] == "queued"


@pytest.mark.parametrize("role", READERS)
def test_heads_are_those_of_the_table(played: World, role: Role) -> None:
    page = Visitor(played).sign_in(role).open("/proof").text
    rows = played.books.rows("SELECT jackpot_id, stripe_no, seq, encode(head, 'hex') AS head FROM stripes")
    heads = re.findall(r'<td class="hash code">([0-9a-f]{64})</td>\s*</tr>', page)
    assert set(heads) == {row["head"] for row in rows}
    for row in rows:
        book = "acts" if row["jackpot_id"] == "-" else row["jackpot_id"]
        assert f"{book} {row['stripe_no']} {row['seq']}" in content_of(page)


def test_many_stripes_are_listed_in_pages(played: World) -> None:
    played.open(jackpot_id="j2", stripes=64, base_amount="1000", tables=())
    visitor, path, seen = auditor(played), "/proof", list[str]()
    while path:
        page = visitor.open(path).text
        seen += re.findall(r'<td class="hash code">([0-9a-f]{64})</td>\s*</tr>', page)
        match = re.search(r'href="(/proof\?heads=[^"]+)" rel="next"', page)
        path = unescape(match[1]) if match else ""
    assert len(seen) == len(set(seen)) == played.books.value("SELECT count(*) FROM stripes")


def test_seals_are_listed_and_fetched_byte_by_byte(played: World) -> None:
    for role in (Role.OPERATOR, Role.AUDITOR):
        visitor = Visitor(played).sign_in(role)
        answer = visitor.open("/proof")
        for head in played.get("/v1/seals").ok()["items"]:
            assert head["sha256"] in answer.text
            file = visitor.open(f"/proof/seals/{head['number']}")
            assert hashlib.sha256(file.text.encode()).hexdigest() == head["sha256"]
            assert file.headers["Content-Disposition"] == f'attachment; filename="seal-{head["number"]:04d}.json"'
        assert f'data-keys="{KEY.public.raw.hex()}"' in answer.text
        assert visitor.open("/proof/seals/9").status == 404
    finance = Visitor(played).sign_in(Role.FINANCE)
    assert "data-keys" not in finance.open("/proof").text
    assert finance.open("/proof/seals/1").status == 404


def test_closed_periods_are_shown_with_the_hash_of_each_report(played: World) -> None:
    (period,) = played.get("/v1/closed-periods").ok()["items"]
    for role in (Role.FINANCE, Role.AUDITOR):
        page = shown(Visitor(played).sign_in(role))
        assert all(report["sha256"] in page for report in period["reports"].values())
    assert "Closed periods" not in shown(Visitor(played).sign_in(Role.OPERATOR))


@pytest.mark.parametrize("role", READERS)
def test_every_link_of_the_page_leads_somewhere(played: World, role: Role) -> None:
    visitor = Visitor(played).sign_in(role)
    for link in links_of(visitor.open("/proof").text):
        assert visitor.open(link).status in {200, 303}, link


def test_an_auditor_starts_one_and_everybody_sees_what_it_found(played: World) -> None:
    answer = start(auditor(played))
    assert (answer.status, answer.headers["Location"]) == (303, "/proof")
    for role in READERS:
        page = shown(Visitor(played).sign_in(role))
        assert "A verification is under way" in page
        assert "It waits for its turn" in page
        assert "Started by Ada" in page
        assert "Start a verification" not in page

    played.runner().run_next()

    outcome = runs(played)[0]["outcome"]
    for role in READERS:
        page = shown(Visitor(played).sign_in(role))
        assert "right" in page
        assert "under way" not in page
        assert f"{outcome['entries']} entries, {outcome['rounds']} rounds, {outcome['bets']} bets" in page
        assert f"By version {outcome['service_version']}" in page
        assert "from zero" in page


def test_a_corrupted_row_stands_there_with_its_code_and_place(played: World) -> None:
    corrupt(played)
    start(auditor(played))
    played.runner().run_next()
    (mismatch,) = runs(played)[0]["outcome"]["first_mismatches"]
    for role in READERS:
        visitor = Visitor(played).sign_in(role)
        answer = visitor.open("/proof")
        page = content_of(answer.text)
        assert "1 mismatch" in page
        assert f"round-bet-count j1 {mismatch['place']} {mismatch['detail']}" in page
        assert "r3" in mismatch["place"]
        (link,) = (link for link in links_of(answer.text) if link.startswith("/proof/runs/"))
        file = visitor.open(link)
        assert file.media_type == "application/json"
        assert json.loads(file.text)["mismatches"] == [mismatch]
    assert Visitor(played).sign_in().open("/proof/runs/nothing").status == 404


def test_what_was_wrong_stays_so_until_a_clean_proof_from_zero(played: World) -> None:
    visitor = auditor(played)
    start(visitor)
    played.runner().run_next()
    corrupt(played)
    start(visitor)
    played.runner().run_next()
    assert "1 mismatch" in shown(visitor)
    start(visitor, "last")
    played.runner().run_next()
    assert runs(played)[0]["outcome"]["is_clean"], "what goes on from a note does not look at earlier rounds"
    assert "1 mismatch" in shown(visitor)
    assert "The last found 1" in shown(visitor, "/health")
    metrics = played.get("/metrics", role=Role.AUDITOR).text
    assert "jackpot_book_mismatches 1.0" in metrics
    mend(played)
    start(visitor)
    played.runner().run_next()
    assert "1 mismatch" not in shown(visitor)
    assert "The last verification that ended found nothing wrong, from zero." in shown(visitor, "/health")
    assert "jackpot_book_mismatches 0.0" in played.get("/metrics", role=Role.AUDITOR).text


def test_progress_is_read_again_until_the_end(played: World) -> None:
    visitor = auditor(played)
    start(visitor)
    seen: list[Answer] = []

    def look() -> None:
        seen.append(visitor.open("/proof/progress", **{"HX-Request": "true"}))

    played.runner(kinds=interrupted(after(3), look)).run_next()

    (middle,) = seen
    assert "<main" not in middle.text
    assert re.search(r'<progress [^>]*value="\d+" max="\d+"', middle.text)
    assert "% of all looks at entries" in content_of(f"<main>{middle.text}")
    assert "HX-Refresh" not in middle.headers
    ended = visitor.open("/proof/progress", **{"HX-Request": "true"})
    assert ended.headers["HX-Refresh"] == "true"


def test_a_page_that_looks_again_by_itself_keeps_no_session_alive(played: World) -> None:
    visitor = auditor(played)
    start(visitor)
    for _ in range(4):
        played.clock.advance(timedelta(minutes=7))
        assert visitor.open("/proof/progress", **{"HX-Request": "true"}).status == 200
    played.clock.advance(timedelta(minutes=3))
    answer = visitor.open("/proof/progress", **{"HX-Request": "true"})
    assert (answer.status, answer.headers["HX-Redirect"].partition("?")[0]) == (204, "/sign-in")


def test_of_two_auditors_the_second_is_shown_the_one_that_is_under_way(played: World) -> None:
    ada, anna = auditor(played), auditor(played, "Anna")
    page = anna.open("/proof").text
    assert start(ada).status == 303
    answer = send(anna, page)
    assert answer.status == 409
    assert "A verification is under way already." in content_of(answer.text)
    assert "Started by Ada" in content_of(answer.text)
    assert len(runs(played)) == 1


def test_a_double_click_is_one(played: World) -> None:
    ada = auditor(played)
    page = ada.open("/proof").text
    assert [send(ada, page).status for _ in range(2)] == [303, 303]
    assert len(runs(played)) == 1


def test_one_that_a_restart_interrupted_says_so_and_goes_on(played: World) -> None:
    visitor = auditor(played)
    start(visitor)

    def end() -> None:
        raise SystemExit

    with pytest.raises(SystemExit):
        played.runner(kinds=interrupted(has_note, end)).run_next()
    with played.engine.begin() as session:
        session.execute(text("UPDATE jobs SET heartbeat_at = :then, lease_until = :then"), {"then": played.clock()})
    played.clock.advance(timedelta(minutes=5))
    page = shown(visitor)
    assert "Nothing was heard of it for 5 min." in page
    assert "goes on from the last note" in page

    played.runner(kinds=often()).run_next()

    assert runs(played)[0]["outcome"]["is_clean"]
    assert "under way" not in shown(visitor)


def test_one_that_is_ended_and_one_that_failed_say_so(played: World) -> None:
    visitor = auditor(played)
    start(visitor)
    job_id = runs(played)[0]["job_id"]
    assert visitor.submit("/proof/end", {"job_id": job_id}, page="/proof").status == 303
    assert "was ended by Ada before its end" in shown(visitor)
    start(visitor)
    failing = "UPDATE jobs SET state = 'failed', error = 'given-up: <b>it</b>', ended_at = now() WHERE state = 'queued'"
    past_the_service(played.database_url, failing)
    page = visitor.open("/proof").text
    assert "failed: given-up: <b>it</b>" in content_of(page)
    assert "<b>it</b>" not in page


@pytest.mark.parametrize("form", [{"from": "here"}, {"request_id": "\x00"}, {"request_id": ""}, {"request_id": "a b"}])
def test_a_form_that_no_page_made_is_refused(played: World, form: dict[str, str]) -> None:
    answer = auditor(played).submit("/proof", {"from": "zero", "request_id": "v", **form}, page="/proof")
    assert answer.status in {400, 422}
    assert runs(played) == []
