"""The page of mismatches says of each code what it means, as the code has it."""

import re
from pathlib import Path

from jackpot_service.cli import mismatch_page
from jackpot_service.ledger.mismatches import Code

PAGE = Path(__file__).parents[2] / "docs" / "mismatches.md"


def test_every_code_has_its_meaning_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert page == mismatch_page.page()
    assert re.findall(r"^- `([a-z0-9-]+)`: \S", page, re.MULTILINE) == [code.value for code in Code]
    assert all(code.meaning.endswith(".") for code in Code)
