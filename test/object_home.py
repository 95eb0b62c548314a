"""A home whose things are taken away, hidden or put elsewhere, and the map of objects that is shown them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.objects.lifting import CameraView, lift
from remembr_ros.objects.object_map import ObjectMap
from remembr_ros.timestamps import NS
from test.object_scene import AHEAD, CAMERA, T0, PixelRect, Scene, detection

HOUR_NS = 3600 * NS
WALL_M = 4.0
FURTHER_M = 0.3
"""By so much the camera is further away when a thing is seen first: from nearer, it could be told, too."""


@dataclass(frozen=True)
class Thing:
    """Something flat that faces the camera.

    :param at: its middle [m]; as y and z of the map, z from where the camera is
    :param ahead: how far it is from where the camera usually is [m]
    :param slant: by so much its right edge is further away than its left one [m]
    """

    at: tuple[float, float]
    bgr: tuple[int, int, int] = (30, 30, 200)
    label: str = 'mug'
    ahead: float = 1.5
    size: float = 0.2
    slant: float = 0.0

    def pixels(self, back_m: float) -> PixelRect:
        """Return where it appears to a camera so much further back."""
        (y, z), half, away = self.at, self.size / 2.0, self.ahead + back_m
        left, right = (CAMERA.cx - CAMERA.fx * edge / away for edge in (y + half, y - half))
        top, bottom = (CAMERA.cy - CAMERA.fy * edge / away for edge in (z + half, z - half))
        return round(left), round(top), round(right), round(bottom)


MUG = Thing((0.4, 0.0))
BOWL = Thing((-0.4, 0.0), (200, 60, 30), 'bowl')
VASE = Thing((0.4, 0.0), (40, 180, 40), 'vase')
"""Where the mug is, and about as large."""
BOARD = Thing((0.2, 0.0), (90, 90, 90), 'board', 0.8, 0.3)
"""Nearer than the mug, and in front of it."""
ELSEWHERE = replace(MUG, at=(0.0, 0.3))


class Home:
    """A map of objects that is shown what a camera sees."""

    def __init__(self, objects: ObjectMap | None = None, start_ns: int = T0) -> None:
        self.objects = ObjectMap('robbie') if objects is None else objects
        self.now_ns = start_ns
        self.frames: list[tuple[CameraView, tuple[Thing, ...], float]] = []

    def show(
        self,
        *things: Thing,
        times: int = 6,
        every_ns: int = NS,
        unseen: Sequence[Thing] = (),
        back_m: float = 0.0,
    ) -> list[str]:
        """Show it some things.

        :param unseen: what is there, too, but is not detected
        :return: which objects the things are, empty where they are none
        """
        scene, ids = Scene(WALL_M + back_m), ['']
        for thing in sorted((*things, *unseen), key=lambda thing: -thing.ahead):
            left, top, right, bottom = thing.pixels(back_m)
            scene.put((left, top, right, bottom), thing.ahead + back_m, thing.bgr)
            scene.metres[top:bottom, left:right] += np.linspace(0.0, thing.slant, right - left)
        (x, y, z), rotation = AHEAD
        for _ in range(times):
            self.now_ns += every_ns
            view = scene.view(self.now_ns, ((x - back_m, y, z), rotation))
            self.frames.append((view, things, back_m))
            ids = self.take(*self.frames[-1])
        return ids

    def show_again(self, frames: Iterable[tuple[CameraView, tuple[Thing, ...], float]]) -> None:
        """Show it what another one was shown."""
        for view, things, back_m in frames:
            self.now_ns = view.stamp_ns
            self.take(view, things, back_m)

    def take(self, view: CameraView, things: Sequence[Thing], back_m: float) -> list[str]:
        zoom, boxes = view.camera.width // CAMERA.width, []
        for thing in things:
            left, top, right, bottom = (float(zoom * edge) for edge in thing.pixels(back_m))
            boxes.append((left, top, right, bottom))
        named = zip(boxes, things, strict=True)
        found = [detection(box, thing.label, stamp_ns=view.stamp_ns) for box, thing in named]
        placed = lift(found, view, Counter())
        placed.sort(key=lambda one: boxes.index(one.detection.box))
        return self.objects.update(view, placed)

    def known(self) -> list[KnownObject]:
        self.objects.review(self.now_ns)
        return sorted(known_objects(self.objects.memories()), key=lambda known: known.name)

    def one(self, label: str = 'mug') -> KnownObject:
        [found] = [known for known in self.known() if known.name == label]
        return found

    def is_missing(self, label: str = 'mug') -> bool:
        return self.one(label).missing_ns is not None

    def restarted(self, after_ns: int = 0) -> 'Home':
        return Home(ObjectMap('robbie', known=self.known()), self.now_ns + after_ns)


def home_of(*things: Thing) -> Home:
    """Return a home whose things are known, seen six times."""
    home = Home()
    home.show(*things, times=4, back_m=FURTHER_M)
    home.show(*things, times=2)
    assert [known.name for known in home.known()] == sorted(thing.label for thing in things)
    return home
