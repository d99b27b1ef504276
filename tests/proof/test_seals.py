"""A seal shows what nothing else can: that the books were rewritten, consistently, by somebody with every right."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest

from jackpot_service import signing
from jackpot_service.database.models import SealRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain import seals
from jackpot_service.domain.seals import Seal
from jackpot_service.ledger.mismatches import Code
from jackpot_service.proof.checkpoints import GivenSeal, given_seals_hold
from jackpot_service.proof.proof import verify
from jackpot_service.records import checkpoints as records
from jackpot_service.usecases.seal_books import SealBooks, seal_books
from tests.proof.corruption import Corruption, change, codes_after, forge, mismatches_after, remove
from tests.support import history
from tests.support.forging import forget_last_act, rewrite_stake

pytestmark = pytest.mark.slow

TABLE = SealRow.__tablename__
KEY: Final = signing.new_key()
KEYS: Final = {KEY.public.key_id: KEY.public}

OPENING = "jackpot_id = 'cyber' AND stripe_no = 0 AND seq = 1"

CORRUPTIONS = (
    change(TABLE, "number = 7", "number = 2", "entry-digest seal-chain"),
    change(TABLE, "document = document || ' '", "number = 2", "entry-digest"),
    change(TABLE, "document = '{}'", "number = 1", "entry-digest seal-chain"),
    change(
        TABLE,
        """document = replace(document, '"cyber",0', '"cybor",0')""",
        "number = 2",
        "entry-digest seal-stripe seal-signature",
    ),
    change(
        TABLE,
        """document = replace(document, '"signature":"', '"signature":"0')""",
        "number = 2",
        "entry-digest seal-chain",
    ),
    change(
        TABLE,
        """document = regexp_replace(document, '"signature":"..', '"signature":"00')""",
        "number = 2",
        "entry-digest seal-signature",
    ),
    change(TABLE, "public_key = sha256(public_key)", "number = 2", "seal-signature"),
    change(TABLE, "entry_seq = entry_seq + 1000", "number = 2", "document-without-entry entry-digest"),
    change(TABLE, "entry_seq = entry_seq - 1", "number = 2", "document-without-entry entry-digest"),
    remove(TABLE, "number = 2", "entry-digest"),
    remove(TABLE, "number = 1", "entry-digest seal-chain"),
    forge(TABLE, "3, document, 1, public_key", f"{TABLE} WHERE number = 2", "document-without-entry seal-chain"),
    change("entries", "head = sha256(head)", OPENING, "chain-broken stripe-end seal-head"),
    change("stripes", "seq = seq - 1", "jackpot_id = 'live' AND stripe_no = 0", "stripe-end seal-stripe day-figures"),
)


def write(url: str) -> None:
    """Bets in open rounds at two tables, sealed twice with bets in between."""
    random.seed(5)
    with history.engine_of(url) as engine:
        casino = history.Casino(engine)
        history.open_casino(casino)
        for number in range(8):
            casino.bet("T1", f"r{number}", ("a", "ann", "h1", "EUR", 100), ("b", "bob", "h1", "GBP", 100))
            if number in {3, 6}:
                command = SealBooks(casino.operate(), KEY, "1.2.3")
                casino.act(lambda session, command=command: seal_books(session, command))  # type: ignore[misc]


def handed_out(session: Session) -> list[GivenSeal]:
    """The seals as they were handed out, before anything was rewritten."""
    return [GivenSeal(f"s{stored.number}.json", seals.read(stored.content)) for stored in records.every_seal(session)]


def codes(session: Session, seals_: Sequence[GivenSeal]) -> set[Code]:
    return {mismatch.code for mismatch in given_seals_hold(session, seals_, KEYS)}


def test_untouched_books_are_those_that_were_sealed(superuser: Session) -> None:
    given_seals = handed_out(superuser)

    assert [seal_.seal.number for seal_ in given_seals] == [1, 2]
    assert verify(superuser).mismatches == ()
    assert codes(superuser, given_seals) == set()


def test_a_seal_covers_every_stripe_of_every_book(superuser: Session) -> None:
    [_, last] = handed_out(superuser)
    assert {(stripe.book, stripe.stripe_no) for stripe in last.seal.stripes} == {
        ("-", 0),
        *(("capped", number) for number in range(2)),
        *(("cyber", number) for number in range(2)),
        *(("live", number) for number in range(3)),
    }


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


def test_every_column_is_changed_by_one_of_them() -> None:
    statements = " ".join(corruption.statement for corruption in CORRUPTIONS if corruption.table == TABLE)
    assert all(f"SET {column.name} =" in statements for column in SealRow.__table__.columns)


def test_a_rewritten_posting_with_all_its_chain_is_caught_by_seals_alone(superuser: Session) -> None:
    given_seals = handed_out(superuser)

    was = rewrite_stake(superuser, "live", "r1", "a", stake_minor=9_000)

    codes_ = {mismatch.code for mismatch in verify(superuser).mismatches}
    assert codes_ == {Code.SEAL_HEAD}, "the kept seal knows, and nothing else does"
    wrong = list(given_seals_hold(superuser, given_seals, KEYS))
    assert {(mismatch.code, mismatch.book) for mismatch in wrong} >= {(Code.SEAL_HEAD, "live")}
    assert f"stripe {was.stripe_no}, seq" in next(
        mismatch.place for mismatch in wrong if mismatch.code is Code.SEAL_HEAD
    )


def test_who_removes_the_kept_seals_too_deceives_verify_but_not_the_seal_outside(superuser: Session) -> None:
    given_seals = handed_out(superuser)
    superuser.exec_driver_sql("SAVEPOINT before")
    rewrite_stake(superuser, "live", "r7", "a", stake_minor=9_000)
    assert verify(superuser).mismatches == (), "what came after the last seal is covered by none"
    superuser.exec_driver_sql("ROLLBACK TO before")

    forget_last_act(superuser)
    forget_last_act(superuser)
    rewrite_stake(superuser, "live", "r1", "a", stake_minor=9_000)

    assert verify(superuser).mismatches == ()
    assert codes(superuser, given_seals) == {Code.SEAL_HEAD, Code.SEAL_CHAIN, Code.SEAL_STRIPE}


def test_a_seal_that_says_something_else_than_was_signed_is_named(superuser: Session) -> None:
    [first, last] = handed_out(superuser)
    stripes = (replace(last.seal.stripes[0], seq=1), *last.seal.stripes[1:])

    assert codes(superuser, [first, changed(last, service_version="1.2.4")]) == {Code.SEAL_SIGNATURE, Code.SEAL_CHAIN}
    assert codes(superuser, [changed(last, stripes=stripes)]) >= {Code.SEAL_SIGNATURE, Code.SEAL_HEAD}


def test_a_seal_by_another_key_than_those_given_is_named(superuser: Session) -> None:
    [first, last] = handed_out(superuser)
    another = signing.new_key()
    keys = {another.public.key_id: another.public}

    assert {mismatch.code for mismatch in given_seals_hold(superuser, [first], keys)} == {Code.SEAL_SIGNATURE}
    assert codes(superuser, [signed(last, another)]) == {Code.SEAL_SIGNATURE, Code.SEAL_CHAIN}


def test_seals_that_do_not_follow_one_another_are_named(superuser: Session) -> None:
    [first, last] = handed_out(superuser)
    other_first = signed(changed(first, service_version="1.2.4"), KEY)

    wrong = list(given_seals_hold(superuser, [other_first, last], KEYS))

    assert [(mismatch.code, mismatch.place) for mismatch in wrong] == [
        (Code.SEAL_CHAIN, "s1.json"),
        (Code.SEAL_CHAIN, "s2.json"),
    ]
    twice = list(given_seals_hold(superuser, [first, other_first], KEYS))
    assert {mismatch.code for mismatch in twice} == {Code.SEAL_CHAIN}
    assert codes(superuser, [first, last, first]) == set()


def test_a_stripe_that_is_gone_is_named(superuser: Session) -> None:
    given_seals = handed_out(superuser)
    mismatches_after(superuser, "DELETE FROM stripes WHERE jackpot_id = 'live' AND stripe_no = 2")

    wrong = [
        mismatch for mismatch in given_seals_hold(superuser, given_seals, KEYS) if mismatch.code is Code.SEAL_STRIPE
    ]

    assert [(mismatch.book, mismatch.place.partition(",")[0]) for mismatch in wrong] == [("live", "stripe 2")] * 2
    assert "the stripe is not there" in wrong[0].detail


def changed(given_seal: GivenSeal, **fields: object) -> GivenSeal:
    return GivenSeal(given_seal.name, replace(given_seal.seal, **fields))  # type: ignore[arg-type]


def signed(given_seal: GivenSeal, key: signing.SigningKey) -> GivenSeal:
    unsigned: Seal = replace(given_seal.seal, public_key_id=key.public.key_id)
    return GivenSeal(given_seal.name, replace(unsigned, signature=key.sign(unsigned.signed_bytes)))
