"""After every test with a world, the laws of the books hold, and everything in them can be derived again."""

from tests.support.fixtures import books_verify, open_awards_follow, world

__all__ = ["books_verify", "open_awards_follow", "world"]
