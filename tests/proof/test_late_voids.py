"""The proof finds a void after the closing that is no exception, and an exception that no such void makes."""

from typing import Final

import pytest
from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, change, codes_after, forge, in_round, refact, remove
from tests.races import scene
from tests.support import history

pytestmark = pytest.mark.slow


def write(url: str) -> None:
    """Make bets void before and after the closing of a round, known and unknown ones; and of two that stay open."""
    with history.engine_of(url) as engine:
        scene.open_house(engine)
        scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
        for round_id in ("settled", "closed", "open"):
            scene.bet(engine, "T1", round_id, *(scene.euro(f"b{number}") for number in range(1, 5)))
            scene.void(engine, "T1", round_id, "b1", reason="was disconnected")
        for round_id in ("settled", "closed"):
            scene.close(engine, "T1", round_id, 3)
            scene.void(engine, "T1", round_id, "b2", "unseen", reason="dealt to the wrong seat")
            scene.void(engine, "T1", round_id, "b2", reason="dealt to the wrong seat")
        scene.void(engine, "T1", "settled", "b3", reason="dealt to the wrong seat")
        scene.settle(engine, "T1", "settled", 1, {"1": scene.NOTHING})


VOIDS: Final = "kind = 'late-void' AND round_id"
FIRST: Final = f"{VOIDS} = 'settled' AND detail #>> '{{request,bet_ids,0}}' = 'b2'"
SECOND: Final = f"{VOIDS} = 'settled' AND detail #>> '{{request,bet_ids,0}}' = 'b3'"

FOUND: Final = "late-void exception-chain"

CORRUPTIONS: Final = (
    remove("exceptions", FIRST, FOUND),
    remove("exceptions", SECOND, FOUND),
    remove("exceptions", f"{VOIDS} = 'closed'", FOUND),
    change("exceptions", "kind = 'late-bet'", SECOND, FOUND),
    change("exceptions", "principal = 'somebody'", SECOND, FOUND),
    change("exceptions", "round_id = 'open'", SECOND, FOUND),
    change("exceptions", "detail = '{}'", SECOND, FOUND),
    *(
        change("exceptions", f"detail = jsonb_set(detail, '{{request,{name}}}', '{value}')", FIRST, FOUND)
        for name, value in (
            ("bet_ids", '["b2"]'),
            ("bet_ids", '"b2"'),
            ("reason", '"a whim"'),
            ("occurred_at", '"2026-01-01T00:00:00.000000Z"'),
            ("call", '"bets"'),
        )
    ),
    *(
        forge(
            "exceptions",
            f"'0' || exception_id, kind, table_id, '{round_id}', sha256(digest), jackpot_id, principal, noticed_at,"
            " detail, number + 9, head",
            f"exceptions WHERE {SECOND}",
            FOUND,
        )
        for round_id in ("settled", "closed", "open")
    ),
    refact(
        "reason", """'"a whim"'""", f"kind = 'voids' AND step = 4 AND {in_round('settled')}", "entry-digest late-void"
    ),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_what_nobody_touched_is_right(superuser: Session) -> None:
    assert superuser.scalar(text(f"SELECT count(*) FROM exceptions WHERE {VOIDS} = 'settled'")) == 2  # noqa: S608  constants
    assert superuser.scalar(text("SELECT count(*) FROM exceptions")) == 3
    assert verify(superuser).mismatches == ()


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes
