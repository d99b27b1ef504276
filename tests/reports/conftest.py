"""After every test with a world, the laws of the books hold, and everything in them can be derived again."""

from tests.support.fixtures import books_verify, world
from tests.support.histories import superuser, superusers, url

__all__ = ["books_verify", "superuser", "superusers", "url", "world"]
