"""The URLs that libpq takes work, those of SQLAlchemy too, and a wrong one is one line without its password."""

import string

import pytest
import sqlalchemy
from hypothesis import given, settings
from hypothesis import strategies as st

from jackpot_service.config.database_url import WrongURL, normalised
from jackpot_service.config.settings import Config, ConfigError
from jackpot_service.database.connections import create_engine


def connects_with(url: str) -> dict[str, str]:
    """Return what libpq is asked to connect with, of those settings that name the place and the user."""
    config = Config.from_environment({"JACKPOT_DATABASE_URL": url})
    assert config.database_url is not None
    engine = create_engine(config, config.database_url)
    _, parts = engine.dialect.create_connect_args(engine.url)
    return {name: str(value) for name, value in parts.items() if name != "context"}


TWO_HOSTS = {"user": "u", "host": "h1,h2", "port": "5432,5433", "dbname": "db", "target_session_attrs": "read-write"}


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u@h1:5432,h2:5433/db?target_session_attrs=read-write",
        "postgresql+psycopg://u@h1:5432,h2:5433/db?target_session_attrs=read-write",
        "postgresql://u@/db?host=h1,h2&port=5432,5433&target_session_attrs=read-write",
        "postgresql+psycopg://u@/db?host=h1,h2&port=5432,5433&target_session_attrs=read-write",
        "postgresql://u@/db?host=h1:5432&host=h2:5433&target_session_attrs=read-write",
    ],
)
def test_several_hosts_are_named_in_any_of_their_forms(url: str) -> None:
    assert connects_with(url) == TWO_HOSTS


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("postgresql://u:secret@db.example/d", {"host": "db.example", "password": "secret"}),
        ("postgresql://u@db.example:5433/d", {"host": "db.example", "port": "5433"}),
        ("postgresql://u@h1,h2/d", {"host": "h1,h2", "port": ","}),
        ("postgresql://u@h1,h2/d?port=5433", {"host": "h1,h2", "port": "5433,5433"}),
        ("postgresql://u@h1:1,h2/d", {"host": "h1,h2", "port": "1,"}),
        ("postgresql://u@[::1]:5433/d", {"host": "::1", "port": "5433"}),
        ("postgresql://u@[::1]:1,[::2]:2/d", {"host": "::1,::2", "port": "1,2"}),
        ("postgresql://u@/d?host=/run/postgresql", {"host": "/run/postgresql"}),
        ("postgresql://u@%2Frun%2Fpostgresql/d", {"host": "/run/postgresql"}),
        ("postgresql+psycopg://u@/d?host=%2Fmy+data&port=5433", {"host": "/my data", "port": "5433"}),
        ("postgresql://u:p%40%2F%3A%25%23+%3F@h/d", {"host": "h", "password": "p@/:%#+?"}),
        (
            "postgresql://u@h/d?sslmode=verify-full&sslrootcert=/etc/ca.pem",
            {"host": "h", "sslmode": "verify-full", "sslrootcert": "/etc/ca.pem"},
        ),
    ],
)
def test_each_form_names_the_same_place_as_for_libpq(url: str, parts: dict[str, str]) -> None:
    assert connects_with(url) == {"user": "u", "dbname": "d"} | parts


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://u:hunter2@h:port/d", "a port is a number"),
        ("postgresql://u:hunter2@h:65536/d", "a port is a number"),
        ("postgresql://u:hunter2@h1:1,h2:2/d?port=1,2,3", "2 hosts and 3 ports"),
        ("postgresql://u:hunter2@[::1/d", "libpq cannot read it"),
        ("postgresql+psycopg://u:hunter2@h:1:2/d", "cannot read it"),
        ("postgresql://u:hunter2%zz@h/d", "libpq cannot read it"),
        ("postgresql://u:hunter2@@h/d", "%40 (@)"),
        ("postgresql://u:@hunter2@h/d", "%40 (@)"),
        ("postgresql://u:hunter2/x@h/d", "%2F (/)"),
        ("postgresql://u:x/hunter2@h/d", "%2F (/)"),
        ("postgresql://u@h/d?pasword=hunter2", "no parameter 'pasword'"),
        ("postgresql://u@h/d?options=-crole%3Downer", "options are the service's own"),
        ("postgresql://u:hunter2@h/d\n", "a space, a line break"),
        ("postgresql://u:hunter2@h/d%00", "libpq cannot read it"),
        ("postgresql://u:hunter2 @h/d", "a space"),
        ("postgresql://u:hunter2/d", "a port is a number"),
        ("mysql://u:hunter2/d", "PostgreSQL only"),
    ],
)
def test_a_wrong_one_is_one_line_that_says_what_is_wrong_and_no_password(url: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_environment({"JACKPOT_DATABASE_URL": url})

    message = str(caught.value)
    assert says in message
    assert "hunter2" not in message
    assert message.startswith("JACKPOT_DATABASE_URL=")
    assert message.isprintable()


@settings(max_examples=500)
@given(st.text(alphabet=string.printable + "äß€", max_size=60))
def test_any_text_is_taken_or_refused_and_what_is_taken_is_taken_again_alike(rest: str) -> None:
    for scheme in ("postgresql", "postgresql+psycopg"):
        try:
            taken = normalised(f"{scheme}://{rest}")
        except WrongURL:
            continue
        assert normalised(taken) == taken
        sqlalchemy.create_engine(taken)
