from remembr_bench.evaluation.baselines.forced_answer import Top1Planner
from remembr_ros.agent.model.answer import Kind
from remembr_ros.timestamps import NS

START_NS = 1_700_000_000 * NS


def test_one_memory_is_recalled_by_the_raw_question_and_gives_the_place(drive, ask_about, run):
    answer = Top1Planner().answer(ask_about('Where is the printer?'), drive, run)
    assert drive.asked == [('Where is the printer?', 1)]
    assert (answer.kind, answer.planner) == (Kind.POSITION, 'top1')
    assert [hit.memory.id for hit in answer.evidence] == ['t2']
    assert answer.pose.position == (20.0, 1.0, 0.0)
    assert '(20.0, 1.0)' in answer.text


def test_the_time_is_that_of_the_memory(drive, ask_about, run):
    answer = Top1Planner().answer(ask_about('When did you see the printer?'), drive, run)
    assert (answer.kind, answer.time_ns) == (Kind.TIME, START_NS + 43 * NS)


def test_yes_or_no_is_always_yes(drive, ask_about, run):
    answer = Top1Planner().answer(ask_about('Did you see a swimming pool?'), drive, run)
    assert (answer.kind, answer.binary) == (Kind.BINARY, True)
    assert len(answer.evidence) == 1


def test_a_duration_is_always_a_minute(drive, ask_about, run):
    answer = Top1Planner().answer(ask_about('How long did you see the bench?'), drive, run)
    assert (answer.kind, answer.duration_s) == (Kind.DURATION, 60.0)
    assert [hit.memory.id for hit in answer.evidence] == ['t1']
    assert '1 minute' in answer.text


def test_text_is_the_caption(drive, ask_about, run):
    answer = Top1Planner().answer(ask_about('What colour is the bench?'), drive, run)
    assert (answer.kind, answer.text) == (Kind.TEXT, 'A brown bench.')


def test_without_a_memory_or_a_place_nothing_was_seen(nothing, remember, ask_about, run):
    for recall in (nothing, remember(pose=None)):
        answer = Top1Planner().answer(ask_about('Where is the lift?'), recall, run)
        assert (answer.kind, answer.evidence) == (Kind.NOT_SEEN, ())
