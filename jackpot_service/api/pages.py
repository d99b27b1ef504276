"""Pages to print: plain HTML with a style of its own, without scripts and without anything from elsewhere."""

from functools import partial
from typing import Final

import flask
from marshmallow import fields

from jackpot_service.domain.languages import Language, Words
from jackpot_service.domain.money import Rate

HTML: Final = "text/html"

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""A page's Content-Security-Policy: it has a style of its own, and needs nothing else."""


def language_field(description: str) -> fields.Enum[Language]:
    """Make the query parameter that says in which language a page is written."""
    return fields.Enum(Language, by_value=True, load_default=Language.ENGLISH, metadata={"description": description})


def write(template: str, words: Words, rate: Rate, /, **values: object) -> str:
    """
    Write a page in a language, with its amounts in the currency of a rate.

    Everything that the template is given is escaped, also what people typed.
    """
    return flask.render_template(
        template,
        say=words.say,
        money=partial(words.money, rate=rate),
        moment=words.moment,
        language=words.language.value,
        **values,
    )


def answer(page: str, *, status: int = 200) -> flask.Response:
    """Answer with a page."""
    return flask.Response(page, status=status, mimetype=HTML, headers={"Content-Security-Policy": _POLICY})
