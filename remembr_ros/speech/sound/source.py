"""Where sound comes from."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from remembr_ros.speech.sound.audio import Block

Deliver = Callable[[Block | None], None]
"""Takes the next block of a stream, from any thread; None: the stream has ended. It may wait where the source
is not live."""


@runtime_checkable
class SoundSource(Protocol):
    """A stream of sound that can be started and stopped, more than once.

    What goes wrong once it has started it says in :attr:`problem`, and goes on trying.
    """

    @property
    def name(self) -> str:
        """What sound this is, for people."""

    @property
    def live(self) -> bool:
        """True: the sound happens now, and what is not taken in time is lost."""

    @property
    def problem(self) -> str:
        """What is wrong now and what to do; empty: nothing."""

    def check(self) -> None:
        """Raise a RemembrError if it can never work as it is set up."""

    def start(self, deliver: Deliver) -> None:
        """Begin to deliver sound; returns at once."""

    def stop(self) -> None:
        """End that; nothing is delivered after the return."""
