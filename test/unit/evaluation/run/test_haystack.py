from itertools import pairwise

import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import BagUnreadable
from remembr_ros.evaluation.datasets.navqa import load_captions, load_navqa
from remembr_ros.evaluation.run.haystack import answerable, haystack_table, measure
from remembr_ros.memory.exchange.street_view import distractors, read_captions
from remembr_ros.memory.opening import open_store

NODE = 'node [\nid {0}\nlabel "{0}"\ncaption "A street with number {0}. It is &#34;quiet&#34;."\n]\n'


@pytest.fixture
def graph(tmp_path):
    file = tmp_path / 'graph.gml'
    file.write_text('graph [\n' + ''.join(NODE.format(i) for i in range(8)) + ']\n')
    return file


class Counting(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__(64)
        self.texts: list[str] = []

    def embed(self, texts):
        self.texts += texts
        return super().embed(texts)


def test_answers_are_looked_for_among_ever_more_memories(navqa, clock, graph, tmp_path):
    navqa.ask('Where is the elevator?', 'position', clock(4))
    navqa.ask('When did you see the statue?', 'time', clock(5))
    navqa.ask('How long?', 'duration', f'{clock(1)}, {clock(7)}', parsable='1')
    folder = navqa.write()
    drive = load_navqa(folder, 7, load_captions(folder, 7))
    steps = []
    embedder = Counting()
    with open_store(str(tmp_path / 'memory.db'), embedder) as store:
        sizes = list(measure([drive], read_captions(graph), [3, 1], store, lambda *step: steps.append(step)))
        assert store.count() == 16
    captions = [text for text in embedder.texts if text.startswith('A street')]
    assert len(captions) == len(set(captions)), 'each text is embedded once'
    found = [(size['factor'], size['memories']) for size in sizes]
    assert found == [(1, 8), (3, 16)], 'four memories hold an answer'
    assert steps[-1] == (16, 16)
    assert len(answerable([drive])) == 3
    assert all(0.0 < size['latency_p50_sec'] <= size['latency_p95_sec'] for size in sizes)
    # 'How long?' shares no word with a caption; the other two do.
    assert all(size['recall@1'] >= 0.66 for size in sizes)
    assert len(haystack_table(sizes).splitlines()) == 3


def test_distractors_are_all_different_and_the_same_each_time(graph):
    captions = read_captions(graph)
    assert captions[3] == 'A street with number 3. It is "quiet".'
    memories = list(distractors(captions, 20, 1000, 'haystack'))
    assert memories == list(distractors(captions, 20, 1000, 'haystack'))
    assert len({memory.id for memory in memories}) == 20
    assert len({memory.caption for memory in memories}) == 20
    assert memories[0].start_ns == 1000
    assert all(a.end_ns < b.start_ns for a, b in pairwise(memories))


@pytest.mark.parametrize('content', ['', 'graph [', 'no graph', 'graph [ node [ id 0 label "0" ] ]'])
def test_a_file_that_is_no_graph_of_captions_is_refused(tmp_path, content):
    file = tmp_path / 'graph.gml'
    file.write_text(content)
    with pytest.raises(BagUnreadable, match=r'graph\.gml'):
        read_captions(file)
    with pytest.raises(BagUnreadable, match='cannot be read'):
        read_captions(tmp_path / 'missing.gml')
