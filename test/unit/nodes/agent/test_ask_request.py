import inspect

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from remembr_msgs.action import Ask
from remembr_msgs.srv import Ask as AskSrv
from remembr_ros import errors
from remembr_ros.nodes.agent.ask_request import ask_error, ask_error_code


def codes(kind) -> dict[str, int]:
    """Return the constants of a message type."""
    found = {name: getattr(kind, name) for name in dir(type(kind)) if name.isupper()}
    return {name: value for name, value in found.items() if isinstance(value, int)}


def test_codes_of_action_and_service_agree():
    of_action = codes(Ask.Result)
    assert len(of_action) == len(set(of_action.values())) == 21
    assert of_action == codes(AskSrv.Response)


@pytest.mark.parametrize(
    ('error', 'code'),
    [
        (errors.InvalidRequest, Ask.Result.INVALID_QUESTION),
        (errors.StoreUnavailable, Ask.Result.MEMORY_UNAVAILABLE),
        (errors.ChatUnavailable, Ask.Result.CHAT_UNAVAILABLE),
        (errors.ReplyInvalid, Ask.Result.REPLY_INVALID),
        (errors.Ungrounded, Ask.Result.UNGROUNDED),
        (errors.BudgetExceeded, Ask.Result.BUDGET_EXCEEDED),
        (errors.GoalRejected, Ask.Result.GOAL_REJECTED),
        (errors.NoPlace, Ask.Result.NO_PLACE),
        (errors.NavigationUnavailable, Ask.Result.NAV_UNAVAILABLE),
        (errors.NobodyDrives, Ask.Result.NO_DRIVER),
        (errors.NavigationRefused, Ask.Result.NAV_REJECTED),
        (errors.NavigationAborted, Ask.Result.NAV_ABORTED),
        (errors.NavigationCancelled, Ask.Result.NAV_CANCELLED),
        (errors.NavigationTimedOut, Ask.Result.NAV_TIMEOUT),
        (errors.Preempted, Ask.Result.PREEMPTED),
        (errors.NotConfirmed, Ask.Result.NOT_CONFIRMED),
        (errors.Cancelled, Ask.Result.CANCELLED),
        (errors.RemembrError, Ask.Result.INTERNAL),
    ],
)
def test_every_error_has_its_code(error, code):
    assert ask_error_code(error('why')) == code
    back = ask_error(code, 'why')
    assert (ask_error_code(back), str(back)) == (code, 'why')
    assert isinstance(back, error)


def test_every_way_to_fail_on_the_way_has_a_code_of_its_own():
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.NavigationFailed) and kind is not errors.NavigationFailed
    ]
    found = {ask_error_code(kind('why')) for kind in kinds}
    assert len(found) == len(kinds) == 10
    assert Ask.Result.INTERNAL not in found
