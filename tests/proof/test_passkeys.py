"""The proof finds whatever is changed about passkeys and signed approvals: each case changes rows, and is undone."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import pytest
import sqlalchemy
from cryptography.hazmat.primitives.asymmetric import ec
from sqlalchemy import text

from jackpot_service.database.models import Base
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.ledger.mismatches import Code
from jackpot_service.passkeys import LOCALHOST, request_options
from jackpot_service.proof.proof import verify
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import DecideChange, RequestChange, decide_change, request_change
from jackpot_service.usecases.changes.signed_effects import challenge_of
from jackpot_service.usecases.passkeys import revoke_passkey
from tests.proof.corruption import Corruption, change, codes_after, forge, mismatches_after, remove
from tests.races import scene
from tests.support import history, people, signing_people
from tests.support.authenticator import Authenticator
from tests.support.payouts import held_from

pytestmark = pytest.mark.slow

OLGA, ODA = (Principal(name, Role.OPERATOR) for name in ("Olga", "Oda"))
FRED, FINN = (Principal(name, Role.FINANCE) for name in ("Fred", "Finn"))

ADJUSTMENT: Final = {"jackpot_id": "live", "account": "reserve", "amount": "1"} | {
    "document": "memo 1",
    "cause": "count-error",
}
LIMITS: Final = {"jackpot_id": "live", "table_id": "T1", "largest_stake": "50"}
RATES: Final = {"base": "EUR", "rates": {"GBP": "1.18"}}
RULES: Final = {"jackpot_id": "live", "settings": {"payout_tiers": [{"from": "500", "approvals": 2}]}}
HELD: Final = {"jackpot_id": "live", "table_id": "T1", "round_id": "held", "decision": "approve"}


def now() -> datetime:
    return datetime.now(UTC)


def write(url: str) -> None:
    """
    Write approvals that Fred signed, alone, as the first of two with Finn's, and in an emergency of Olga's.

    Finn approved something before he had a passkey. Oda's was revoked by Olga before she approved something.
    """
    with history.engine_of(url) as engine:
        scene.open_house(engine)
        scene.open_live(
            engine, "live", tables=["T1"], base_amount="1000", settings={"payout_tiers": held_from("250", approvals=2)}
        )
        for person in (OLGA, ODA, FRED, FINN):
            people.enrolled(engine, Act(person, now()))
        scene.bet(engine, "T1", "held", scene.euro("b1"))
        scene.settle(engine, "T1", "held", 1, {"1": "9h 9d 9s 9c 5h"})
        ask(engine, "adjustment", ADJUSTMENT, "before", by=OLGA)
        decide(engine, "before", by=FINN)
        authenticators = {person.name: register(engine, person) for person in (FRED, FINN, ODA, OLGA)}
        revoke(engine, ODA, by=OLGA)
        ask(engine, "table-limits", LIMITS, "after", by=OLGA)
        decide(engine, "after", by=ODA)
        for kind, payload in (("adjustment", ADJUSTMENT), ("rules", RULES), ("held-awards", HELD)):
            ask(engine, kind, payload, f"signed-{kind}", by=OLGA)
            approve(engine, f"signed-{kind}", by=FRED, authenticator=authenticators["Fred"])
        approve(engine, "signed-held-awards", by=FINN, authenticator=authenticators["Finn"])
        people.switch(url, Act(SYSTEM_OPERATOR, now(), reason="nobody is there"), is_on=True)
        ask(engine, "adjustment", ADJUSTMENT, "alone", by=OLGA)
        approve(engine, "alone", by=OLGA, authenticator=authenticators["Olga"], is_emergency=True)


def authenticator_of(person: Principal) -> Authenticator:
    """The authenticator of a person, whose key follows from their name."""
    name = person.name.encode()
    return Authenticator(credential_id=name, key=ec.derive_private_key(int.from_bytes(name, "big"), ec.SECP256R1()))


def register(engine: sqlalchemy.Engine, person: Principal) -> Authenticator:
    authenticator = authenticator_of(person)
    transact(engine, partial(signing_people.register, person=person, authenticator=authenticator, now=now()))
    return authenticator


def revoke(engine: sqlalchemy.Engine, person: Principal, *, by: Principal) -> None:
    with engine.connect() as session:
        passkey_id = session.scalar(
            text("SELECT passkey_id FROM passkeys WHERE principal = :name"), {"name": person.name}
        )
    transact(engine, partial(revoke_passkey, act=Act(by, now(), "revoked", "lost"), passkey_id=str(passkey_id)))


def ask(engine: sqlalchemy.Engine, kind: str, payload: Mapping[str, Any], request_id: str, *, by: Principal) -> None:
    act = Act(by, now(), request_id, "as agreed")
    transact(engine, partial(request_change, command=RequestChange(act, kind, payload)))


def decide(engine: sqlalchemy.Engine, request_id: str, *, by: Principal) -> None:
    command = DecideChange(Act(by, now(), reason="checked"), request_id, Outcome.APPROVED)
    transact(engine, partial(decide_change, command=command))


def approve(
    engine: sqlalchemy.Engine,
    request_id: str,
    *,
    by: Principal,
    authenticator: Authenticator,
    is_emergency: bool = False,
) -> None:
    transact(
        engine,
        partial(
            signing_people.approve,
            person=by,
            request_id=request_id,
            authenticator=authenticator,
            now=now(),
            is_emergency=is_emergency,
        ),
    )


SIGNED: Final = "request_id = 'signed-adjustment'"
ALONE: Final = "request_id = 'alone'"
OF_FRED: Final = "principal = 'Fred'"
OF_ODA: Final = "principal = 'Oda'"
REVOKED: Final = "true"
ANOTHER: Final = "(SELECT passkey_id FROM passkeys WHERE principal = 'Finn')"
NOTHING: Final = ", ".join(
    f"{column} = NULL" for column in ("passkey_id", "authenticator_data", "client_data", "signature", "signed_effect")
)

CORRUPTIONS: Final = (
    change("change_decisions", NOTHING, SIGNED, "entry-digest assertion-missing"),
    change("change_decisions", NOTHING, ALONE, "entry-digest assertion-missing"),
    change("change_decisions", f"passkey_id = {ANOTHER}", SIGNED, "entry-digest assertion-passkey assertion-signature"),
    change("change_decisions", "passkey_id = 'nobody'", SIGNED, "entry-digest assertion-passkey"),
    change("change_decisions", "signature = sha256(signature)", SIGNED, "entry-digest assertion-signature"),
    change("change_decisions", "signature = ''", SIGNED, "entry-digest assertion-signature"),
    change(
        "change_decisions",
        "authenticator_data = set_byte(authenticator_data, 32, 4)",
        SIGNED,
        "entry-digest assertion-signature",
    ),
    change(
        "change_decisions",
        "authenticator_data = set_byte(authenticator_data, 0, 0)",
        SIGNED,
        "entry-digest assertion-signature",
    ),
    change(
        "change_decisions",
        "authenticator_data = set_byte(authenticator_data, 36, 0)",
        "request_id = 'signed-rules'",
        "entry-digest assertion-signature",
    ),
    change("change_decisions", "authenticator_data = ''", SIGNED, "entry-digest assertion-signature"),
    change("change_decisions", "client_data = ''", SIGNED, "entry-digest assertion-challenge"),
    change("change_decisions", "client_data = '[]'", SIGNED, "entry-digest assertion-challenge"),
    change(
        "change_decisions",
        "client_data = convert_to(replace(convert_from(client_data, 'UTF8'), 'localhost', 'evil.example'), 'UTF8')",
        SIGNED,
        "entry-digest assertion-challenge",
    ),
    change(
        "change_decisions",
        "client_data = convert_to(replace(convert_from(client_data, 'UTF8'), '.get', '.create'), 'UTF8')",
        SIGNED,
        "entry-digest assertion-signature",
    ),
    change(
        "change_decisions",
        "(authenticator_data, client_data, signature) = (SELECT authenticator_data, client_data, signature "
        "FROM change_decisions WHERE request_id = 'signed-rules')",
        SIGNED,
        "entry-digest assertion-challenge assertion-signature",
    ),
    change(
        "change_decisions",
        "signed_effect = jsonb_set(signed_effect, '{entries,0,postings,0,2}', '\"-7\"')",
        SIGNED,
        "entry-digest assertion-challenge",
    ),
    change("change_decisions", "signed_effect = '{}'", SIGNED, "entry-digest assertion-challenge"),
    change("change_requests", "reason = 'another'", SIGNED, "change-record assertion-challenge"),
    change("passkeys", "passkey_id = 'x'", OF_FRED, "entry-digest assertion-passkey"),
    change("passkeys", "principal = 'Finn'", OF_FRED, "entry-digest passkey-record assertion-passkey"),
    change("passkeys", "principal = 'nobody'", OF_FRED, "entry-digest passkey-record assertion-passkey"),
    change("passkeys", "name = 'red'", OF_FRED, "entry-digest"),
    change("passkeys", "credential_id = sha256(credential_id)", OF_FRED, "entry-digest"),
    change(
        "passkeys",
        "public_key = (SELECT public_key FROM passkeys WHERE principal = 'Finn')",
        OF_FRED,
        "entry-digest assertion-signature",
    ),
    change("passkeys", "public_key = ''", OF_FRED, "entry-digest assertion-signature"),
    change("passkeys", "sign_count = 100", OF_FRED, "entry-digest assertion-signature"),
    change("passkeys", "rp_id = 'jackpot.example'", OF_FRED, "entry-digest assertion-challenge"),
    change("passkeys", "entry_seq = 1", OF_FRED, "document-without-entry entry-digest passkey-record"),
    change(
        "passkeys",
        "entry_seq = entry_seq + 1000",
        OF_FRED,
        "document-without-entry entry-digest assertion-passkey",
    ),
    remove("passkeys", OF_FRED, "entry-digest assertion-passkey"),
    remove("passkeys", OF_ODA, "entry-digest passkey-record"),
    forge(
        "passkeys",
        "'forged', 'Finn', 'x', sha256('x'), public_key, 0, rp_id, 1",
        "passkeys",
        "document-without-entry passkey-record assertion-missing",
    ),
    change(
        "passkey_revocations",
        f"passkey_id = {ANOTHER}",
        REVOKED,
        "entry-digest assertion-missing assertion-passkey",
    ),
    change("passkey_revocations", "passkey_id = 'x'", REVOKED, "entry-digest passkey-record assertion-missing"),
    change("passkey_revocations", "revoked_at = revoked_at + interval '1 us'", REVOKED, "entry-digest passkey-record"),
    change(
        "passkey_revocations",
        "entry_seq = entry_seq + 1000",
        REVOKED,
        "entry-digest document-without-entry assertion-missing",
    ),
    remove("passkey_revocations", REVOKED, "entry-digest assertion-missing"),
    forge(
        "passkey_revocations",
        "passkey_id, now(), 1",
        f"passkeys WHERE {OF_FRED}",
        "document-without-entry passkey-record assertion-passkey",
    ),
    Corruption(
        "entries",
        "UPDATE entries SET principal = 'Finn' WHERE jackpot_id = '-' AND kind = 'passkey_revoked'",
        "entry-digest passkey-record",
    ),
    Corruption(
        "entries",
        "UPDATE entries SET principal = 'Oda' WHERE jackpot_id = '-' AND kind = 'passkey_revoked'",
        "entry-digest passkey-record",
    ),
    Corruption(
        "entries",
        "UPDATE entries SET principal = 'server' WHERE jackpot_id = '-' AND kind = 'passkey_revoked'",
        "entry-digest passkey-record act-principal",
    ),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_what_nobody_touched_is_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()
    counts = text("SELECT count(passkey_id), count(*) FROM change_decisions")
    assert tuple(superuser.execute(counts).one()) == (5, 7)


FIRST_OF_TWO: Final = "request_id = 'signed-held-awards' AND checker = 'Fred'"


@pytest.mark.parametrize(
    ("where", "member", "value", "detail"),
    [
        (SIGNED, "{currency}", '"USD"', "moves or sets something else"),
        (FIRST_OF_TWO, "{currency}", '"USD"', "moves or sets something else"),
        (SIGNED, "{figured_at}", '"2020-01-01T00:00:00Z"', "at another time"),
        (SIGNED, "{figured_at}", '"2100-01-01T00:00:00Z"', "at another time"),
        (SIGNED, "{figured_at}", '"2026-01-01T00:00:00"', "cannot be read"),
        (SIGNED, "{figured_at}", "7", "cannot be read"),
    ],
)
def test_a_good_signature_of_another_effect_is_named(
    superuser: Session, where: str, member: str, value: str, detail: str
) -> None:
    effect_of = text(f"SELECT jsonb_set(signed_effect, :member, :value) FROM change_decisions WHERE {where}")  # noqa: S608
    effect = superuser.scalar(effect_of, {"member": member, "value": value})
    request_id = where.split("'")[1]
    request = superuser.execute(
        text("SELECT * FROM change_requests WHERE request_id = :request_id"), {"request_id": request_id}
    ).one()
    challenge = challenge_of(request, effect, is_emergency=False)
    fred = authenticator_of(FRED)
    fred.counter = 100
    signed = fred.sign(request_options(LOCALHOST, challenge))
    mismatches = mismatches_after(
        superuser,
        f"""
        UPDATE change_decisions SET signed_effect = jsonb_set(signed_effect, '{member}', '{value}'),
            authenticator_data = '\\x{signed.authenticator_data.hex()}', client_data = '\\x{signed.client_data.hex()}',
            signature = '\\x{signed.signature.hex()}'
        WHERE {where}
        """,  # noqa: S608
    )
    [named] = [each for each in mismatches if each.code == Code.ASSERTION_CHALLENGE]
    assert detail in named.detail


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


def test_every_column_is_changed_above() -> None:
    tables = Base.metadata.tables
    signed = ("passkey_id", "authenticator_data", "client_data", "signature", "signed_effect")
    columns = [*tables["passkeys"].columns, *tables["passkey_revocations"].columns]
    for column in [*columns, *(tables["change_decisions"].columns[name] for name in signed)]:
        assert any(
            corruption.table == column.table.name and f"{column.name} = " in corruption.statement
            for corruption in CORRUPTIONS
        ), column


FORGED: Final = """
    INSERT INTO change_decisions (request_id, maker, checker, outcome, reason, confirmed, is_emergency, is_final,
                                  decided_at, entry_seq{columns})
    SELECT request_id, maker, 'Finn', outcome, reason, confirmed, is_emergency, false, decided_at, entry_seq{values}
    FROM change_decisions WHERE request_id = 'signed-adjustment'
"""


@pytest.mark.parametrize(
    ("columns", "values", "code"),
    [
        ("", "", Code.ASSERTION_MISSING),
        (
            ", passkey_id, authenticator_data, client_data, signature, signed_effect",
            f", {ANOTHER}, authenticator_data, client_data, signature, signed_effect",
            Code.ASSERTION_SIGNATURE,
        ),
    ],
)
def test_an_approval_by_sql_is_named_by_what_it_lacks(
    superuser: Session, columns: str, values: str, code: Code
) -> None:
    mismatches = mismatches_after(superuser, FORGED.format(columns=columns, values=values))
    assert "change request signed-adjustment" in [mismatch.place for mismatch in mismatches if mismatch.code == code]
