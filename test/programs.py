"""The programs of a package, as its setup.py names them."""

import re
from pathlib import Path


def console_scripts(setup: Path) -> list[tuple[str, str, str]]:
    """Return name, module and function of each."""
    found = re.findall(r"'(\w+) = ([\w.]+):(\w+)'", setup.read_text())
    assert found, f'{setup} names no programs'
    return found
