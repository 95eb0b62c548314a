import json
import math

import numpy as np

from remembr_ros.events.plain import MOST_ITEMS, clipped, plain
from remembr_ros.memory.deeds.deed import MAX_DETAILS
from test.unit.events.messages import Message


def test_a_message_in_plain_types():
    part = Message(x=np.float32(1.5), __dataclass_fields__={'x': 0, '__msgtype__': 0})
    whole = {
        'a': True,
        'b': 3,
        'c': math.nan,
        'd': 'half \ud800',
        'e': b'\1\2',
        'f': np.arange(3),
        'g': [part, part],
        'h': np.zeros(MOST_ITEMS + 1),
        'i': bytes(1000),
        'j': np.bool_(True),
        'k': object(),
    }
    message = Message(**whole, __dataclass_fields__=whole)
    found = plain(message)
    assert found == {
        'a': True,
        'b': 3,
        'c': None,
        'd': 'half ?',
        'e': '0102',
        'f': [0, 1, 2],
        'g': [{'x': 1.5}, {'x': 1.5}],
        'h': f'{MOST_ITEMS + 1} items',
        'i': '1000 bytes',
        'j': True,
        'k': None,
    }
    assert json.loads(json.dumps(found)) == found


def test_what_nests_for_ever_ends():
    message = Message(__dataclass_fields__={'me': 0})
    message.me = message
    assert json.dumps(plain(message))


def test_details_that_are_too_much_are_left_out():
    assert clipped({'a': 'x' * MAX_DETAILS, 'b': 1}) == {'b': 1}
