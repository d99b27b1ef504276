"""The light tables of the command line say what the service knows: words, kinds of change and their fields."""

import json
import shlex
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import click
import pytest

from jackpot_service.api import exceptions
from jackpot_service.cli import change_fields, words
from jackpot_service.cli.calls.changes import request
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.changes import ChangeState
from jackpot_service.domain.games import GAME_IDS
from jackpot_service.domain.jobs import JobState
from jackpot_service.domain.journal import ACT_KINDS, Movement
from jackpot_service.domain.payments import Channel
from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.principals import MACHINES, Role
from jackpot_service.domain.rounds import RoundState
from jackpot_service.domain.rulebooks import RULEBOOK_IDS
from jackpot_service.domain.settings import PAYOUT_TIERS, SETTINGS
from jackpot_service.exports.accounting import FORMS
from jackpot_service.exports.jobs.requests import KINDS as JOB_KINDS
from jackpot_service.reports.finance.registry import REPORTS
from jackpot_service.reports.questions import By
from jackpot_service.usecases.changes.registry import KINDS


def values(of: type[StrEnum]) -> tuple[str, ...]:
    return tuple(member.value for member in of)


OWNED: Final[dict[str, Any]] = {
    "ACT_KINDS": tuple(sorted(kind.value for kind in ACT_KINDS)),
    "AWARD_STATES": values(AwardState),
    "CHANGE_STATES": values(ChangeState),
    "CHANNELS": values(Channel),
    "EVIDENCE": values(Evidence),
    "EXCEPTION_KINDS": tuple(exceptions.KINDS),
    "GAMES": tuple(GAME_IDS),
    "GROUPINGS": values(By),
    "JOB_KINDS": tuple(sorted(JOB_KINDS)),
    "JOB_STATES": values(JobState),
    "JOURNAL_FORMS": tuple(FORMS),
    "MOVEMENTS": values(Movement),
    "PAYOUT_TIERS": PAYOUT_TIERS,
    "REPORTS": tuple(REPORTS),
    "ROLES": values(Role),
    "ROLES_OF_PEOPLE": tuple(role.value for role in Role if role not in MACHINES),
    "ROUND_STATES": values(RoundState),
    "RULEBOOKS": tuple(RULEBOOK_IDS),
    "SETTINGS": tuple(SETTINGS),
}


def test_every_word_is_the_one_that_its_owner_has() -> None:
    assert {name: getattr(words, name) for name in vars(words) if name.isupper()} == OWNED


def test_every_kind_of_change_has_its_fields_as_options() -> None:
    assert change_fields.FIELDS.keys() == change_fields.EXAMPLES.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_the_fields_of_a_kind_are_those_of_its_payload(kind: str) -> None:
    schema = KINDS[kind].payload()()
    payload = {field.data_key or name: field.required for name, field in schema.fields.items()}

    assert {name: field.is_required for name, field in change_fields.FIELDS[kind].items()} == payload


DOCUMENTS: Final = {
    "result.json": {"bet_count": 1, "hands": [{"hand": "1", "cards": ["6s", "7h", "8s", "9h", "Tc"]}]},
    "kinds.json": {"rules": {"requested_by": ["operator"], "decided_by": ["finance"]}},
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_a_kind_makes_a_payload_that_the_service_reads(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, document in DOCUMENTS.items():
        Path(name).write_text(json.dumps(document))
    command = request.get_command(click.Context(request), kind)
    assert command is not None

    context = command.make_context(kind, [*shlex.split(change_fields.EXAMPLES[kind]), "--reason", "x"])
    payload = change_fields.payload_of(kind, context.params)

    KINDS[kind].read(payload)
    assert payload.keys() >= {name for name, field in change_fields.FIELDS[kind].items() if field.is_required}


def test_a_setting_is_taken_away_by_null_and_payout_tiers_are_json() -> None:
    stated = ("limit=null", "split.meter=0.4", 'payout_tiers=[{"from": "0"}]')

    assert change_fields.setting_values(stated) == {
        "limit": None,
        "split.meter": "0.4",
        "payout_tiers": [{"from": "0"}],
    }
