"""The European Central Bank's own address, from which the service reads the day's document when a person says so."""

import ssl
import time
from typing import Final

import httpx

from jackpot_service.domain.errors import Unavailable
from jackpot_service.usecases.ecb_documents import LARGEST_DOCUMENT, BadDocument

PATIENCE_S: Final = 3.0
LONGEST_S: Final = 6.0
"""A caller waits for it, and nothing is locked meanwhile."""


class DocumentUnavailable(Unavailable, code="document-unavailable", title="The document cannot be fetched"):
    """The address of the document does not answer with one, or not in time."""


def fetch_document(url: str | None) -> bytes:
    """
    Read the document as it is sent, and nothing after a redirection: what is compressed could be anything, unpacked.

    Raises: DocumentUnavailable; BadDocument if the service has no address of one.
    """
    if url is None:
        raise BadDocument("No document was sent, and this service has no address to fetch one from (JACKPOT_ECB_URL).")
    until = time.monotonic() + LONGEST_S
    content = bytearray()
    try:
        # The machine's own certificates; no proxy and nothing else is taken from the environment.
        with (
            httpx.Client(verify=ssl.create_default_context(), trust_env=False, timeout=PATIENCE_S) as client,
            client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as answer,
        ):
            if answer.status_code != httpx.codes.OK:
                raise _unavailable(f"answers {answer.status_code}")
            for part in answer.iter_raw():
                content += part
                if len(content) > LARGEST_DOCUMENT or time.monotonic() > until:
                    raise _unavailable("answers too much, or too slowly")
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise _unavailable("does not answer") from error
    return bytes(content)


def _unavailable(outcome: str) -> DocumentUnavailable:
    return DocumentUnavailable(f"The address of the ECB's document {outcome}. Upload the document yourself.")
