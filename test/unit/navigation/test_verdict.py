import pytest

from remembr_ros.errors import NavigationAborted, NavigationCancelled, Preempted
from remembr_ros.navigation.verdict import ABORTED, CANCELED, SUCCEEDED, verdict


def test_arriving_is_no_failure() -> None:
    assert verdict(SUCCEEDED, places=3) is None


@pytest.mark.parametrize(
    ('status', 'superseded', 'kind'),
    [
        (CANCELED, False, NavigationCancelled),
        (CANCELED, True, NavigationCancelled),
        (ABORTED, False, NavigationAborted),
        (ABORTED, True, Preempted),
        (0, False, NavigationAborted),
        (99, True, NavigationAborted),
    ],
)
def test_each_end_has_its_name(status: int, superseded: bool, kind: type) -> None:
    assert type(verdict(status, superseded=superseded)) is kind


def test_an_abortion_says_what_nav2_said() -> None:
    text = str(verdict(ABORTED, error_code=104, error_msg='no valid path'))
    assert '104' in text
    assert 'no valid path' in text


def test_missed_places_are_a_failure_and_counted_from_one() -> None:
    failure = verdict(SUCCEEDED, missed=[0, 2], places=3)
    assert isinstance(failure, NavigationAborted)
    assert 'of 3 places, number 1, 3' in str(failure)
