"""A short story in which the service does nearly everything that it can do, in parts that have names."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from jackpot_service import signing
from jackpot_service.database import snapshots, transactions
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.domain.settings import Setting
from jackpot_service.ledger import days, stripes
from jackpot_service.ledger.verification import Reached
from jackpot_service.proof.proof import verify
from jackpot_service.records import checkpoints
from jackpot_service.reports.finance.registry import REPORTS
from jackpot_service.reports.reconciling import reconcile_next
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.seal_books import SealBooks, seal_books
from tests.support import everything
from tests.support.asking import stated
from tests.support.authenticator import Authenticator, body_of_assertion, body_of_credential
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, STRAIGHT, dead, hand
from tests.support.payouts import held_from
from tests.support.visitor import Visitor
from tests.support.walking import walk
from tests.support.world import LIVE, World

NEW_ROUNDS: Final = 6
"""After so many the service of one machine expects that the next is new too, and does not ask before it writes."""


def _open(world: World) -> None:
    settings: dict[str, Setting] = {"limit": "5434", "reset_amount": "500", "payout_tiers": held_from("1000")}
    world.open(base_amount="5432.68065", settings=settings, tables=("T1", "T2"), stripes=3)
    world.open(jackpot_id="j2", tables=("T3",), stripes=2)
    for role in (Role.FINANCE, Role.AUDITOR, Role.TABLE):
        world.key(role)


def _bet(world: World) -> None:
    for number in range(NEW_ROUNDS):
        world.bet(bet("a"), bet("b", hand="2", currency="GBP"), round_id=f"new-{number}")
    for table_id in ("T1", "T2", "T3"):
        world.bet(bet("a"), bet("b", hand="2"), round_id="r1", table_id=table_id)
        world.bet(bet("c", hand="3", currency="SEK", stake_minor=1000), round_id="r1", table_id=table_id)
    world.post_bets(bet("a"), bet("b", hand="2"), round_id="r1").ok()
    world.post_bets(bet("d", hand="4"), round_id="r1", table_id="T3", game_number="21:10:10").ok(201)
    world.post_bets(bet("a", stake_minor=7), round_id="r1").problem(409, "bet-conflict")


def _void(world: World) -> None:
    world.void("c", "never", round_id="r1")
    world.void("c", "never", round_id="r1")
    world.void("early", round_id="r2")
    world.post_bets(bet("early"), bet("late"), round_id="r2").ok(201)


def _settle(world: World) -> None:
    for _ in range(2):
        world.put_result(hand("1", ROYAL_FLUSH), hand("2", FLUSH), round_id="r1", bet_count=2)
    world.put_result(hand("1", FOUR_OF_A_KIND), hand("2"), dead("3"), table_id="T2", bet_count=3).ok(201)
    world.put_result(hand("1", STRAIGHT), hand("2"), dead("3"), dead("4"), table_id="T3", bet_count=4).ok(201)
    world.put_result(hand("1", NOTHING), round_id="new-0", bet_count=9).problem(409, "bet-count-mismatch")
    world.put_result(hand("1", NOTHING), hand("2", FLUSH), round_id="new-0", bet_count=2).ok(201)
    world.post_bets(bet("too-late"), round_id="r1").problem(409, "round-settled")


def _cancel(world: World) -> None:
    for _ in range(2):
        world.put_cancellation(round_id="new-1")
    world.put_cancellation(round_id="before-its-bets").ok(201)
    for _ in range(2):
        world.put_closing(round_id="new-2")
    world.post_voids("a", round_id="new-2", reason="dealt to the wrong seat").ok()
    world.void("a", round_id="new-2")
    world.put_cancellation(round_id="new-2").ok(201)


def _read_meters(world: World) -> None:
    for jackpot_id in ("j1", "j2"):
        for query in ("", "?currency=EUR", "?currency=GBP"):
            world.get(f"/v1/jackpots/{jackpot_id}/meter{query}").ok()


def _read_events(world: World) -> None:
    for key in (world.key(Role.AUDITOR), world.key(Role.TABLE), world.key(Role.FINANCE, casino_id="c1")):
        for query in ("limit=7", "limit=500", "after=now"):
            following = world.get(f"/v1/events?{query}", key=key).ok()["next"]
            world.get(f"/v1/events?after={following}", key=key).ok()


def _read_rounds(world: World) -> None:
    for table_id in ("T1", "T2"):
        world.round("r1", table_id)
        world.get(f"/v1/tables/{table_id}/rounds").ok()
        world.get(f"/v1/tables/{table_id}/rounds?limit=2").ok()


def _add_to_days(world: World) -> None:
    for place in world.books.rows("SELECT jackpot_id, stripe_no FROM stripes WHERE summed_to < seq"):
        with world.engine.connect() as session, transactions.committed(session) as pipe:
            stripes.lock_one(pipe, place["jackpot_id"], place["stripe_no"])
            days.add(pipe, place["jackpot_id"], stripe_no=place["stripe_no"])


def _open_house(world: World) -> None:
    """Open and add over HTTP what a house is made of."""
    operator = world.person("Olga", Role.OPERATOR)
    table = {"table_id": "T8", "casino_id": "c3", "game": "caribbean-stud", "jackpot_id": "j3"}
    for path, body in (
        ("/v1/casinos", {"casino_id": "c3", "name": "Casino c3", "zone": "Europe/Riga"}),
        ("/v1/rate-sheets", {"base": "USD", "rates": {"GBP": "1.25"}}),
        ("/v1/jackpots", {"jackpot_id": "j3", "rulebook": LIVE, "currency": "USD", "base_amount": "10"}),
        ("/v1/tables", table),
    ):
        signed = {"request_id": f"add{path.replace('/', '-')}", "reason": "opening", **body}
        world.post(path, signed, key=operator).ok(201)
        world.post(path, signed, key=operator).ok(200)
    stripes = {"request_id": "more-stripes", "reason": "more tables", "stripes": 20}
    world.put("/v1/jackpots/j3/stripes", stripes, key=operator).ok(201)


def _open_pages(world: World) -> None:
    for role in (Role.OPERATOR, Role.FINANCE, Role.AUDITOR):
        statuses = walk(Visitor(world).sign_in(role), most_of_a_view=3)
        assert set(statuses.values()) <= {200, 303}, statuses


def _sign(world: World) -> None:
    """Approve by a passkey, then lose it."""
    petra, blue = world.person("Petra", Role.FINANCE), Authenticator()
    options = world.call("POST", "/v1/passkeys/options", key=petra).ok()["publicKey"]
    credential = body_of_credential(blue.make(options))
    new = {"request_id": "passkey", "name": "blue", "reason": "mine", "credential": credential}
    made = world.post("/v1/passkeys", new, key=petra).ok(201)
    adjustment = {"jackpot_id": "j1", "account": "reserve", "amount": "1", "document": "memo", "cause": "count-error"}
    world.ask("adjustment", adjustment, request_id="signed").ok(201)
    approval = "/v1/change-requests/signed/approval"
    options = world.call("POST", f"{approval}/options", key=petra).ok()["publicKey"]
    signed = {"reason": "checked", "assertion": body_of_assertion(blue.sign(options))}
    world.post(approval, signed, key=petra).ok()
    lost = {"request_id": "lost", "reason": "lost"}
    world.post(f"/v1/passkeys/{made['passkey_id']}/revocation", lost, key=world.key(Role.OPERATOR)).ok(201)


def _act(world: World) -> None:
    operator = world.person("Olga", Role.OPERATOR)
    for number, deed in enumerate(("suspension", "resumption")):
        body = {"request_id": f"act-{number}", "reason": "maintenance"}
        world.put(f"/v1/jackpots/j1/{deed}", body, key=operator).ok(201)
    world.add_casino("c2")
    world.add_table("T9", jackpot_id="j2", casino_id="c2")
    world.key_of(Principal("Tessa", Role.TABLE, "c2", frozenset({"T9"})))


def _pay(world: World) -> None:
    award, *_ = world.get("/v1/awards?state=payable").ok()["items"]
    body = {"request_id": "paid", "reference": "slip"}
    for key in (world.person("Olga", Role.OPERATOR), world.key(Role.TABLE)):
        world.put(f"/v1/awards/{award['award_id']}/payment", body, key=key)


def _print(world: World) -> None:
    award, *_ = world.get("/v1/awards?state=paid").ok()["items"]
    path = f"/v1/awards/{award['award_id']}/slip"
    assert world.post(path, {"request_id": "slip"}, key=world.person("Olga", Role.OPERATOR)).status == 201
    assert world.get(path, key=world.person("Olga", Role.OPERATOR)).status == 200


def _stop(world: World) -> None:
    award, *_ = world.get("/v1/awards?state=payable").ok()["items"]
    body = {"request_id": "stop", "reason": "in doubt"}
    world.put(f"/v1/awards/{award['award_id']}/stop", body, key=world.person("Olga", Role.OPERATOR))
    named = {name: award[name] for name in ("jackpot_id", "table_id", "round_id")}
    world.change("held-awards", {**named, "decision": "release"}, request_id="release")


def _forfeit(world: World) -> None:
    world.change("casino-claims", {"casino_id": "c1", "claim_days": 1}, request_id="claims")
    world.clock.advance(timedelta(days=2))
    world.post("/v1/unclaimed-awards", {}, key=world.person("Olga", Role.OPERATOR)).ok()
    award, *_ = world.get("/v1/awards?state=unclaimed").ok()["items"]
    forfeiture = {name: award[name] for name in ("jackpot_id", "award_id")}
    world.change("award-forfeiture", forfeiture, request_id="forfeit")


def _change(world: World) -> None:
    for award in world.get("/v1/awards?state=held").ok()["items"]:
        named = {name: award[name] for name in ("jackpot_id", "table_id", "round_id")}
        decision = {**named, "bets": [award["bet_id"]], "decision": "approve"}
        world.change("held-awards", decision, request_id=f"held-{award['award_id']}")
    right = {"bet_count": 2, "hands": [hand("1", STRAIGHT), hand("2")]}
    correction = {"jackpot_id": "j1", "table_id": "T1", "round_id": "new-0", "result": right}
    world.change("round-correction", correction, request_id="correction")
    adjustment = {"account": "reserve", "amount": "10", "document": "memo", "cause": "count-error"}
    world.change("adjustment", {"jackpot_id": "j1", **adjustment}, request_id="adjustment")
    compensation = {"table_id": "T1", "round_id": "new-1", "bet_id": "a", "amount_minor": 2500, "document": "minutes"}
    world.change("compensation", {"jackpot_id": "j1", "currency": "EUR", **compensation}, request_id="compensation")
    paid = {"from": "2026-10-01T00:00:00Z", "to": "2026-11-01T00:00:00Z", "amount": "3.01", "reference": "october"}
    statement = {"jackpot_id": "j1", "casino_id": "c1", "currency": "EUR", **paid}
    world.change("statement-settlement", statement, request_id="statement")
    world.change("table-limits", {"jackpot_id": "j1", "table_id": "T2", "largest_stake": "50"}, request_id="limit")
    withheld = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 100, "withhold_at_minor": 200, "percent": "24"}
    world.change("casino-withholding", withheld, request_id="withholding")
    world.change("rules", {"jackpot_id": "j1", "settings": {"split.meter": "0.40"}}, request_id="rules")
    rates = {"base": "EUR", "rates": {"GBP": "1.18"}}
    world.ask("rate-sheet", rates, request_id="rates", by="Rita", role=Role.RATES).ok(201)
    world.approve("rates", by="Ralf", role=Role.RATES).ok()
    world.ask("seed-recovery", {"jackpot_id": "j1"}, request_id="recovery")
    for round_id in ("new-3", "new-4", "new-5", "r2"):
        world.put_cancellation(round_id=round_id).ok(201)
    world.change("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="true-up")
    policy = {"rules": {"requested_by": ["operator"], "decided_by": ["operator"]}}
    world.change("change-policy", {"kinds": policy}, request_id="policy")
    world.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="retired")


LISTS: Final = (
    "/v1/jackpots",
    "/v1/jackpots/j1",
    "/v1/jackpots/j1/paytable",
    "/v1/jackpots/j1/rules?currency=GBP&lang=de",
    "/v1/jackpots/j1/hits",
    "/v1/jackpots/j1/table-limits",
    "/v1/casinos/c1/withholding-rules",
    "/v1/rates?base=EUR",
    "/v1/rates/history?base=EUR&currency=GBP",
    "/v1/rates/histories?base=EUR&currency=GBP,SEK",
    "/v1/rates/in-force",
    "/v1/rates/use?base=EUR",
    "/v1/change-policy",
    "/v1/change-policy?version=1",
    "/v1/change-requests",
    "/v1/change-requests/correction",
    "/v1/audit",
    "/v1/audit?jackpot_id=j1",
    "/v1/audit/1",
    "/v1/exceptions",
    "/v1/exceptions?table_id=T1",
    "/v1/keys",
    "/v1/awards",
    "/v1/awards?jackpot_id=j1",
    "/v1/awards?state=payable",
    "/v1/awards?state=rejected",
    "/v1/awards?state=held",
    "/v1/awards?state=unclaimed",
    "/v1/casinos/c1/claims",
    "/v1/awards?player_id=player-of-a",
    "/v1/players/player-of-a/bets",
    "/v1/rounds?game_number=21:10:10",
    "/v1/rounds",
    "/v1/rounds?ended=false",
    "/v1/rounds?ended=false&player_id=player-of-a",
    "/v1/rounds?ended=false&table_id=T2&casino_id=c1&bet_id=a",
    "/v1/rounds?table_id=T1&state=cancelled",
    "/v1/rounds?player_id=player-of-a",
    "/v1/rounds?bet_id=a&jackpot_id=j1",
    "/v1/me",
    "/v1/casinos",
    "/v1/casinos/c1",
    "/v1/tables",
    "/v1/tables/T1",
    "/v1/tables/T3",
    "/v1/tables/T1/rounds/r1?player_id=player-of-a",
    "/v1/entries/j1/0/1",
    "/v1/entries/-/0/1",
    "/v1/checkpoints",
    "/v1/verifications",
    "/v1/stripe-heads",
    "/v1/verification-runs",
    "/v1/seals",
    "/v1/award-totals",
    "/v1/award-totals?jackpot_id=j1&casino_id=c1",
    "/v1/awards?open=true&oldest_first=true",
    "/v1/exception-counts",
    "/v1/exception-counts?acknowledged=false&jackpot_id=j1",
    "/v1/change-request-counts",
    "/v1/change-request-counts?kind=rules",
    "/v1/closed-periods",
    "/v1/jobs",
)


def _list(world: World) -> None:
    for path in LISTS:
        world.get(path).ok()
    for path in ("/v1/exceptions", "/v1/awards"):
        world.get(path, key=world.key(Role.FINANCE, casino_id="c1")).ok()
    award, *_ = world.get("/v1/awards").ok()["items"]
    world.get(f"/v1/awards/{award['award_id']}").ok()


def _refuse(world: World) -> None:
    for number in range(2):
        world.post_bets(bet(f"zloty-{number}", currency="PLN"), round_id="refused").problem(422, "no-rate")


def _acknowledge(world: World) -> None:
    noted, *_ = world.get("/v1/exceptions").ok()["items"]
    body = {"request_id": "seen", "reason": "looked into"}
    path = f"/v1/exceptions/{noted['exception_id']}/acknowledgement"
    world.post(path, body, key=world.person("Olga", Role.OPERATOR)).ok(201)


def _report(world: World) -> None:
    of_house, of_casino = world.key(Role.FINANCE), world.key(Role.FINANCE, casino_id="c1")
    for name, report_ in REPORTS.items():
        for key in (of_house, *([of_casino] if report_.is_for_casinos else [])):
            for scope in ({}, {"from": "2026-11-20"}, {"jackpot_id": "j1"}):
                query = "&".join(f"{word}={value}" for word, value in {**stated(report_), **scope}.items())
                for form in ("json", "csv"):
                    answer = world.get(f"/v1/reports/{name}?format={form}&{query}", key=key)
                    assert answer.status in ({200, 422} if scope else {200}), answer.text


def _run_jobs(world: World) -> None:
    journal = {"jackpot_id": "j1", "format": "beancount"}
    rounds = {"name": "rounds", "format": "csv"}
    jobs = [
        world.ask_job(journal, request_id="journal"),
        world.ask_job(rounds, kind="report", request_id="rounds", key=world.key(Role.FINANCE)),
    ]
    while world.runner().run_next():
        pass
    for job in jobs:
        world.get(f"/v1/jobs/{job.ok(201)['job_id']}/file")


def _reconcile(world: World) -> None:
    while reconcile_next(world.engine, now=world.clock() + timedelta(days=2)):
        pass


def _close(world: World) -> None:
    everything.close_a_period(world.engine, world.clock())


def _seal(world: World) -> None:
    sealing = SealBooks(Act(SYSTEM_OPERATOR, world.clock()), signing.new_key(), "0")
    world.transact(lambda session: seal_books(session, sealing))
    world.get("/v1/seals/1").ok()


def _watch(world: World) -> None:
    world.get("/metrics")
    world.get("/readyz")


def _verify(world: World) -> None:
    with snapshots.snapshot(world.engine) as session:
        verification = verify(session)
    assert not verification.mismatches
    reached = Reached({}, is_whole=True, entries=0, rounds=0, bets=0, awards=0)
    world.transact(
        lambda session: checkpoints.add_verification(
            session, reached, begun_at=world.clock(), noted_at=world.clock(), service_version="0", continues=None
        )
    )


WRITE_PATH: Final = frozenset({"bets", "voids", "results", "cancellations", "meters", "rounds", "sums of days"})
"""The parts that every table server and every display waits for: no statement of theirs may break a rule."""

PARTS: Final[Mapping[str, Callable[[World], None]]] = {
    "opening": _open,
    "bets": _bet,
    "voids": _void,
    "results": _settle,
    "cancellations": _cancel,
    "meters": _read_meters,
    "events": _read_events,
    "rounds": _read_rounds,
    "sums of days": _add_to_days,
    "acts": _act,
    "founding": _open_house,
    "payment": _pay,
    "slip": _print,
    "stop": _stop,
    "forfeit": _forfeit,
    "passkeys": _sign,
    "changes": _change,
    "lists": _list,
    "refusals": _refuse,
    "acknowledgement": _acknowledge,
    "reports": _report,
    "jobs": _run_jobs,
    "reconciliation": _reconcile,
    "close": _close,
    "seal": _seal,
    "watching": _watch,
    "pages": _open_pages,
    "verification": _verify,
}
"""In the order in which they are played."""
