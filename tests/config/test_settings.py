from decimal import Decimal
from pathlib import Path

import pytest

from jackpot_service.config.database_url import FORM
from jackpot_service.config.settings import Config, ConfigError

PEOPLE_SIGN_IN = {"JACKPOT_OIDC_ISSUER": "https://sign-in.example", "JACKPOT_OIDC_AUDIENCE": "us"}


def test_an_empty_environment_gives_the_defaults_of_a_first_look() -> None:
    config = Config.from_environment({"PATH": "/usr/bin"})

    assert config == Config()
    assert config.database_url is None
    assert config.data_dir == Path("var")
    assert (config.max_batch, config.max_body_bytes, config.stripes) == (2000, 1_048_576, 16)


def test_every_setting_is_read_from_its_own_variable() -> None:
    config = Config.from_environment(
        {
            "JACKPOT_DATABASE_URL": "postgresql://ledger@db.example/jackpot",
            "JACKPOT_OWNER_URL": "postgresql://owner@db.example/jackpot",
            "JACKPOT_REPLICA_URL": "postgresql://ledger@standby.example/jackpot",
            "JACKPOT_REPLICA_STALE_AFTER_S": "2.5",
            "JACKPOT_DATA_DIR": "/srv/jackpot",
            "JACKPOT_POOL_SIZE": "3",
            "JACKPOT_MAX_BATCH": "50",
            "JACKPOT_MAX_BODY_BYTES": "4096",
            "JACKPOT_REQUEST_TIMEOUT_S": "2.5",
            "JACKPOT_STATEMENT_TIMEOUT_MS": "700",
            "JACKPOT_LOCK_TIMEOUT_MS": "800",
            "JACKPOT_POOL_TIMEOUT_S": "0.25",
            "JACKPOT_STRIPES": "16",
            "JACKPOT_OPEN_ROUND_MINUTES": "60",
            "JACKPOT_REPORT_TIMEOUT_S": "90",
            "JACKPOT_FILE_DAYS": "30",
            "JACKPOT_RATE_BAND": "0.05",
            "JACKPOT_RATES_STALE_AFTER_S": "288000",
            "JACKPOT_ECB_URL": "https://rates.example/daily.xml",
            "JACKPOT_OIDC_ISSUER": "https://sign-in.example/tenant",
            "JACKPOT_OIDC_AUDIENCE": "jackpot-ledger",
            "JACKPOT_OIDC_AUTHORIZED_PARTIES": "desk  app",
            "JACKPOT_OIDC_ALGORITHMS": "PS256  ES384",
            "JACKPOT_OIDC_JWKS_URL": "https://keys.example/",
            "JACKPOT_OIDC_CLIENT_ID": "ledger",
            "JACKPOT_OIDC_CLIENT_SECRET": "hunter2",
            "JACKPOT_PUBLIC_URL": "https://ledger.example:8443/",
            "JACKPOT_LOG_LEVEL": "WARNING",
        }
    )

    assert config == Config(
        database_url="postgresql+psycopg://ledger@db.example/jackpot",
        owner_url="postgresql+psycopg://owner@db.example/jackpot",
        replica_url="postgresql+psycopg://ledger@standby.example/jackpot",
        replica_stale_after_s=2.5,
        data_dir=Path("/srv/jackpot"),
        pool_size=3,
        max_batch=50,
        max_body_bytes=4096,
        request_timeout_s=2.5,
        statement_timeout_ms=700,
        lock_timeout_ms=800,
        pool_timeout_s=0.25,
        stripes=16,
        open_round_minutes=60,
        report_timeout_s=90,
        file_days=30,
        rate_band=Decimal("0.05"),
        rates_stale_after_s=288_000,
        ecb_url="https://rates.example/daily.xml",
        oidc_issuer="https://sign-in.example/tenant",
        oidc_audience="jackpot-ledger",
        oidc_authorized_parties=("desk", "app"),
        oidc_algorithms=("PS256", "ES384"),
        oidc_jwks_url="https://keys.example/",
        oidc_client_id="ledger",
        oidc_client_secret="hunter2",
        public_url="https://ledger.example:8443",
        log_level="warning",
    )
    assert "hunter2" not in repr(config)


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg"])
def test_both_spellings_of_postgresql_are_normalised_to_the_one_driver(scheme: str) -> None:
    config = Config.from_environment({"JACKPOT_DATABASE_URL": f"{scheme}://a:b@h:5433/d?sslmode=require"})

    assert config.database_url == "postgresql+psycopg://a:b@h:5433/d?sslmode=require"


@pytest.mark.parametrize(
    "url", ["", "sqlite:///jackpot.db", "mysql://h/d", "postgres://h/d", "postgresql+psycopg2://h/d", "postgresql"]
)
def test_any_other_engine_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_environment({"JACKPOT_DATABASE_URL": url})

    assert str(caught.value).startswith(f"JACKPOT_DATABASE_URL={url!r} is refused: it takes postgresql://")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("url", ["mysql://u:hunter2@h/d", "mysql://u:hunter2@[h/d"])
def test_a_refused_url_does_not_print_its_password(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_environment({"JACKPOT_DATABASE_URL": url})

    assert "hunter2" not in str(caught.value)


def test_a_configuration_does_not_print_its_database_url() -> None:
    url = "postgresql+psycopg://u:hunter2@h/d"
    assert "hunter2" not in repr(Config(database_url=url, owner_url=url, replica_url=url))


@pytest.mark.parametrize(
    ("variable", "value", "accepted"),
    [
        ("JACKPOT_DATA_DIR", "", "a directory's path"),
        ("JACKPOT_REPLICA_URL", "", f"{FORM}; or leave it unset for none"),
        ("JACKPOT_REPLICA_STALE_AFTER_S", "31", "seconds, from 2 to 30, such as 2.5"),
        ("JACKPOT_REPLICA_STALE_AFTER_S", "1.9", "seconds, from 2 to 30, such as 2.5"),
        ("JACKPOT_POOL_SIZE", "1", "a whole number from 2 to 100"),
        ("JACKPOT_POOL_SIZE", "101", "a whole number from 2 to 100"),
        ("JACKPOT_MAX_BATCH", "2_000", "a whole number"),
        ("JACKPOT_MAX_BATCH", "\u0662", "a whole number"),
        ("JACKPOT_MAX_BODY_BYTES", "1MB", "a whole number from 1024"),
        ("JACKPOT_STRIPES", "four", "a whole number from 1 to 256"),
        ("JACKPOT_RATE_BAND", "10%", "a part from 0 to 1, such as 0.10"),
        ("JACKPOT_RATE_BAND", "1.5", "a part from 0 to 1"),
        ("JACKPOT_RATE_BAND", "-0.1", "a part from 0 to 1"),
        ("JACKPOT_RATE_BAND", "NaN", "a part from 0 to 1"),
        ("JACKPOT_RATES_STALE_AFTER_S", "36h", "a whole number from 1"),
        ("JACKPOT_STATEMENT_TIMEOUT_MS", "-1", "a whole number from 1"),
        ("JACKPOT_LOCK_TIMEOUT_MS", "", "a whole number from 1"),
        ("JACKPOT_REQUEST_TIMEOUT_S", "0", "seconds, more than 0"),
        ("JACKPOT_REQUEST_TIMEOUT_S", "nan", "seconds, more than 0"),
        ("JACKPOT_REPORT_TIMEOUT_S", "3601", "seconds, more than 0 and at most 3600"),
        ("JACKPOT_POOL_TIMEOUT_S", "1.001", "seconds, more than 0 and at most 1, such as 1 or 0.5"),
        ("JACKPOT_LOG_LEVEL", "loud", "one of debug, info, warning, error, critical"),
    ],
)
def test_a_wrong_setting_names_the_variable_its_value_and_what_is_accepted(
    variable: str, value: str, accepted: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_environment({variable: value})

    assert str(caught.value).startswith(f"{variable}={value!r} is refused: it takes {accepted}")


@pytest.mark.parametrize("variable", ["JACKPOT_OIDC_ISSUER", "JACKPOT_OIDC_JWKS_URL", "JACKPOT_ECB_URL"])
@pytest.mark.parametrize(
    "url",
    [
        "",
        "sign-in.example",
        "http://sign-in.example",
        "http://10.0.0.1",
        "https://",
        "https:///path",
        "https://sign-in.example:99999",
        "https://sign-in.example:0",
        "https://sign-in.example/#keys",
        "https://sign in.example",
        "https://[sign-in.example",
        "https://sign-in.\u00e9xample",
        "file:///etc/passwd",
        "HTTPS//sign-in.example",
    ],
)
def test_an_issuer_and_a_bank_are_asked_over_tls_or_on_this_machine_only(variable: str, url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_environment(PEOPLE_SIGN_IN | {variable: url})

    assert caught.value.variable == variable


def test_the_name_of_an_issuer_has_no_query_but_the_place_of_its_keys_may() -> None:
    url = "https://sign-in.example/keys?policy=1"

    assert Config.from_environment(PEOPLE_SIGN_IN | {"JACKPOT_OIDC_JWKS_URL": url}).oidc_jwks_url == url
    with pytest.raises(ConfigError, match="JACKPOT_OIDC_ISSUER"):
        Config.from_environment(PEOPLE_SIGN_IN | {"JACKPOT_OIDC_ISSUER": url})


def test_an_issuer_on_this_machine_needs_no_tls() -> None:
    for url in ("http://127.0.0.1:8080", "http://localhost", "http://[::1]:1"):
        assert Config.from_environment(PEOPLE_SIGN_IN | {"JACKPOT_OIDC_ISSUER": url}).oidc_issuer == url


def test_a_password_in_the_url_of_an_issuer_is_refused_and_not_printed() -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_environment({"JACKPOT_OIDC_ISSUER": "https://u:hunter2@sign-in.example"})

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "environ",
    [
        {"JACKPOT_OIDC_ISSUER": "https://sign-in.example"},
        {"JACKPOT_OIDC_AUDIENCE": "us"},
        {"JACKPOT_OIDC_ISSUER": "https://sign-in.example", "JACKPOT_OIDC_AUDIENCE": " "},
    ],
)
def test_an_issuer_and_an_audience_are_set_together(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="JACKPOT_OIDC_AUDIENCE"):
        Config.from_environment(environ)


@pytest.mark.parametrize(
    "environ",
    [
        {"JACKPOT_OIDC_AUTHORIZED_PARTIES": "desk"},
        {
            "JACKPOT_OIDC_ISSUER": "https://sign-in.example",
            "JACKPOT_OIDC_AUDIENCE": "us",
            "JACKPOT_OIDC_AUTHORIZED_PARTIES": " ",
        },
    ],
)
def test_clients_are_named_where_there_is_an_issuer(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="JACKPOT_OIDC_AUTHORIZED_PARTIES"):
        Config.from_environment(environ)


@pytest.mark.parametrize("algorithms", ["none", "HS256", "RS256 HS256", "RS256,ES256", "rs256", "dir", "", " "])
def test_tokens_are_signed_with_a_published_key_or_not_at_all(algorithms: str) -> None:
    with pytest.raises(ConfigError, match="JACKPOT_OIDC_ALGORITHMS"):
        Config.from_environment({"JACKPOT_OIDC_ALGORITHMS": algorithms})


CLIENT = {"JACKPOT_OIDC_CLIENT_ID": "ledger", "JACKPOT_OIDC_CLIENT_SECRET": "hunter2"}
PUBLIC = {"JACKPOT_PUBLIC_URL": "https://ledger.example"}


@pytest.mark.parametrize(
    ("environ", "variable"),
    [
        (PEOPLE_SIGN_IN | CLIENT, "JACKPOT_OIDC_CLIENT_ID"),
        (CLIENT | PUBLIC, "JACKPOT_OIDC_CLIENT_ID"),
        (PEOPLE_SIGN_IN | PUBLIC | {"JACKPOT_OIDC_CLIENT_ID": "ledger"}, "JACKPOT_OIDC_CLIENT_ID"),
        (PEOPLE_SIGN_IN | PUBLIC | CLIENT | {"JACKPOT_OIDC_CLIENT_ID": ""}, "JACKPOT_OIDC_CLIENT_ID"),
        (PEOPLE_SIGN_IN | PUBLIC | {"JACKPOT_OIDC_CLIENT_SECRET": "hunter2"}, "JACKPOT_OIDC_CLIENT_SECRET"),
        (PEOPLE_SIGN_IN | PUBLIC | CLIENT | {"JACKPOT_OIDC_CLIENT_SECRET": " "}, "JACKPOT_OIDC_CLIENT_SECRET"),
        (PEOPLE_SIGN_IN | PUBLIC | CLIENT | {"JACKPOT_OIDC_CLIENT_SECRET": "hunter2\n"}, "JACKPOT_OIDC_CLIENT_SECRET"),
        ({"JACKPOT_PUBLIC_URL": "http://ledger.example"}, "JACKPOT_PUBLIC_URL"),
        ({"JACKPOT_PUBLIC_URL": "https://ledger.example/pages"}, "JACKPOT_PUBLIC_URL"),
    ],
)
def test_a_client_has_an_id_a_secret_and_a_way_back(environ: dict[str, str], variable: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_environment(environ)

    assert caught.value.variable == variable
    assert "hunter2" not in str(caught.value)
