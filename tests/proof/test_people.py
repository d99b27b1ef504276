"""The proof finds who decided, released or was paid against the rules: each case forges rows, and is undone."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.ledger.mismatches import Code
from jackpot_service.proof.proof import verify
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import DecideChange, RequestChange, decide_change, request_change
from jackpot_service.usecases.keys import create_key
from jackpot_service.usecases.record_evidence import RecordEvidence, record_evidence
from jackpot_service.usecases.record_payment import RecordPayment, record_payment
from tests.proof.corruption import Corruption, change, codes_after, forge, mismatches_after, remove
from tests.races import scene
from tests.support import history, people
from tests.support.payouts import held_from

pytestmark = pytest.mark.slow

OLGA, ODA, OLE = (Principal(name, Role.OPERATOR) for name in ("Olga", "Oda", "Ole"))
FRED, FINN = (Principal(name, Role.FINANCE) for name in ("Fred", "Finn"))


def act(principal: Principal = SYSTEM_OPERATOR, request_id: str | None = None) -> Act:
    return Act(principal, datetime.now(UTC), request_id, "as agreed")


def write(url: str) -> None:
    """
    Write what each case makes wrong: an emergency, and awards of rounds by a key that Olga made for a table server.

    Oda pays one award. Under a policy that Oda and Ole changed, Fred approves another that was held, a compensation and
    a correction.
    """
    with history.engine_of(url) as engine:
        scene.open_house(engine)
        tiers = held_from("250", Evidence.WITNESS)
        scene.open_live(engine, "live", tables=["T1"], base_amount="1000", settings={"payout_tiers": tiers})
        for person in (OLGA, ODA, OLE, FRED, FINN):
            people.enrolled(engine, act(person))
        for person in (ODA, OLE):
            transact(engine, partial(people.with_key, act=act(person)))
        transact(engine, partial(create_key, act=act(OLGA, "k1"), principal=scene.SERVER))
        people.enrolled(engine, act(Principal("robot", Role.OPERATOR, is_automaton=True)))
        ask(engine, "change-policy", POLICY, "policy", by=ODA)
        decide(engine, "policy", by=OLE)
        _play(engine)
        people.switch(url, act(), is_on=True)
        ask(engine, "adjustment", ADJUSTMENT, "alone", by=ODA)
        decide(engine, "alone", by=ODA, is_emergency=True)
        people.switch(url, act(), is_on=False)


def _play(engine: sqlalchemy.Engine) -> None:
    for round_id, cards in (("won", scene.FLUSH), ("held", FOUR), ("lost", scene.NOTHING)):
        scene.bet(engine, "T1", round_id, scene.euro("b1"))
        for award in scene.settle(engine, "T1", round_id, 1, {"1": cards}).awards:
            if round_id == "won":
                paying = RecordPayment(act(ODA, "p1"), award.award_id, "slip")
                transact(engine, partial(record_payment, command=paying))
    scene.bet(engine, "T1", "cancelled", scene.euro("b1"))
    scene.cancel(engine, "T1", "cancelled")
    seen = RecordEvidence(act(ODA, "seen"), "T1", "held", Evidence.WITNESS, "the floor manager was there")
    transact(engine, partial(record_evidence, command=seen))
    for kind, payload in CHANGES.items():
        ask(engine, kind, payload, kind, by=OLGA)
        decide(engine, kind, by=FRED)


def ask(engine: sqlalchemy.Engine, kind: str, payload: Mapping[str, Any], request_id: str, *, by: Principal) -> None:
    transact(engine, partial(request_change, command=RequestChange(act(by, request_id), kind, payload)))


def decide(engine: sqlalchemy.Engine, request_id: str, *, by: Principal, is_emergency: bool = False) -> None:
    command = DecideChange(act(by), request_id, Outcome.APPROVED, is_emergency=is_emergency)
    transact(engine, partial(decide_change, command=command))


FOUR: Final = "9h 9d 9s 9c 5h"
ADJUSTMENT: Final = {"jackpot_id": "live", "account": "reserve", "amount": "1"} | {
    "document": "memo 1",
    "cause": "count-error",
}
POLICY: Final = {"kinds": {"rules": {"requested_by": ["operator"], "decided_by": ["operator"]}}}
CHANGES: Final[Mapping[str, Mapping[str, Any]]] = {
    "held-awards": {"jackpot_id": "live", "table_id": "T1", "round_id": "held", "decision": "approve"},
    "compensation": {
        "jackpot_id": "live",
        "table_id": "T1",
        "round_id": "cancelled",
        "bet_id": "b1",
        "amount_minor": 1,
        "currency": "EUR",
        "document": "minutes 1",
    },
    "round-correction": {
        "jackpot_id": "live",
        "table_id": "T1",
        "round_id": "lost",
        "result": {"bet_count": 1, "hands": [{"hand": "1", "cards": scene.FLUSH.split()}]},
    },
}

BY_ANOTHER: Final = "UPDATE entries SET principal = '{}' WHERE jackpot_id = '-' AND kind = '{}'"
"""Who did an act is in its entry, whose digest covers it."""

HELD: Final = f"request_id = '{'held-awards'}'"

GRANT: Final = "request_id = 'compensation'"
GRANTS: Final = "kind = 'compensation' AND version = 2"

ASKED_BY: Final = """
UPDATE entries SET principal = '{}' WHERE jackpot_id = '-' AND stripe_no = 0 AND seq = (
    SELECT entry_seq FROM change_requests WHERE request_id = 'compensation'
)
"""

CORRUPTIONS: Final = (
    *(
        Corruption("entries", BY_ANOTHER.format("Olga", kind), "entry-digest award-principal act-principal")
        for kind in ("awards_approved", "compensation", "round_corrected")
    ),
    Corruption("entries", BY_ANOTHER.format("Olga", "award_paid"), "entry-digest award-principal"),
    Corruption("entries", BY_ANOTHER.format("server", "award_paid"), "entry-digest award-principal"),
    Corruption("entries", BY_ANOTHER.format("Ole", "award_paid"), "entry-digest"),
    change("change_decisions", "checker = 'robot'", HELD, "change-record change-principal"),
    change("change_decisions", "checker = 'server'", HELD, "change-record change-principal"),
    change("change_decisions", "checker = 'cli'", HELD, "change-record change-principal"),
    change("change_decisions", "checker = 'nobody'", HELD, "change-record change-principal"),
    change("change_decisions", "checker = 'Finn'", HELD, "change-record"),
    change("change_decisions", "checker = 'Ole'", HELD, "change-record change-principal"),
    change("change_decisions", "checker = 'Ole'", GRANT, "change-record change-principal"),
    change("change_requests", "approvals_due = 2", HELD, "entry-digest change-principal"),
    change("change_decisions", "is_final = NOT is_final", HELD, "entry-digest change-principal change-done"),
    Corruption("entries", BY_ANOTHER.format("robot", "evidence_recorded"), "entry-digest act-principal"),
    Corruption(
        "entries", BY_ANOTHER.format("server", "evidence_recorded"), "entry-digest act-principal award-principal"
    ),
    change(
        "acts",
        """after = jsonb_set(after, '{evidence}', '"surveillance"')""",
        "request_id = 'seen'",
        "entry-digest entry-postings act-record",
    ),
    change("acts", "after = after - 'evidence'", "request_id = 'seen'", "entry-digest entry-underivable"),
    change(
        "acts",
        """after = jsonb_set(after, '{evidence}', '"photo"')""",
        "request_id = 'seen'",
        "entry-digest entry-underivable",
    ),
    change("principals", "role = 'auditor'", "name = 'Fred'", "entry-digest change-principal act-principal"),
    change("principals", "is_automaton = true", "name = 'Fred'", "entry-digest change-principal"),
    change("principals", "department = 'cage'", "name = 'Fred'", "entry-digest"),
    change("principals", "department = 'operator'", "name = 'Fred'", "entry-digest change-principal"),
    change("principals", "department = 'finance'", "name = 'Olga'", "entry-digest change-principal"),
    Corruption("entries", ASKED_BY.format("Ole"), "entry-digest change-record"),
    Corruption("entries", ASKED_BY.format("Finn"), "entry-digest change-record act-principal"),
    change(
        "change_policies", "decided_by = '{operator}'", "kind = 'held-awards' AND version = 1", "document-without-entry"
    ),
    change("change_policies", "kind = 'x'", "kind = 'held-awards' AND version = 1", "document-without-entry"),
    remove("change_policies", "kind = 'held-awards' AND version = 1", "document-without-entry"),
    change("change_policies", "decided_by = '{operator}'", GRANTS, "entry-digest change-principal act-principal"),
    change("change_policies", "requested_by = '{rates}'", GRANTS, "entry-digest act-principal"),
    change("change_policies", "decided_by = '{finance,rates}'", GRANTS, "entry-digest"),
    change("change_policies", "needs_other_department = true", GRANTS, "entry-digest"),
    change("change_policies", "needs_other_role = true", GRANTS, "entry-digest"),
    change("change_policies", "needs_passkey = true", GRANTS, "entry-digest assertion-missing"),
    change("change_policies", "kind = 'x'", GRANTS, "entry-digest"),
    change("change_policies", "version = 3", GRANTS, "entry-digest document-without-entry"),
    change("change_policies", "entry_seq = entry_seq + 1000", GRANTS, "entry-digest document-without-entry"),
    remove("change_policies", GRANTS, "entry-digest"),
    forge(
        "change_policies",
        "kind, 3, requested_by, '{operator}', false, false, false, 1000",
        f"change_policies WHERE {GRANTS}",
        "document-without-entry",
    ),
    change(
        "acts",
        "after = jsonb_set(after, '{kinds,rules,decided_by}', '[\"finance\"]')",
        "decides = 'policy' AND after ? 'kinds'",
        "entry-digest change-done",
    ),
    change("acts", "before = '{}'", "decides = 'policy' AND after ? 'kinds'", "entry-digest change-done"),
    change(
        "change_requests",
        "payload = jsonb_set(payload, '{kinds,rules,requested_by}', '[\"rates\"]')",
        "request_id = 'policy'",
        "entry-digest change-done",
    ),
    change("change_requests", "payload = '{}'", "request_id = 'policy'", "entry-digest change-done"),
    change("emergency_switches", "is_on = false", "is_on", "entry-digest change-principal"),
    change("emergency_switches", "is_on = true", "entry_seq = 0", "document-without-entry"),
    change("emergency_switches", "entry_seq = -1", "entry_seq = 0", "document-without-entry"),
    change("emergency_switches", "entry_seq = 1000", "entry_seq = 0", "document-without-entry entry-digest"),
    change("emergency_switches", "entry_seq = entry_seq - 1", "is_on", "document-without-entry entry-digest"),
    change(
        "emergency_switches",
        "entry_seq = entry_seq + 2",
        "is_on",
        "document-without-entry entry-digest change-principal",
    ),
    remove("emergency_switches", "entry_seq = 0", "entry-digest document-without-entry"),
    remove("emergency_switches", "is_on", "entry-digest change-principal"),
    forge("emergency_switches", "entry_seq + 100, true", "emergency_switches", "document-without-entry"),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_what_nobody_touched_is_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


def test_a_checker_whose_name_is_the_makers_in_other_letters_is_found(superuser: Session) -> None:
    superuser.execute(text("DROP INDEX uq_principals_name_in_one_case, uq_principals_name_by_look"))
    renamed = change("principals", "name = 'OLGA'", "name = 'Fred'", "entry-digest change-principal act-principal")
    assert codes_after(superuser, renamed) == renamed.codes


POLICY_OF_HELD_AWARDS: Final = (
    '{"requested_by": ["finance", "operator"], "decided_by": ["finance", "operator"], '
    '"needs_other_department": true, "needs_other_role": true, "needs_passkey": false}'
)
ADDED_LATER: Final = "UPDATE principals SET entry_seq = 1000 WHERE name = 'Fred'"
OF_THE_MAKERS_ROLE: Final = "UPDATE principals SET role = 'operator', department = 'night' WHERE name = 'Fred'"
OF_ANOTHER_CASINO: Final = f"""
    WITH moved AS (UPDATE principals SET casino_id = 'c9' WHERE name = 'server')
    {BY_ANOTHER.format("server", "award_paid")}
"""  # noqa: S608  constants


@pytest.mark.parametrize(
    ("statement", "code", "reason"),
    [
        (ADDED_LATER, Code.ACT_PRINCIPAL, "by Fred: was added by act 1000"),
        (ADDED_LATER, Code.CHANGE_PRINCIPAL, "Fred was not there yet"),
        (OF_ANOTHER_CASINO, Code.ACT_PRINCIPAL, "by server: is of casino c9, the award is of c1"),
        (BY_ANOTHER.format("server", "compensation"), Code.ACT_PRINCIPAL, "by server: is of casino c1"),
        (BY_ANOTHER.format("server", "compensation"), Code.ACT_PRINCIPAL, "by server: is of the role table"),
        (OF_THE_MAKERS_ROLE, Code.CHANGE_PRINCIPAL, "Fred is of the maker's role, operator"),
        (BY_ANOTHER.format("nobody", "compensation"), Code.ACT_PRINCIPAL, "by nobody: is nobody"),
        (
            "UPDATE change_policies SET kind = 'x' WHERE kind = 'held-awards' AND version = 1",
            Code.DOCUMENT_WITHOUT_ENTRY,
            f"x: states {POLICY_OF_HELD_AWARDS}, shipped was nothing",
        ),
    ],
)
def test_the_proof_says_why_somebody_could_not_have_done_it(
    superuser: Session, statement: str, code: Code, reason: str
) -> None:
    reasons = [mismatch.detail for mismatch in mismatches_after(superuser, statement) if mismatch.code == code]

    assert [reason_ for reason_ in reasons if reason_.endswith(reason)] != []
