import sys
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from nav2_msgs.action import NavigateToPose
from std_msgs.msg import String

from remembr_ros.nodes.base.message_types import message_type


def test_types_of_interface_packages_are_found():
    assert message_type('std_msgs/msg/String') is String
    feedback = message_type('nav2_msgs/action/NavigateToPose_FeedbackMessage')
    assert feedback is NavigateToPose.Impl.FeedbackMessage
    with pytest.raises(AttributeError):
        message_type('std_msgs/msg/Strin')


@pytest.mark.parametrize(
    'name',
    [
        '',
        'String',
        'std_msgs/String',
        'std_msgs/msg/String/x',
        'std_msgs/msg/String\n',
        'std_msgs/msg/_string',
        'std_msgs.msg/msg/String',
        'std_msgs/../String',
        'absent_msgs/msg/String',
        'os/msg/Path',
    ],
)
def test_what_is_no_message_is_refused(name: str):
    with pytest.raises(ImportError):
        message_type(name)


@pytest.mark.parametrize('layout', ['module', 'package', 'package with msg'])
def test_a_package_without_interfaces_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
):
    ran = tmp_path / 'ran'
    code = f'open({str(ran)!r}, "w").close()\nclass X: ...\n'
    if layout == 'module':
        (tmp_path / 'opens_browser.py').write_text(code)
    else:
        folder = tmp_path / 'opens_browser' / ('msg' if layout.endswith('msg') else '.')
        folder.mkdir(parents=True)
        (tmp_path / 'opens_browser' / '__init__.py').write_text(code)
        (folder / '__init__.py').write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match='no interface package'):
        message_type('opens_browser/msg/X')
    assert 'opens_browser' not in sys.modules
    assert not ran.exists()
