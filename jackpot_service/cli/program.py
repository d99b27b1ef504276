"""The program `jackpot`: the command line, from the first instant on ended by Ctrl-C without a word."""

import gc
import signal
from typing import Final

OBJECTS_BETWEEN_COLLECTIONS: Final = 50_000
"""Every 700, as usual, looking for cycles took a quarter of the time to start, and of a proof. A worker has its own."""


def main() -> None:
    """Run the command line. Its parts take a moment to be imported, and nothing has to be ended in order until then."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # Somebody who starts it in the background ignores Ctrl-C.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    from jackpot_service.cli.main import main as run  # noqa: PLC0415  that is what takes a moment

    signal.signal(signal.SIGINT, handler)
    run()
