"""The event loop of a worker: uvloop's, which remembers how the server makes a connection."""

from asyncio import AbstractServer, BaseProtocol
from collections.abc import Callable
from typing import Any

import uvloop


class Loop(uvloop.Loop):
    """An event loop that can serve a connection which another worker has accepted."""

    make_connection: Callable[[], BaseProtocol] | None = None
    """Makes a connection of each socket; None until the server listens."""

    async def create_server(  # type: ignore[override]  # It takes what uvloop's takes.
        self,
        protocol_factory: Callable[[], BaseProtocol],
        *arguments: Any,  # noqa: ANN401  asyncio's
        **options: Any,  # noqa: ANN401  asyncio's
    ) -> AbstractServer:
        """Listen, as uvloop does."""
        self.make_connection = protocol_factory
        return await super().create_server(protocol_factory, *arguments, **options)
