"""The proof finds a stop or a release of an award that nobody made, that somebody else made, or that says another."""

from typing import Final

import pytest

from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, change, codes_after, in_round, remove
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


def write(url: str) -> None:
    """Stop an award in each of two rounds, and release one of them."""
    world = World(url)
    world.open(base_amount="1000")
    for round_id in ("stopped", "released"):
        world.bet(bet("b1"), bet("b2", hand="1"), round_id=round_id)
        award, _ = world.settle(hand("1", FLUSH), round_id=round_id)["awards"]
        body = {"request_id": f"stop-{round_id}", "reason": "in doubt"}
        world.put(f"/v1/awards/{award['award_id']}/stop", body, key=world.person("Fay", Role.FINANCE)).ok(201)
    release = {"jackpot_id": "j1", "table_id": "T1", "round_id": "released", "decision": "release"}
    world.change("held-awards", release, request_id="release")
    world.close()


STOP: Final = f"step = 'stopped' AND {in_round('stopped')}"
RELEASE: Final = "step = 'released'"
ACT: Final = "request_id = 'stop-stopped'"
STOPPED_AT: Final = "(SELECT min(seq) FROM entries WHERE kind = 'award_stopped' AND jackpot_id <> '-')"

CORRUPTIONS: Final = (
    remove("award_steps", STOP, "award-steps"),
    remove("award_steps", RELEASE, "award-steps"),
    change("award_steps", "bet_id = 'b2'", STOP, "award-steps"),
    change("award_steps", "step = 'released'", STOP, "award-steps"),
    change("award_steps", "act_seq = act_seq + 1", STOP, "award-steps"),
    change(
        "acts",
        """after = jsonb_set(after, '{awards,0,bet_id}', '"b2"')""",
        ACT,
        "act-record award-steps entry-digest",
    ),
    change("acts", "after = jsonb_set(after, '{awards,0,amount_minor}', '1')", ACT, "act-record entry-digest"),
    change("acts", "effects = '[]'", ACT, "act-record entry-digest entry-kind"),
    change("principals", "is_automaton = true", "name = 'Fay'", "act-principal entry-digest"),
    change("principals", "role = 'rates'", "name = 'Fay'", "act-principal entry-digest"),
    change(
        "entries", "figures[1].minor = 1", f"kind = 'award_stopped' AND seq = {STOPPED_AT}", "day-figures entry-digest"
    ),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_what_nobody_touched_is_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes
