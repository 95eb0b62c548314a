"""remembr info: what the memory holds."""

import argparse
from dataclasses import asdict
from typing import Any

from remembr_ros.cli.options import add_json, add_memory, open_memory
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.memory.store_info import StoreInfo
from remembr_ros.timestamps import NS, format_clock, format_duration, format_iso

EXAMPLES = (
    'info',
    'info --memory kitchen.db --json',
    'info --memory http://localhost:19530',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with stdout_for_json(args.json), open_memory(args, read_only=True, must_connect=False) as store:
        info = store.info()
    print_result(args.json, _json(info), _lines(info))
    return 0


def _json(info: StoreInfo) -> dict[str, Any]:
    data = asdict(info)
    first_ns, last_ns = data.pop('first_ns'), data.pop('last_ns')
    data['first'] = format_iso(first_ns) if first_ns is not None else None
    data['last'] = format_iso(last_ns) if last_ns is not None else None
    return data


def _megabytes(size: int) -> str:
    return f'{size / 1e6:.1f} MB' if size >= 100_000 else f'{size / 1e3:.1f} kB'


def _lines(info: StoreInfo) -> str:
    lines = [
        f'memory     {info.uri} ({info.collection})',
        f'embedder   {info.embedder}, {info.dimension} dimensions',
        f'memories   {info.memories}, {info.placed} with a place, {info.keyframes} keyframes',
    ]
    if info.memories is None:
        lines[1:] = [f'keyframes  {info.keyframes}']
    sizes = {'database': info.database_bytes, 'keyframes': info.keyframe_bytes, 'waiting': info.spool_bytes}
    if any(sizes.values()):
        taken = [f'{_megabytes(size)} {part}' for part, size in sizes.items() if size]
        lines.append(f'disk       {", ".join(taken)}')
    if info.spooled:
        lines.append(f'waiting    {info.spooled} memories for the server, safe on this machine')
    if info.problem:
        lines.append(f'problem    {info.problem}')
    if info.first_ns is not None and info.last_ns is not None:
        span = format_duration((info.last_ns - info.first_ns) / NS)
        lines.append(f'time       {format_clock(info.first_ns)} to {format_clock(info.last_ns)} ({span})')
    for title, names in (('robots', info.robots), ('maps', info.maps), ('sources', info.sources)):
        if any(names):
            lines.append(f'{title:<10} {", ".join(name or "(none)" for name in names)}')
    return '\n'.join(lines)
