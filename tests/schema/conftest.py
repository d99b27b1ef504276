"""After every test with a house, the laws of the books hold, and everything in them can be derived again."""

from tests.support.fixtures import books_verify, house

__all__ = ["books_verify", "house"]
