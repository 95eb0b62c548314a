"""Draws the objects of a memory on their map, seen from above, with the robot's way.

remembr ingest BAG --detector onnx:MODEL --labels FILE --depth-topic T --memory kitchen.db
python -m test.bench.object_picture kitchen.db docs/objects.png
"""

import sys

import matplotlib as mpl

mpl.use('Agg')
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import OBJECT
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.memory.opening import open_store


def main(memory: str, path: str) -> int:
    with open_store(memory, create=False, read_only=True) as store:
        things = known_objects(store.matching(scope=Scope(source=OBJECT)))
        way = [m.pose for m in store.matching(scope=Scope(source='captioner')) if m.pose]
    figure, axes = plt.subplots(figsize=(9, 5.2), layout='constrained')
    axes.plot([pose.x for pose in way], [pose.y for pose in way], '.-', color='0.6', label="the camera's way")
    names = sorted({one.name for one in things})
    colours = {name: mpl.colormaps['tab10'](number % 10) for number, name in enumerate(names)}
    things.sort(key=lambda one: (one.name, one.position))
    for number, one in enumerate(things, 1):
        (x, y, z), (wide, deep, _) = one.position, one.size
        colour = colours[one.name]
        low = (x - wide / 2, y - deep / 2)
        axes.add_patch(Rectangle(low, wide, deep, facecolor=(*colour[:3], 0.15), edgecolor=colour))
        axes.text(x, y, str(number), color=colour, ha='center', va='center', weight='bold')
        told = f'{number}  {one.facts.colour} {one.name}, {z:.2f} m up, seen {one.facts.observations} times'
        axes.plot([], [], 's', color=colour, label=told)
    axes.set(xlabel='x [m] in the map', ylabel='y [m]', aspect='equal', title='What is known of the kitchen')
    axes.margins(0.1)
    axes.grid(alpha=0.3)
    figure.legend(loc='outside right center', fontsize='small')
    figure.savefig(path, dpi=120, bbox_inches='tight')
    print(path)
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
