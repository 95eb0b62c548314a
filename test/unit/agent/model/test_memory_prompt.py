from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.model.memory_prompt import CUT, ago, excerpt
from remembr_ros.timestamps import NS

CAPTION = 'A hall. The floor is grey. A red bicycle leans there. A lamp hangs above. People talk.'


def test_a_short_caption_is_whole() -> None:
    assert excerpt(CAPTION, 'bicycle', len(CAPTION)) == CAPTION


def test_the_sentences_asked_for_come_first_and_stay_in_order() -> None:
    assert excerpt(CAPTION, 'a bicycle and a lamp', 60) == (
        f'A hall. {CUT} A red bicycle leans there. A lamp hangs above. {CUT}'
    )


def test_without_anything_in_common_the_beginning_is_shown() -> None:
    assert excerpt(CAPTION, 'unicorn', 40) == f'A hall. The floor is grey. {CUT}'


def test_a_sentence_without_an_end_is_cut() -> None:
    assert excerpt('x' * 500, 'y', 100) == 'x' * 99 + CUT


def test_what_a_recall_found_nearest_comes_before_words_in_common() -> None:
    nearest = ('People talk.', 'A lamp hangs above.')
    assert excerpt(CAPTION, 'a bicycle', 40, nearest) == f'{CUT} A lamp hangs above. People talk.'
    assert excerpt(CAPTION, 'a bicycle', 20, nearest) == f'{CUT} People talk.'
    marked = 'A hall. - **Traffic**: In the video, you see three trucks. A dog.'
    assert 'three trucks' in excerpt(marked, '', 60, ('Traffic: In the video, you see three trucks.',))


def test_headings_and_bullets_without_their_contents_are_not_shown() -> None:
    people, objects = '**People:**\n- Two men talk.', '**Objects:**\n1. A grey chair.\n2. A red lamp.'
    caption = f'# Scene\n{people}\n{objects}\n**Signs:**\n-\n'
    assert excerpt(caption, 'lamp', 24) == f'{CUT} A red lamp. {CUT}'
    assert excerpt(caption, 'chair and lamp', 60) == (
        f'{CUT} - Two men talk. {CUT} 1. A grey chair. {CUT} A red lamp. {CUT}'
    )
    whole = excerpt(caption, 'men', len(caption) - 1)
    assert whole.endswith(f'**Objects:** 1. A grey chair. 2. A red lamp. {CUT}')
    assert whole.startswith('# Scene **People:** - Two men talk.')
    assert excerpt(f'**Objects:**\n- {"x" * 90}', 'objects', 20) == f'- {"x" * 17}{CUT}'


def test_a_memory_of_now_is_of_now() -> None:
    for seconds, told in ((0, 'just now'), (1, 'just now'), (-3, '3 seconds ago'), (60, '1 minute from now')):
        assert ago((100 + seconds) * NS, 100 * NS) == told


@given(st.text(max_size=400), st.text(max_size=20), st.integers(10, 300))
def test_nothing_is_longer_than_allowed_but_for_the_marks(caption: str, about: str, limit: int) -> None:
    shown = excerpt(caption, about, limit)
    assert len(shown.replace(CUT, '').replace(' ', '')) <= limit
