"""After every test with a house, the laws of the books hold."""

from tests.support.fixtures import books_obey_their_laws, house

__all__ = ["books_obey_their_laws", "house"]
