"""What a person reads on a page, and where it leads."""

import re
from html import unescape

_GONE = re.compile(r"<(script|style|svg|head|template)\b.*?</\1>", re.DOTALL)


def text_of(page: str) -> str:
    """The text of a page, each run of white space as one space."""
    shown = re.sub(r"<[^>]*>", " ", _GONE.sub(" ", page))
    return " ".join(unescape(shown).split())


def content_of(page: str) -> str:
    """The text of a page without its frame."""
    return text_of(page.partition("<main")[2].partition(">")[2])


def links_of(page: str) -> set[str]:
    """The addresses within the service that a page leads to, without their places on the page."""
    links = {unescape(link).partition("#")[0] for link in re.findall(r'<a\b[^>]* href="([^"]*)"', page)}
    return {link for link in links if link.startswith("/")}
