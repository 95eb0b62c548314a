import json
import math
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose, RigidTransform, quaternion_from_yaw
from remembr_ros.memory.deeds.deed import OUTCOMES, deed, each_time, facts_of
from remembr_ros.memory.model.codec import checked, to_plain
from remembr_ros.memory.model.record import moved

T = 1_700_000_000_000_000_000


def test_a_deed_is_a_memory_with_all_that_is_known():
    made = deed(
        T, T + 5, kind='pick', object='red mug', receptacle='table', outcome='failed', reason='it slipped'
    )
    memory = replace(made, pose=Pose(1.0, 2.0, 0.0, 0.5), travelled=3.0).memory('r1')
    assert (memory.source, memory.robot, memory.start_ns, memory.end_ns) == ('agent', 'r1', T, T + 5)
    assert memory.caption == 'Failed to pick the red mug from the table: it slipped'
    facts = facts_of(memory)
    assert (facts.kind, facts.object, facts.outcome) == ('pick', 'red mug', 'failed')
    assert checked(to_plain(memory)) == memory


def test_the_same_deed_is_the_same_memory_however_it_ends():
    begun = deed(T, kind='dock', place='hall').memory('r')
    ended = deed(T, T + 9, kind='dock', place='hall', outcome='succeeded').memory('r')
    assert begun.id == ended.id
    assert begun.id != deed(T, kind='dock', place='cellar').memory('r').id
    assert begun.id != deed(T, kind='dock', place='hall').memory('other').id
    assert begun.id != deed(T, kind='dock', place='hall', key='goal 1').memory('r').id


def test_places_move_with_the_map():
    made = deed(
        T, kind='go', pose=Pose(3.0, 0.0, 0.0, math.pi / 2), began=(1.0, 0.0, 0.0), goal=(3.0, 1.0, 0.0)
    )
    memory = made.memory('r')
    turned = moved(memory, RigidTransform((10.0, 0.0, 0.0), quaternion_from_yaw(math.pi / 2)))
    facts = facts_of(turned)
    assert turned.pose.in_map(facts.began) == pytest.approx((10.0, 1.0, 0.0))
    assert turned.pose.in_map(facts.goal) == pytest.approx((9.0, 3.0, 0.0))
    assert memory.facts == turned.facts


@pytest.mark.parametrize(
    ('about', 'said'),
    [
        ({}, "needs a kind, such as 'pick', or a text"),
        ({'kind': ' \n'}, "needs a kind, such as 'pick', or a text"),
        ({'kind': 'pick', 'end_ns': T - 1}, 'ends before it begins'),
        ({'kind': 'pick', 'outcome': 'done'}, "outcome is 'done'"),
        ({'kind': 'pick', 'object': 7}, 'object is 7'),
        ({'kind': 'x' * 501}, 'kind is'),
        ({'kind': 'x', 'details': {'a': math.nan}}, 'details'),
    ],
)
def test_what_makes_no_sense_is_refused(about, said):
    with pytest.raises(InvalidRequest, match=said):
        deed(T, about.pop('end_ns', None), **about)


@given(
    st.fixed_dictionaries(
        {
            'kind': st.text(max_size=20),
            'object': st.text(max_size=20),
            'text': st.text(max_size=40),
            'reason': st.text(max_size=20),
            'outcome': st.sampled_from(OUTCOMES),
        }
    )
)
@example({'kind': '0', 'object': '.', 'text': '.', 'reason': '', 'outcome': 'succeeded'})
@example({'kind': '0', 'object': 'a.', 'text': 'a.', 'reason': '', 'outcome': 'succeeded'})
@example({'kind': 'pick', 'object': 'a.', 'text': '', 'reason': '0', 'outcome': 'failed'})
def test_any_words_become_a_memory_that_comes_back(about):
    try:
        memory = deed(T, **about).memory('r')
    except InvalidRequest:
        assert not (about['kind'] + about['text']).split()
        return
    assert checked(json.loads(json.dumps(to_plain(memory)))) == memory
    assert '\n' not in memory.caption
    for word in (about['object'], about['reason']):
        assert ' '.join(word.split()).casefold() in memory.caption.casefold()


def test_a_deed_is_done_at_each_of_its_times():
    memory = deed(T, T + 50, kind='go', times=((T, T + 5), (T + 40, T + 50))).memory('r')
    assert [(one.start_ns - T, one.end_ns - T) for one in each_time(memory)] == [(0, 5), (40, 50)]
    note = replace(memory, source='person')
    assert each_time(note) == [note]


def test_a_day_s_summary_is_no_deed():
    memory = deed(T, kind='go').memory('r')
    assert facts_of(replace(memory, facts={'outcome': 'perhaps'})) is None
    assert facts_of(replace(memory, source='captioner')) is None
