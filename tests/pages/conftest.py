"""After every test with a world, the laws of the books hold."""

from tests.support.fixtures import books_obey_their_laws, open_awards_follow, world

__all__ = ["books_obey_their_laws", "open_awards_follow", "world"]
