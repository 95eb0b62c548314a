import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.speech.attention import Attention, AttentionRules, Heard, Hearing, UtteranceKind
from remembr_ros.speech.transcriber import Transcript
from remembr_ros.timestamps import NS

S = NS


def attention(**options):
    options = {'follow_up_ns': 8 * S, 'tail_ns': S // 2, 'speaking_timeout_ns': 60 * S, **options}
    return Attention(AttentionRules(**options))


def say(listener, text, at=0, confidence=1.0):
    return listener.judge(Transcript(text, 'en', confidence), at, at + 2 * S)


QUESTION = Heard(UtteranceKind.QUESTION, 'where is it?')


def test_with_the_wake_phrase_it_is_a_question_and_without_it_is_not():
    listener = attention()
    assert listener.state(0) is Hearing.WAITING
    assert say(listener, 'Robot, where is it?') == QUESTION
    assert say(listener, 'where is it?') == Heard(UtteranceKind.OTHER)
    assert say(listener, ' ') == Heard(UtteranceKind.NOTHING)


def test_without_wake_phrases_everything_is_a_question():
    listener = attention(phrases=())
    assert listener.state(0) is Hearing.OPEN
    assert say(listener, 'where is it?') == QUESTION


def test_a_phrase_without_letters_is_refused():
    with pytest.raises(InvalidRequest, match='letters'):
        attention(phrases=('!?',))


@pytest.mark.parametrize(
    ('confidence', 'verdict'), [(0.29, UtteranceKind.UNSURE), (0.3, UtteranceKind.QUESTION)]
)
def test_what_is_not_sure_enough_is_no_question(confidence, verdict):
    listener = attention(min_confidence=0.3)
    assert say(listener, 'Robot, where is it?', confidence=confidence).verdict is verdict


# The follow-up window


@pytest.mark.parametrize(('after', 'expected'), [(0, 'QUESTION'), (8, 'QUESTION'), (9, 'OTHER')])
def test_after_an_answer_a_question_that_begins_in_time_needs_no_wake_phrase(after, expected):
    listener = attention()
    listener.answer(100 * S)
    assert say(listener, 'where is it?', (100 + after) * S).verdict is UtteranceKind[expected]


def test_how_long_understanding_takes_does_not_matter():
    listener = attention()
    listener.answer(100 * S)
    assert listener.state(200 * S) is Hearing.WAITING
    assert say(listener, 'where is it?', 104 * S) == QUESTION


def test_what_was_said_before_the_answer_is_no_follow_up_question():
    listener = attention()
    listener.answer(100 * S)
    assert say(listener, 'where is it?', 99 * S).verdict is UtteranceKind.OTHER


def test_only_the_next_question_needs_no_wake_phrase():
    listener = attention()
    listener.answer(0)
    assert say(listener, 'where is it?', 1 * S) == QUESTION
    assert say(listener, 'where is it?', 4 * S).verdict is UtteranceKind.OTHER
    listener.answer(6 * S)
    assert say(listener, 'where is it?', 7 * S) == QUESTION


def test_what_is_not_understood_does_not_end_the_window():
    listener = attention(min_confidence=0.3)
    listener.answer(0)
    assert say(listener, 'mumble', 1 * S, 0.1).verdict is UtteranceKind.UNSURE
    assert say(listener, '', 3 * S).verdict is UtteranceKind.NOTHING
    assert say(listener, 'where is it?', 5 * S) == QUESTION


def test_in_the_window_a_wake_phrase_is_removed_all_the_same():
    listener = attention()
    listener.answer(0)
    assert say(listener, 'Robot, where is it?', S) == QUESTION


def test_without_a_follow_up_time_there_is_no_window():
    listener = attention(follow_up_ns=0)
    listener.answer(0)
    assert listener.state(0) is Hearing.WAITING
    assert say(listener, 'where is it?', 0).verdict is UtteranceKind.OTHER


def test_the_wake_phrase_alone_opens_the_window():
    listener = attention()
    assert say(listener, 'Hey robot.', 10 * S) == Heard(UtteranceKind.CALL)
    assert listener.state(19 * S) is Hearing.FOLLOW_UP
    assert say(listener, 'where is it?', 19 * S) == QUESTION


def test_an_answer_that_is_spoken_can_be_followed_up_after_its_end():
    listener = attention()
    listener.answer(0)
    listener.speak(True, 1 * S)
    assert listener.state(20 * S) is Hearing.SPEAKING
    listener.speak(False, 30 * S)
    assert listener.state(30 * S) is Hearing.SPEAKING
    assert listener.state(31 * S) is Hearing.FOLLOW_UP
    assert say(listener, 'where is it?', 38 * S) == QUESTION


def test_speech_that_answers_nothing_opens_no_window():
    listener = attention()
    listener.answer(0)
    listener.speak(True, 20 * S)
    listener.speak(False, 25 * S)
    assert listener.state(26 * S) is Hearing.WAITING


# Echo


def test_it_is_deaf_while_the_robot_speaks_and_a_little_longer():
    listener = attention()
    heard = []
    for now, speaking in ((0, None), (1, True), (5, None), (10, False)):
        if speaking is not None:
            listener.speak(speaking, now * S)
        heard.append(listener.deaf(now * S))
    assert heard == [False, True, True, True]
    assert listener.deaf(10 * S + S // 2 - 1)
    assert not listener.deaf(10 * S + S // 2)


def test_a_speaker_that_died_does_not_leave_it_deaf():
    listener = attention()
    listener.speak(True, 0)
    assert listener.deaf(60 * S)
    assert not listener.deaf(61 * S)
    listener.speak(False, 100 * S)
    assert not listener.deaf(100 * S), 'that end is long known'


def test_a_speaker_that_says_so_again_is_believed():
    listener = attention()
    for now in range(0, 300, 50):
        listener.speak(True, now * S)
    assert listener.deaf(309 * S)
    assert not listener.deaf(311 * S)


def test_an_end_without_a_beginning_changes_nothing():
    listener = attention()
    listener.speak(False, 0)
    assert not listener.deaf(0)


# Mute


def test_muted_it_hears_nothing_until_told_otherwise():
    listener = attention()
    listener.answer(0)
    listener.mute(True)
    assert listener.deaf(0)
    assert listener.state(0) is Hearing.MUTED
    assert say(listener, 'Robot, where is it?') == Heard(UtteranceKind.MUTED)
    listener.answer(S)
    listener.mute(False)
    assert listener.state(S) is Hearing.WAITING
    assert say(listener, 'Robot, where is it?', 2 * S) == QUESTION


def test_whether_a_long_utterance_is_meant_for_it_is_told_without_ending_the_window():
    listener = attention()
    listener.answer(0)
    assert listener.addressed(Transcript('so I went', 'en'), S)
    assert not listener.addressed(Transcript('so I went', 'en'), 20 * S)
    assert listener.addressed(Transcript('Robot, I went', 'en'), 20 * S)
    assert say(listener, 'so I went there', S).verdict is UtteranceKind.QUESTION


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(['speak', 'silent', 'answer', 'mute', 'unmute', 'say', 'call']), st.integers(0, 30)
    ),
    max_size=30,
)


@given(EVENTS)
def test_whatever_happens_it_hears_again_and_only_questions_pass(events):
    listener, now, muted = attention(), 0, False
    for what, seconds in events:
        now += seconds * S
        if what in ('speak', 'silent'):
            listener.speak(what == 'speak', now)
        elif what == 'answer':
            listener.answer(now)
        elif what in ('mute', 'unmute'):
            muted = what == 'mute'
            listener.mute(muted)
        else:
            window = listener.state(now)
            judged = say(listener, 'where is it?' if what == 'say' else 'Robot, where is it?', now)
            if muted:
                assert judged.verdict is UtteranceKind.MUTED
            elif what == 'call':
                assert judged == QUESTION
            elif window is Hearing.FOLLOW_UP:
                assert judged == QUESTION
                assert listener.state(now) is Hearing.WAITING
            elif window is Hearing.WAITING:
                assert judged.verdict is UtteranceKind.OTHER
        assert (listener.state(now) is Hearing.MUTED) == muted
        assert muted <= listener.deaf(now)
    listener.mute(False)
    assert not listener.deaf(now + 61 * S)
    assert listener.state(now + 80 * S) is Hearing.WAITING
