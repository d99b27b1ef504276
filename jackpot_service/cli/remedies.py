"""
Refusals in the words of the command line: which option is wrong, and which command helps.

The service speaks to all callers, so its remedies name calls of the API. Here stand those that have a command. A test
holds every remedy that a command can print to commands and options that there are.
"""

from collections.abc import Mapping
from typing import Any, Final

import click

REMEDIES: Final[Mapping[str, str]] = {
    "act-unknown": "Look for the act in `jackpot audit`.",
    "busy": "Run the command again in a while.",
    "evidence-missing": "Record what is missing (`jackpot awards evidence`), then decide again.",
    "internal-error": "Tell those who run the service when it was. An act may be repeated with its `--request-id`.",
    "key-unknown": "Look for the key's id in `jackpot keys list`.",
    "passkey-required": "Approve it on the pages: no command signs by a passkey.",
    "passkey-unknown": "Look for the id in `jackpot passkeys list`.",
    "period-unknown": "Take the number of the act from `jackpot reports periods`.",
    "question-invalid": "`jackpot reports list` says what a report needs, and by what it sums.",
    "rate-sheet-unknown": "Take a number from `jackpot sheets list`.",
    "report-too-long": "Ask for a file (`jackpot reports show --format`), a job (`jackpot jobs create`), or for less.",
    "report-unknown": "Take a name from `jackpot reports list`.",
    "role-forbidden": "Call with a key of a role that may. Where a key of a casino may not, use a key of the house.",
    "seal-unknown": "Take a number from `jackpot seals list`.",
    "slip-unknown": "Print the slip first (`jackpot awards slip --print`).",
    "too-many-requests": "Run it again in a while, and share no key among programs.",
}
"""By the code of a problem; of any other code the service's own remedy is right."""


def place_of(error: Mapping[str, Any]) -> str:
    """Name the place of a field error: by the option or argument of the command that runs, or else as the API does."""
    pointer, parameter = str(error.get("pointer") or ""), error.get("parameter")
    parts = [str(parameter)] if parameter else [_unescaped(part) for part in pointer.split("/")[1:]]
    first, *rest = parts[1:] if parts[:1] == ["payload"] else parts or [""]
    option = _option_of(first)
    if option is None:
        return api_place_of(error)
    name = option.opts[0] if isinstance(option, click.Option) else ""
    if "=" not in (option.metavar or ""):
        return name or option.human_readable_name
    key, *within = rest or ["NAME"]
    return f"{name} {key}=…{' at ' if within else ''}{'/'.join(within)}".strip()


def api_place_of(error: Mapping[str, Any]) -> str:
    """Name the place of a field error as the API does: a parameter, or a pointer into the body."""
    return str(error.get("parameter") or error.get("pointer") or "the body")


def _option_of(name: str) -> click.Parameter | None:
    """Find the option or argument of the command that runs by the name of a member; none where a file has them all."""
    context = click.get_current_context(silent=True)
    if context is None or context.params.get("payload") is not None:
        return None
    options = context.command.params
    return next((option for option in options if name == option.name or f"--{name}" in option.opts), None)


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
