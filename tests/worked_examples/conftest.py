"""Worked examples end with the full verification of the books."""

from tests.support.fixtures import books_verify, world

__all__ = ["books_verify", "world"]
