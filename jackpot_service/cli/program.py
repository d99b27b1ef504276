"""The program `jackpot`: the command line, from the first instant on ended by Ctrl-C without a word."""

import io
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

AGAIN_AFTER_S: Final = 0.05


class OutputFailed(OSError):
    """Standard output cannot be written."""


class _Output(io.FileIO):
    """Standard output, whose failures have a class of their own: those of files look the same."""

    def write(self, piece: Any) -> int:  # noqa: ANN401  any bytes
        """Raises: OutputFailed."""
        try:
            return super().write(piece)
        except OSError as error:
            raise OutputFailed(error.errno, error.strerror) from None


def main() -> None:
    """Run the command line. Its parts take a moment to be imported, and nothing has to be ended in order until then."""
    sys.unraisablehook = _press_again
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # Somebody who starts it in the background ignores Ctrl-C.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from jackpot_service.cli.main import main as run  # noqa: PLC0415  that is what takes a moment

    signal.signal(signal.SIGINT, handler)
    if isinstance(sys.stdout, io.TextIOWrapper):  # It may be closed.
        sys.stdout = _named(sys.stdout)
    run()


def _press_again(unraisable: "UnraisableHookArgs") -> None:
    """
    Send a Ctrl-C again that came while a finalizer or the callback of a weak reference ran: Python drops it there.

    Each import has such a callback. The main thread alone gets the signal, so that it can hold it back.
    """
    if unraisable.exc_type is KeyboardInterrupt:
        again = threading.Timer(AGAIN_AFTER_S, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)


def _named(stdout: io.TextIOWrapper) -> io.TextIOWrapper:
    output = io.BufferedWriter(_Output(stdout.fileno(), "wb", closefd=False))
    return io.TextIOWrapper(output, stdout.encoding, stdout.errors, line_buffering=stdout.line_buffering)
