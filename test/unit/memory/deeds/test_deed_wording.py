import pytest

from remembr_ros.memory.deeds.deed import deed, kind_said


@pytest.mark.parametrize(
    ('about', 'said'),
    [
        ({'kind': 'pick', 'object': 'mug', 'receptacle': 'table'}, 'Picked the mug from the table'),
        ({'kind': 'place', 'object': 'mug', 'receptacle': 'sink'}, 'Put the mug on the sink'),
        ({'kind': 'open', 'object': 'drawer', 'place': 'kitchen'}, 'Opened the drawer (kitchen)'),
        ({'kind': 'go', 'place': 'kitchen'}, 'Drove to the kitchen'),
        ({'kind': 'go'}, 'Drove to another place'),
        ({'kind': 'ask', 'object': 'Maria'}, 'Asked Maria'),
        ({'kind': 'dock', 'outcome': 'failed', 'reason': 'no contact'}, 'Failed to dock: no contact'),
        ({'kind': 'fail', 'outcome': 'failed', 'reason': 'no contact'}, 'Failed: no contact'),
        (
            {'kind': 'pick', 'object': 'mug', 'outcome': 'cancelled'},
            'Was stopped before it could pick the mug',
        ),
        (
            {'kind': 'pick', 'object': 'mug', 'outcome': 'unknown', 'reason': 'its server went away'},
            'Began to pick the mug: its server went away',
        ),
        ({'kind': 'vacuum', 'object': 'rug', 'place': 'hall'}, 'Vacuum the rug (hall)'),
        ({'kind': 'pick', 'text': 'Took the mug.', 'object': 'mug'}, 'Took the mug (picked)'),
        ({'kind': 'pick', 'text': 'picked it up', 'object': 'mug'}, 'Picked it up (mug)'),
        (
            {'text': 'Tried the door.', 'outcome': 'failed', 'reason': 'it is locked'},
            'Tried the door; failed: it is locked',
        ),
        ({'text': 'The lift failed.', 'outcome': 'failed'}, 'The lift failed.'),
    ],
)
def test_a_sentence_has_all_that_is_known(about, said):
    assert deed(1, **about).memory('r').caption == said


@pytest.mark.parametrize(
    ('text', 'kind'),
    [
        ('Picked the mug', 'pick'),
        ('put it down', 'place'),
        ('drove home', 'go'),
        ('watered it', ''),
        ('', ''),
    ],
)
def test_the_kind_that_a_sentence_begins_with(text, kind):
    assert kind_said(text) == kind
