"""After every test with a house, the laws of the books hold, and everything in them can be derived again."""

from tests.support.fixtures import books_verify, house
from tests.support.histories import superuser, superusers, url

__all__ = ["books_verify", "house", "superuser", "superusers", "url"]
