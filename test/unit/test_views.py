"""What RViz and Foxglove show exists: in the policy, which is compared with the graph."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from test.policy import policy

CONFIG = Path(__file__).resolve().parents[2] / 'config'
LATCHED = {
    '/map',
    '/global_costmap/costmap',
    '/remembr/memory_markers',
    '/remembr/object_markers',
    '/remembr/answer_markers',
    '/remembr/proposed_goals',
}
"""A display that wants less would stay empty when it is opened late."""


def names(kind: str, verb: str) -> set[str]:
    """Return the full names that the nodes publish, subscribe, reply to ..."""
    found = set()
    for enclave in policy().iter('enclave'):
        for group in enclave.iter(kind):
            if group.get(verb) == 'ALLOW':
                found |= {absolute(item.text or '', enclave.get('path', '')) for item in group}
    return found


def absolute(name: str, node: str) -> str:
    if name.startswith('~'):
        return f'{node}/{name[1:]}'
    return name if name.startswith('/') else f'{node.rpartition("/")[0]}/{name}'


TOPICS = names('topics', 'publish') | names('topics', 'subscribe')


def displays() -> list[dict[str, Any]]:
    rviz = yaml.safe_load((CONFIG / 'remembr.rviz').read_text())
    return list(rviz['Visualization Manager']['Displays'])


def panels() -> dict[str, dict[str, Any]]:
    return dict(json.loads((CONFIG / 'foxglove.json').read_text())['configById'])


def leaves(layout: Any) -> Iterator[str]:
    if isinstance(layout, str):
        yield layout
    else:
        yield from leaves(layout['first'])
        yield from leaves(layout['second'])


def test_rviz_shows_topics_of_the_graph():
    shown = {
        display[key]['Value'] for display in displays() for key in ('Topic', 'Update Topic') if key in display
    }
    assert shown <= TOPICS
    assert {*LATCHED, '/goal_pose'} <= shown


def test_rviz_gets_what_was_published_before_it_came():
    policies = {
        display['Topic']['Value']: display['Topic']['Durability Policy']
        for display in displays()
        if 'Topic' in display
    }
    assert {topic for topic, durability in policies.items() if durability == 'Transient Local'} == LATCHED


@pytest.mark.parametrize(
    ('topic', 'display'),
    [
        ('/remembr/memory_markers', 'MarkerArray'),
        ('/remembr/answer_markers', 'MarkerArray'),
        ('/remembr/proposed_goals', 'PoseArray'),
        ('/goal_pose', 'Pose'),
        ('/map', 'Map'),
        ('/camera/image_raw', 'Image'),
    ],
)
def test_rviz_shows_a_topic_by_a_display_of_its_type(topic, display):
    (found,) = [one for one in displays() if one.get('Topic', {}).get('Value') == topic]
    assert found['Class'] == f'rviz_default_plugins/{display}'


def test_foxglove_shows_topics_of_the_graph():
    by_kind = {name.partition('!')[0]: config for name, config in panels().items()}
    shown = set(by_kind['3D']['topics']) | {by_kind['Image']['imageMode']['imageTopic']}
    shown |= {config['topicPath'].partition('.')[0] for config in panels().values() if 'topicPath' in config}
    shown.add(by_kind['DiagnosticSummary']['topicToRender'])
    assert shown <= TOPICS
    assert len(shown) == 10


def test_foxglove_asks_where_questions_are_heard_and_calls_what_is_offered():
    ask, stop = panels()['Publish!question'], panels()['CallService!stop']
    assert ask['topicName'] in names('topics', 'subscribe')
    assert list(json.loads(ask['value'])) == ['data']
    assert stop['serviceName'] in names('services', 'reply')


def test_the_foxglove_layout_has_every_panel_once():
    layout = json.loads((CONFIG / 'foxglove.json').read_text())['layout']
    assert sorted(leaves(layout)) == sorted(panels())


def test_a_click_goes_to_where_memories_are_described():
    rviz = yaml.safe_load((CONFIG / 'remembr.rviz').read_text())
    tools = rviz['Visualization Manager']['Tools']
    (clicked,) = [tool['Topic']['Value'] for tool in tools if tool['Class'].endswith('PublishPoint')]
    assert clicked == panels()['3D!memories']['publish']['pointTopic']
    assert clicked in names('topics', 'subscribe')
