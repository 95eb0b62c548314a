"""An embedder that is loaded in the background: importing torch alone takes seconds."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.errors import EmbedderLoading, EmbedderUnavailable, RemembrError


class EmbedderBehind:
    """Loads an embedder on a thread of its own, and is it from then on. Until then it raises EmbedderLoading.

    The loading begins when somebody first wants vectors, or to know when there are some: what else is to be
    opened before that is not held up.

    The thread is a daemon: a library that is busy cannot be stopped, but nobody waits for it at the end.
    """

    def __init__(self, name: str, dimension: int, load: Callable[[], Embedder]) -> None:
        self.name = name
        self.dimension = dimension
        self._load = load
        self._loaded: Future[Embedder] = Future()
        self._began: float | None = None
        self._beginning = threading.Lock()

    @property
    def loading(self) -> bool:
        """Whether it is not known yet if it can be loaded."""
        return not self._loaded.done()

    @property
    def busy(self) -> bool:
        """Whether it is being loaded."""
        return self.loading and self._began is not None

    @property
    def problem(self) -> str:
        """Why there are no vectors now; empty: there are."""
        if self._loaded.done():
            return str(self._loaded.exception() or '')
        took_s = time.monotonic() - self._began if self._began else 0.0
        return f'the embedder {self.name} is being loaded, {took_s:.0f} s so far; ask again in a moment'

    def then(self, call: Callable[[], None]) -> None:
        """Have a function called when the loading has ended, from its thread; at once if it has."""
        self._begin()
        self._loaded.add_done_callback(lambda _: call())

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder().embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embedder().embed_query(text)

    def _embedder(self) -> Embedder:
        """Return the embedder.

        :raises EmbedderLoading: it is not there yet
        :raises EmbedderUnavailable: it cannot be loaded
        """
        self._begin()
        kind = EmbedderLoading if self.loading else EmbedderUnavailable
        if problem := self.problem:
            raise kind(problem)
        return self._loaded.result()

    def _begin(self) -> None:
        with self._beginning:
            if self._began is None:
                self._began = time.monotonic()
                threading.Thread(target=self._work, name='embedder', daemon=True).start()

    def _work(self) -> None:
        try:
            found = self._load()
            if found.dimension != self.dimension:
                raise EmbedderUnavailable(
                    f'the embedder {self.name!r} makes vectors of {found.dimension} numbers, but its files '
                    f'say {self.dimension}; fetch it again, or take another one for a new memory'
                )
        except RemembrError as error:
            self._loaded.set_exception(error)
        except Exception as error:  # noqa: BLE001  the top of a thread
            why = f'cannot load the embedder {self.name!r}: {type(error).__name__}: {error}'
            self._loaded.set_exception(EmbedderUnavailable(why))
        else:
            self._loaded.set_result(found)
