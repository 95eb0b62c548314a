import pytest

from remembr_ros.agent.planner import Progress, Run


def test_a_listener_that_fails_is_logged_and_fails_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    told: list[str] = []

    def listen(progress: Progress) -> None:
        told.append(progress.stage)
        raise RuntimeError('the window is closed')

    run = Run(float('inf'), on_progress=listen)
    run.on_progress(Progress('thinking', ''))
    run.on_progress(Progress('answering', ''))
    assert told == ['thinking', 'answering']
    assert 'the window is closed' in caplog.text
