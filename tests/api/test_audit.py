"""The audit trail: every act, the latest first, found by who, what, which jackpot, which request and when."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Final

import pytest

from jackpot_service.api.audit import AuditQuerySchema
from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.cursors import forged
from tests.support.world import World

pytestmark = pytest.mark.slow

AUDIT = "/v1/audit"
NEW_RATE: Body = {"base": "EUR", "rates": {"GBP": "1.18"}}


@pytest.fixture
def run(world: World) -> World:
    """A house in which Ann asked for a rate and Bob approved it."""
    world.open(base_amount="1000")
    world.change("rate-sheet", NEW_RATE, role=Role.RATES)
    return world


def acts(world: World, query: str = "") -> list[Body]:
    items: list[Body] = world.get(f"{AUDIT}{query}").ok()["items"]
    return items


def kinds(world: World, query: str = "") -> list[str]:
    return [act["kind"] for act in acts(world, query)]


def test_an_approved_change_stands_there_from_its_request_to_what_it_did(run: World) -> None:
    done, approved, requested = acts(run, "?request_id=q1")

    assert [act["kind"] for act in (requested, approved, done)] == [
        "change_requested",
        "change_approved",
        "rates_published",
    ]
    assert [act["principal"] for act in (requested, approved, done)] == ["Ann", "Bob", "Bob"]
    assert [act["request_id"] for act in (requested, approved, done)] == ["q1", None, None]
    assert [act["decides"] for act in (requested, approved, done)] == [None, "q1", "q1"]
    assert (requested["reason"], requested["subject"]) == ("as agreed", "rate sheet EUR")
    assert (done["before"]["number"], done["after"]["number"]) == (1, 2)
    assert not any(act["is_emergency"] for act in (requested, approved, done))


def test_what_was_booked_in_a_jackpots_book_stands_with_the_act(run: World) -> None:
    (opened,) = acts(run, "?kind=jackpot_opened")

    (effect,) = opened["effects"]
    assert (effect["book"], effect["seq"], effect["kind"]) == ("j1", 1, "jackpot_opened")
    assert opened["jackpot_id"] == "j1"


def test_acts_are_numbered_without_a_gap_the_latest_first(run: World) -> None:
    seqs = [act["seq"] for act in acts(run)]

    assert seqs == list(range(len(seqs), 0, -1))


@pytest.mark.parametrize("limit", [1, 3, 200])
def test_pages_together_are_the_trail_also_while_it_grows(run: World, limit: int) -> None:
    seqs = [act["seq"] for act in acts(run)]

    def pages() -> Iterator[int]:
        cursor = ""
        while True:
            page = run.get(f"{AUDIT}?limit={limit}{cursor}").ok()
            yield from (act["seq"] for act in page["items"])
            run.add_casino(f"c-{page['items'][-1]['seq']}")
            if page["next"] is None:
                return
            cursor = f"&after={page['next']}"

    assert list(pages()) == seqs


def test_acts_are_found_by_who_and_what_and_which_jackpot(run: World) -> None:
    run.open(jackpot_id="j2", tables=())

    assert kinds(run, "?principal=Ann") == ["change_requested"]
    assert kinds(run, "?principal=Bob") == ["rates_published", "change_approved"]
    assert kinds(run, "?principal=nobody") == []
    assert {act["subject"] for act in acts(run, "?kind=jackpot_opened")} == {"jackpot j1", "jackpot j2"}
    assert kinds(run, "?jackpot_id=j1") == ["table_added", "jackpot_opened"]
    assert kinds(run, "?jackpot_id=j1&kind=table_added&principal=cli") == ["table_added"]
    assert kinds(run, "?kind=jackpot_retired") == []


def test_a_period_includes_its_beginning_and_not_its_end(run: World) -> None:
    every = acts(run)
    times = sorted({act["booked_at"] for act in every})

    for first, end in pairwise(times):
        assert acts(run, f"?from={first}&to={end}") == [act for act in every if act["booked_at"] == first]
    assert acts(run, f"?from={times[-1]}") == [act for act in every if act["booked_at"] == times[-1]]
    assert acts(run, f"?to={times[0]}") == []
    assert acts(run, f"?from={times[3]}&to={times[3]}") == []
    assert acts(run, "?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z") == every


def test_a_period_in_which_nothing_was_done_is_empty(run: World) -> None:
    run.clock.advance(timedelta(days=1))
    quiet = run.clock().isoformat().replace("+00:00", "Z")
    run.clock.advance(timedelta(days=1))
    run.add_casino("c2")

    assert [act["subject"] for act in acts(run, f"?from={quiet}")] == ["casino c2"]
    assert acts(run, f"?from={quiet}&to={quiet}") == []


def test_the_hash_of_a_secret_is_not_shown(run: World) -> None:
    run.key(Role.OPERATOR)
    (created, *_) = acts(run, "?kind=key_created")

    assert created["after"]["principal"] == "a operator"
    assert "secret" not in run.get(f"{AUDIT}?limit=200").text
    hashes = [row["hash"] for row in run.books.rows("SELECT encode(secret_hash, 'hex') AS hash FROM keys")]
    assert not any(secret_hash in run.get(f"{AUDIT}?limit=200").text for secret_hash in hashes)


def test_what_one_person_did_alone_stands_out(world: World) -> None:
    world.switch_emergency()
    world.ask("rate-sheet", NEW_RATE, role=Role.RATES).ok(201)
    world.approve(by="Ann", role=Role.RATES, emergency=True).ok()

    emergencies = [act["kind"] for act in acts(world) if act["is_emergency"]]

    assert emergencies == ["rates_published", "change_approved"]


def test_what_is_no_act_of_an_administrator_is_not_there(run: World) -> None:
    before = len(acts(run))

    run.bet(bet())
    run.ask("rate-sheet", {"base": "EUR", "rates": {"XXX": "1"}}, request_id="q2", role=Role.RATES).problem(
        422, "unknown-currency"
    )

    assert len(acts(run)) == before


WRONG: Final = (
    ("from=2026-11-20T10:00:00Z&to=2026-11-20T09:59:59Z", "?to"),
    ("from=2026-11-20", "?from"),
    ("from=2026-11-20T10:00:00", "?from"),
    ("to=2026-02-30T10:00:00Z", "?to"),
    ("kind=bets", "?kind"),
    ("kind=RATES_PUBLISHED", "?kind"),
    ("kind=", "?kind"),
    ("jackpot_id=a/b", "?jackpot_id"),
    ("jackpot_id=", "?jackpot_id"),
    ("request_id=%00", "?request_id"),
    ("principal=", "?principal"),
    ("principal=%00", "?principal"),
    ("principal=a%0Ab", "?principal"),
    ("limit=0", "?limit"),
    ("limit=201", "?limit"),
    ("limit=1e1", "?limit"),
    ("after=7", "?after"),
    ("after=k8000000000000000", "?after"),
    ("after=00660b1b21d3380-b0c9932509eb08a9", "?after"),
    ("request=q1", "?request"),
    ("secret_hash=1", "?secret_hash"),
)


def test_a_query_that_cannot_be_is_refused(run: World, subtests: pytest.Subtests) -> None:
    for query, pointer in WRONG:
        with subtests.test(query):
            run.get(f"{AUDIT}?{query}").problem(422, "validation", pointer)


def test_a_forged_cursor_shows_no_more_than_the_list_has(run: World) -> None:
    last, first, before_all = (
        forged(run, AUDIT, AuditQuerySchema, place) for place in ("k0", "k1", "k7fffffffffffffff")
    )
    assert acts(run, f"?after={last}") == []
    assert acts(run, f"?after={first}") == []
    assert len(acts(run, f"?after={before_all}")) == len(acts(run))


@pytest.mark.parametrize("path", [AUDIT, f"{AUDIT}/1"])
@pytest.mark.parametrize("role", sorted(set(Role) - {Role.AUDITOR, Role.OPERATOR}))
def test_the_trail_is_for_auditors_and_operators(run: World, role: Role, path: str) -> None:
    run.get(path, role=role).problem(403, "role-forbidden")


@pytest.fixture
def suspended(run: World) -> World:
    """Olga has suspended the jackpot, and Otto has resumed it."""
    for name, path in (("Olga", "suspension"), ("Otto", "resumption")):
        body = {"request_id": f"by-{name}", "reason": "the camera was out"}
        run.put(f"/v1/jackpots/j1/{path}", body, key=run.person(name, Role.OPERATOR)).ok(201)
    return run


def test_an_operator_sees_their_own_acts_and_no_others(suspended: World) -> None:
    olga = suspended.person("Olga", Role.OPERATOR)

    items = suspended.get(AUDIT, key=olga).ok()["items"]

    assert [(act["kind"], act["principal"]) for act in items] == [("jackpot_suspended", "Olga")]
    assert items == acts(suspended, "?principal=Olga")
    assert suspended.get(f"{AUDIT}?principal=Olga", key=olga).ok()["items"] == items
    assert suspended.get(f"{AUDIT}?principal=Otto", key=olga).ok() == {"items": [], "next": None}
    assert suspended.get(f"{AUDIT}?jackpot_id=j1", key=olga).ok()["items"] == items
    assert suspended.get(f"{AUDIT}?kind=jackpot_resumed", key=olga).ok()["items"] == []


def test_an_act_is_read_by_its_number(suspended: World) -> None:
    for act in acts(suspended):
        assert suspended.get(f"{AUDIT}/{act['seq']}").ok() == act
    last = len(acts(suspended))
    for seq in (0, last + 1, 10**18 - 1):
        suspended.get(f"{AUDIT}/{seq}").problem(404, "act-unknown")


def test_an_operator_reads_no_act_of_somebody_else(suspended: World) -> None:
    olga = suspended.person("Olga", Role.OPERATOR)
    for act in acts(suspended):
        answer = suspended.get(f"{AUDIT}/{act['seq']}", key=olga)
        if act["principal"] == "Olga":
            assert answer.ok() == act
        else:
            answer.problem(404, "act-unknown")


def test_acts_are_found_by_their_object(suspended: World) -> None:
    assert kinds(suspended, "?subject=casino%20c1") == ["casino_added"]
    assert kinds(suspended, "?subject=jackpot%20j1") == ["jackpot_resumed", "jackpot_suspended", "jackpot_opened"]
    assert kinds(suspended, "?subject=jackpot") == []


def test_acts_about_a_casino_are_found_under_whatever_name_they_have(world: World) -> None:
    world.add_casino("c2")
    world.change("casino-claims", {"casino_id": "c2", "claim_days": 90, "forfeited_to": "meter"}, request_id="claims")
    rule = {"casino_id": "c2", "currency": "SEK", "report_at_minor": 120_000}
    world.change("casino-withholding", rule, request_id="withholding")

    assert {act["subject"] for act in acts(world, "?casino_id=c2")} == {
        *("casino c2", "claims at casino c2", "withholding of casino c2 in SEK")
    }
    done = ["withholding_changed", "casino_claims_changed"]
    assert kinds(world, "?casino_id=c2") == [
        *(kind for each in done for kind in (each, "change_approved", "change_requested")),
        "casino_added",
    ]
    assert kinds(world, "?casino_id=c1") == ["casino_added"]
    assert acts(world, "?casino_id=nowhere") == []
