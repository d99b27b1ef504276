"""Reports as files that are downloaded: CSV is sent while it is read, a workbook when it is whole."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import IO

import flask
import structlog

from jackpot_service.exports import files, xlsx_file
from jackpot_service.exports.files import file_name
from jackpot_service.reports.documents import Document

CHUNK = 64 * 1024

CUT_SHORT = "This file is not complete: something went wrong while it was written. Ask for it again."
"""The last line of a CSV file that ends too early: servers send what there is as if that were all."""

log = structlog.get_logger()


def csv(document: Document, opened: ExitStack) -> flask.Response:
    """
    Answer the first section, or the head, line by line.

    The books stay open until the last line is read, or the caller goes away. An error before the first part is written
    is raised here, and so answered as a problem.
    """
    parts = _parts(files.csv_lines(document))
    first = next(parts)
    to_close = opened.pop_all()
    response = _attached(_to_the_end(first, parts, to_close), document, files.CSV_TYPE, "csv")
    response.call_on_close(to_close.close)  # Of an answer to HEAD not even the first part is asked for.
    return response


def workbook(document: Document) -> flask.Response:
    """Answer a workbook, from a file that vanishes when it has been sent."""
    with ExitStack() as opened:
        file = opened.enter_context(tempfile.TemporaryFile())
        xlsx_file.write(document, file)
        response = _attached(_read_out(file), document, xlsx_file.MEDIA_TYPE, "xlsx")
        response.content_length = file.seek(0, os.SEEK_END)
        response.call_on_close(opened.pop_all().close)
        return response


def _read_out(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while chunk := file.read(CHUNK):
            yield chunk


def _parts(lines: Iterable[str]) -> Iterator[bytes]:
    """Put lines together: to hand over each by itself costs more than to write it."""
    held: list[str] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= CHUNK:
            yield "".join(held).encode()
            held, size = [], 0
    if held:
        yield "".join(held).encode()


def _to_the_end(first: bytes, rest: Iterator[bytes], opened: ExitStack) -> Iterator[bytes]:
    with opened:
        try:
            yield first
            yield from rest
        except Exception:
            log.exception("report-cut-short")
            yield f'"{CUT_SHORT}"\r\n'.encode()


def _attached(content: Iterable[bytes], document: Document, media_type: str, ending: str) -> flask.Response:
    name = file_name(document.name, document.made_at, ending)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return flask.Response(content, content_type=media_type, headers=headers)
