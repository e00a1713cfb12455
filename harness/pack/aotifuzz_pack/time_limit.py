"""A limit on the time that one function takes."""

import contextlib
import faulthandler
import signal
import sys

# Native code that does not return to Python is given so long to do so, in seconds; then the process ends.
GRACE = 30


class TimeUp(BaseException):
    """No Exception: torch makes those into errors of the compiler."""


@contextlib.contextmanager
def time_limit(seconds):
    """Raises TimeUp in the block after so many seconds; 0: never. For the main thread."""
    if not seconds:
        yield
        return

    def up(*_):
        raise TimeUp

    before = signal.signal(signal.SIGALRM, up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    faulthandler.dump_traceback_later(seconds + min(seconds, GRACE), exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)
