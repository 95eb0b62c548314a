"""The surfaces of solids, as coloured polygons."""

import math
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from remembr_bench.simulation.building import Shape, Solid

Array = NDArray[np.float64]

_SECTORS, _RINGS = 20, 10

Patch = tuple[Array, Array, list[list[int]]]
"""Points (n, 3) and unit normals (n, 3) in a cube from -1 to 1, and polygons of their indices."""


def coloured_surface(
    solids: Sequence[Solid],
) -> tuple[Array, NDArray[np.int64], NDArray[np.uint8]]:
    """Return the surface of all solids together.

    :return: points [m], shape (n, 3); polygons as VTK has them, each its size and then indices;
        colours of the points, shape (n, 3), red first
    """
    points: list[Array] = []
    shades: list[NDArray[np.uint8]] = []
    polygons: list[int] = []
    offset = 0
    for solid in solids:
        corners, faces, colours = surface_of(solid)
        points.append(corners)
        shades.append(colours)
        for face in faces:
            polygons += [len(face), *(offset + index for index in face)]
        offset += len(corners)
    return np.concatenate(points), np.array(polygons, np.int64), np.concatenate(shades)


@lru_cache(8192)  # most things stay where they are from scene to scene
def surface_of(solid: Solid) -> tuple[Array, list[list[int]], NDArray[np.uint8]]:
    """Return the points of a solid's surface [m], its faces as indices of these, and their colours."""
    unit, normals, faces = _patches()[solid.shape]
    low, high = np.array(solid.low), np.array(solid.high)
    colours = np.round(np.array(solid.colour) * _brightness(normals)[:, None])
    points = (low + high) / 2 + unit * (high - low) / 2
    return points, faces, np.clip(colours, 0, 255).astype(np.uint8)


@cache
def _patches() -> dict[Shape, Patch]:
    return {'box': _box(), 'cylinder': _cylinder(), 'ball': _ball()}


def _brightness(normals: Array) -> Array:
    """Return how bright surfaces of these normals are, shape (n,): lit from three sides."""
    lights = np.array([(0.6, 0.25, 0.75), (-0.5, 0.35, 0.7), (0.1, -0.8, 0.6)])
    strengths = np.array([0.24, 0.16, 0.2])
    lit: Array = 0.7 + np.clip(normals @ lights.T, 0.0, None) @ strengths
    return lit


def _box() -> Patch:
    points: list[Array] = []
    normals: list[Array] = []
    faces: list[list[int]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            faces.append(list(range(len(points), len(points) + 4)))
            for a, b in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)):
                points.append(np.insert(np.array([a, b]), axis, sign))
                normals.append(np.insert(np.zeros(2), axis, sign))
    return np.array(points), np.array(normals), faces


def _cylinder() -> Patch:
    angles = [math.tau * k / _SECTORS for k in range(_SECTORS)]
    circle = np.array([(math.cos(angle), math.sin(angle), 0.0) for angle in angles])
    down = np.array([0.0, 0.0, -1.0])
    n = _SECTORS
    points = np.concatenate([circle + down, circle - down, circle + down, circle - down])
    normals = np.concatenate([circle, circle, np.tile(down, (n, 1)), np.tile(-down, (n, 1))])
    sides = [[k, (k + 1) % n, n + (k + 1) % n, n + k] for k in range(n)]
    return points, normals, [*sides, list(range(2 * n, 3 * n)), list(range(3 * n, 4 * n))]


def _ball() -> Patch:
    n = _SECTORS
    polar, around = np.meshgrid(
        [math.pi * ring / _RINGS for ring in range(_RINGS + 1)],
        [math.tau * k / n for k in range(n)],
        indexing='ij',
    )
    x, y, z = np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)
    points = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    faces = [
        [ring * n + k, ring * n + (k + 1) % n, (ring + 1) * n + (k + 1) % n, (ring + 1) * n + k]
        for ring in range(_RINGS)
        for k in range(n)
    ]
    return points, points, faces
