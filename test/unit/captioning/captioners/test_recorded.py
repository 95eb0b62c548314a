import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.captioning.captioners.by_name import NoCaptioner
from remembr_ros.captioning.captioners.captioner import Caption, Clip, caption_clip
from remembr_ros.captioning.captioners.recorded import RecordedCaptioner
from remembr_ros.errors import CaptionerFailed, InvalidRequest
from remembr_ros.timestamps import NS

DATA = Path(__file__).resolve().parents[4] / '../shared/data'
START_S = 1_700_000_000
IMAGES = [np.zeros((4, 4, 3), np.uint8)]
SPANS = [(0.0, 3.0), (3.0, 6.0), (6.5, 9.5), (20.0, 23.0)]
"""Start and end of the records, after START_S [s]."""


@pytest.fixture(scope='module')
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp('captions') / 'captions.json'
    path.write_text(
        json.dumps(
            [
                {
                    'id': str(i),
                    'position': [0.0, 0.0, 0.0],
                    'time': START_S + (start + end) / 2,
                    'start_time': START_S + start,
                    'end_time': START_S + end,
                    'caption': f'Record {i}.',
                }
                for i, (start, end) in enumerate(SPANS)
            ]
        )
    )
    return path


@pytest.fixture(scope='module')
def captioner(file: Path) -> RecordedCaptioner:
    return RecordedCaptioner(str(file))


def ns(seconds: float) -> int:
    return START_S * NS + round(seconds * NS)


@pytest.mark.parametrize(
    ('start', 'end', 'record'),
    [
        *((0.0, 3.0, 0), (1.0, 4.5, 0), (2.0, 5.0, 1), (5.9, 7.0, 2), (7.0, 7.0, 2)),
        *((-9.0, 0.0, 0), (0.0, 100.0, 0), (9.0, 20.1, 2), (3.1, 3.2, 1)),
    ],
)
def test_a_segment_has_the_caption_of_the_record_that_overlaps_it_most(
    captioner: RecordedCaptioner, start: float, end: float, record: int
) -> None:
    assert caption_clip(captioner, Clip(IMAGES, (ns(start), ns(end)))) == Caption(f'Record {record}.')


@given(st.floats(-5.0, 30.0), st.floats(0.0, 10.0))
def test_no_other_record_overlaps_a_segment_more(file: Path, start: float, length: float) -> None:
    start_ns, end_ns = ns(start), ns(start + length)
    overlaps = [min(end_ns, ns(b)) - max(start_ns, ns(a)) for a, b in SPANS]
    captioner = RecordedCaptioner(str(file))
    if max(overlaps) < 0:
        with pytest.raises(CaptionerFailed, match='has no caption between'):
            caption_clip(captioner, Clip(IMAGES, (start_ns, end_ns)))
    else:
        said = caption_clip(captioner, Clip(IMAGES, (start_ns, end_ns))).text
        assert overlaps[int(said.removeprefix('Record ').removesuffix('.'))] == max(overlaps)


def test_a_time_without_a_record_is_a_failure_that_tells_what_there_is(captioner: RecordedCaptioner) -> None:
    with pytest.raises(CaptionerFailed, match=r'2023-11-14T22:13:32.*reaches from 2023-11-14T22:13:20'):
        caption_clip(captioner, Clip(IMAGES, (ns(12.0), ns(15.0))))


def test_images_without_a_time_have_no_caption(captioner: RecordedCaptioner) -> None:
    assert caption_clip(captioner, Clip([])) == Caption('')
    with pytest.raises(CaptionerFailed, match='by their time'):
        caption_clip(captioner, Clip(IMAGES))


def test_who_needs_no_time_is_asked_with_it_alike(captioner: RecordedCaptioner) -> None:
    assert caption_clip(captioner, Clip(IMAGES, (ns(3.5), ns(5.0)))) == Caption('Record 1.')
    timed, untimed = NoCaptioner().caption([Clip(IMAGES, (ns(3.5), ns(5.0))), Clip(IMAGES)])
    assert timed == untimed


@pytest.mark.parametrize(
    ('content', 'says'),
    [(None, 'there is no file'), ('{', 'as JSON'), ('[{}]', 'format'), ('[]', 'no captions')],
)
def test_a_file_of_no_use_is_refused(tmp_path: Path, content: str | None, says: str) -> None:
    path = tmp_path / 'captions.json'
    if content is not None:
        path.write_text(content)
    with pytest.raises(CaptionerFailed, match=says):
        RecordedCaptioner(str(path))


def test_no_file_is_wrong_usage() -> None:
    with pytest.raises(InvalidRequest, match='--captions'):
        RecordedCaptioner('')


@pytest.mark.skipif(not (DATA / 'navqa').exists(), reason='the captions of NaVQA are not there')
def test_a_real_file_gives_each_record_its_own_caption() -> None:
    path = DATA / 'navqa/0/captions_haystack_3_secs.json'
    captioner = RecordedCaptioner(str(path))
    for entry in json.loads(path.read_text())[:50]:
        start_ns, end_ns = round(entry['start_time'] * NS), round(entry['end_time'] * NS)
        assert caption_clip(captioner, Clip(IMAGES, (start_ns, end_ns))).text == entry['caption'].strip()
