"""Draws how the time of each operation on an embedded memory grows with its size, from bench_out/bench.json.

Measure first: REMEMBR_BENCH_SIZES=1000x1024,10000x1024,100000x1024 python -m test.bench memory
"""

import json
import re
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use('Agg')
import matplotlib.pyplot as plt

from test.bench.__main__ import OUT

OPERATIONS = {
    'text, p50': 'text: vectors, words, ranking',
    'text, vectors alone, p50': 'text: vectors alone',
    'text in an hour of two robots, p50': 'text in an hour of two robots',
    'insert one, p50': 'insert, durable',
    'position, p50': 'position',
    'time, p50': 'time',
}
SCAN = 'numpy, all vectors'


def main(path: str) -> int:
    figures = json.loads((OUT / 'bench.json').read_text())['figures']
    lines: dict[str, list[tuple[int, float]]] = {}
    dimensions = set()
    for figure in figures:
        name = re.fullmatch(r'(\d+) k x (\d+): (.*)', figure['name'])
        if not name:
            continue
        dimensions.add(int(name[2]))
        if name[3] in OPERATIONS:
            lines.setdefault(OPERATIONS[name[3]], []).append((int(name[1]) * 1000, figure['value']))
        if name[3] == 'text, p50':
            lines.setdefault(SCAN, []).append((int(name[1]) * 1000, figure['baseline']))
    if len(dimensions) != 1 or not lines:
        print('measure several sizes of one dimension first (REMEMBR_BENCH_SIZES)', file=sys.stderr)
        return 2
    figure, axes = plt.subplots(figsize=(9, 4.5), layout='constrained')
    for name, points in lines.items():
        sizes, times = zip(*sorted(points), strict=True)
        axes.loglog(sizes, times, 'k--' if name == SCAN else 'o-', label=name)
    axes.set(
        xlabel=f'memories, 7 vectors of {dimensions.pop()} numbers each',
        ylabel='median time [ms]',
        title='An embedded memory, as it grows',
    )
    axes.grid(which='both', alpha=0.3)
    figure.legend(loc='outside right center', fontsize='small')
    figure.savefig(Path(path), dpi=120)
    print(path)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
