"""Ports of this machine, before something listens there."""

import socket
from typing import Final

import click

from jackpot_service.server.supervisor import ServerFailed, bound

DEFAULT_HOST: Final = "127.0.0.1"


def require_free(host: str, port: int) -> None:
    """Raises: click.ClickException if the service could not listen there; before a database is started in vain."""
    try:
        bound(host, port).close()
    except ServerFailed as error:
        message = f'{error}; another port is taken by --port (in a checkout: make run ARGS="--port {port + 1}")'
        raise click.ClickException(message) from error


def free_port() -> int:
    """Return a port at which nothing listens now."""
    with socket.socket() as probe:
        probe.bind((DEFAULT_HOST, 0))
        port: int = probe.getsockname()[1]
        return port
