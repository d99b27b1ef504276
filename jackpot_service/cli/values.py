"""How commands on the machine read the texts that they write into the books."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click
from marshmallow import ValidationError

from jackpot_service.usecases import fields


class Value(click.ParamType[str]):
    """A text that a function of the API's fields reads."""

    def __init__(self, name: str, read: Callable[[str], str]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401  any default
        """Fails with a usage error."""
        try:
            return self._read(str(value))
        except ValidationError as error:
            self.fail(f"{value!r:.80} {error.messages[0]}", param, ctx)


Text = partial(Value, "text", fields.Text().read)

reason_option = click.option("--reason", type=Text(), required=True)
