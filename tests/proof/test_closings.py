"""The proof finds what was changed about the closing of a round: each case changes rows, and is undone."""

from typing import Final

import pytest

from jackpot_service.database.transactions import Session
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, change, codes_after, in_round, refact
from tests.races import scene
from tests.support import history

pytestmark = pytest.mark.slow


def write(url: str) -> None:
    """Close a round, make a bet void after it, and settle it; two more rounds stay open and closed."""
    with history.engine_of(url) as engine:
        scene.open_house(engine)
        scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
        for round_id in ("settled", "closed", "open"):
            scene.bet(engine, "T1", round_id, scene.euro("b1"), scene.euro("b2"))
        for round_id in ("settled", "closed"):
            scene.close(engine, "T1", round_id, 2)
        scene.void(engine, "T1", "settled", "b2", reason="dealt to the wrong seat")
        scene.settle(engine, "T1", "settled", 1, {"1": scene.NOTHING})
        scene.open_live(engine, "strict", tables=["T2"], settings={"close_required": "true"})
        scene.bet(engine, "T2", "strict", scene.euro("b1"))
        scene.close(engine, "T2", "strict", 1)
        scene.settle(engine, "T2", "strict", 1, {"1": scene.NOTHING})


SETTLED, CLOSED, OPEN, STRICT = map(in_round, ("settled", "closed", "open", "strict"))
CLOSING: Final = f"kind = 'closing' AND {SETTLED}"

CORRUPTIONS: Final = (
    refact("bet_count", "'3'", CLOSING, "entry-digest round-ending"),
    refact("occurred_at", """'"2026-01-01T00:00:00.000000Z"'""", CLOSING, "entry-digest"),
    refact("reason", "'null'", SETTLED, "entry-digest round-ending late-void"),
    refact("reason", """'"a whim"'""", SETTLED, "entry-digest late-void"),
    change("entries", """facts = '{"x": 1}'""", CLOSING, "entry-digest round-ending"),
    change("entries", "facts = NULL", CLOSING, "entry-digest round-ending"),
    change("entries", "kind = 'voids'", f"kind = 'closing' AND {STRICT}", "entry-digest round-ending"),
    change(
        "entries",
        "kind = 'bets'",
        f"kind = 'voids' AND {SETTLED}",
        "round-ending document-without-entry entry-digest entry-postings day-figures late-void",
    ),
    change("rounds", "state = 'open'", CLOSED, "round-state"),
    change("rounds", "state = 'closed'", OPEN, "round-state"),
    change("rounds", "state = 'closed'", SETTLED, "round-state"),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_what_nobody_touched_is_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes
