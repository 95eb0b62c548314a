"""How this process asks the system for memory: so that what a request needed is given back after it."""

import ctypes
from contextlib import suppress

_M_MMAP_THRESHOLD = -3  # mallopt(3)
LARGE_BYTES = 2**18  # what is larger is mapped by itself, and unmapped when it is freed


def give_back_freed() -> None:
    """Have large arrays given back to the system as soon as they are freed; for the whole process.

    glibc raises that threshold to the largest array that was ever freed, up to 32 MB, and from then on keeps
    such arrays in an arena for each thread: a server whose requests are answered by many threads grows by a
    hundred megabytes. Where there is no glibc nothing changes.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
