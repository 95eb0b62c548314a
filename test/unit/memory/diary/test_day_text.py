"""Days in words."""

from datetime import timezone
from zoneinfo import ZoneInfo

from remembr_ros.geometry import Pose
from remembr_ros.memory.diary.day import diary
from remembr_ros.memory.diary.day_text import day_lines, shown_by
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS, parse_time

START_NS = parse_time('2026-11-23T11:59:00Z')


def drive(robot: str = 'r', map_id: str = '', z: float = 0.0) -> list[Memory]:
    """Return a drive of 40 m and a stay of 57 s behind it, in a kitchen."""
    moved = [
        Memory(
            f'{robot}{i}',
            robot,
            START_NS + 3 * i * NS,
            START_NS + (3 * i + 3) * NS,
            'A corridor with a blue carpet. A door is open.',
            Pose(2.0 * i + 1.0, 1.0, z),
            map_id=map_id,
            travelled=2.0,
            scene_text=('EXIT',),
        )
        for i in range(20)
    ]
    start_ns = moved[-1].end_ns
    stood = Memory(
        f'{robot}k',
        robot,
        start_ns,
        start_ns + 57 * NS,
        'A kitchen with red cupboards.',
        Pose(40.2, 1.0, z),
        map_id=map_id,
        merged=19,
    )
    return [*moved, stood]


def test_a_day_is_a_list_of_sentences() -> None:
    lines = day_lines(diary(drive(), timezone.utc), timezone.utc).splitlines()
    assert lines[0] == 'Monday, 2026-11-23, morning:'
    assert lines[1].startswith('11:59:00 to ')
    assert ' drove 40 m to (' in lines[1]
    assert lines[1].endswith('A corridor with a blue carpet. A door is open. Read: "EXIT".')
    assert lines[2] == 'Monday, 2026-11-23, afternoon:'
    assert lines[3].endswith(' at (40.2, 1.0). A kitchen with red cupboards.')
    assert ' stood 5' in lines[3]


def test_it_is_on_the_askers_clock() -> None:
    told = day_lines(diary(drive(), ZoneInfo('Asia/Tokyo')), ZoneInfo('Asia/Tokyo'))
    assert told.startswith('Monday, 2026-11-23, evening:\n20:59:00 to ')


def test_robots_maps_and_heights_are_said_where_they_differ() -> None:
    told = day_lines(diary([*drive('ann', 'roof', 8.0), *drive('bob', 'yard')], timezone.utc), timezone.utc)
    assert ' ann drove 40 m to (' in told
    assert ' bob stood ' in told
    assert 'at (40.2, 1.0, 8.0) on map roof.' in told
    assert 'at (40.2, 1.0) on map yard.' in told


def test_a_place_that_is_not_known_is_said_to_be_so() -> None:
    note = Memory('n', 'r', START_NS, START_NS, 'The lift is broken', source='person')
    assert day_lines(diary([note], timezone.utc), timezone.utc).endswith(
        '11:59:00 to 11:59:00 stood 0 seconds at a place unknown. The lift is broken.'
    )


def test_less_is_said_where_less_is_wanted() -> None:
    told = day_lines(diary(drive(), timezone.utc), timezone.utc, sentences=1, texts=0)
    assert 'A door is open' not in told


def test_an_episode_is_shown_by_a_memory_of_what_is_said_of_it() -> None:
    leg, stay = diary(drive(), timezone.utc).episodes
    assert shown_by(stay).id == 'rk'
    assert 'corridor' in shown_by(leg).caption
