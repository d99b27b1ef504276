"""Whatever the books can hold: at least one row of each table."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import sqlalchemy

from jackpot_service import signing
from jackpot_service.api.periods import closed
from jackpot_service.database.transactions import transact
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.exports.jobs.kinds import Requester
from jackpot_service.exports.jobs.requests import KINDS, CreateJob, create
from jackpot_service.exports.jobs.runner import Runner
from jackpot_service.ledger import days as kept_days
from jackpot_service.ledger.verification import Reached
from jackpot_service.passkeys import LOCALHOST
from jackpot_service.records import browser_sessions, checkpoints, exceptions, noted_exceptions
from jackpot_service.records.exceptions import ExceptionRecord
from jackpot_service.records.noted_exceptions import ExceptionFilters
from jackpot_service.records.rounds import RoundName
from jackpot_service.reports.reconciling import reconcile_next
from jackpot_service.usecases.acknowledge_exception import AcknowledgeException, acknowledge_exception
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import DecideChange, RequestChange, decide_change, request_change
from jackpot_service.usecases.keys import create_key, hash_of
from jackpot_service.usecases.passkeys import begin_registration, revoke_passkey
from jackpot_service.usecases.print_slip import PrintSlip, print_slip
from jackpot_service.usecases.record_payment import RecordPayment, record_payment
from jackpot_service.usecases.seal_books import SealBooks, seal_books
from tests.races import scene
from tests.support import people, rolling, signing_people, two_people
from tests.support.authenticator import Authenticator


def write(engine: sqlalchemy.Engine) -> None:
    """Write at least one row into each table."""
    kept_days.CHANCE.seed(1)  # It rolls nothing up: that is done once, on the way, so that both tables have rows.
    now = datetime.now(UTC)
    play(engine, now=now)
    auditor = Principal("auditor", Role.AUDITOR)
    key = transact(engine, lambda session: create_key(session, Act(SYSTEM_OPERATOR, now), auditor))
    signed_in = partial(browser_sessions.add, key_id=key.key_id, at=now, proved_at=now)
    transact(engine, lambda session: signed_in(session, hash_of("secret")))
    _administer(engine)
    _sign(engine)
    close_a_period(engine, now)
    requester = Requester(auditor, now, timedelta(minutes=15))
    create(engine, CreateJob(requester, "j1", KINDS["journal"], {"jackpot_id": "live", "format": "beancount"}))
    assert Runner(engine, timedelta(days=7)).run_next()
    while reconcile_next(engine, now=now + timedelta(days=2)):
        pass
    seal(engine, now)
    reached = Reached({}, is_whole=True, entries=0, rounds=0, bets=0, awards=0)
    transact(
        engine,
        lambda session: checkpoints.add_verification(
            session, reached, begun_at=now, noted_at=now, service_version="0", continues=None
        ),
    )


def play(engine: sqlalchemy.Engine, *, now: datetime) -> None:
    """Play rounds, and have an exception acknowledged."""
    scene.open_house(engine)
    scene.publish(engine, GBP="1.18")
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    scene.bet(engine, "T1", "r1", scene.euro("b1"), scene.euro("b2"))
    rolling.roll_up(engine)
    scene.void(engine, "T1", "r1", "b2", "never")
    scene.settle(engine, "T1", "r1", 1, {"1": scene.ROYAL})
    scene.correct(engine, "live", RoundName("T1", "r1"), 1, {"1": scene.FLUSH})
    scene.cancel(engine, "T1", "r2")
    scene.bet(engine, "T1", "r4", scene.euro("b1"))
    (won,) = scene.settle(engine, "T1", "r4", 1, {"1": scene.FLUSH}).awards
    paid = RecordPayment(Act(SYSTEM_OPERATOR, scene.now(), request_id="paid"), won.award_id, "slip")
    transact(engine, lambda session: record_payment(session, paid))
    slip = PrintSlip(Act(SYSTEM_OPERATOR, scene.now(), request_id="slip"), won.award_id)
    transact(engine, lambda session: print_slip(session, slip))
    record = ExceptionRecord(
        kind="late-bet",
        table_id="T1",
        round_id="r1",
        principal="server",
        noticed_at=now,
        content=[],
        request={"bets": []},
        detail="Too late.",
    )
    transact(engine, lambda session: exceptions.keep(session, [record]))
    counted = replace(record, kind="no-rate", round_id="", is_counted=True)
    transact(engine, lambda session: exceptions.count(session, counted))
    noted = transact(
        engine, lambda session: noted_exceptions.latest(session, ExceptionFilters(), opened_before=now, limit=1)
    )[0]
    act = Act(Principal("Olga", Role.OPERATOR), now, request_id="a1", reason="looked into")
    acknowledge = AcknowledgeException(people.enrolled(engine, act), noted.exception_id, now)
    transact(engine, lambda session: acknowledge_exception(session, acknowledge))


def _administer(engine: sqlalchemy.Engine) -> None:
    """Have a compensation, a settled statement, a table's limits, claims and a change policy asked for and approved."""
    scene.bet(engine, "T1", "r3", scene.euro("b1"))
    scene.cancel(engine, "T1", "r3")
    compensation = {"table_id": "T1", "round_id": "r3", "bet_id": "b1", "amount_minor": 1, "document": "minutes"}
    paid = {"casino_id": "c1", "from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z", "amount": "1"}
    for kind, payload in (
        ("table-limits", {"table_id": "T1", "largest_stake": "50"}),
        ("compensation", compensation),
        ("statement-settlement", paid | {"reference": "january"}),
    ):
        asking, deciding = (
            people.enrolled(engine, Act(principal, scene.now(), request_id, "as agreed"))
            for principal, request_id in ((people.asker_of(kind), kind), (people.checker_of(kind), None))
        )
        currency = {} if kind == "table-limits" else {"currency": "EUR"}
        request = RequestChange(asking, kind, {"jackpot_id": "live", **currency, **payload})
        decided = DecideChange(deciding, str(kind), Outcome.APPROVED)
        transact(engine, partial(request_change, command=request))
        transact(engine, partial(decide_change, command=decided))
    rule = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 1, "withhold_at_minor": 1, "percent": "24"}
    transact(engine, partial(two_people.change, kind="casino-withholding", payload=rule, now=scene.now()))
    claims = {"casino_id": "c1", "claim_days": 90}
    transact(engine, partial(two_people.change, kind="casino-claims", payload=claims, now=scene.now()))
    policy = {"kinds": {"rules": {"requested_by": ["operator"], "decided_by": ["operator"]}}}
    transact(engine, partial(two_people.change, kind="change-policy", payload=policy, now=scene.now()))


def _sign(engine: sqlalchemy.Engine) -> None:
    """Have a passkey registered that signs an approval, another one revoked, and a challenge left."""
    person, blue, old = people.checker_of("seed-recovery"), Authenticator(), Authenticator()
    _, lost = (
        transact(
            engine,
            partial(signing_people.register, person=person, authenticator=authenticator, now=scene.now()),
        )
        for authenticator in (blue, old)
    )
    revoking = Act(person, scene.now(), "revoked", "lost")
    transact(engine, partial(revoke_passkey, act=revoking, passkey_id=lost.passkey_id))
    asking = Act(people.asker_of("adjustment"), scene.now(), "signed", "as agreed")
    request = RequestChange(asking, "adjustment", {"jackpot_id": "live", "account": "reserve"} | ADJUSTMENT)
    transact(engine, partial(request_change, command=request))
    transact(
        engine,
        partial(signing_people.approve, person=person, request_id="signed", authenticator=blue, now=scene.now()),
    )
    transact(engine, partial(begin_registration, act=Act(person, scene.now()), site=LOCALHOST, by_passkey=True))


ADJUSTMENT: Final = {"amount": "1", "document": "memo 1", "cause": "count-error"}


def close_a_period(engine: sqlalchemy.Engine, now: datetime) -> None:
    act = people.enrolled(engine, Act(Principal("Fay", Role.FINANCE), now, request_id="p1", reason="month end"))
    closed(engine, act, now)


def seal(engine: sqlalchemy.Engine, now: datetime) -> None:
    sealing = SealBooks(Act(SYSTEM_OPERATOR, now), signing.new_key(), "0")
    transact(engine, lambda session: seal_books(session, sealing))
