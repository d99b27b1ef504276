"""Keys and people on the command line: created once, listed, revoked; and a secret is printed once and nowhere else."""

import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from jackpot_service.cli import playing
from jackpot_service.cli.main import main
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine

pytestmark = pytest.mark.slow

Run = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str) -> Run:
    """Run the program in this process: its status, standard output and standard error."""
    monkeypatch.setenv("JACKPOT_DATABASE_URL", database_url)

    def run(arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["jackpot", *shlex.split(arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


def test_a_key_is_printed_once_listed_without_its_secret_and_revoked(run: Run) -> None:
    status, key, _ = run("keys create --role operator --name Ann --reason hired --request-id k1")
    assert status == 0
    prefix, key_id, secret = key.strip().split("_", 2)
    assert prefix == "jk"

    status, out, err = run("keys create --role operator --name Ann --reason hired --request-id k1")
    assert (status, out) == (0, "")
    assert key_id in err

    status, listed, _ = run("keys list")
    assert status == 0
    assert listed.startswith(f"{key_id}  Ann  operator, user  since ")
    assert listed.endswith("Z, never used, live\n")

    assert run(f"keys revoke {key_id} --reason 'it was lost'") == (0, "", f"Key {key_id} of Ann is revoked.\n")
    status, out, err = run(f"keys revoke {key_id} --reason 'it was lost'")
    assert (status, out) == (1, "")
    assert err.startswith("jackpot: key-revoked: ")
    assert ", revoked " in run("keys list")[1]
    assert secret not in err + listed + run("keys list")[1]
    assert run("verify")[0] == 0


def test_a_machine_says_that_it_is_one(run: Run) -> None:
    assert run("keys create --role rates --service-account --name importer --reason nightly")[0] == 0

    assert "  importer  rates, service account  since " in run("keys list")[1]


def test_a_department_is_for_ever_and_shown_where_it_is_not_the_roles_own(run: Run) -> None:
    assert run("keys create --role operator --department night-shift --name Nina --reason hired")[0] == 0

    assert "  Nina  operator, user, department night-shift  since " in run("keys list")[1]
    status, out, err = run("keys create --role operator --name Nina --reason hired")
    assert (status, out) == (1, "")
    assert err.startswith("jackpot: principal-conflict: Nina is a user of role operator, department night-shift; ")


REFUSED: Final = (
    (
        "keys create --role operator --name Bea --department Cage --reason hired",
        1,
        "jackpot: principal-invalid: ",
    ),
    ("keys create --role operator --name cli --reason hired", 1, "jackpot: principal-invalid: "),
    ("keys create --role operator --name ' Ann' --reason hired", 1, "jackpot: principal-invalid: "),
    ("keys create --role operator --name Bea --request-id 'no id'", 2, "must be a string that matches"),
    ("keys create --role rates --name Ann --reason hired", 1, "jackpot: principal-conflict: "),
    ("keys create --role operator --name ann --reason hired", 1, "jackpot: principal-conflict: "),
    (
        "keys create --role auditor --name \N{CYRILLIC CAPITAL LETTER A}nn --reason hired",
        1,
        "jackpot: principal-conflict",
    ),
    ("keys create --role operator --name \N{CHEROKEE LETTER GO}nn --reason hired", 1, "jackpot: principal-invalid: "),
    ("keys create --role operator --name Ann --reason hired", 1, "jackpot: key-limit-reached: "),
    ("keys create --role table --casino nowhere --name server --reason hired", 1, "jackpot: casino-unknown: "),
    ("keys revoke 0a --reason lost", 1, "jackpot: key-unknown: "),
    ("keys revoke 0a", 2, "Missing option '--reason'"),
    ("users add Bea --role operator --oidc-subject s --reason hired", 1, "set JACKPOT_OIDC_ISSUER"),
    ("users add Bea --role table --oidc-subject s", 2, "'table' is not one of"),
)


def test_what_is_refused_is_said_in_a_line(run: Run, subtests: pytest.Subtests) -> None:
    for _ in range(2):
        assert run("keys create --role operator --name Ann --reason hired")[0] == 0

    for command, status, said in REFUSED:
        with subtests.test(command):
            ended, out, err = run(command)

            assert (ended, out) == (status, "")
            assert said in err


def test_a_person_who_signs_in_elsewhere_is_added_once_and_revoked_as_a_key(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_OIDC_ISSUER", "https://sign-in.example")
    monkeypatch.setenv("JACKPOT_OIDC_AUDIENCE", "jackpot-ledger")
    add = "users add Ann --role operator --oidc-subject sub-1 --reason 'she began today'"

    assert run(add) == (0, "", "Ann: added.\n")
    assert run(add) == (0, "", "Ann: was there already.\n")
    status, _, err = run("users add Bea --role operator --oidc-subject sub-1 --reason hired")
    assert (status, err) == (1, "jackpot: already-exists: That subject is Ann.\n")
    status, _, err = run(
        "users add \N{GREEK CAPITAL LETTER ALPHA}nn --role auditor --oidc-subject sub-2 --reason hired"
    )
    assert (status, err.split(": ")[1]) == (1, "principal-conflict")
    key_id, *_ = run("keys list")[1].split()
    assert "operator, user, sub-1" in run("keys list")[1]
    assert run(f"keys revoke {key_id} --reason left")[0] == 0
    assert run("verify")[0] == 0


def test_a_demo_that_lost_its_keys_rotates_them(database_url: str, tmp_path: Path) -> None:
    engine = create_engine(Config(), database_url)
    found = [playing.set_up(replace(Config(), data_dir=tmp_path / str(run)), engine) for run in range(4)]
    again = playing.set_up(replace(Config(), data_dir=tmp_path / "3"), engine)
    engine.dispose()

    assert again == found[3]
    assert len({key for keys in found for key in keys.values()}) == 4 * len(again)
