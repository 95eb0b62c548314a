"""Why segments have no place."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from remembr_ros.captioning.pose_buffer import BEFORE_POSES, LOST, NO_POSE, PAUSE
from remembr_ros.captioning.unplaced import counted, why_unplaced

S = 1_000_000_000
T0 = 1_760_000_000 * S


def read(poses: tuple[int, int] | None, **left_out: int) -> Any:
    spans = {'recording': True, 'frames_ns': (T0, T0 + 60 * S), 'poses_ns': poses}
    return SimpleNamespace(pose_source='/fix (NavSatFix)', left_out=Counter(left_out), **spans)


@pytest.mark.parametrize(
    ('found', 'whys', 'wanted'),
    [
        (read(None, unset=24), {NO_POSE: 4}, ['has no pose at all', '24 x unset', '--pose-topic']),
        (read(None), {NO_POSE: 4}, ['never connected', '--tf']),
        (read((T0, T0 + 60 * S)), {PAUSE: 8, NO_POSE: 1}, [f'8 x {PAUSE}; 1 x {NO_POSE}', '--pose-hold']),
        (read((T0, T0 + 60 * S)), {BEFORE_POSES: 2}, ['localisation began later']),
        (read((T0 + 9 * S, T0 + 60 * S)), {NO_POSE: 2}, ['localisation began later']),
        (
            read((T0, T0 + 60 * S), unset=39),
            {PAUSE: 6},
            ['near their images: messages', '39 x unset', '--tf'],
        ),
        (
            read((T0, T0 + 60 * S), poor=7),
            {LOST: 2, PAUSE: 1},
            ['less certain', '7 x poor', '--max-position-std'],
        ),
        (read((5 * S, 65 * S)), {NO_POSE: 4}, ['1970-01-01', '2025-10-09', 'same clock']),
    ],
)
def test_the_largest_cause_is_named_with_its_remedy(found: Any, whys: Any, wanted: list[str]) -> None:
    text = why_unplaced(found, Counter(whys), 1.0)
    assert text.startswith('/fix (NavSatFix) ')
    assert [part for part in wanted if part not in text] == []


def test_of_many_reasons_the_most_frequent_are_told() -> None:
    assert counted({'a': 1, 'b': 5, 'c': 2, 'd': 1, 'e': 1}) == '5 x b; 2 x c; 1 x a; 2 other reasons'
    assert counted({}) == ''
