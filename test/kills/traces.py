"""What can still be read of memories that were to be forgotten, in whatever file."""

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path

import faiss
import numpy as np

from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.memory.embedded.vector_table import SCALE
from remembr_ros.memory.matching.ranking import passages
from test.kills.verbs import EMBEDDER, SECRET, memory


def traces(folder: Path, ids: Sequence[str], *, erased: bool) -> list[str]:
    """Return where something of forgotten memories is left.

    :param folder: with everything that belongs to the memory, and its processes' temporary files
    :param erased: nothing may be left anywhere; else only the database's vectors are looked at
    """
    forgotten = [memory(int(name[1:])) for name in ids if name[1:].isdecimal() and name[0] == 'm']
    if not forgotten:  # objects, which have no secrets
        return []
    texts = [passage.text for one in forgotten if one.is_captioned for passage in passages(one)]
    vectors = np.unique(get_embedder(EMBEDDER).embed(texts), axis=0)
    found = []
    for file in sorted(file for file in folder.rglob('*') if file.is_file()):
        if not erased and file.name != 'memory.db':
            continue
        data = file.read_bytes()
        if erased and SECRET.encode() in data:
            found.append(f'a caption in {file.relative_to(folder)}')
        if any(form in data for vector in vectors for form in _forms(vector)):
            found.append(f'a vector in {file.relative_to(folder)}')
        if erased and file.name.endswith('.cache') and _in_clusters(file, vectors):
            found.append(f'a vector in {file.relative_to(folder)}')
    return found


def _forms(vector: np.ndarray) -> Iterator[bytes]:
    """Yield how a vector may be written."""
    yield np.rint(np.clip(vector, -1.0, 1.0) * SCALE).astype('<i2').tobytes()
    yield vector.astype('<f2').tobytes()
    raw = vector.astype('<f4').tobytes()
    yield raw
    yield base64.b64encode(raw[: len(raw) // 3 * 3])


def _in_clusters(cache: Path, vectors: np.ndarray) -> bool:
    """Tell whether the clusters of a cache have vectors among theirs."""
    with np.load(cache) as saved:
        if 'clusters' not in saved:
            return False
        index = faiss.deserialize_index(saved['clusters'])
    lists, d = index.invlists, vectors.shape[1]
    codes = [
        faiss.rev_swig_ptr(lists.get_codes(i), lists.list_size(i) * d).copy() for i in range(index.nlist)
    ]
    kept = index.sq.decode(np.concatenate(codes).reshape(-1, d))
    return bool(len(kept)) and bool((kept @ vectors.T).max() > 0.999)
