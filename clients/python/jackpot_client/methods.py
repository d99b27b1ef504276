"""Methods of a client made of the descriptions of calls, so that no call is described twice."""

import inspect
from collections.abc import Callable
from types import GenericAlias
from typing import Any, get_args


def described_by(
    method: Any,  # noqa: ANN401  a function that is made to look alike
    describe: Callable[..., Any],
    iterator: type | None = None,
) -> None:
    """
    Give a method the name, the docstring and the parameters of the call that it makes, and the type of its answer.

    That of a list is an `iterator` of its items.
    """
    method.__name__ = describe.__name__
    method.__doc__ = describe.__doc__
    signature = inspect.signature(describe)
    answers = get_args(signature.return_annotation)
    returns = answers[0] if iterator is None else GenericAlias(iterator, answers)
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    parameters = [this, *signature.parameters.values()]
    method.__signature__ = signature.replace(parameters=parameters, return_annotation=returns)


def ignore(_: object) -> None:
    """Do nothing about a retry."""
