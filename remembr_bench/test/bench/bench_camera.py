"""What a camera of 1280 x 720 at 30 Hz costs the captioner node, beside what hearing it costs anybody.

At reliable QoS: at best effort Fast DDS loses most raw images, 83 MB/s, between two processes.
"""

import os
import subprocess
import sys

from test.bench.figure import Figure

SECONDS = 12.0
MOST_PERCENT = 15.0
DOMAIN = '97'


def run() -> list[Figure]:
    """Measure raw and compressed images; the baseline is a node that does nothing with them."""
    figures = []
    for kind in ('raw', 'jpeg'):
        bare, rate = _percent_of_a_core('listener', kind)
        ours, our_rate = _percent_of_a_core('captioner', kind)
        name = f'camera 1280 x 720, {kind}'
        most = MOST_PERCENT if kind == 'raw' else None
        figures += [
            Figure(f'{name}: images heard by a bare node', rate, 30.0, 'Hz'),
            Figure(f'{name}: images heard by the captioner', our_rate, rate, 'Hz'),
            Figure(f'{name}: captioner node', ours, bare, '% of a core'),
            Figure(f'{name}: of that not hearing and unpacking', ours - bare, None, '% of a core', most=most),
        ]
    return figures


def _percent_of_a_core(role: str, kind: str) -> tuple[float, float]:
    """Return the share of a core that the role takes [%], and how many images came [Hz]."""
    environment = os.environ | {
        'ROS_DOMAIN_ID': DOMAIN,
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
    }
    command = [sys.executable, '-m', 'test.bench.camera_process']
    hearer = subprocess.Popen(
        [*command, role, kind, str(SECONDS)], env=environment, stdout=subprocess.PIPE, text=True
    )
    camera = subprocess.Popen([*command, 'camera', kind, '90'], env=environment)
    try:
        out, _ = hearer.communicate(timeout=120.0)
    finally:
        for process in (camera, hearer):
            process.kill()
            process.wait()
    cpu_s, images, seconds = map(float, out.split()[-3:])
    return 100.0 * cpu_s / seconds, images / seconds
