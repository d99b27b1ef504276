"""The effect of a change request: what it would do while it waits, what it did, the same for all who may read it."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import psycopg
import pytest

from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.changes.registry import KINDS
from tests.support import every_kind
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.every_kind import PAYLOADS
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, NOTHING, hand
from tests.support.logins import owner_conninfo
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.long

__all__ = ["books_verify"]

CHANGES: Final = "/v1/change-requests"

MOVE_MONEY: Final = {
    "adjustment",
    "seed-recovery",
    "prize-fund-true-up",
    "retirement",
    "held-awards",
    "compensation",
    "round-correction",
    "award-forfeiture",
    "statement-settlement",
}
"""The kinds whose payload of `every_kind` moves money; a reversal does where its payment withheld some."""

AT_BOOKING: Final = {"rate-sheet": "effective_at", "casino-withholding": "from"}
"""The time that only the booking says, in the state after a change whose payload leaves it to that."""

READERS: Final = (Role.RATES, Role.FINANCE, Role.OPERATOR, Role.AUDITOR)


@pytest.fixture
def played(world: World) -> World:
    """The world of `every_kind`, with some players' money in the jackpot that can be retired."""
    every_kind.played(world)
    world.bet(bet(stake_minor=10_000), table_id="T2", round_id="lost")
    world.settle(hand("1", NOTHING), table_id="T2", round_id="lost")
    return world


def shown(world: World, request_id: str = "q1", role: Role = Role.AUDITOR) -> Body:
    return world.get(f"{CHANGES}/{request_id}", role=role).ok()


def effect(world: World, request_id: str = "q1") -> Body:
    effect_: Body = shown(world, request_id)["effect"]
    return effect_


def unbooked(done: Body, kind: str) -> Body:
    """What was done, without what only its booking says: as it was shown while it waited."""
    after = {**done["after"], **({AT_BOOKING[kind]: None} if kind in AT_BOOKING else {})}
    return {**done, "after": after, "entries": [{**entry, "seq": None} for entry in done["entries"]]}


def unfigured(waiting: Body) -> Body:
    return {**waiting, "figured_at": None}


def booked(world: World, entry: Body) -> list[Body]:
    """The postings of an entry as `GET /v1/entries` shows them."""
    postings: list[Body] = world.get(f"/v1/entries/{entry['book']}/0/{entry['seq']}").ok()["postings"]
    return postings


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shown_while_it_waits_is_what_is_done(played: World, kind: str) -> None:
    requested = played.ask(kind, PAYLOADS[kind]).ok(201)["effect"]
    played.clock.advance(timedelta(seconds=7))
    waiting = effect(played)
    assert (waiting["problem"], waiting["figured_at"] > requested["figured_at"]) == (None, True)
    assert unfigured(waiting) == unfigured(requested)  # One state of the books has one effect, whenever it is figured.

    rehearsed = played.approve(query="?dry_run=true").ok()
    assert unfigured(rehearsed["effect"]) == unfigured(effect(played)) == unfigured(waiting)

    done = played.approve().ok()["effect"]
    assert done["figured_at"] is None
    assert unbooked(done, kind) == unfigured(waiting)
    assert effect(played) == done
    assert played.approve().ok()["effect"] == done  # A replay.
    assert (waiting["postings"] != []) is (kind in MOVE_MONEY)


@pytest.mark.parametrize("kind", sorted(MOVE_MONEY))
def test_postings_are_those_of_its_entries_and_money_has_its_minor_units(played: World, kind: str) -> None:
    done = played.change(kind, PAYLOADS[kind])

    listed = [{"book": entry["book"], **line} for entry in done["entries"] for line in booked(played, entry)]
    assert [{name: line[name] for name in line if name != "amount_minor"} for line in done["postings"]] == listed
    for line in done["postings"]:
        cents = Decimal(line["amount"]) * 100
        assert (line["currency"], line["amount_minor"]) == ("EUR", int(cents) if cents == int(cents) else None)


@pytest.mark.parametrize("kind", KINDS)
def test_reading_an_effect_writes_nothing(played: World, kind: str) -> None:
    played.ask(kind, PAYLOADS[kind]).ok(201)
    keys = [played.key(role) for role in READERS]
    before = played.books.counts(), played.books.rows("TABLE stripes")

    seen = [unfigured(played.get(f"{CHANGES}/q1", key=key).ok()["effect"]) for key in keys]
    assert seen == seen[:1] * len(READERS)
    assert (played.books.counts(), played.books.rows("TABLE stripes")) == before


def test_who_may_not_read_a_request_sees_no_effect(played: World) -> None:
    played.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    of_casino = played.key(Role.FINANCE, casino_id="c1")

    played.get(f"{CHANGES}/q1", key=of_casino).problem(404, "change-unknown")
    assert played.get(CHANGES, key=of_casino).ok()["items"] == []
    for role in set(Role) - set(READERS):
        played.get(f"{CHANGES}/q1", role=role).problem(403, "role-forbidden")


def test_amounts_that_name_no_currency_are_in_that_of_the_effect(played: World) -> None:
    def currency(kind: str) -> Any:
        return played.ask(kind, PAYLOADS[kind], query="?dry_run=true").ok()["effect"]["currency"]

    assert {kind: currency(kind) for kind in MOVE_MONEY} == dict.fromkeys(MOVE_MONEY, "EUR")
    assert currency("casino-claims") is currency("change-policy") is None
    pounds = {**PAYLOADS["statement-settlement"], "currency": "GBP"}
    assert played.ask("statement-settlement", pounds, query="?dry_run=true").ok()["effect"]["currency"] == "GBP"


def test_a_waiting_effect_follows_the_books(played: World) -> None:
    played.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    before = effect(played)

    played.bet(bet(stake_minor=10_000), round_id="later")

    after = effect(played)
    assert after["after"]["pools"] != before["after"]["pools"]
    assert sum(after["after"]["positions"]) == sum(before["after"]["positions"]) + 1
    assert after["postings"] == before["postings"]
    assert unbooked(played.approve().ok()["effect"], "adjustment") == unfigured(after)


def test_a_change_that_became_impossible_says_why_and_is_possible_again_later(played: World) -> None:
    played.ask("retirement", PAYLOADS["retirement"]).ok(201)
    assert effect(played)["problem"] is None

    played.bet(bet(), table_id="T2", round_id="open")

    effect_ = effect(played)
    assert effect_["problem"]["code"] == "jackpot-in-play"
    assert effect_["problem"]["detail"] == played.approve().problem(409, "jackpot-in-play")["detail"]
    assert effect_["figured_at"]
    assert (effect_["before"], effect_["after"], effect_["postings"], effect_["entries"]) == (None, None, [], [])

    played.cancel(table_id="T2", round_id="open")
    assert effect(played)["problem"] is None


def test_an_amount_that_the_books_left_behind_is_impossible(played: World) -> None:
    for number in range(20):
        played.bet(bet(stake_minor=10_000), round_id=f"more{number}")
        played.settle(hand("1", NOTHING), round_id=f"more{number}")
    held = played.books.pools("j1").prize_fund
    assert held > 0
    played.ask("prize-fund-true-up", {"jackpot_id": "j1", "amount": f"{-held:f}"}).ok(201)

    played.bet(bet(stake_minor=10_000), round_id="won")
    played.settle(hand("1", FLUSH), round_id="won")

    assert effect(played)["problem"]["code"] == "amount-invalid"
    played.approve().problem(422, "amount-invalid")


def test_a_change_that_another_one_made_stale_says_so(played: World) -> None:
    for request_id in ("q1", "q2"):
        played.ask("seed-recovery", PAYLOADS["seed-recovery"], request_id=request_id).ok(201)

    played.approve("q1").ok()

    assert effect(played, "q2")["problem"]["code"] == "change-stale"
    played.approve("q2").problem(409, "change-stale")


def test_what_was_rejected_or_has_expired_has_no_effect(played: World) -> None:
    for request_id in ("q1", "q2"):
        played.ask("adjustment", PAYLOADS["adjustment"], request_id=request_id).ok(201)
    bob = played.person("Bob", Role.FINANCE)
    rejected = played.post(f"{CHANGES}/q1/rejection", {"reason": "no"}, key=bob).ok()
    played.clock.advance(timedelta(days=8))

    assert rejected["effect"] is shown(played)["effect"] is None
    assert (shown(played, "q2")["state"], shown(played, "q2")["effect"]) == ("expired", None)


def test_a_list_shows_no_effects(played: World) -> None:
    played.ask("adjustment", PAYLOADS["adjustment"]).ok(201)

    [listed] = played.get(f"{CHANGES}?state=pending").ok()["items"]

    assert listed.keys() == shown(played).keys() - {"effect", "dry_run"}


def test_a_dry_run_says_so_and_shows_only_decisions_that_were_taken(played: World) -> None:
    dry = played.ask("adjustment", PAYLOADS["adjustment"], query="?dry_run=true").ok()
    assert (dry["dry_run"], dry["state"], dry["decisions"], dry["decision"]) == (True, "pending", [], None)
    requested = played.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    assert requested["dry_run"] is False
    assert unfigured(requested["effect"]) == unfigured(dry["effect"])

    dry = played.approve(query="?dry_run=true").ok()
    assert (dry["dry_run"], dry["state"], dry["decisions"], dry["decision"]) == (True, "pending", [], None)
    assert unfigured(dry["effect"]) == unfigured(effect(played))

    done = played.approve().ok()
    assert (done["dry_run"], done["state"], len(done["decisions"])) == (False, "approved", 1)
    assert played.approve(query="?dry_run=true").ok() == {**done, "dry_run": True}  # What stands is the approval.


def test_a_dry_run_of_the_last_approval_shows_those_before(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("1", approvals=2)})
    world.bet(bet(), round_id="held")
    world.settle(hand("1", FLUSH), round_id="held")
    world.ask("held-awards", PAYLOADS["held-awards"]).ok(201)
    waiting = unfigured(effect(world))

    dry = world.approve(query="?dry_run=true").ok()
    assert (dry["state"], dry["decisions"], unfigured(dry["effect"])) == ("pending", [], waiting)
    first = world.approve().ok()
    assert (first["state"], [decision["checker"] for decision in first["decisions"]]) == ("pending", ["Bob"])
    assert unfigured(first["effect"]) == unfigured(effect(world)) == waiting

    cleo = world.key_of(Principal("Cleo", Role.FINANCE))
    path = f"{CHANGES}/q1/approval"
    dry = world.post(f"{path}?dry_run=true", {"reason": "checked"}, key=cleo).ok()
    assert (dry["state"], [decision["checker"] for decision in dry["decisions"]]) == ("pending", ["Bob"])
    assert unfigured(dry["effect"]) == waiting
    done = world.post(path, {"reason": "checked"}, key=cleo).ok()
    assert (done["state"], unbooked(done["effect"], "held-awards")) == ("approved", waiting)


def test_another_worker_shows_the_same(played: World) -> None:
    played.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    other, key = played.start(), played.key(Role.AUDITOR)

    def effect_of_other() -> Body:
        return unfigured(played.call("GET", f"{CHANGES}/q1", key=key, app=other).ok()["effect"])

    assert effect_of_other() == unfigured(effect(played))
    played.bet(bet(), round_id="later")
    assert effect_of_other() == unfigured(effect(played))
    played.approve().ok()
    assert effect_of_other() == effect(played)


def test_a_reversed_payment_shows_what_it_gives_back_of_what_was_withheld(world: World) -> None:
    world.open(base_amount="1000", settings={"reset_amount": "300"})
    rule = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 1, "withhold_at_minor": 1, "percent": "24"}
    world.change("casino-withholding", rule, request_id="rule")
    world.bet(bet(), round_id="paid")
    [award] = world.settle(hand("1", FLUSH), round_id="paid")["awards"]
    payment = {"request_id": "payment", "reference": "slip", "withheld_minor": 240}
    paid = world.put(f"/v1/awards/{award['award_id']}/payment", payment, key=world.key(Role.OPERATOR))
    assert paid.status == 201, paid.text
    payload = {"jackpot_id": "j1", "award_id": award["award_id"], "reference": "slip"}
    waiting = world.ask("payment-reversal", payload).ok(201)["effect"]

    assert [line["account"] for line in waiting["postings"]] == ["casino:c1", "withheld:c1"]
    assert {abs(line["amount_minor"]) for line in waiting["postings"]} == {240}
    assert unfigured(effect(world)) == unfigured(waiting)
    assert unbooked(world.approve().ok()["effect"], "payment-reversal") == unfigured(waiting)


LOCKED: Final = ("stripes", "rounds", "keys", "change_requests", "award_steps", "rate_sheets")


@pytest.mark.parametrize("kind", KINDS)
def test_an_effect_is_figured_though_others_hold_every_row(played: World, kind: str) -> None:
    played.ask(kind, PAYLOADS[kind]).ok(201)
    free = unfigured(effect(played))

    with psycopg.connect(owner_conninfo(played.database_url)) as holder:
        for table in LOCKED:
            holder.execute(f"SELECT FROM {table} FOR UPDATE")

        assert unfigured(effect(played)) == free


def test_where_there_is_no_time_to_figure_it_the_request_is_shown_all_the_same(played: World) -> None:
    played.ask("adjustment", PAYLOADS["adjustment"]).ok(201)

    with psycopg.connect(owner_conninfo(played.database_url)) as holder:
        holder.execute("LOCK TABLE stripes IN ACCESS EXCLUSIVE MODE")
        request_ = shown(played)

    assert (request_["state"], request_["effect"]["problem"]["code"]) == ("pending", "busy")
    assert effect(played)["problem"] is None


SLOW: Final = {"statement-settlement": "entries", "retirement": "rounds"}
"""The kinds that may read much, each with a table of which its `plan` reads."""


def backends(owner: psycopg.Connection[Any]) -> set[int]:
    """The connections of the service to its database."""
    statement = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND usename = 'jackpot_app'"
    return {pid for (pid,) in owner.execute(statement)}


@pytest.mark.parametrize("kind", SLOW)
def test_a_slow_effect_ends_by_the_time_out_of_statements_and_its_connection_lives_on(played: World, kind: str) -> None:
    played.ask(kind, PAYLOADS[kind]).ok(201)
    assert effect(played)["problem"] is None
    played.bet(bet(), table_id="T2", round_id="open")  # So that a retirement has a row to look at.

    with psycopg.connect(owner_conninfo(played.database_url), autocommit=True) as owner:
        before = backends(owner)
        owner.execute(f"CREATE POLICY slow ON {SLOW[kind]} USING (pg_sleep(20)::text = '')")
        owner.execute(f"ALTER TABLE {SLOW[kind]} ENABLE ROW LEVEL SECURITY")
        request_ = shown(played)
        owner.execute(f"ALTER TABLE {SLOW[kind]} DISABLE ROW LEVEL SECURITY")

        assert (request_["state"], request_["effect"]["problem"]["code"]) == ("pending", "busy")
        played.cancel(table_id="T2", round_id="open")
        assert effect(played)["problem"] is None
        assert backends(owner) == before != set()


def test_where_there_is_no_time_to_read_what_was_done_it_is_not_called_impossible(played: World) -> None:
    played.change("adjustment", PAYLOADS["adjustment"])
    done = effect(played)

    with psycopg.connect(owner_conninfo(played.database_url)) as holder:
        holder.execute("LOCK TABLE entries IN ACCESS EXCLUSIVE MODE")
        played.get(f"{CHANGES}/q1").problem(503, "busy")
        played.approve().problem(503, "busy")  # A replay.

    assert effect(played) == done


def test_an_effect_is_figured_after_its_request_was_read(played: World) -> None:
    played.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    key = played.key(Role.AUDITOR)

    with psycopg.connect(owner_conninfo(played.database_url)) as holder, ThreadPoolExecutor(1) as threads:
        holder.execute("LOCK TABLE change_requests IN ACCESS EXCLUSIVE MODE")
        answer = threads.submit(played.get, f"{CHANGES}/q1", key=key)
        wait_for_waiter(holder)
        played.clock.advance(timedelta(seconds=5))
        moved_on = played.clock()
        holder.rollback()

        assert datetime.fromisoformat(answer.result().ok()["effect"]["figured_at"]) >= moved_on


def wait_for_waiter(holder: psycopg.Connection[Any]) -> None:
    """Wait until somebody waits for the holder's lock."""
    waiting = "SELECT count(*) FROM pg_locks WHERE relation = 'change_requests'::regclass AND NOT granted"
    while holder.execute(waiting).fetchone() == (0,):
        time.sleep(0.01)


def test_a_refusal_names_a_hundred_figures_at_most_and_reads_no_more_than_there_can_be(played: World) -> None:
    played.ask("rate-sheet", PAYLOADS["rate-sheet"]).ok(201)

    def refused(count: int, code: str) -> list[Body]:
        confirm = {f"f{number}": "1" for number in range(count)}
        errors: list[Body] = played.approve(confirm=confirm).problem(422, code)["errors"]
        return errors

    assert len(refused(300, "confirmation-required")) == 100
    assert [error["pointer"] for error in refused(301, "validation")] == ["/confirm"]
