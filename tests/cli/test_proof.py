"""`jackpot seals|verifications|reconciliations` and `books heads`: how far the books are proved, as the API says it."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest

from jackpot_service import signing
from jackpot_service.domain.principals import Role
from jackpot_service.reports.reconciling import reconcile_next
from jackpot_service.usecases.seal_books import SealBooks, seal_books
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.command_line import Jackpot, calling, program
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.hands import FLUSH, hand
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = pytest.mark.slow

KEY = signing.new_key()


@pytest.fixture
def played(world: World) -> World:
    """A round of a jackpot that is over for two days, another jackpot, and two seals."""
    world.open(base_amount="1000", stripes=2)
    world.open(jackpot_id="j2", tables=("T2",))
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    world.clock.advance(timedelta(days=2))
    for _ in range(2):
        world.transact(lambda session: seal_books(session, SealBooks(world.act(), KEY, "1.2")))
    return world


@pytest.fixture
def run(
    played: World, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Jackpot]:
    """The program, calling the world's service as an auditor."""
    monkeypatch.setenv("JACKPOT_KEY", played.person("Ada", Role.AUDITOR))
    with calling(monkeypatch, played.app):
        yield program(monkeypatch, capsys, database_url)


def verify(world: World, request_id: str) -> str:
    job: Body = world.ask_job({"from": "zero"}, kind="verification", request_id=request_id).ok(201)
    world.runner().run_next()
    return str(job["job_id"])


def reconcile(world: World) -> None:
    for _ in iter(partial(reconcile_next, world.engine, now=world.clock()), None):
        pass


def require_list(run: Jackpot, command: str, items: list[Body]) -> None:
    """Require that a list is that of the API in each form."""
    words = command.split()
    lines = run(*words, "--json").ok().splitlines()
    assert [json.loads(line, parse_float=Decimal) for line in lines] == items
    assert len(run(*words).ok().splitlines()) == len(items) + 1
    assert len(list(csv.DictReader(io.StringIO(run(*words, "--csv").ok())))) == len(items)


def test_lists_of_the_proof_are_the_apis(run: Jackpot, played: World, subtests: pytest.Subtests) -> None:
    verify(played, "v1")
    verify(played, "v2")
    for command, path, count in (
        ("seals list", "/v1/seals", 2),
        ("verifications list", "/v1/verifications", 2),
        ("verifications runs", "/v1/verification-runs", 2),
        ("reconciliations list", "/v1/reconciliations", 2),
        ("books heads", "/v1/stripe-heads", 7),
    ):
        with subtests.test(command):
            items = played.get(path).ok()["items"]
            assert len(items) == count
            require_list(run, command, items)


def test_a_list_of_the_proof_is_cut_only_where_that_is_said(run: Jackpot) -> None:
    ended = run("seals", "list", "--limit", "1", "--json")

    assert json.loads(ended.ok())["number"] == 2
    assert ended.err == "There are more: --limit 1 cut the list here; without it all are shown.\n"


def test_a_seal_is_printed_byte_by_byte_as_the_next_one_names_it(run: Jackpot) -> None:
    latest = json.loads(run("seals", "list", "--json", "--limit", "1").ok())
    whole = [run("seals", "show", number, "--json").ok().encode() for number in ("1", "2")]

    assert hashlib.sha256(whole[1]).hexdigest() == latest["sha256"]
    assert json.loads(whole[1])["previous"] == {"number": 1, "sha256": hashlib.sha256(whole[0]).hexdigest()}


def test_a_seal_is_shown_with_the_head_of_each_stripe(run: Jackpot) -> None:
    seal = json.loads(run("seals", "show", "2", "--json").ok())
    shown = run("seals", "show", "2").ok()

    assert re.search(rf"^seal before +1, SHA-256 {seal['previous']['sha256']}$", shown, re.MULTILINE)
    for book, stripe, seq, head in seal["stripes"]:
        assert re.search(rf"^  {book} +{stripe} +{seq}  {head}$", shown, re.MULTILINE)
    assert re.search(r"^seal before +-$", run("seals", "show", "1").ok(), re.MULTILINE)
    run("seals", "show", "3").refused(1, "jackpot: seal-unknown: ")


def test_a_verification_that_found_nothing_says_so(run: Jackpot, played: World) -> None:
    job_id = verify(played, "v1")

    assert run("verifications", "runs").ok().splitlines()[1].endswith("  nothing is wrong")
    shown = run("verifications", "show", job_id).ok()
    assert re.search(r"^outcome +nothing is wrong$", shown, re.MULTILINE)
    assert re.search(r"^  rounds +1$", shown, re.MULTILINE)
    assert json.loads(run("verifications", "show", job_id, "--json").ok())["job_id"] == job_id
    run("verifications", "show", "none").refused(1, "jackpot: job-unknown: there is no verification none")


def test_a_verification_shows_what_is_wrong_and_where(run: Jackpot, played: World, database_url: str) -> None:
    past_the_service(database_url, "UPDATE rounds SET bet_count = 7 WHERE round_id = 'r1'")
    job_id = verify(played, "v1")

    (mismatch, *_) = json.loads(run("verifications", "show", job_id, "--json").ok())["outcome"]["first_mismatches"]

    shown = run("verifications", "show", job_id).ok()
    assert re.search(r"^outcome +mismatches: [1-9]\d*$", shown, re.MULTILINE)
    assert re.search(rf"^  {mismatch['code']} +{mismatch['book']} ", shown, re.MULTILINE)
    assert run("verifications", "list").err == "There are none.\n"


def test_a_verification_that_waits_has_no_outcome(run: Jackpot, played: World) -> None:
    job_id = played.ask_job({"from": "zero"}, kind="verification").ok(201)["job_id"]

    assert re.search(r" queued .* -$", run("verifications", "runs").ok(), re.MULTILINE)
    assert re.search(r"^outcome +-$", run("verifications", "show", job_id).ok(), re.MULTILINE)


def test_a_reconciliation_says_up_to_when_the_books_agree(run: Jackpot, played: World) -> None:
    before = f"{played.clock().isoformat().replace('+00:00', '')}Z"
    assert re.search(r"^agrees +-$", run("reconciliations", "show", "j1").ok(), re.MULTILINE)
    played.clock.advance(timedelta(minutes=1))
    reconcile(played)

    shown = run("reconciliations", "show", "j1").ok()

    assert re.search(r"^agrees +yes$", shown, re.MULTILINE)
    assert re.search(r"^compared to +2026-11-21 00:00:00Z$", shown, re.MULTILINE)
    then = run("reconciliations", "show", "j1", "--as-of", before).ok()
    assert re.search(r"^agrees +-$", then, re.MULTILINE)
    run("reconciliations", "show", "j9").refused(1, "jackpot: jackpot-unknown: there is no jackpot j9")


def test_a_reconciliation_names_the_figures_that_differ(run: Jackpot, played: World, database_url: str) -> None:
    past_the_service(database_url, "UPDATE bets SET stake_minor = stake_minor + 1 WHERE bet_id = 'a'")
    reconcile(played)

    shown = run("reconciliations", "show", "j1").ok()

    assert re.search(r"^agrees +no$", shown, re.MULTILINE)
    differs = r"^  accounts +casino:c1 +- +contribution +-1\.01 +EUR +-1\.00 +EUR +0\.01 +EUR$"
    assert re.search(differs, shown, re.MULTILINE), shown
    by_jackpot = [line.split()[:2] for line in run("reconciliations", "list").ok().splitlines()[1:]]
    assert by_jackpot == [["j1", "no"], ["j2", "yes"]]


def test_a_role_that_may_not_read_the_proof_reads_none_of_it(
    run: Jackpot, played: World, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", played.person("Rita", Role.RATES))
    for command in ("seals list", "seals show 1", "verifications list", "reconciliations list", "books heads"):
        with subtests.test(command):
            run(*command.split()).refused(1, "jackpot: role-forbidden: ")
