"""A module that corrupts a history writes it once, by its `write(url)`; each test changes it and takes that back."""

from tests.support.histories import superuser, superusers, url

__all__ = ["superuser", "superusers", "url"]
