"""The tests of both packages: `from test.bench.load import ...` finds those of remembr_bench, too.

A package, so that `python -m test.bench` finds it before the standard library's package test.
"""

from pathlib import Path

__path__.append(str(Path(__file__).resolve().parents[1] / 'remembr_bench' / 'test'))
