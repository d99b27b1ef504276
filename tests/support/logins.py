"""The two logins of a test's database: the service's, as which it is named to tests, and the owner's."""

import sqlalchemy

from jackpot_service.database.embedded import SUPERUSER
from jackpot_service.database.tables import ROLE


def owner_url(url: str) -> str:
    """The same database by its owner's login: for migrations, and for tests that change what the service may not."""
    return _by(SUPERUSER, url)


def service_url(url: str) -> str:
    """The same database by the service's own login."""
    return _by(ROLE, url)


def owner_conninfo(url: str) -> str:
    """As psycopg takes it, the same database by its owner's login."""
    return owner_url(url).replace("+psycopg", "")


def _by(login: str, url: str) -> str:
    return sqlalchemy.make_url(url).set(username=login).render_as_string(hide_password=False)
