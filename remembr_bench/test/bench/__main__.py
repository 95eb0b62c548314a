"""Runs test/bench/bench_*.py, prints a table and writes it as JSON; the exit code is 1 if a target is missed.

python -m test.bench [NAME ...]: all of them, or those named, such as ingest or memory.
"""

import importlib
import json
import pkgutil
import sys
from dataclasses import asdict
from pathlib import Path

import test.bench
from test.bench.figure import Figure

OUT = Path(__file__).resolve().parents[3] / 'bench_out'


def main(names: list[str]) -> int:
    there = sorted(m.name for m in pkgutil.iter_modules(test.bench.__path__) if m.name.startswith('bench_'))
    unknown = [name for name in names if f'bench_{name}' not in there]
    if unknown:
        print(f'no benchmark {unknown[0]!r}; there are {", ".join(n[6:] for n in there)}', file=sys.stderr)
        return 2
    figures: list[Figure] = []
    for module in there:
        if names and module[6:] not in names:
            continue
        bench = importlib.import_module(f'test.bench.{module}')
        if names or not getattr(bench, 'ON_REQUEST', False):
            figures += bench.run()
    _print(figures)
    OUT.mkdir(exist_ok=True)
    lines = [{**asdict(figure), 'ratio': figure.ratio, 'passed': figure.passed} for figure in figures]
    (OUT / 'bench.json').write_text(json.dumps({'figures': lines}, indent=1) + '\n')
    print(f'{OUT.name}/bench.json')
    return 0 if all(figure.passed for figure in figures) else 1


def _print(figures: list[Figure]) -> None:
    width = max((len(figure.name) for figure in figures), default=0)
    print(f'{"benchmark":{width}}  {"figure":>9}  {"baseline":>9}  {"ratio":>6}  {"target":>8}  unit')
    for figure in figures:
        baseline = '' if figure.baseline is None else f'{figure.baseline:.2f}'
        ratio = '' if figure.ratio is None else f'{figure.ratio:.3f}'
        print(
            f'{figure.name:{width}}  {figure.value:9.2f}  {baseline:>9}  {ratio:>6}  {figure.target:>8}  '
            f'{figure.unit}{"" if figure.passed else "  MISSED"}'
        )


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
