"""
The demo ends when its terminal is closed, also where nobody passes the signal on.

The kernel signals the leader of the terminal's session alone. A shell passes SIGHUP on to its jobs. `make`, where it
leads the session (`xterm -e make run`), waits for its child instead. So the demo itself looks at its terminal.
"""

import os
import select
import signal
import sys
import threading
from contextlib import suppress


def end_with_terminal() -> None:
    """Have SIGHUP sent to this process when its terminal is closed; not under nohup, or without a terminal."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return
    with suppress(OSError):
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        threading.Thread(target=_signal_after_close, args=[terminal], name="terminal", daemon=True).start()


def _signal_after_close(terminal: int) -> None:
    closing = select.poll()
    closing.register(terminal, 0)  # No key that is typed: POLLHUP always comes.
    closing.poll()
    os.kill(os.getpid(), signal.SIGHUP)


def stop_at_hang_up() -> None:
    """End in order at SIGHUP; not under nohup."""
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: _hang_up())


def _hang_up() -> None:
    """Stop, since the terminal was closed; what is still printed goes nowhere, instead of failing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())
    signal.raise_signal(signal.SIGTERM)
