import ctypes
import subprocess
import sys

import pytest

MAPPED = """
import ctypes
import sys

import numpy as np

from remembr_ros.web.app import give_back_freed

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in 'arena ordblks smblks hblks hblkhd a b c d e'.split()]

info = ctypes.CDLL(None).mallinfo2
info.restype = Info
if sys.argv[1] == 'given back':
    give_back_freed()
np.ones(3_000_000)  # freed: glibc takes it that such arrays come and go
before = info().hblks
array = np.ones(100_000)
print(info().hblks - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), 'mallinfo2'), reason='needs glibc 2.33')
@pytest.mark.parametrize(('freed', 'mapped'), [('kept', '0'), ('given back', '1')])
def test_a_large_array_is_mapped_by_itself(freed: str, mapped: str) -> None:
    command = [sys.executable, '-c', MAPPED, freed]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60.0)
    assert found.stdout.strip() == mapped
