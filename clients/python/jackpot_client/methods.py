"""Methods of a client made of the descriptions of calls, so that no call is described twice."""

import inspect
from collections.abc import Callable
from typing import Any


def described_by(method: Any, describe: Callable[..., Any]) -> None:  # noqa: ANN401  a function that is made to look alike
    """Give a method the name, the docstring and the parameters of the call that it makes."""
    method.__name__ = describe.__name__
    method.__doc__ = describe.__doc__
    signature = inspect.signature(describe)
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    parameters = [this, *signature.parameters.values()]
    method.__signature__ = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)


def ignore(_: object) -> None:
    """Do nothing about a retry."""
