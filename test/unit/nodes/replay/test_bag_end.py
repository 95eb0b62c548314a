import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from remembr_ros.nodes.replay.bag_end import LEFT, Remainder

FRONT, REAR = '/remembr/front/captioner', '/remembr/rear/captioner'


def status(name: str, *figures: int) -> DiagnosticStatus:
    """Return what a captioner says: the figures of LEFT, and others."""
    values = [KeyValue(key=key, value=str(value)) for key, value in zip(LEFT, figures, strict=False)]
    values.append(KeyValue(key='image size [px]', value='640 x 480'))
    return DiagnosticStatus(name=f'{name}: status', values=values)


def test_it_is_over_when_every_captioner_has_said_twice_in_a_row_that_nothing_is_left():
    left = Remainder([FRONT, REAR], lambda name: None)
    said = [(FRONT, 0, 0, 0), (REAR, 0, 0, 0), (FRONT, 0, 0, 0), (REAR, 0, 0, 1), (REAR, 0, 0, 0)]
    for one in said:
        left.hear(status(*one))
        assert not left.is_nothing
    left.hear(status('/remembr/memory', 0, 5, 0))
    left.hear(status(REAR, 0, 0, 0))
    assert left.is_nothing


def test_an_open_segment_is_ended():
    flushed: list[str] = []
    left = Remainder([FRONT, REAR], flushed.append)
    left.hear(status(REAR, 1, 2, 3))
    left.hear(status(FRONT, 0, 2, 3))
    assert flushed == [REAR]
    assert str(left) == f'{FRONT}: 0 not placed yet, 2 waiting, 3 not stored yet; ' + (
        f'{REAR}: 1 not placed yet, 2 waiting, 3 not stored yet'
    )


def test_progress_is_a_figure_that_changes():
    left = Remainder([FRONT], lambda name: None)
    assert str(left) == f'{FRONT} says nothing'
    times = [left.progress_at]
    for figures in ((0, 2, 1), (0, 2, 1), (0, 1, 1)):
        left.hear(status(FRONT, *figures))
        times.append(left.progress_at)
    assert times[0] < times[1] == times[2] < times[3]


def test_a_captioner_that_was_deactivated_has_nothing_left():
    left = Remainder([FRONT], lambda name: None)
    for _ in range(2):
        left.hear(DiagnosticStatus(name=f'{FRONT}: status', message='inactive'))
    assert left.is_nothing
