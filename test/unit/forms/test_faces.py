import math

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from hypothesis import given
from hypothesis import strategies as st

from remembr_msgs.action import Ask
from remembr_msgs.srv import Day, FindDeeds, FindObjects, Forget, Recall
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.forms.faces import fill_message, from_message
from remembr_ros.forms.fields import Nanoseconds
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.forms.objects import ObjectsForm
from remembr_ros.forms.questions import DayForm
from remembr_ros.forms.recall import RecallForm
from remembr_ros.forms.scope import ScopeForm
from remembr_ros.memory.deeds.deed import OUTCOMES
from remembr_ros.memory.deeds.query import DeedOrder, DeedQuery
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.model.record import SOURCES
from remembr_ros.memory.objects.query import ObjectOrder, ObjectQuery
from remembr_ros.timestamps import NS

MAX_WIRE_NS = 2**31 * NS - 1  # the latest time that a message can hold


def deeds(**fields) -> DeedQuery:
    return from_message(DeedsForm, FindDeeds.Request(**fields)).query()


def test_an_empty_message_is_an_empty_form():
    assert deeds() == DeedQuery()
    assert from_message(RecallForm, Recall.Request()).query() == Query(limit=5)
    assert from_message(ObjectsForm, FindObjects.Request()).query() == ObjectQuery()
    assert from_message(ObjectsForm, FindObjects.Request(text='to sit on')).query().limit == 5
    assert from_message(ForgetForm, Forget.Request()) == ForgetForm()
    assert from_message(ScopeForm, Ask.Goal()).scope() == Scope()
    assert from_message(DayForm, Day.Request()) == DayForm(day='today')


def test_every_field_of_a_message_counts():
    query = deeds(
        kind='pick',
        object='cup',
        receptacle='table',
        place='kitchen',
        outcome=['failed', 'cancelled'],
        attribute='red',
        after=Time(sec=10),
        before_deed='docked',
        during='charging',
        right=True,
        use_time=True,
        time=Time(sec=15),
        order='way',
        use_position=True,
        position=Point(x=1.0, y=2.0, z=3.0),
        nth=-1,
        limit=7,
        never='object',
        robot=['r1', 'r2'],
        map='cellar',
        near=Point(y=-1.0),
        radius=4.0,
    )
    scope = Scope(10 * NS, None, (0.0, -1.0, 0.0), 4.0, ('r1', 'r2'), 'cellar')
    assert query == DeedQuery(
        'pick',
        'cup',
        'table',
        'kitchen',
        'red',
        ('failed', 'cancelled'),
        scope,
        before=DeedQuery(attribute='docked', scope=scope),
        during=DeedQuery(attribute='charging', scope=scope),
        right=True,
        at_ns=15 * NS,
        order=DeedOrder.WAY,
        here=(1.0, 2.0, 3.0),
        nth=-1,
        limit=7,
        never='object',
    )
    query = deeds(before=Time(sec=20, nanosec=5), after_deed='docked')
    scope = Scope(before_ns=20 * NS + 5)
    assert query == DeedQuery(scope=scope, after=DeedQuery(attribute='docked', scope=scope))


def test_what_looks_empty_but_is_meant():
    query = deeds(use_time=True, use_map=True, use_position=True, before_deed='fed')
    assert (query.at_ns, query.scope.map_id, query.here) == (0, '', (0.0, 0.0, 0.0))
    assert (query.after, query.before) == (None, DeedQuery(attribute='fed', scope=query.scope))
    request = FindObjects.Request(use_missing=True, use_moved=True, use_near=True, radius=2.0)
    form = from_message(ObjectsForm, request)
    assert (form.missing, form.moved, form.near, form.map) == (False, False, (0.0, 0.0, 0.0), None)


def test_what_is_given_counts_whatever_use_says():
    request = Recall.Request(time=Time(nanosec=1), position=Point(z=-1.0), map='cellar')
    form = from_message(RecallForm, request)
    assert (form.time, form.position, form.map) == (1, (0.0, 0.0, -1.0), 'cellar')
    assert from_message(ObjectsForm, FindObjects.Request(missing=True)).missing is True


def test_nanoseconds_of_a_second_and_more_are_added_up():
    assert deeds(time=Time(sec=1, nanosec=2_500_000_000)).at_ns == 3_500_000_000


@pytest.mark.parametrize(
    ('fields', 'why'),
    [
        ({'outcome': ['well']}, "^outcome.0 is 'well': it has to be one of 'succeeded', 'failed', "),
        ({'order': 'prettiest'}, "^order is 'prettiest': it has to be one of 'first', 'last', "),
        ({'order': 'nearest'}, 'nearest needs a place to start from'),
        ({'order': 'way', 'use_position': True, 'position': Point(x=math.nan)}, 'is not a position'),
        ({'use_position': True, 'position': Point(y=math.inf)}, 'is not a position'),
        ({'near': Point(z=math.nan), 'radius': 1.0}, '^near is .*is not a position'),
        ({'near': Point(x=1.0), 'radius': math.nan}, '^radius is nan'),
        ({'near': Point(x=1.0), 'radius': -1.0}, '^radius is -1.0: it has to be at least 0'),
        ({'radius': 1.0}, 'a radius needs near'),
        ({'right': True}, 'give one'),
        ({'right': True, 'after_deed': 'docked', 'before_deed': 'docked'}, 'give one'),
        ({'never': 'kind'}, "^never is 'kind': it has to be one of 'object', 'receptacle' or 'place'$"),
        ({'after_deed': ' ... '}, "^after is ' ... ': .* is not a time"),
        ({'after': Time(sec=1), 'after_deed': 'docked'}, '^after and after_deed are both given; give one'),
        ({'before': Time(sec=1), 'before_deed': 'docked'}, '^before and before_deed are both given'),
        ({'after': Time(sec=20), 'before': Time(sec=10)}, 'the time window is empty'),
        ({'limit': 1001}, '^limit is 1001: it has to be at most 1000$'),
    ],
)
def test_a_message_that_makes_no_sense_is_refused(fields, why):
    with pytest.raises(InvalidRequest, match=why):
        deeds(**fields)


def sent(form, message):
    """Return what is read from a message that a form was filled into."""
    fill_message(form, message)
    return from_message(type(form), message)


TIMES = st.integers(1, MAX_WIRE_NS).map(Nanoseconds)
POINTS = st.tuples(*[st.floats(-1e6, 1e6)] * 3)
WORDS = st.text('ab ü', max_size=3)
NAMES = st.text('ab', min_size=1, max_size=3)
ANYTIME = TIMES | st.just(Nanoseconds(0))
SCOPE = {
    'after': st.none() | TIMES,
    'before': st.none() | TIMES,
    'robot': st.lists(NAMES, max_size=2).map(tuple),
    'map': st.none() | WORDS,
    'place': st.none() | NAMES,
    'near': st.none() | POINTS | st.just((0.0, 0.0, 0.0)),
    'radius': st.none() | st.floats(1e-6, 1e6),
}
FORMS = [
    (ScopeForm, Ask.Goal, {}),
    (
        RecallForm,
        Recall.Request,
        {
            'text': st.none() | NAMES,
            'position': st.none() | POINTS | st.just((0.0, 0.0, 0.0)),
            'time': st.none() | ANYTIME,
            'around': st.booleans(),
            'limit': st.integers(1, 1000),
            'source': st.none() | st.sampled_from(SOURCES),
        },
    ),
    (
        ObjectsForm,
        FindObjects.Request,
        {
            'called': WORDS,
            'text': st.none() | NAMES,
            'relation': st.none() | st.sampled_from(['on', 'in', 'under', 'next to']),
            'anchor': WORDS,
            'missing': st.none() | st.booleans(),
            'moved': st.none() | st.booleans(),
            'changed_since': st.none() | TIMES,
            'position': st.none() | POINTS | st.just((0.0, 0.0, 0.0)),
            'order': st.none() | st.sampled_from(ObjectOrder),
            'limit': st.none() | st.integers(1, 1000),
        },
    ),
    (
        DeedsForm,
        FindDeeds.Request,
        {
            'kind': WORDS,
            'object': WORDS,
            'outcome': st.lists(st.sampled_from(OUTCOMES), max_size=3).map(tuple),
            'after': st.none() | TIMES | NAMES,
            'before': st.none() | TIMES | NAMES,
            'during': WORDS,
            'right': st.booleans(),
            'time': st.none() | ANYTIME,
            'position': st.none() | POINTS | st.just((0.0, 0.0, 0.0)),
            'order': st.sampled_from(DeedOrder),
            'nth': st.none() | st.integers(1, 2**31 - 1) | st.integers(-(2**31), -1),
            'limit': st.none() | st.integers(1, 1000),
            'never': st.none() | st.sampled_from(['object', 'receptacle', 'place']),
        },
    ),
    (
        ForgetForm,
        Forget.Request,
        {
            'id': st.lists(NAMES, max_size=2).map(tuple),
            'text': WORDS,
            'source': st.none() | st.sampled_from(SOURCES),
            'dry_run': st.booleans(),
        },
    ),
]


@pytest.mark.parametrize(
    ('form', 'message', 'fields'), FORMS, ids=lambda value: getattr(value, '__name__', '')
)
@given(data=st.data())
def test_a_form_comes_through_a_message_as_it_is(form, message, fields, data):
    asked = data.draw(st.fixed_dictionaries(SCOPE | fields).map(lambda given: form(**given)))
    assert sent(asked, message()) == asked


def test_a_condition_of_zero_still_narrows():
    form = ForgetForm(before=Nanoseconds(0), near=(0.0, 0.0, 0.0), radius=0)
    assert sent(form, Forget.Request()).conditions()[1] == Scope(None, 1, (0.0, 0.0, 0.0), 1e-6)
    assert sent(RecallForm(time=Nanoseconds(0)), Recall.Request()).time == 0


@given(st.integers(max_value=-(2**31) * NS - 1) | st.integers(min_value=MAX_WIRE_NS + 1))
def test_a_time_that_fits_no_message_is_the_nearest_that_does(ns):
    form = sent(RecallForm(time=Nanoseconds(ns), after=Nanoseconds(ns)), Recall.Request())
    assert form.time == form.after == (-(2**31) * NS if ns < 0 else MAX_WIRE_NS)


def test_fields_that_a_message_has_not_are_left_out():
    request = Ask.Goal()
    fill_message(RecallForm(text='lift', robot='anna', source='person'), request)
    assert request == Ask.Goal(robot=['anna'])
