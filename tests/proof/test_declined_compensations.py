"""The proof finds a denied prize that one person closed, or nobody, or an act that names another."""

from typing import Final

import pytest

from jackpot_service.database.transactions import Session
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, change, codes_after, forge, remove
from tests.support.bets import bet
from tests.support.hands import FLUSH, STRAIGHT, THREE_OF_A_KIND, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

BETS: Final = {"granted": ("b1", FLUSH), "declined": ("b2", STRAIGHT), "left": ("b3", THREE_OF_A_KIND)}


def write(url: str) -> None:
    """Cancel a round of three winners: one is compensated, one is declined, nobody has decided about the third."""
    world = World(url)
    world.open(base_amount="1000")
    world.bet(*(bet(bet_id, hand=bet_id) for bet_id, _ in BETS.values()))
    world.put_cancellation(hands=[hand(bet_id, cards) for bet_id, cards in BETS.values()]).ok(201)
    round_ = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1"}
    grant = round_ | {"bet_id": "b1", "amount_minor": 2500, "currency": "EUR", "document": "minutes 7"}
    world.change("compensation", grant, request_id="granted")
    world.change("declined-compensation", round_ | {"bet_id": "b2"}, request_id="declined")
    world.bet(bet("late"), round_id="r2")
    world.settle(hand("1"), round_id="r2")
    world.post_bets(bet("later"), round_id="r2").problem(409, "round-settled")
    world.close()


def of(decision: str) -> str:
    """The exception of the bet about which it was decided so."""
    return f"(SELECT exception_id FROM exceptions WHERE detail #>> '{{request,bet_id}}' = '{BETS[decision][0]}')"  # noqa: S608


LATE_BET: Final = "(SELECT exception_id FROM exceptions WHERE kind = 'late-bet')"
ACT: Final = "(SELECT seq FROM acts WHERE decides = '{}' AND effects <> '[]')"

CORRUPTIONS: Final = (
    remove("exception_acknowledgements", f"exception_id = {of('granted')}", "prize-denied"),
    remove("exception_acknowledgements", f"exception_id = {of('declined')}", "prize-denied"),
    change(
        "exception_acknowledgements",
        f"exception_id = {of('left')}",
        f"exception_id = {of('declined')}",
        "prize-denied exception-chain",
    ),
    change(
        "exception_acknowledgements",
        f"exception_id = {LATE_BET}",
        f"exception_id = {of('declined')}",
        "prize-denied exception-chain",
    ),
    forge(
        "exception_acknowledgements",
        f"{of('left')}, entry_seq",
        f"exception_acknowledgements WHERE exception_id = {of('granted')}",
        "exception-chain",
    ),
    change(
        "exception_acknowledgements",
        f"entry_seq = {ACT.format('granted')}",
        f"exception_id = {of('declined')}",
        "exception-chain compensation-round",
    ),
    change(
        "acts",
        f"after = jsonb_set(after, '{{exception_id}}', to_jsonb({of('left')}))",
        f"seq = {ACT.format('declined')}",
        "act-record entry-digest exception-chain prize-denied",
    ),
    change(
        "acts",
        """after = jsonb_set(after, '{bet_id}', '"b3"')""",
        f"seq = {ACT.format('declined')}",
        "act-record change-done entry-digest",
    ),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_what_nobody_touched_is_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes
