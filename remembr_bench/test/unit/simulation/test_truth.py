import numpy as np
import pytest

from remembr_bench.simulation.floor_plan import generate_building
from remembr_bench.simulation.sight import Sight
from remembr_bench.simulation.tour import Tour
from remembr_bench.simulation.truth import describe, load_truth, observe, save_truth
from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import StampedPose
from remembr_ros.timestamps import NS

START_NS = 1_700_000_000 * NS
STEP_NS = NS // 5


@pytest.fixture(scope='module', params=[0, 1, 2, 7])
def drive(request):
    building = generate_building(request.param)
    tour = Tour(building)
    count = int(tour.duration_s * 5) + 1
    frames = [StampedPose(START_NS + i * STEP_NS, tour.pose_at(i / 5)) for i in range(count)]
    return building, frames, observe(building, frames)


def test_every_sign_is_readable_for_a_second_on_the_tour(drive):
    _, _, truth = drive
    for sign in truth.signs:
        assert sum(len(view.poses) for view in sign.readable) >= 5, sign.text


def test_signs_are_read_from_at_most_nine_metres(drive):
    _, _, truth = drive
    for sign in truth.signs:
        for view in sign.readable:
            for pose in view.poses:
                gap = (pose.x - sign.position[0], pose.y - sign.position[1])
                assert np.hypot(*gap) < 9.1, sign.text


def test_views_are_unbroken_runs_of_the_frames_that_show_the_sign(drive):
    building, frames, truth = drive
    sight = Sight(building)
    by_stamp = {frame.stamp_ns: frame.pose for frame in frames}
    for sign, board in zip(truth.signs, building.signs, strict=True):
        for view in sign.readable:
            stamps = range(view.start_ns, view.end_ns + 1, STEP_NS)
            assert [by_stamp[stamp] for stamp in stamps] == list(view.poses)
            for beyond in (view.start_ns - STEP_NS, view.end_ns + STEP_NS):
                assert beyond not in by_stamp or not sight.can_read(by_stamp[beyond], board)


def test_segments_of_three_seconds_cover_the_tour(drive):
    _, frames, truth = drive
    assert truth.segments[0].start_ns == truth.start_ns == START_NS
    assert truth.segments[-1].end_ns == truth.end_ns == frames[-1].stamp_ns
    for before, after in zip(truth.segments, truth.segments[1:], strict=False):
        assert before.end_ns == after.start_ns == before.start_ns + 3 * NS


def test_captions_name_what_is_visible(drive):
    _, _, truth = drive
    for segment in truth.segments:
        assert all(f'"{text}"' in segment.caption for text in segment.visible_signs)
    seen = {text for segment in truth.segments for text in segment.visible_signs}
    assert seen == {sign.text for sign in truth.signs}


def test_named_places_are_where_their_things_are(drive):
    _, _, truth = drive
    inside = [segment.caption for segment in truth.segments if 'in the cafeteria' in segment.caption]
    assert any('coffee machine' in caption for caption in inside)
    assert any('bookshel' in segment.caption and 'library' in segment.caption for segment in truth.segments)


def test_truth_survives_its_file(drive, tmp_path):
    _, _, truth = drive
    save_truth(truth, tmp_path / 'truth.json')
    assert load_truth(tmp_path) == load_truth(tmp_path / 'truth.json') == truth


def test_missing_and_broken_files_are_refused(tmp_path):
    with pytest.raises(BagUnreadable, match='record the building first'):
        load_truth(tmp_path)
    for text in ('{', '[]', '{"seed": 1}', '{"seed": 1, "start_ns": 0, "end_ns": 1, "signs": [{}]}'):
        (tmp_path / 'truth.json').write_text(text)
        with pytest.raises(BagUnreadable, match='not a truth file'):
            load_truth(tmp_path)


def test_no_frames_are_refused():
    with pytest.raises(ValueError, match='without frames'):
        observe(generate_building(0), [])


def test_caption_counts_and_lists():
    things = {thing.name: thing for thing in generate_building(0).things}
    shelf, exit_door, bin_ = things['bookshelf'], things['exit door'], things['printer']
    assert describe('library', (), ()) == 'The robot is in the library.'
    assert describe('', ('EXIT',), ()) == 'The robot is inside a building. A sign reads "EXIT".'
    caption = describe('library', ('EXIT', 'LIFT'), [shelf, exit_door, shelf, bin_])
    assert caption == (
        'The robot is in the library. It sees two bookshelves, an exit door and a printer. '
        'Signs read "EXIT" and "LIFT".'
    )
