"""What mxbai-embed-large-v1 costs beside all-MiniLM-L6-v2.

Its weights are random here, in its shape, which costs the same. Each embedder is loaded in a process of its
own, and asked for texts of about 20 tokens.
"""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from remembr_ros.embedding.embedders import OFFLINE, _packaged_minilm, get_embedder
from test.bench.figure import Figure
from test.bench.latency import timed
from test.bench.load import QUESTIONS
from test.bench.processes import resident_mb
from test.unit.embedding.model_folder import MXBAI_SHAPE, make_mxbai

ON_REQUEST = True  # writes 670 MB, and takes 2.5 GB of memory

TEXTS = [
    f'A red sofa stands in hall {i}, beside a door with the sign EXIT and two green chairs.'
    for i in range(64)
]


@dataclass(frozen=True)
class Cost:
    """What an embedder takes, in the order of the table."""

    load_s: float
    resident_mb: float
    peak_mb: float
    question_ms: float
    texts_s: float
    batch_texts_s: float


def run() -> list[Figure]:
    """Measure both, one after the other."""
    with tempfile.TemporaryDirectory(prefix='remembr-bench-') as folder:
        model = make_mxbai(Path(folder) / 'mxbai-embed-large-v1', MXBAI_SHAPE, words=_packaged_minilm())
        large, small = _in_a_process(str(model)), _in_a_process(OFFLINE)
    return [
        Figure(
            f'mxbai (baseline: MiniLM): {name}',
            getattr(large, field),
            getattr(small, field),
            unit,
        )
        for field, name, unit in (
            ('load_s', 'loading, torch included', 's'),
            ('resident_mb', 'process, resident', 'MB'),
            ('peak_mb', 'process, at most', 'MB'),
            ('question_ms', 'a question, p50', 'ms'),
            ('texts_s', 'texts one by one, by p50', '1/s'),
            ('batch_texts_s', f'texts in batches of {len(TEXTS)}, by p50', '1/s'),
        )
    ]


def _in_a_process(name: str) -> Cost:
    done = subprocess.run(
        [sys.executable, '-m', 'test.bench.bench_embedding', name], stdout=subprocess.PIPE, check=True
    )
    return Cost(**json.loads(done.stdout))


def _measured(name: str) -> Cost:
    began = time.perf_counter()
    embedder = get_embedder(name)
    load_s = time.perf_counter() - began
    question_ms, _ = timed(embedder.embed_query, QUESTIONS * 2)
    text_ms, _ = timed(lambda text: embedder.embed([text]), TEXTS[:24])
    batch_ms, _ = timed(embedder.embed, [TEXTS] * 5)
    status = Path('/proc/self/status').read_text()  # getrusage would count the parent, too
    peak_mb = int(status.split('VmHWM:')[1].split()[0]) / 1e3
    return Cost(load_s, resident_mb(), peak_mb, question_ms, 1e3 / text_ms, 1e3 * len(TEXTS) / batch_ms)


if __name__ == '__main__':
    print(json.dumps(vars(_measured(sys.argv[1]))))
