"""
What the lane came to of a call that Flask answers after all: who called, and the error that it ended with.

It goes with the request, so that nothing is decided twice: an outcome that is unknown must not become another one
because the key is asked for again, or a place.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from jackpot_service.domain.errors import Unavailable
from jackpot_service.domain.principals import Principal

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_DECIDED: Final = "jackpot.decided"


@dataclass(frozen=True, slots=True)
class _Decided:
    principal: Principal
    error: Exception


def leave(environ: "WSGIEnvironment", principal: Principal, error: Exception) -> None:
    """Leave it to Flask to tell an error."""
    environ[_DECIDED] = _Decided(principal, error)


def is_decided(environ: "WSGIEnvironment") -> bool:
    """Whether the lane came to an error."""
    return _DECIDED in environ


def caller_of(environ: "WSGIEnvironment") -> Principal | None:
    """
    Who called, if the lane found it.

    Raises: Unavailable, if that is what the call ended with.
    """
    decided: _Decided | None = environ.get(_DECIDED)
    if decided is not None and isinstance(decided.error, Unavailable):
        raise_error_of(environ)
    return None if decided is None else decided.principal


def raise_error_of(environ: "WSGIEnvironment") -> None:
    """Raises: what the call ended with in the lane, if it did."""
    decided: _Decided | None = environ.pop(_DECIDED, None)
    if decided is None:
        return
    error = decided.error
    try:
        raise error
    finally:
        del error, decided  # An error that its own traceback holds would keep the request until the next collection.
