"""The proof finds a denied prize that is no exception, and an exception that no denial makes."""

from typing import Final

import pytest

from jackpot_service.database.transactions import Session
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, change, codes_after, forge, remove
from tests.races import scene
from tests.support import history

pytestmark = pytest.mark.slow

ROYAL = "As Ks Qs Js Ts"


def write(url: str) -> None:
    """Forfeit a royal flush in one round, deny one of two in another, settle one with nothing; leave one open."""
    with history.engine_of(url) as engine:
        scene.open_house(engine)
        scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
        for round_id, cards in (("denied", f"forfeited {ROYAL}"), ("paid", ROYAL), ("lost", scene.NOTHING)):
            scene.bet(engine, "T1", round_id, scene.euro("b1"), scene.euro("b2"))
            scene.close(engine, "T1", round_id, 2)
            scene.void(engine, "T1", round_id, "b2", reason="dealt to the wrong seat")
            scene.settle(engine, "T1", round_id, 1, {"1": cards})
        scene.bet(engine, "T1", "open", scene.euro("b1"))


PRIZES: Final = "kind = 'prize-denied' AND round_id"

CORRUPTIONS: Final = (
    remove("exceptions", f"{PRIZES} = 'paid'", "prize-denied exception-chain"),
    change("exceptions", "kind = 'late-bet'", f"{PRIZES} = 'paid'", "prize-denied exception-chain"),
    change(
        "exceptions",
        """detail = jsonb_set(detail, '{request,denial}', '"dead"')""",
        f"{PRIZES} = 'paid'",
        "prize-denied exception-chain",
    ),
    change("exceptions", "detail = '{}'", f"{PRIZES} = 'paid'", "prize-denied exception-chain"),
    remove(
        "exceptions", f"{PRIZES} = 'denied' AND detail #>> '{{request,bet_id}}' = 'b1'", "prize-denied exception-chain"
    ),
    change(
        "exceptions",
        """detail = jsonb_set(detail, '{request,player_id}', '"another"')""",
        f"{PRIZES} = 'paid'",
        "prize-denied exception-chain",
    ),
    *(
        forge(
            "exceptions",
            f"'0' || exception_id, kind, table_id, '{round_id}', sha256(digest), jackpot_id, principal, noticed_at,"
            " detail, number + 9, head",
            f"exceptions WHERE {PRIZES} = 'paid'",
            "prize-denied exception-chain",
        )
        for round_id in ("paid", "open")
    ),
    change("exceptions", "round_id = 'lost'", f"{PRIZES} = 'paid'", "prize-denied exception-chain"),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_what_nobody_touched_is_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes
