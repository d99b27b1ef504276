"""The subject of an act: its answer states it again, and one that states something else belongs to another call."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

OF_PATH: Final = {
    "awards": "award_id",
    "change-requests": "request_id",
    "exceptions": "exception_id",
    "jackpots": "jackpot_id",
    "jobs": "job_id",
    "keys": "key_id",
    "passkeys": "passkey_id",
    "rounds": "round_id",
    "tables": "table_id",
}
"""The member that states the id which stands after a noun in a path."""

OF_BODY: Final[Mapping[str, tuple[str, ...]]] = {
    "casinos": ("casino_id",),
    "change-requests": ("request_id", "kind"),
    "jackpots": ("jackpot_id",),
    "jobs": ("kind",),
    "keys": ("principal",),
    "rate-sheets": ("base",),
    "tables": ("table_id",),
    "users": ("principal",),
}
"""The members that name what is added to a list."""

OF_NO_ID: Final = frozenset({"sign-out"})
"""Acts whose answers do not state the id in their path: all keys of its owner are meant."""


def subjects_of(path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that an act's answer must state: the ids in its path, or the names of what is added."""
    *parts, last = path.removeprefix("/v1/").split("/")
    if not parts:
        return {name: body[name] for name in OF_BODY.get(last, ())}
    ids = zip(parts[::2], parts[1::2], strict=True)
    return {} if last in OF_NO_ID else {OF_PATH[noun]: unquote(id_) for noun, id_ in ids}
