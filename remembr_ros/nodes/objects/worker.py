"""The thread of the objects node: from images to detections to stored objects."""

import contextlib
import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable

from rclpy.impl.rcutils_logger import RcutilsLogger

from remembr_ros.errors import ObjectsChanged, RemembrError, StoreUnavailable
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.objects.alignment import PoseWatch
from remembr_ros.objects.detectors.detection import Detector, PixelBox
from remembr_ros.objects.keeper import ObjectKeeper
from remembr_ros.objects.lifting import CameraView
from remembr_ros.objects.pairing import Pairing

MOST_WAITING = {'image': 4, 'depth': 60, 'detections': 20}  # messages; TF and all others are never left out
IDLE_S = 0.2  # [s] after which images are looked at once more: they may have waited for too long
AGAIN_S = 2.0  # [s] between two attempts to read the objects of a memory node that is not there
HUNG_S = 10.0  # [s] at one image: the detector hangs
NICE = 5  # of the thread; of the process 0
END_S = 12.0  # [s] for what is known to be stored


class ObjectWorker:
    """Follows objects on a thread of its own; all that it is told is done there, in that order.

    :param detector: its model is loaded here
    :param open_keeper: reads what is stored; tried again until it works
    :param why_poor: returns why the pose of a time [ns] is not to be trusted; empty: it is
    :param on_seen: called with each view that was placed, and where in it which objects are
    :param publish: called with all objects and the newest stamp [ns]
    :param on_end: called when all that was seen is stored, or cannot be
    :param before: the worker that this one follows, whose objects are stored first
    """

    def __init__(
        self,
        pairing: Pairing,
        detector: Detector,
        open_keeper: Callable[[], ObjectKeeper],
        *,
        camera: str,
        why_poor: Callable[[int], str],
        on_seen: Callable[[CameraView, dict[str, PixelBox]], None],
        publish: Callable[[list[KnownObject], int], None],
        publish_period_s: float,
        on_end: Callable[[], None],
        before: 'ObjectWorker | None',
        log: RcutilsLogger,
    ) -> None:
        self._on_end, self._before = on_end, before
        self._pairing, self._detector, self._open = pairing, detector, open_keeper
        self._camera, self._why_poor, self._on_seen = camera, why_poor, on_seen
        self._publish, self.publish_period_s, self._log = publish, publish_period_s, log
        self._told: queue.SimpleQueue[tuple[str, Callable[[], object]] | None] = queue.SimpleQueue()
        self._waiting: Counter[str] = Counter()
        self._counting = threading.Lock()
        self._keeper: ObjectKeeper | None = None
        self._watch = PoseWatch()
        self._try_at = self._publish_at = self._publish_s = 0.0
        self._now_ns = 0
        self._is_new = self._undo = self._closed = False
        self.dropped: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        """How many images, and detections, were of no use, by the reason."""
        self.objects = self.images = 0
        self.detect_s = self.frame_s = 0.0
        """How long the detector takes for an image, and all that is done with one [s]."""
        self.problem = self.storing = ''
        """Why nothing is detected, and why nothing is stored; empty: it is."""
        self._busy_since: float | None = None
        self._thread = threading.Thread(target=self._run, name='objects', daemon=True)
        self._thread.start()

    @property
    def busy_s(self) -> float:
        """How long the detector has been at one image so far [s]; 0: it is at none."""
        since = self._busy_since
        return 0.0 if since is None else time.monotonic() - since

    def put(self, kind: str, take: Callable[[], object], stamp_ns: int = 0) -> None:
        """Have something taken in; returns at once. Of what comes faster than that, some is left out.

        :param kind: 'image', 'depth' and 'detections' may be left out
        :param stamp_ns: of what is taken
        """
        with self._counting:
            if self._waiting[kind] >= MOST_WAITING.get(kind, 1 << 30):
                self.dropped[f'messages ({kind}) that came while others were looked at'] += 1
                return
            self._waiting[kind] += 1
        self._now_ns = stamp_ns or self._now_ns
        self._told.put((kind, take))

    def hear(self, take: Callable[[ObjectKeeper], None]) -> None:
        """Have something told to who follows the objects."""

        def told() -> None:
            if self._keeper is not None:
                take(self._keeper)
                self._is_new = True

        self.put('deed', told)

    def close(self) -> None:
        """Take no more, store what is known, and end; not waited for."""
        self._closed = True
        self._told.put(None)

    def ended(self, timeout_s: float) -> bool:
        """Wait for the end; tell whether it came in time."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # captions go first where all cores are busy
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
        if self._before is not None:
            self._before.ended(END_S)
            self._before = None
        while not self._closed:
            try:
                self._take()
                if self._keeper is None:
                    self._read()
                else:
                    for view in self._pairing.ready(self._now_ns):
                        self._see_safely(self._keeper, view)
                        if self._closed:
                            break
                    self._show(self._keeper)
                self.left_out = self._counted()
            except Exception as error:  # noqa: BLE001  the top of a thread
                self.problem = f'{type(error).__name__}: {error}'
                self._log.error(self.problem, throttle_duration_sec=10.0)
        if self._keeper is not None:
            self._try_to(self._keeper.keep)
            if self._keeper.behind and not self.storing:  # others changed objects meanwhile
                self._try_to(self._keeper.keep)
        if self.storing:
            self._log.error(f'what was seen last is not stored: {self.storing}')
        self._detector.close()
        self._on_end()

    def _counted(self) -> Counter[str]:
        counted = Counter(self.dropped)
        for part in (self._pairing, self._keeper, self._detector):
            counted += getattr(part, 'dropped', Counter())
        return counted

    def _take(self) -> None:
        """Take all that was told, or wait for a while."""
        wait_s: float | None = IDLE_S
        while True:
            try:
                item = self._told.get(timeout=wait_s) if wait_s else self._told.get_nowait()
            except queue.Empty:
                return
            wait_s = None
            if item is None:
                return
            kind, take = item
            with self._counting:
                self._waiting[kind] -= 1
            take()

    def _read(self) -> None:
        """Read what is stored, unless that was tried just now."""
        if time.monotonic() < self._try_at:
            return

        def read() -> None:
            self._keeper = self._open()
            self._is_new = True

        self._try_to(read)
        self._try_at = time.monotonic() + AGAIN_S

    def _try_to(self, store: Callable[[], None]) -> None:
        """Call something that needs the memory node; what cannot be stored now is stored later."""
        try:
            store()
            if self._keeper is None or not self._keeper.behind:  # most images store nothing
                self.storing = ''
        except ObjectsChanged as error:
            self._log.info(str(error))
            self._reread(placed=not self._undo)
        except RemembrError as error:
            self.storing = str(error)
            self._log.warning(f'objects are not stored: {error}', throttle_duration_sec=10.0)

    def _reread(self, *, placed: bool) -> None:
        keeper = self._keeper
        if keeper is None:
            return
        try:
            keeper.read_again(placed=placed)
            self._undo, self._is_new = False, True
        except StoreUnavailable as error:
            self.storing, self._undo = str(error), self._undo or not placed

    def _see_safely(self, keeper: ObjectKeeper, view: CameraView) -> None:
        try:
            self._see(keeper, view)
            self.problem = ''
        except Exception as error:  # noqa: BLE001  the next image may be better
            self.problem = (
                str(error) if isinstance(error, RemembrError) else f'{type(error).__name__}: {error}'
            )
            self.dropped['images that the detector failed at'] += 1
            self._log.error(f'an image is left out: {self.problem}', throttle_duration_sec=10.0)

    def _see(self, keeper: ObjectKeeper, view: CameraView) -> None:
        if why := self._why_poor(view.stamp_ns):
            self.dropped['images whose pose was poor'] += 1
            self._log.warning(f'nothing is placed: {why}', throttle_duration_sec=10.0)
            return
        self._busy_since = began = time.monotonic()
        try:
            detections = self._detector.detect(view.image, view.stamp_ns, self._camera)
        finally:
            self._busy_since = None
        detected = time.monotonic()
        if self._watch.jumped(view.stamp_ns, view.pose):
            self._log.warning('the camera jumped: nothing is placed until known things are seen again')
            self._undo = True  # what was seen since it was last stored may be at a wrong place, too
        if self._undo:
            self._reread(placed=False)
        if self._watch.unsettled:
            if not len(keeper):
                self._watch.settle()
            else:
                self._watch.compare(view.stamp_ns, *keeper.agrees(view, detections))
                if (wrong := self._watch.wrong) is not None:
                    self._watch.wrong = None
                    keeper.objects.give_up(*wrong)
        if self._watch.unsettled or self._undo:
            self.dropped['images after a jump of the pose'] += 1
            return
        boxes: dict[str, PixelBox] = {}
        self._try_to(lambda: boxes.update(keeper.see(view, detections)))
        self._watch.recognise(keeper.objects.known_before(boxes, self._watch.since_ns))
        self._on_seen(view, boxes)
        self.images += 1
        self.detect_s += 0.1 * (detected - began - self.detect_s)
        self.frame_s += 0.1 * (time.monotonic() - began - self.frame_s)
        self._is_new = True

    def _show(self, keeper: ObjectKeeper) -> None:
        now = time.monotonic()
        if self._is_new and now >= self._publish_at:
            self._is_new, self.objects = False, len(keeper)
            self._publish(keeper.objects.known(), self._now_ns)
            # Of many objects that takes a while: never more than a tenth of the time. Once does not count: a
            # full collection of garbage may take seconds, which are not the objects'.
            before, self._publish_s = self._publish_s, time.monotonic() - now
            self._publish_at = now + max(self.publish_period_s, 10.0 * min(before, self._publish_s))
