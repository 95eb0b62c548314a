"""Runs every benchmark, test/bench/bench_*.py, and prints one table; exit code 1 if a figure is too low."""

import importlib
import pkgutil
import sys

import test.bench
from test.bench.figure import Figure


def main() -> int:
    figures: list[Figure] = []
    for module in sorted(pkgutil.iter_modules(test.bench.__path__), key=lambda module: module.name):
        if module.name.startswith('bench_'):
            figures += importlib.import_module(f'test.bench.{module.name}').run()
    width = max((len(figure.name) for figure in figures), default=0)
    print(f'{"benchmark":{width}}  {"figure":>9}  {"baseline":>9}  {"ratio":>6}  {"least":>6}  unit')
    for figure in figures:
        least = '' if figure.least is None else f'{figure.least:g}'
        print(
            f'{figure.name:{width}}  {figure.value:9.1f}  {figure.baseline:9.1f}  '
            f'{figure.value / figure.baseline:6.3f}  {least:>6}  {figure.unit}'
            f'{"" if figure.passed else "  TOO LOW"}'
        )
    return 0 if all(figure.passed for figure in figures) else 1


if __name__ == '__main__':
    sys.exit(main())
