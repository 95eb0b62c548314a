import threading
from typing import Any

import pytest

from remembr_ros.errors import InvalidRequest, NavigationUnavailable, StoreUnavailable
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.web.jobs import Drive, Drives
from test.unit.memory.recall_contract import DRIVE
from test.unit.web.fake_backend import PATIENCE_S, FakeBackend, eventually

PLACE = StampedPose(0, Pose(1.0, 2.0))


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def stages() -> list[str]:
    return []


@pytest.fixture
def drives(backend: FakeBackend, stages: list[str]) -> Drives:
    def changed(drive: Drive) -> None:
        if not stages or stages[-1] != drive.stage:
            stages.append(drive.stage)

    return Drives(backend, changed)


def at(drives: Drives, stage: str) -> Drive:
    eventually(lambda: drives.current is not None and drives.current.stage == stage)
    assert drives.current is not None
    return drives.current


def test_the_robot_drives_once_a_person_said_yes(
    drives: Drives, backend: FakeBackend, stages: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert drives.current is None
    begun = drives.begin(DRIVE[0], map_id='', asker='act token from 10.0.0.3')
    waiting = at(drives, 'confirming')
    assert (waiting.id, waiting.asker) == (begun.id, 'act token from 10.0.0.3')
    assert waiting.goal is not None
    assert drives.confirm(True, backend.now.proposal_id, asker='somebody else') == 'it is told'
    at(drives, 'arrived')
    assert stages[0] == 'checking'
    assert stages[-2:] == ['navigating', 'arrived']
    assert backend.driven == [(DRIVE[0], '', 'act token from 10.0.0.3')]
    assert 'act token from 10.0.0.3 wants' in caplog.text
    assert 'somebody else said yes' in caplog.text


def test_a_robot_of_which_nobody_tells_more_was_sent(drives: Drives, backend: FakeBackend) -> None:
    backend.arrives = False
    drives.begin(PLACE, map_id='', asker='a')
    at(drives, 'confirming')
    drives.confirm(True, backend.now.proposal_id, asker='a')
    assert at(drives, 'sent').is_over


def test_one_drive_at_a_time(drives: Drives, backend: FakeBackend) -> None:
    drives.begin(PLACE, map_id='cellar', asker='a')
    with pytest.raises(InvalidRequest, match='under way'):
        drives.begin(PLACE, map_id='', asker='b')
    at(drives, 'confirming')
    drives.confirm(False, '', asker='a')
    assert 'refused' in at(drives, 'failed').detail
    drives.begin(PLACE, map_id='cellar', asker='b')
    drives.confirm(True, backend.now.proposal_id, asker='b')
    at(drives, 'arrived')
    assert backend.driven == [(PLACE, 'cellar', 'b')]


def test_a_stopped_drive_is_over_whatever_comes_after(drives: Drives, stages: list[str]) -> None:
    drives.begin(PLACE, map_id='', asker='a')
    at(drives, 'confirming')
    assert drives.stop(asker='b') == 'it stands'
    assert at(drives, 'stopped').detail == 'stopped by b'
    begun = drives.begin(PLACE, map_id='', asker='a')
    assert at(drives, 'confirming').id == begun.id
    drives.close()
    at(drives, 'failed')
    assert 'stopped' in stages


def test_a_drive_that_a_stop_ends_at_the_robot_is_stopped_and_has_not_failed(
    drives: Drives, backend: FakeBackend, stages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()

    def stop() -> str:  # as a robot does: the drive ends before the stop is answered
        assert drives.current is not None
        assert drives.current.stage == 'confirming', 'nothing is stopped yet'
        backend.confirm(False, '')
        assert ended.wait(PATIENCE_S)
        return 'it stands'

    go = backend.go

    def going(*args: Any, **fields: Any) -> bool:
        try:
            return go(*args, **fields)
        finally:
            ended.set()

    monkeypatch.setattr(backend, 'stop', stop)
    monkeypatch.setattr(backend, 'go', going)
    for _ in range(20):
        ended.clear()
        drives.begin(PLACE, map_id='', asker='a')
        at(drives, 'confirming')
        drives.stop(asker='b')
        assert at(drives, 'stopped').detail == 'stopped by b'
    assert 'failed' not in stages


def test_a_stop_that_fails_is_told_as_none(
    drives: Drives, backend: FakeBackend, stages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> str:
        raise StoreUnavailable('the agent node does not answer')

    monkeypatch.setattr(backend, 'stop', stop)
    drives.begin(PLACE, map_id='', asker='a')
    at(drives, 'confirming')
    with pytest.raises(StoreUnavailable):
        drives.stop(asker='b')
    at(drives, 'failed')  # who waited for it hears that nobody wants it, and says what came of that
    assert 'stopped' not in stages


def test_who_does_not_want_its_drive_any_more_ends_no_other(
    drives: Drives, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, 'stop', lambda: pytest.fail('every drive is stopped'))
    first = drives.begin(PLACE, map_id='', asker='a')
    at(drives, 'confirming')
    drives.give_up(first.id, asker='a')
    assert at(drives, 'stopped').detail == 'stopped by a'
    second = drives.begin(PLACE, map_id='', asker='b')
    drives.give_up(first.id, asker='a')
    assert at(drives, 'confirming').id == second.id
    drives.close()


def test_why_it_does_not_drive_is_told(
    drives: Drives, backend: FakeBackend, caplog: pytest.LogCaptureFixture
) -> None:
    backend.broken = NavigationUnavailable('Nav2 is not there')
    drives.begin(PLACE, map_id='', asker='a')
    assert at(drives, 'failed').detail == 'Nav2 is not there'
    backend.broken = ZeroDivisionError('secret')
    drives.begin(PLACE, map_id='', asker='a')
    eventually(lambda: drives.current is not None and 'log' in drives.current.detail)
    assert 'secret' not in str(drives.current)
    assert 'ZeroDivisionError' in caplog.text
