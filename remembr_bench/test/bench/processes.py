"""How much memory this process and its children take."""

import contextlib
import os
from pathlib import Path


def resident_mb() -> float:
    """Return the resident set of this process and of all its descendants [MB]."""
    parents: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for status in Path('/proc').glob('[0-9]*/status'):
        try:
            fields = dict(line.split(':', 1) for line in status.read_text().splitlines() if ':' in line)
        except OSError:  # ended meanwhile
            continue
        pid = int(fields['Pid'])
        parents[pid] = int(fields['PPid'])
        sizes[pid] = int(fields.get('VmRSS', '0 kB').split()[0])
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(sizes[pid] for pid in mine) / 1e3


def family(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    found = [pid]
    for each in found:
        for task in Path(f'/proc/{each}/task').glob('*/children'):
            with contextlib.suppress(OSError):
                found += map(int, task.read_text().split())
    return found


def usage(pid: int) -> tuple[float, int, int]:
    """Return what a process and its descendants take: resident memory [MB], open files, threads."""
    size, files, threads = 0.0, 0, 0
    for each in family(pid):
        with contextlib.suppress(OSError):  # ended meanwhile
            fields = dict(
                line.split(':', 1) for line in Path(f'/proc/{each}/status').read_text().splitlines()
            )
            size += int(fields.get('VmRSS', '0 kB').split()[0]) / 1e3
            threads += int(fields['Threads'])
            files += len(list(Path(f'/proc/{each}/fd').iterdir()))
    return size, files, threads
