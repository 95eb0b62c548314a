import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from test.milvus_process import MilvusProcess


@pytest.fixture
def milvus(tmp_path: Path) -> Iterator[MilvusProcess]:
    """A real Milvus server of the test's own."""
    process = MilvusProcess(tmp_path / 'milvus')
    process.start()
    yield process
    process.kill()
    shutil.rmtree(tmp_path / 'milvus', ignore_errors=True)
