"""Memories of a perfect captioner on a tour of a building, and when the robot stood: from its speed."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from remembr_ros.geometry import Pose, StampedPose, distance, wrap_angle
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

if TYPE_CHECKING:
    from remembr_bench.simulation.tour import Tour
    from remembr_bench.simulation.truth import RecordingTruth

RATE_HZ = 2.5  # Of the camera
FINE_S = 0.04  # Step at which the tour's speed is looked at


@dataclass(frozen=True, slots=True)
class TrueStop:
    """When the robot stood, and where."""

    start_ns: int
    end_ns: int
    pose: Pose


@dataclass(frozen=True, slots=True)
class DrivenTour:
    """A tour as it was, and as it is remembered."""

    truth: 'RecordingTruth'
    memories: list[Memory]
    stops: list[TrueStop]
    length_m: float


def drive(seed: int, start_ns: int, dwell: float = 1.0, robot: str = 'robbie') -> DrivenTour:
    """Return a drive through the building of a seed.

    :param dwell: times as long as usual the robot stands where it does; usually that is 1 to 2 s
    """
    pytest.importorskip('remembr_bench', reason='needs the worlds of remembr_bench')
    from remembr_bench.simulation.floor_plan import generate_building
    from remembr_bench.simulation.tour import Tour
    from remembr_bench.simulation.truth import SEGMENT_S, observe

    building = generate_building(seed)
    route = tuple(replace(corner, dwell_s=corner.dwell_s * dwell) for corner in building.route)
    building = replace(building, route=route)
    tour = Tour(building)
    count = int(tour.duration_s * RATE_HZ) + 1
    frames = [
        StampedPose(start_ns + round(i * NS / RATE_HZ), tour.pose_at(i / RATE_HZ)) for i in range(count)
    ]
    truth = observe(building, frames)
    memories = [
        Memory(
            f'{robot}-{start_ns}-{i:03}',
            robot,
            segment.start_ns,
            segment.end_ns,
            segment.caption,
            segment.pose,
            travelled=driven_m(tour, i * SEGMENT_S, (segment.end_ns - start_ns) / NS),
            scene_text=segment.visible_signs,
        )
        for i, segment in enumerate(truth.segments)
    ]
    return DrivenTour(truth, memories, _stops(tour, start_ns), driven_m(tour, 0.0, tour.duration_s))


def twist_at(tour: 'Tour', t_s: float) -> tuple[float, float]:
    """Return how a robot moves, t_s after the start: forward [m/s] and to the left [rad/s]."""
    half = 0.02
    before, after = tour.pose_at(t_s - half), tour.pose_at(t_s + half)
    turned = wrap_angle(after.yaw - before.yaw)
    return distance(before.position, after.position) / (2 * half), turned / (2 * half)


def driven_m(tour: 'Tour', start_s: float, end_s: float) -> float:
    """Return how far a robot drives from one time after the start to another [m]."""
    steps = max(1, round((end_s - start_s) / FINE_S))
    step_s = (end_s - start_s) / steps
    return sum(twist_at(tour, start_s + (i + 0.5) * step_s)[0] * step_s for i in range(steps))


def _stops(tour: 'Tour', start_ns: int) -> list[TrueStop]:
    """Return when the robot did not move: found in its speed, to a twentieth of a second."""
    found: list[TrueStop] = []
    begun: float | None = None
    for i in range(int(tour.duration_s / FINE_S) + 2):
        t = i * FINE_S
        stands = t <= tour.duration_s and twist_at(tour, t)[0] < 1e-6
        if stands and begun is None:
            begun = t
        elif not stands and begun is not None:
            if t - begun > 0.5:
                pose = tour.pose_at(begun)
                found.append(
                    TrueStop(start_ns + round(begun * NS), start_ns + round((t - FINE_S) * NS), pose)
                )
            begun = None
    return found
