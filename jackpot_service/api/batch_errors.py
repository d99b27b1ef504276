"""
The errors of a batch of bets whose shape is wrong: of its shape, and of the meaning of what is right in it.

So a table server mends a batch once. The answer is `validation`, which is nothing that finance has to see.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Final

import flask
import sqlalchemy

from jackpot_service.api.parsing import Invalid
from jackpot_service.api.request_context import context, now, principal
from jackpot_service.database import deadlines
from jackpot_service.database.transactions import transact
from jackpot_service.domain import batches
from jackpot_service.domain.bets import Bets
from jackpot_service.domain.errors import LedgerError, in_order
from jackpot_service.usecases.accept_bets import AcceptBets, refusals_of

View = Callable[..., flask.Response]
CommandOf = Callable[[dict[str, Any]], AcceptBets]

LONGEST_S: Final = 0.5
"""For the books' answer about such a batch. If they take longer, its shape alone is named."""


def all_named(invalid: Invalid, command_of: CommandOf, engine: sqlalchemy.Engine) -> Invalid:
    """
    Return the error of a batch with all that is wrong with its bets.

    `command_of` makes a command of the body that is right. Where the books have no answer, the shape alone is named.
    """
    body = invalid.valid_data
    if not isinstance(body, dict) or not isinstance(body.get("bets"), Bets):
        return invalid
    command = command_of({"occurred_at": None, "game_number": None, **body})
    try:
        with deadlines.within(LONGEST_S):
            refusals = transact(engine, partial(refusals_of, command=command))
    except LedgerError:
        return invalid
    more = tuple(batches.field_errors_of(refusals))
    return Invalid(in_order([*invalid.problem_field_errors, *more])) if more else invalid


def names_all(command_of: Callable[..., AcceptBets]) -> Callable[[View], View]:
    """Have a view of Flask answer a batch of the wrong shape with all that is wrong with it."""

    def decorate(view: View) -> View:
        @wraps(view)
        def named(*args: Any, table_id: str, round_id: str, **kwargs: Any) -> flask.Response:  # noqa: ANN401
            try:
                return view(*args, table_id=table_id, round_id=round_id, **kwargs)
            except Invalid as invalid:
                command = partial(command_of, principal(), table_id, round_id, now=now())
                raise all_named(invalid, command, context().engine) from None

        return named

    return decorate
