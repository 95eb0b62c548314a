from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from test.scripted.server import ScriptedReply, ScriptedServer

Run = Callable[..., tuple[int, str, str]]
RunJson = Callable[..., dict[str, Any]]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer([ScriptedReply('A white sign on a grey wall.')]) as made:
        yield made


@pytest.fixture(scope='module')
def images(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp('images')
    paths = []
    for name, text in (('one.jpg', 'LIBRARY'), ('two.png', 'PRINTER')):
        image = np.full((240, 320, 3), 240, np.uint8)
        cv2.putText(image, text, (40, 120), cv2.FONT_HERSHEY_DUPLEX, 1.4, (10, 10, 10), 2, cv2.LINE_AA)
        paths.append(str(folder / name))
        cv2.imwrite(paths[-1], image)
    return paths


def test_each_image_is_a_segment(command_json: RunJson, server: ScriptedServer, images: list[str]) -> None:
    tested = command_json('captioner', 'test', *images, '--vlm-url', server.url)
    (one,) = tested['captioners']
    assert one['captioner'] == 'openai'
    assert [segment['images'] for segment in one['segments']] == [[path] for path in images]
    for segment in one['segments']:
        assert segment['caption'] == 'A white sign on a grey wall.'
        assert segment['error'] is None
        assert 0.0 < segment['seconds'] < 60.0
    assert 10.0 < one['rss_mb'] <= one['rss_peak_mb'] < 100_000.0
    assert 'gpu_peak_mb' in one
    assert len(server.requests) == 2


def test_together_they_are_one_segment(
    command_json: RunJson, server: ScriptedServer, images: list[str]
) -> None:
    tested = command_json('captioner', 'test', *images, '--together', '--vlm-url', server.url)
    (segment,) = tested['captioners'][0]['segments']
    assert segment['images'] == images
    (request,) = server.requests
    assert [part['type'] for part in request.body['messages'][0]['content']] == ['image_url'] * 2 + ['text']


def test_several_captioners_are_tested_one_after_the_other(
    command: Run, server: ScriptedServer, images: list[str]
) -> None:
    pytest.importorskip('rapidocr', reason='RapidOCR is not installed (extra scene-text)')
    names = [argument for name in ('none', 'scene_text', 'fused') for argument in ('--captioner', name)]
    code, out, err = command('captioner', 'test', *images, *names, '--vlm-url', server.url)
    assert code == 0, err
    none, scene_text, fused = out.split('\n\n')
    assert none.startswith('none: ')
    assert 'Nothing was described.' in none
    assert '"LIBRARY"' in scene_text
    assert '"PRINTER"' in scene_text
    assert 'A white sign on a grey wall.' in fused
    assert '"PRINTER"' in fused
    assert 'MB of memory' in fused
    assert ' s, with loading' in fused


def test_a_captioner_that_fails_is_told_with_what_was_read(
    command: Run, server: ScriptedServer, images: list[str]
) -> None:
    pytest.importorskip('rapidocr', reason='RapidOCR is not installed (extra scene-text)')
    server.reply = [ScriptedReply('no such model', status=404)]
    arguments = ['captioner', 'test', images[0], '--captioner', 'fused', '--vlm-url', server.url]
    code, out, _ = command(*arguments)
    assert code == 1
    assert '! ' in out
    assert 'no such model' in out
    assert '"LIBRARY"' in out


def test_what_a_model_says_cannot_command_the_terminal(
    command: Run, server: ScriptedServer, images: list[str]
) -> None:
    server.reply = [ScriptedReply('A door.\x1b]0;owned\x07 It is red.')]
    _, out, _ = command('captioner', 'test', images[0], '--vlm-url', server.url)
    assert 'A door.' in out
    assert '\x1b' not in out
    assert '\x07' not in out


def test_the_prompt_and_the_limits_reach_the_model(
    command: Run, server: ScriptedServer, images: list[str], tmp_path: Path
) -> None:
    prompt = tmp_path / 'prompt.md'
    prompt.write_text('Name the signs.')
    limits = ['--prompt', prompt, '--max-tokens', '40', '--vlm-frames', '1', '--vlm', 'mine']
    code, _, _ = command('captioner', 'test', *images, '--together', '--vlm-url', server.url, *limits)
    assert code == 0
    (request,) = server.requests
    assert request.body['model'] == 'mine'
    assert request.body['max_tokens'] == 40
    content = request.body['messages'][0]['content']
    assert [part['type'] for part in content] == ['image_url', 'text']
    assert content[-1]['text'] == 'Name the signs.'


@pytest.mark.parametrize(
    ('arguments', 'code', 'says'),
    [
        (['no.jpg'], 1, 'no.jpg cannot be read: No such file'),
        (['IMAGE', '--captioner', 'clip'], 2, 'choose one of scene_text'),
        (['IMAGE', '--captioner', 'transformers'], 2, 'needs a model'),
        (['IMAGE', '--captioner', 'recorded'], 2, 'needs a file of captions'),
        (['IMAGE', '--captioner', 'recorded', '--captions', '/none.json'], 1, 'no file of captions'),
        (['IMAGE', '--captioner', 'openai'], 1, 'OPENAI_API_KEY'),
        (['IMAGE', '--vlm-url', 'http://127.0.0.1:9/v1', '--prompt', '/none.md'], 2, 'cannot be read'),
        (['IMAGE', '--quantization', '3bit'], 2, 'invalid choice'),
        (['IMAGE', '--caption-timeout', '0'], 2, '0.1 to 3600 s'),
        ([], 2, 'IMAGE'),
    ],
    ids=lambda value: ' '.join(value) if isinstance(value, list) else None,
)
def test_wrong_usage_is_told(
    command: Run, images: list[str], *, arguments: list[str], code: int, says: str
) -> None:
    given = [images[0] if argument == 'IMAGE' else argument for argument in arguments]
    found, out, err = command('captioner', 'test', *given)
    assert (found, out) == (code, '')
    assert says in err


def test_a_file_that_is_no_image_is_told(command: Run, tmp_path: Path) -> None:
    path = tmp_path / 'notes.jpg'
    path.write_text('no image')
    code, out, err = command('captioner', 'test', path)
    assert (code, out) == (1, '')
    assert f'{path} is no image' in err


def test_a_recording_is_captioned_from_a_file_and_the_time_counts(
    command_json: RunJson, bag: Path, tmp_path: Path
) -> None:
    captions = tmp_path / 'captions.json'
    captions.write_text(
        '[{"id": "0", "position": [0, 0, 0], "time": 1700000100, "start_time": 1700000000, '
        '"end_time": 1700000200, "caption": "A long corridor."}]'
    )
    memory = tmp_path / 'memory.db'
    told = command_json('ingest', bag, '--captions', captions, '--memory', memory, '--embedder', 'hashing')
    assert told['captioner'] == 'recorded'
    found = command_json('recall', '--text', 'corridor', '--memory', memory)
    assert {memory['caption'] for memory in found['memories']} == {'A long corridor.'}
