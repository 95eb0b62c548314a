"""Replace the build machine's paths in the ROS 2 wheels by those of this virtual environment.

The wheels' CMake files name /opt/python/cp311-cp311 (for Python 3.11), where they were built.
"""

import sys
import sysconfig
from pathlib import Path


def main() -> None:
    prefix = Path(sys.prefix)
    version = f'{sys.version_info.major}{sys.version_info.minor}'
    python = f'python{sys.version_info.major}.{sys.version_info.minor}'
    built = f'/opt/python/cp{version}-cp{version}'
    replacements = (
        (f'{built}/include/{python}', sysconfig.get_path('include')),
        (f'{built}/lib/{python}/site-packages', sysconfig.get_path('purelib')),
    )
    for file in prefix.glob('share/**/*.cmake'):
        text = new = file.read_text()
        for old, here in replacements:
            new = new.replace(old, here)
        if new != text:
            file.write_text(new)
    for file in prefix.glob('share/ament_index/resource_index/parent_prefix_path/*'):
        file.write_text(file.read_text().replace(built, str(prefix)))


if __name__ == '__main__':
    main()
