import pytest

from remembr_ros.events.watch import EventWatch
from remembr_ros.timestamps import NS
from test.unit.events.messages import EXECUTING, SUCCEEDED, Message, T, pose, status, uuid

STATUS = 'action_msgs/msg/GoalStatusArray'
ATTACHED = 'moveit_msgs/msg/AttachedCollisionObject'
SCENE = 'moveit_msgs/msg/PlanningScene'
DIAGNOSTICS = 'diagnostic_msgs/msg/DiagnosticArray'
BATTERY = 'sensor_msgs/msg/BatteryState'
MONITOR = 'nav2_msgs/msg/CollisionMonitorState'


def fielded(**fields) -> Message:
    return Message(**fields, __dataclass_fields__=dict.fromkeys(fields))


def attached(name: str, operation, link: str = 'hand') -> Message:
    return Message(link_name=link, object=Message(id=name, operation=operation))


def said(watch: EventWatch, at_ns: int = T + 99 * NS) -> list[str]:
    return [one.memory('r').caption for one in watch.take(at_ns)]


def test_which_topics_tell_of_deeds():
    topics = {
        '/navigate_to_pose/_action/status': STATUS,
        '/navigate_to_pose/_action/feedback': 'nav2_msgs/action/NavigateToPose_FeedbackMessage',
        '/follow_path/_action/status': STATUS,
        '/plan': 'nav_msgs/msg/Path',
        '/local_plan': 'nav_msgs/msg/Path',
        '/robot/plan': 'nav_msgs/msg/Path',
        '/camera/image': 'sensor_msgs/msg/Image',
        '/arm/battery': BATTERY,
        '/x/_action/send_goal/_service_event': 'my_msgs/action/X_SendGoal_Event',
        '/y/set_parameters/_service_event': 'rcl_interfaces/srv/SetParameters_Event',
        '/gripper/open/_service_event': 'std_srvs/srv/Trigger_Event',
        '/remembr/ask/_action/status': STATUS,
    }
    found = EventWatch(T, ['*/remembr/*', 'follow_path']).wanted(topics)
    assert sorted(found) == [
        '/arm/battery',
        '/gripper/open/_service_event',
        '/navigate_to_pose/_action/feedback',
        '/navigate_to_pose/_action/status',
        '/plan',
        '/robot/plan',
        '/x/_action/send_goal/_service_event',
    ]


def test_a_goal_with_introspection():
    watch = EventWatch(T)
    info = Message(client_gid=b'1', sequence_number=1, event_type=1)
    goal = fielded(location='the kitchen', pose=pose(2.0))
    send = Message(info=info, request=[Message(goal_id=uuid(1), goal=goal)], response=[])
    ask = Message(info=info, request=[Message(goal_id=uuid(1))], response=[])
    result = Message(info=info, request=[], response=[Message(result=fielded(message='done'))])
    watch.hear('/water/_action/send_goal/_service_event', 'X_Event', send, T)
    watch.hear('/water/_action/get_result/_service_event', 'X_Event', ask, T)
    watch.hear('/water/_action/status', STATUS, status((1, T, EXECUTING)), T)
    watch.hear('/water/_action/status', STATUS, status((1, T, SUCCEEDED)), T + NS)
    watch.hear('/water/_action/get_result/_service_event', 'X_Event', result, T + NS)
    (made,) = watch.take(T + 9 * NS)
    assert made.memory('r').caption == 'Water (the kitchen)'
    assert made.facts.details['result'] == {'message': 'done'}
    assert made.goal == (2.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ('success', 'caption'), [(True, 'Opened the gripper'), (False, 'Failed to open the gripper: stuck')]
)
def test_a_service_that_is_introspected(success, caption):
    """By its client, too: sent, received, responded, response received."""
    watch = EventWatch(T)
    response = fielded(success=success, message='stuck')
    for event_type, second, gid in ((0, 0, 7), (1, 1, 8), (2, 2, 8), (3, 3, 7)):
        info = Message(client_gid=[gid, 2], sequence_number=5, event_type=event_type)
        of = ([Message()], []) if event_type < 2 else ([], [response])
        call = Message(info=info, request=of[0], response=of[1])
        watch.hear('/open_gripper/_service_event', 'T_Event', call, T + second * NS)
    (made,) = watch.take(T + 9 * NS)
    assert made.memory('r').caption == caption
    assert (made.begin_ns, made.end_ns) == (T + NS, T + 2 * NS)


def test_a_service_that_only_its_client_tells_of():
    watch = EventWatch(T)
    for event_type, of in ((0, ([Message()], [])), (3, ([], [Message()])), (3, ([], [Message()]))):
        info = Message(client_gid=[7], sequence_number=5, event_type=event_type)
        call = Message(info=info, request=of[0], response=of[1])
        watch.hear('/open_gripper/_service_event', 'T_Event', call, T + event_type * NS)
    assert said(watch) == ['Opened the gripper']


@pytest.mark.parametrize('as_bytes', [False, True])
def test_what_the_arm_holds(as_bytes):
    watch = EventWatch(T)
    operations = [0, 0, 1, 1] if not as_bytes else [b'\0', b'\0', b'\1', b'\1']
    for second, operation in enumerate(operations):
        watch.hear('/a', ATTACHED, attached('red_mug', operation), T + second * NS)
    assert said(watch) == ['Picked the red mug', 'Put the red mug']


def test_whole_scenes_tell_what_is_held_no_more():
    watch = EventWatch(T)

    def scene(*names: str, is_diff: bool) -> Message:
        state = Message(attached_collision_objects=[attached(name, 0) for name in names], is_diff=is_diff)
        return Message(robot_state=state, is_diff=is_diff)

    watch.hear('/s', SCENE, scene('mug', 'cup', is_diff=True), T)
    watch.hear('/s', SCENE, scene('mug', is_diff=True), T)
    assert said(watch) == ['Picked the mug', 'Picked the cup']
    watch.hear('/s', SCENE, scene('mug', is_diff=False), T)
    assert said(watch) == ['Put the cup']
    watch.hear('/a', ATTACHED, attached('', 1, 'other_hand'), T)
    assert said(watch) == []
    watch.hear('/a', ATTACHED, attached('', 1), T)
    assert said(watch) == ['Put the mug']


def diagnostics(level, name: str = 'motor', message: str = 'too hot') -> Message:
    return Message(status=[Message(name=name, level=level, message=message)])


def test_diagnostics():
    watch = EventWatch(T, ['*/remembr/*'])
    for second in range(4):
        watch.hear('/d', DIAGNOSTICS, diagnostics(b'\2'), T + second * NS)
        watch.hear('/d', DIAGNOSTICS, diagnostics(1, '/remembr/memory: status'), T + second * NS)
    assert said(watch, T + 3 * NS) == ['Motor failed: too hot']
    watch.hear('/d', DIAGNOSTICS, diagnostics(0, message='ok'), T + 10 * NS)
    (ended,) = watch.take(T + 20 * NS)
    assert (ended.facts.kind, ended.facts.outcome, ended.end_ns) == ('fail', 'failed', T + 10 * NS)


def test_the_battery_s_hysteresis_and_charging():
    watch = EventWatch(T)
    made = []
    for minute, (charge, how) in enumerate(
        [
            (0.30, 2),
            (0.19, 2),
            (0.21, 2),
            (0.19, 2),
            (0.09, 2),
            (0.11, 1),
            (0.24, 1),
            (0.26, 1),
            (1.0, 4),
            (1.0, 2),
        ]
    ):
        now_ns = T + minute * 60 * NS
        watch.hear('/battery', BATTERY, Message(percentage=charge, power_supply_status=how), now_ns)
        made += watch.take(now_ns + 30 * NS)
    last = {one.memory('r').id: one for one in made}.values()
    assert [
        (one.facts.text, (one.begin_ns - T) // NS // 60, (one.end_ns - T) // NS // 60) for one in last
    ] == [
        ('the battery low at 19%', 1, 4),
        ('the battery nearly empty at 9%', 4, 6),
        ('charged, beginning at 11%', 5, 8),
        ('the battery low at 24%', 6, 7),
    ]
    assert [one.facts.outcome for one in last if one.facts.kind == 'charge'] == ['succeeded']


def test_a_battery_that_knows_nothing():
    watch = EventWatch(T)
    watch.hear('/battery', BATTERY, Message(percentage=float('nan'), power_supply_status=0), T)
    assert said(watch) == []


def test_the_collision_monitor():
    watch = EventWatch(T)
    watch.hear('/m', MONITOR, Message(action_type=1, polygon_name='PolygonStop'), T)
    assert said(watch, T + 3 * NS) == ['The collision monitor made the robot stop (PolygonStop)']
    watch.hear('/m', MONITOR, Message(action_type=0, polygon_name=''), T + 9 * NS)
    assert len(said(watch, T + 20 * NS)) == 1
