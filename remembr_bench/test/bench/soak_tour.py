"""The demo building's tour, driven again and again in time that never jumps."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rclpy.serialization
from geometry_msgs.msg import PoseWithCovarianceStamped
from sensor_msgs.msg import CompressedImage

from remembr_bench.simulation.tour_bag import START_NS, record_building
from remembr_ros.nodes.base.conversions import time_from_msg, time_to_msg
from remembr_ros.nodes.replay.node import RawBag
from remembr_ros.timestamps import NS

RATE_HZ = 2.0
"""Of the camera: as many frames as the captioner looks at."""

KINDS = {'/camera/image_raw/compressed': CompressedImage, '/amcl_pose': PoseWithCovarianceStamped}


@dataclass(frozen=True)
class Tour:
    """One lap.

    :param messages: images and poses in the order of time, with the time since the lap's start [ns]
    :param length_ns: from the start of a lap to the next one's
    :param captions: of each 3 s, with begin and end since the lap's start [ns]
    """

    messages: list[tuple[int, Any]]
    length_ns: int
    captions: list[tuple[int, int, str]]

    def laps(self, until_ns: int) -> Iterator[tuple[int, Any]]:
        """Yield time since the start of the first lap [ns] and message, with its stamp, lap after lap."""
        for lap_ns in range(0, until_ns, self.length_ns):
            for offset_ns, message in self.messages:
                since_ns = lap_ns + offset_ns
                if since_ns > until_ns:
                    return
                message.header.stamp = time_to_msg(START_NS + since_ns)
                yield since_ns, message

    def write_captions(self, path: Path, until_ns: int) -> None:
        """Write what the captioner `recorded` shall say in every lap."""
        entries = [
            {
                'id': f'{lap_ns}-{start_ns}',
                'position': [0.0, 0.0, 0.0],
                'time': (START_NS + lap_ns + (start_ns + end_ns) / 2) / NS,
                'start_time': (START_NS + lap_ns + start_ns) / NS,
                'end_time': (START_NS + lap_ns + end_ns - NS // 100) / NS,
                'caption': caption,
            }
            for lap_ns in range(0, until_ns + self.length_ns, self.length_ns)
            for start_ns, end_ns, caption in self.captions
        ]
        path.write_text(json.dumps(entries))


def record_tour(folder: Path) -> Tour:
    """Render the tour; takes a quarter of a minute."""
    truth = record_building(folder, rate_hz=RATE_HZ)
    with RawBag(folder / 'bag') as bag:
        messages = [
            rclpy.serialization.deserialize_message(data, KINDS[topic])
            for topic, _, data in bag.messages(set(KINDS))
        ]
    timed = [(time_from_msg(message.header.stamp) - START_NS, message) for message in messages]
    timed.sort(key=lambda each: each[0])
    return Tour(
        timed,
        truth.end_ns - START_NS + round(NS / RATE_HZ),
        [(s.start_ns - START_NS, s.end_ns - START_NS, s.caption) for s in truth.segments],
    )
