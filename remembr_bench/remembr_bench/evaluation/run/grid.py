"""Ablations: every combination of some settings, a run each.

    base:                      # of every run
      folder: ../shared/data/navqa
      planner: offline
    grid:                      # lists of values: all combinations
      memories_per_call: [3, 5, 10]
      hybrid: [true, false]

The names are those of :class:`remembr_bench.evaluation.records.config.RunConfig`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from remembr_bench.evaluation.records.config import SERVERS, RunConfig, run_config
from remembr_bench.evaluation.report.run_tables import across
from remembr_ros.errors import InvalidRequest
from remembr_ros.printable import shown_url

MAX_RUNS = 500


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination.

    :param name: of its folder, such as 'rounds=2,hybrid=false'
    :param settings: what it differs by from the others; servers without a password
    """

    name: str
    settings: dict[str, Any]
    config: RunConfig

    @property
    def title(self) -> str:
        """Return what to call it in a table."""
        if list(self.settings) == ['planner']:
            return str(self.settings['planner'])
        return ', '.join(f'{name} {_short(value)}' for name, value in self.settings.items()) or 'base'


def read_grid(path: Path, **given: Any) -> list[Cell]:
    """Return the runs of a YAML file.

    :param given: settings that take the place of those in base
    :raises InvalidRequest: the file cannot be read, or a setting makes no sense
    """
    try:
        content = yaml.safe_load(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidRequest(f'{path} cannot be read as YAML: {error}') from error
    if not isinstance(content, dict) or not {'grid'} <= set(content) <= {'base', 'grid'}:
        raise InvalidRequest(f"{path} needs a section 'grid', may have a section 'base', and nothing else")
    base, grid = content.get('base') or {}, content['grid'] or {}
    if not isinstance(base, dict) or not isinstance(grid, dict):
        raise InvalidRequest(f'{path}: base and grid map names of settings to values')
    base = {**base, **given}
    unlisted = [name for name, values in grid.items() if not isinstance(values, list) or not values]
    if unlisted:
        raise InvalidRequest(f'{path}: {", ".join(map(str, unlisted))} in grid needs a list of values')
    twice = sorted(set(base) & set(grid))
    if twice:
        raise InvalidRequest(f'{path}: {", ".join(twice)} stands in base, or is given, and in grid')
    combinations = list(product(*grid.values()))
    if len(combinations) > MAX_RUNS:
        raise InvalidRequest(f'{path} asks for {len(combinations)} runs; at most {MAX_RUNS} make sense')
    return [_cell(dict(zip(grid, values, strict=True)), base) for values in combinations]


def _cell(settings: dict[str, Any], base: dict[str, Any]) -> Cell:
    config = run_config(**base, **settings)
    settings = {key: shown_url(value) if key in SERVERS else value for key, value in settings.items()}
    name = ','.join(f'{key}={_short(value)}' for key, value in settings.items()) or 'base'
    safe = ''.join(c if c.isalnum() or c in '=,.-_' else '_' for c in name)
    if len(safe) > 120 or safe != name:
        safe = f'{safe[:100]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}'
    return Cell(safe, settings, config)


def _short(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def grid_markdown(cells: Sequence[Cell], runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the figures of all runs as a table in Markdown, a row per run.

    :param runs: what results.json holds of each cell's run
    """
    return across({cell.title: results for cell, results in zip(cells, runs, strict=True)}).markdown()
