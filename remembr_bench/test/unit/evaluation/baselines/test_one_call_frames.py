import json
from dataclasses import replace

import pytest

from remembr_bench.evaluation.baselines.one_call import FrameIndicesPlanner, FramesPlanner
from remembr_ros.agent.chat.client import Reply, ToolCall
from remembr_ros.agent.model.answer import Kind
from remembr_ros.errors import InvalidRequest, ReplyInvalid, Ungrounded
from test.scripted.chat import ScriptedChat


def answering(**arguments):
    return Reply('', (ToolCall('c0', 'answer', json.dumps(arguments)),))


GOOD = answering(kind='position', text='The printer', ids=['m1'])


def keyframe(memory_id, index):
    return f'{memory_id}-{index}'.encode()


def test_each_frame_is_shown_with_label_time_and_place_but_no_caption(remember, ask_about, run):
    chat = ScriptedChat([GOOD], 'tiny')
    planner = FramesPlanner(chat, keyframe)
    assert planner.name == 'frames+tiny'
    answer = planner.answer(ask_about('Where is the lift?'), remember(keyframes=('a.jpg', 'b.jpg')), run)
    user = chat.asked[0][0][1]
    assert [image.jpeg for image in user.images] == [b't0-0', b't1-0', b't2-0', b't3-0', b't4-0']
    assert user.images[1].text == ('[m2] 22:13:40, 1 minute ago, at (10.0, 1.0), 22.0 m from here')
    said = ' '.join([user.content, *(image.text for image in user.images)])
    assert 'bench' not in said
    assert 'red' not in said
    assert answer.evidence[0].memory.id == 't0'
    assert answer.planner == 'frames+tiny'


@pytest.mark.parametrize(('frames', 'ids'), [(1, ['t2']), (2, ['t0', 't4']), (3, ['t0', 't2', 't4'])])
def test_frames_are_spread_evenly(remember, ask_about, run, frames, ids):
    chat = ScriptedChat([GOOD])
    FramesPlanner(chat, keyframe, frames=frames).answer(
        ask_about('Where is the lift?'), remember(keyframes=('a.jpg',)), run
    )
    assert [image.jpeg.decode() for image in chat.asked[0][0][1].images] == [f'{i}-0' for i in ids]


def test_memories_without_a_keyframe_are_passed_over(remember, ask_about, run):
    drive = remember(keyframes=('a.jpg',))
    drive._memories[2] = replace(drive._memories[2], keyframes=())
    chat = ScriptedChat([GOOD])
    FramesPlanner(chat, keyframe).answer(ask_about('Where is the lift?'), drive, run)
    assert [image.jpeg for image in chat.asked[0][0][1].images] == [b't0-0', b't1-0', b't3-0', b't4-0']


def test_without_any_keyframe_it_says_where_they_come_from(drive, ask_about, run):
    with pytest.raises(InvalidRequest, match='from a bag'):
        FramesPlanner(ScriptedChat([]), keyframe).answer(ask_about('Where?'), drive, run)


def test_a_text_may_have_numbers_that_only_the_frames_show(remember, ask_about, run):
    chat = ScriptedChat([answering(kind='text', text='It is room 42.', ids=['m2'])])
    answer = FramesPlanner(chat, keyframe).answer(
        ask_about('Which room is it?'), remember(keyframes=('a.jpg',)), run
    )
    assert (answer.kind, answer.text) == (Kind.TEXT, 'It is room 42.')


def test_a_place_that_the_model_wrote_is_not_said(remember, ask_about, run):
    chat = ScriptedChat([answering(kind='position', text='At (99, 99).', ids=['m2'])])
    answer = FramesPlanner(chat, keyframe).answer(
        ask_about('Where is the bench?'), remember(keyframes=('a.jpg',)), run
    )
    assert '99' not in answer.text


def test_a_history_of_more_frames_than_are_shown_is_refused_where_all_are_wanted(remember, ask_about, run):
    question, drive = ask_about('Where is the lift?'), remember(keyframes=('a.jpg',))
    planner = FramesPlanner(ScriptedChat([]), keyframe, frames=4, all_or_none=True)
    with pytest.raises(InvalidRequest, match='5 frames, and 4 are shown at most'):
        planner.answer(question, drive, run)
    fits = FramesPlanner(ScriptedChat([GOOD]), keyframe, frames=5, all_or_none=True)
    assert fits.answer(question, drive, run).kind is Kind.POSITION


@pytest.mark.parametrize(
    ('said', 'ids'),
    [
        ('{"chain_of_thought": "x", "frame_indices": [3]}', ['t3']),
        ('```json\n{"frame_indices": [4, 0]}\n```', ['t4', 't0']),
    ],
)
def test_a_video_model_names_frames_by_their_numbers(remember, ask_about, run, said, ids):
    chat = ScriptedChat([Reply(said)], 'tiny')
    planner = FrameIndicesPlanner(chat, keyframe)
    answer = planner.answer(ask_about('Navigate to the lift.'), remember(keyframes=('a.jpg',)), run)
    assert [hit.memory.id for hit in answer.evidence] == ids
    assert (answer.kind, answer.planner) == (Kind.POSITION, 'frame_indices+tiny')
    assert (answer.every_place, answer.in_order) == ((True, True) if len(ids) > 1 else (False, False))
    ((messages, must_call),) = chat.asked
    assert must_call is None
    assert messages[1].images[1].text.startswith('frame 1, ')


@pytest.mark.parametrize(
    ('said', 'error'),
    [
        ('frame 3', ReplyInvalid),
        ('{"frame_indices": "3"}', ReplyInvalid),
        ('{"frame_indices": [-1]}', ReplyInvalid),
        ('{"frame_indices": [5]}', Ungrounded),
        ('{"frame_indices": []}', Ungrounded),
    ],
)
def test_what_names_no_frame_is_sent_back_once(remember, ask_about, run, said, error):
    chat = ScriptedChat([Reply(said), Reply(said)])
    planner = FrameIndicesPlanner(chat, keyframe)
    with pytest.raises(error):
        planner.answer(ask_about('Navigate to the lift.'), remember(keyframes=('a.jpg',)), run)
    assert len(chat.asked) == 2
