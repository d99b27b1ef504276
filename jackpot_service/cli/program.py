"""The program `jackpot`: the command line, from the first instant on ended by Ctrl-C without a word."""

import signal


def main() -> None:
    """Run the command line. Its parts take a moment to be imported, and nothing has to be ended in order until then."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # Somebody who starts it in the background ignores Ctrl-C.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from jackpot_service.cli.main import main as run  # noqa: PLC0415  that is what takes a moment

    signal.signal(signal.SIGINT, handler)
    run()
