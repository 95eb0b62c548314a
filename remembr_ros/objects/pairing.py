"""Pairs images with their depth, camera intrinsics and pose.

Nothing arrives in order: depth comes beside the image, localisation after it. Images wait until both are
there, for a while; what does not come, or is garbage, is counted by its reason. Detections of others wait in
the same way, and take the image of their time along if there is one.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from remembr_ros.bags.transforms import TransformTree
from remembr_ros.errors import InvalidRequest, StalePose
from remembr_ros.images import Frame
from remembr_ros.objects.camera import NO_CAMERA, Depth, Pinhole, has_depth
from remembr_ros.objects.detectors.told import Told
from remembr_ros.objects.lifting import CameraView, DepthView
from remembr_ros.timestamps import NS

WAIT_NS = 2 * NS  # localisation comes late, but not by more
SLACK_NS = NS // 20  # between an image and its depth
PICTURE_SLACK_NS = NS // 200  # between an image and what others detected in it: stamps that were rounded
TF_SLACK_NS = NS // 10  # so far a transform stands in beyond its last sample
KEPT = 90  # images that wait, of a camera at 30 Hz; twice as many depth images


class Pairing:
    """Puts together what one camera sees. Used by one thread at a time.

    :param tree: others add to it
    :param map_frame: what objects are placed in
    :param with_depth: there is a depth camera; an image without its depth is of no use then
    :param told: others detect things: images only show what they look like
    """

    def __init__(self, tree: TransformTree, map_frame: str, *, with_depth: bool, told: bool = False) -> None:
        self.tree, self._told = tree, told
        self._map_frame, self._with_depth = map_frame, with_depth
        self._waiting: deque[Frame | Told] = deque()
        self._pictures: deque[Frame] = deque(maxlen=KEPT)
        self._depths: deque[tuple[int, str, Callable[[], Depth]]] = deque(maxlen=2 * KEPT)
        self._infos: dict[str, Pinhole] = {}
        self._frames: dict[str, str] = {}
        self.dropped: Counter[str] = Counter()
        """How many images were of no use, by the reason."""
        self.causes: Counter[str] = Counter()
        """The same by all that is known of the reason, and what helps; the latest last."""
        self._uncalibrated = ''

    def take_info(self, sensor: str, info: Any) -> None:
        """Take a sensor_msgs/CameraInfo.

        :param sensor: of the 'image' or of the 'depth'
        """
        try:
            self._infos[sensor] = Pinhole.of(info)
            self._frames[sensor] = info.header.frame_id.lstrip('/')
        except InvalidRequest as error:
            self._uncalibrated = str(error)

    def take_depth(self, stamp_ns: int, frame_id: str, decode: Callable[[], Depth]) -> None:
        """Take a depth image.

        :param decode: returns the metres; raises ValueError when they are garbage
        """
        if self._depths and stamp_ns < self._depths[-1][0] - WAIT_NS:  # the clock started over
            self._depths.clear()
        self._depths.append((stamp_ns, frame_id, decode))
        oldest_ns = min(stamp_ns, self._waiting[0].stamp_ns if self._waiting else stamp_ns) - WAIT_NS
        while self._depths[0][0] < oldest_ns:  # no image waits for it any more
            self._depths.popleft()

    def take_image(self, frame: Frame) -> None:
        """Take an image; of too many that wait the oldest is left out."""
        if self._told:
            if self._pictures and frame.stamp_ns < self._pictures[-1].stamp_ns - WAIT_NS:
                self._pictures.clear()
            self._pictures.append(frame)
        else:
            self._wait(frame)

    def take_told(self, stamp_ns: int, frame_id: str, in_space: bool = False) -> None:
        """Take that others detected things, as Told says; with in_space, camera and depth may be missing."""
        self._wait(Told(stamp_ns, frame_id, in_space))

    def _wait(self, frame: Frame | Told) -> None:
        self._waiting.append(frame)
        if len(self._waiting) > KEPT:
            self._waiting.popleft()
            self._drop('more images than can be looked at')

    def ready(self, now_ns: int, *, last: bool = False) -> Iterator[CameraView]:
        """Yield the images that everything is there for, in their order.

        :param now_ns: the newest stamp of anything
        :param last: nothing comes any more
        """
        while self._waiting:
            frame = self._waiting[0]
            # What is from the future waited for a clock that was set back.
            late = last or abs(now_ns - frame.stamp_ns) > WAIT_NS
            try:
                view = self._view(frame, late)
            except (StalePose, InvalidRequest, ValueError) as error:
                self._drop(str(error), error.why if isinstance(error, StalePose) else '')
            else:
                if view is None:
                    return
                yield view
            self._waiting.popleft()

    def _view(self, frame: Frame | Told, late: bool) -> CameraView | None:
        """Return an image with what belongs to it; None: something is still on its way.

        :raises StalePose: something is missing for good
        :raises ValueError: something is garbage
        :raises InvalidRequest: something does not fit
        """
        stamp_ns, slack_ns = frame.stamp_ns, TF_SLACK_NS if late else 0
        near = min(self._depths, key=lambda depth: abs(depth[0] - stamp_ns), default=None)
        if near is not None and (
            abs(near[0] - stamp_ns) > SLACK_NS or (not late and max(d[0] for d in self._depths) < stamp_ns)
        ):
            near = None
        camera, own = self._infos.get('image'), self._infos.get('depth')
        registered = near is not None and near[1] == self._frames.get('image')
        if own is None and registered and not self._uncalibrated:
            own = camera  # which needs no camera info of its own
        picture, coming = self._picture(frame)
        frame_id = self._frame_id(frame, picture, late)
        in_space = isinstance(frame, Told) and frame.in_space
        if in_space and (camera is None or (picture is None and frame_id != self._frames['image'])):
            camera, picture = NO_CAMERA, None
        with_depth = bool(self._depths) if in_space else self._with_depth
        if not late and (coming or camera is None or (with_depth and (near is None or own is None))):
            return None
        with_depth &= not in_space  # it has come, but need not
        if camera is None or (with_depth and own is None):
            raise StalePose(self._uncalibrated or 'no camera info: let the drivers of the cameras publish it')
        if with_depth and near is None:
            raise StalePose('no depth of its time: check the depth topic, and that both have the same clock')
        try:
            pose = self.tree.lookup(self._map_frame, frame_id, stamp_ns, slack_ns)
            at = self.tree.lookup(self._map_frame, near[1], near[0], slack_ns) if near else pose
        except StalePose as error:
            if not late:
                return None
            raise StalePose(f'no pose at its time: {error}', f'no pose at its time: {error.why}') from error
        image = picture.decode() if picture else None
        if image is not None:
            camera = camera.at(image.shape[1], image.shape[0], 'image')
        view = CameraView(stamp_ns, image, camera, pose)
        metres = near[2]() if near and own else None
        if metres is None or own is None or (in_space and not has_depth(metres)):
            return view
        if not has_depth(metres):
            raise ValueError('depth is all zero: is the camera covered, or nearer than it can measure?')
        own = own.at(metres.shape[1], metres.shape[0], 'depth image')
        return replace(view, depth=DepthView(metres, own, at))

    def _frame_id(self, frame: Frame | Told, picture: Frame | None, late: bool) -> str:
        """Return where something was seen from; detectors leave it out: then it is the image's of their time.

        :raises StalePose: nobody knows
        """
        found = frame.frame_id or (picture.frame_id if picture else self._frames.get('image', ''))
        if late and not found:
            raise StalePose('no frame_id: let the detector give that of its images, or publish these, too')
        return found

    def _picture(self, frame: Frame | Told) -> tuple[Frame | None, bool]:
        """Return the image, of what was told that of its time if it came; and whether it is to come."""
        if isinstance(frame, Frame):
            return frame, False
        own = [picture for picture in self._pictures if frame.frame_id in {'', picture.frame_id}]
        nearest = min(own, key=lambda picture: abs(picture.stamp_ns - frame.stamp_ns), default=None)
        if nearest and abs(nearest.stamp_ns - frame.stamp_ns) <= PICTURE_SLACK_NS:
            return nearest, False
        return None, bool(own) and own[-1].stamp_ns < frame.stamp_ns

    def _drop(self, problem: str, why: str = '') -> None:
        self.dropped[re.sub(r'\d+', 'N', problem.split(':', maxsplit=1)[0])] += 1
        cause = re.sub(r'\d+', 'N', why or problem)
        self.causes[cause] = self.causes.pop(cause, 0) + 1
