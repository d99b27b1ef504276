"""`jackpot seal` and `jackpot verify --seal`: what they write, what a stranger needs, and what is refused."""

import json
import re
import stat
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Final

import psycopg
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.support.command_line import Jackpot, key_of
from tests.support.logins import owner_conninfo

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "seals.md").read_text(encoding="utf-8")


@pytest.fixture
def key(tmp_path: Path, opened: Jackpot) -> Path:
    made = opened("seal", "--new-key", str(tmp_path / "seal.key"))
    (tmp_path / "seal.pub").write_text(made.ok())
    return tmp_path / "seal.key"


@pytest.fixture
def public(key: Path) -> str:
    return str(key.with_suffix(".pub"))


def test_a_new_key_is_its_owners_alone_and_only_its_public_half_is_printed(opened: Jackpot, tmp_path: Path) -> None:
    path = tmp_path / "seal.key"

    made = opened("seal", "--new-key", str(path))

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert made.ok().startswith("-----BEGIN PUBLIC KEY-----\n")
    assert "PRIVATE" not in made.out + made.err
    before = path.read_bytes()
    opened("seal", "--new-key", str(path)).refused(1, "cannot be made: File exists")
    assert path.read_bytes() == before


def test_a_key_that_cannot_be_written_is_no_failure_of_the_output(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    command = ["/bin/sh", "-c", 'ulimit -f 0; exec "$@"', "sh", sys.executable, "-m", "jackpot_service.cli"]

    made = subprocess.run(
        [*command, "seal", "--new-key", str(path)], capture_output=True, text=True, check=False, timeout=60
    )

    assert (made.returncode, made.stdout, made.stderr) == (1, "", f"Error: {path} cannot be written: File too large\n")
    assert not path.exists()


def test_seals_are_written_chained_and_verified(
    opened: Jackpot, key: Path, public: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed = opened("seal", "--key", str(key), "--output", str(tmp_path / "1.json"))
    assert re.fullmatch(r"Seal 1 over 17 stripes, by key [0-9a-f]{64}\.\n", sealed.err)
    assert sealed.ok() == ""
    (tmp_path / "2.json").write_text(opened("seal", "--key", str(key), "--reason", "month end").ok())

    one_file = opened("verify", "--seal", str(tmp_path / "1.json"), "--public-key", public)
    directory = opened("verify", "--seal", str(tmp_path), "--public-key", public)

    assert one_file.ok().endswith(": the books are right.\nChecked seals 1 by 1 public key.\n")
    assert directory.ok().endswith("Checked seals 1, 2 by 1 public key.\n")
    assert opened("seal", "--show", "1").ok() == (tmp_path / "1.json").read_text()
    opened("seal", "--show", "3").refused(1, "there is no seal 3")
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Ada", "auditor"))
    assert re.search(r" books_sealed +Olga +- +seal 2 +month end$", opened("audit").ok(), re.MULTILINE)


def test_what_was_rewritten_before_a_seal_is_named(
    opened: Jackpot, key: Path, public: str, tmp_path: Path, database_url: str
) -> None:
    opened("seal", "--key", str(key), "--output", str(tmp_path / "1.json")).ok()
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute("SET session_replication_role = replica")
        owner.execute("UPDATE entries SET head = sha256(head) WHERE jackpot_id = 'live'")

    verified = opened("verify", "--seal", str(tmp_path / "1.json"), "--public-key", public)

    assert verified.status == 1
    named = r"^seal-head  live  stripe 0, seq 1: 1\.json: head \w+ was sealed, now it is \w+$"
    assert re.search(named, verified.out, re.MULTILINE)


def test_books_of_which_a_seal_does_not_hold_are_nothing_to_go_on_from(
    opened: Jackpot, key: Path, public: str, tmp_path: Path, database_url: str
) -> None:
    """They add up: only the seal tells that they are not what was sealed."""

    def noted() -> int:
        with psycopg.connect(owner_conninfo(database_url)) as connection:
            return connection.execute("SELECT FROM verifications").rowcount

    opened("seal", "--key", str(key), "--output", str(tmp_path / "1.json")).ok()
    forged = json.loads((tmp_path / "1.json").read_text()) | {"signature": "00" * 64}
    (tmp_path / "2.json").write_text(json.dumps(forged))

    verified = opened("verify", "--note-every", "0", "--seal", str(tmp_path / "2.json"), "--public-key", public)

    assert verified.status == 1
    assert {line.partition("  ")[0] for line in verified.out.splitlines()[:-2]} == {"seal-chain", "seal-signature"}
    assert not noted()
    assert "No verification is noted: beginning at zero." in opened("verify", "--from-last").err
    before = noted()
    opened("verify", "--note-every", "0", "--seal", str(tmp_path / "1.json"), "--public-key", public).ok()
    assert noted() > before


def test_a_stranger_checks_a_seal_with_the_ten_lines_of_the_page(
    opened: Jackpot, key: Path, public: str, tmp_path: Path
) -> None:
    opened("seal", "--key", str(key), "--output", str(tmp_path / "1.json")).ok()
    program = dedent(PAGE.partition("```python\n")[2].partition("```")[0])
    assert len(program.splitlines()) <= 10

    def check(seal: Path) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-c", program, str(seal), public]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert check(tmp_path / "1.json").stdout.startswith("seal 1 of ")
    changed = json.loads((tmp_path / "1.json").read_text()) | {"number": 2}
    (tmp_path / "2.json").write_text(json.dumps(changed))
    assert "InvalidSignature" in check(tmp_path / "2.json").stderr


def test_a_key_that_others_can_read_is_not_used(opened: Jackpot, key: Path) -> None:
    key.chmod(0o640)
    opened("seal", "--key", str(key)).refused(1, "can be used by others than its owner")


def test_nothing_is_sealed_when_the_file_cannot_be_written(opened: Jackpot, key: Path, tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text("kept")

    opened("seal", "--key", str(key), "--output", str(tmp_path / "1.json")).refused(1, "cannot be made: File exists")
    opened("seal", "--key", str(key), "--output", str(tmp_path / "no" / "1.json")).refused(1, "No such file")
    (tmp_path / "no.key").write_text("no key")
    (tmp_path / "no.key").chmod(0o600)
    opened("seal", "--key", str(tmp_path / "no.key"), "--output", str(tmp_path / "2.json")).refused(1, "no Ed25519")

    assert (tmp_path / "1.json").read_text() == "kept"
    assert not (tmp_path / "2.json").exists()
    opened("seal", "--show", "1").refused(1, "there is no seal 1")


def pem_of_rsa() -> bytes:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key()
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def under_a_password() -> bytes:
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return Ed25519PrivateKey.generate().private_bytes(encoding, form, serialization.BestAvailableEncryption(b"x"))


def test_signing_keys_of_other_kinds_are_refused(opened: Jackpot, tmp_path: Path) -> None:
    path = tmp_path / "some.key"
    for content in (b"", b"\xff" * 100, under_a_password(), pem_of_rsa()):
        path.write_bytes(content)
        path.chmod(0o600)
        opened("seal", "--key", str(path)).refused(1, "holds no Ed25519 private key")
    path.write_bytes(b"x" * 100_000)
    opened("seal", "--key", str(path)).refused(1, "is larger than 65,536 bytes")
    opened("seal", "--key", str(tmp_path)).refused(1, "Is a directory")
    opened("seal", "--key", "/no/such").refused(1, "No such file")


def test_public_keys_of_other_kinds_are_refused(opened: Jackpot, key: Path, tmp_path: Path) -> None:
    opened("seal", "--key", str(key), "--output", str(tmp_path / "1.json")).ok()
    path = tmp_path / "some.pub"
    for content in (b"", b"\0", pem_of_rsa(), key.read_bytes()):
        path.write_bytes(content)
        opened("verify", "--seal", str(tmp_path / "1.json"), "--public-key", str(path)).refused(
            2, "no Ed25519 public key"
        )


NO_SEALS: Final = (
    (b"", "not JSON"),
    (b"no JSON", "not JSON"),
    (b"{}", "no seal of the format jackpot-seal-1"),
    (b'{"format": "jackpot-seal-9"}', "no seal of the format jackpot-seal-1"),
    (b'{"format": "jackpot-seal-1"}', "does not say what a seal"),
    (b'{"format": "jackpot-seal-1", "num', "not JSON"),
    (b"[" * 100_000, "not JSON"),
)


def test_a_file_that_is_no_seal_is_refused(
    opened: Jackpot, public: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for content, expected in NO_SEALS:
        with subtests.test(str(content[:40])):
            path = tmp_path / "1.json"
            path.write_bytes(content)

            opened("verify", "--seal", str(path), "--public-key", public).refused(2, f"{path}: ", expected)


def test_a_place_without_a_seal_is_refused(opened: Jackpot, public: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(1 << 40)

    for place, status, expected in (
        (tmp_path / "empty", 2, "without a *.json in it"),
        (tmp_path / "nowhere", 1, "No such file"),
        (huge, 1, "is larger than"),
        (Path("/dev/zero"), 1, "is larger than"),
    ):
        opened("verify", "--seal", str(place), "--public-key", public).refused(status, expected)


@pytest.mark.parametrize("arguments", [(), ("--key", "k", "--new-key", "n"), ("--key", "k", "--show", "1")])
def test_it_does_one_thing_at_a_time(opened: Jackpot, arguments: tuple[str, ...]) -> None:
    opened("seal", *arguments).refused(2, "give one of --key, --new-key and --show")


def test_a_seal_and_a_public_key_come_together(opened: Jackpot, public: str) -> None:
    opened("verify", "--seal", public).refused(2, "--seal and --public-key together")
    opened("verify", "--public-key", public).refused(2, "--seal and --public-key together")
