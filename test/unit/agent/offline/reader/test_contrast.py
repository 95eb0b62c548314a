"""What a question compares: of which each way to say it is answered alike."""

import pytest

from remembr_ros.agent.offline.reader.read_contrast import read_contrast
from test.unit.agent.in_short import rows
from test.unit.agent.offline.deeds.test_deed_answers import DONE, SEEN, ask, put

MORE = (*SEEN, *DONE, *(put(minute, 1.0, object='plate', receptacle='sink') for minute in (10, 11)))


@pytest.mark.parametrize(
    'text',
    [
        'Did you see the lift?',
        'Where is the cup?',
        'What is the most important thing?',
        'Go to the kitchen and then to the hall.',
        'How many more times?',
        'or',
        'than',
        'Which?',
        '',
    ],
)
def test_what_compares_nothing_is_none(text):
    assert read_contrast(text) is None


@pytest.mark.parametrize(
    ('text', 'told', '_'),
    rows(
        """
        Did you put down the cup more often than the plate? | Yes: the cup, 3 times; the plate, 2 times.
        Did you put the plate more often than the cup? | No: the plate, 2 times; the cup, 3 times.
        What did you put more often, the plate or the cup? | the cup, 3 times; the plate, 2 times.
        Which did you put down first, the plate or the cup? | the cup first,
        Did you put the cup more than twice? | Yes: 3 times
        Did you put the cup at least four times? | No: 3 times
        Did you put the harp more often than the cup? | I know nothing of "the harp"
        Didn't you put the cup more than twice? | Yes: 3 times
        Did you put anything besides the cup, the plate and the keys? | No: nothing but that which you name
        """
    ),
)
def test_each_way_to_compare_is_answered(text, told, _):
    assert told in ask(text, MORE).text
