"""The words of the client are those of the contract, openapi.yaml."""

from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from jackpot_client import AwardState, HandStatus, RoundState

OPENAPI: Final = Path(__file__).resolve().parents[3] / "openapi.yaml"


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    """The schemas of the contract, by name."""
    document = yaml.safe_load(OPENAPI.read_text(encoding="utf-8"))
    found: dict[str, Any] = document["components"]["schemas"]
    return found


@pytest.mark.parametrize(
    ("enum", "schema", "field"),
    [
        (AwardState, "Award", "state"),
        (RoundState, "Round", "state"),
        (HandStatus, "Hand", "status"),
    ],
)
def test_the_client_knows_each_word_of_the_contract(
    schemas: dict[str, Any], enum: type[StrEnum], schema: str, field: str
) -> None:
    assert {one.value for one in enum} == set(schemas[schema]["properties"][field]["enum"])
