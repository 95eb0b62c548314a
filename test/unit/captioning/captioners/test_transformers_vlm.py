"""The real code of transformers on tiny models with random weights that are made here, without a network."""

import gc
import importlib.util
import json
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.captioning.captioners import vlm_model
from remembr_ros.captioning.captioners.by_name import VILA, get_captioner
from remembr_ros.captioning.captioners.captioner import Caption, Clip, caption_clip
from remembr_ros.captioning.captioners.transformers_vlm import TransformersCaptioner
from remembr_ros.captioning.captioners.vlm_model import OutOfMemory, VlmModel, Written
from remembr_ros.captioning.captioners.vlm_options import VlmOptions
from remembr_ros.errors import CaptionerFailed, InvalidRequest
from remembr_ros.images import Bgr

pytest.importorskip('transformers', reason='needs the extra vlm: make setup')

from test.patience import patiently
from test.unit.captioning.captioners.tiny_vlm import FAMILIES, WORDS

TOKENS = 24


@pytest.fixture(scope='module', autouse=True)
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('HF_HUB_OFFLINE', '1')
        # Where the code that comes with a model is copied to.
        modules = str(tmp_path_factory.mktemp('modules'))
        patch.setattr('transformers.dynamic_module_utils.HF_MODULES_CACHE', modules)
        patch.syspath_prepend(modules)
        yield


@pytest.fixture(scope='module')
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the folder of a family's model, which is made when it is first asked for."""
    made: dict[str, Path] = {}

    def get(family: str) -> Path:
        if family == 'smolvlm2':
            pytest.importorskip('num2words', reason='the processor of SmolVLM2 needs it: make setup')
        if family not in made:
            made[family] = FAMILIES[family](tmp_path_factory.mktemp(family))
        return made[family]

    return get


@pytest.fixture(scope='module', params=sorted(FAMILIES))
def captioner(
    request: pytest.FixtureRequest, folder_of: Callable[[str], Path]
) -> Iterator[TransformersCaptioner]:
    options = VlmOptions(max_tokens=TOKENS, trust_remote_code=request.param == 'nvila')
    if request.param == 'nvila':
        made = get_captioner('vila', model=str(folder_of('nvila')), options=options)
    else:
        made = TransformersCaptioner(str(folder_of(request.param)), options)
    yield made
    made.close()


@pytest.fixture(scope='module')
def llava(folder_of: Callable[[str], Path]) -> str:
    return str(folder_of('llava'))


def frames(count: int, height: int = 48, width: int = 64, seed: int = 0) -> list[Bgr]:
    """Patches of bright colours: what random weights tell apart."""
    random = np.random.default_rng(seed)
    patches = random.choice(np.array([0, 255], np.uint8), (count, 2, 2, 3))
    return [np.kron(patch, np.ones((height // 2, width // 2, 1), np.uint8)) for patch in patches]


SEGMENTS = [
    frames(6),
    frames(1, 120, 160, 1),
    [],
    frames(3, 30, 100, 2),
    frames(2, 96, 72, 3),
    frames(9, seed=4),
]


def said(outcomes: list[Any]) -> list[str]:
    """Return captions and failures as text."""
    return [repr(outcome) for outcome in outcomes]


def test_a_segment_of_six_frames_gets_a_caption_in_words(captioner: TransformersCaptioner) -> None:
    caption = caption_clip(captioner, Clip(frames(6)))
    words = caption.text.split()
    assert 3 <= len(words) <= TOKENS
    assert set(words) <= set(WORDS), 'nothing of the prompt and no special tokens'
    assert caption_clip(captioner, Clip(frames(6))) == caption, 'it does not sample'


def test_a_batch_gives_what_one_by_one_gives(captioner: TransformersCaptioner) -> None:
    together = list(captioner.caption([Clip(images) for images in SEGMENTS]))
    alone = [outcome for images in SEGMENTS for outcome in captioner.caption([Clip(images)])]
    assert said(together) == said(alone)
    assert together[2] == Caption('')
    captions = {outcome.text for outcome in together if isinstance(outcome, Caption) and outcome.text}
    assert len(captions) >= 4, 'the captions depend on what is seen'


def test_every_frame_counts(captioner: TransformersCaptioner) -> None:
    first, *rest = frames(6)
    assert caption_clip(captioner, Clip([first, *rest])) != caption_clip(captioner, Clip([first] * 6))


def test_more_frames_than_wanted_are_spread_evenly(llava: str) -> None:
    images = frames(9)
    two = TransformersCaptioner(llava, VlmOptions(max_images=2, max_tokens=TOKENS))
    assert caption_clip(two, Clip(images)) == caption_clip(two, Clip([images[0], images[-1]]))
    # By chance random weights may say the same of some others.
    others = (list(images[i : i + 2]) for i in range(7))
    assert any(caption_clip(two, Clip(images)) != caption_clip(two, Clip(pair)) for pair in others)
    two.close()


def test_the_prompt_counts(llava: str, tmp_path: Path) -> None:
    prompt = tmp_path / 'prompt.md'
    prompt.write_text('door lift table')
    mine = TransformersCaptioner(llava, VlmOptions(prompt=str(prompt), max_tokens=TOKENS))
    own = TransformersCaptioner(llava, VlmOptions(max_tokens=TOKENS))
    assert caption_clip(mine, Clip(frames(1))) != caption_clip(own, Clip(frames(1)))
    with pytest.raises(InvalidRequest, match='cannot be read'):
        TransformersCaptioner(llava, VlmOptions(prompt=str(tmp_path / 'none.md')))


def test_the_longest_caption_is_cut(llava: str) -> None:
    short = TransformersCaptioner(llava, VlmOptions(max_tokens=7))
    assert 1 <= len(caption_clip(short, Clip(frames(1))).text.split()) <= 7


@pytest.mark.parametrize('dtype', ['float32', 'bfloat16'])
def test_the_numbers_can_be_chosen(llava: str, dtype: str) -> None:
    model = VlmModel(llava, VlmOptions(dtype=dtype, max_tokens=TOKENS))
    assert str(model._model.dtype) == f'torch.{dtype}'
    assert str(model._model.device) == 'cpu'
    assert model.write([frames(2)], 'door', 20.0)[0].text


def test_it_is_loaded_once_and_only_when_it_is_needed(llava: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    def load(name: str, options: VlmOptions) -> VlmModel:
        loaded.append(name)
        return VlmModel(name, options)

    monkeypatch.setattr('remembr_ros.captioning.captioners.transformers_vlm.VlmModel', load)
    captioner = TransformersCaptioner(llava, VlmOptions(max_tokens=TOKENS))
    assert caption_clip(captioner, Clip([])) == Caption('')
    assert not loaded
    captions: list[Caption] = []
    threads = [
        threading.Thread(target=lambda: captions.append(caption_clip(captioner, Clip(frames(2)))))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert len(loaded) == 1
    assert len(captions) == 3
    assert len(set(captions)) == 1


def test_closing_frees_the_model_and_the_next_caption_loads_it_again(llava: str) -> None:
    captioner = TransformersCaptioner(llava, VlmOptions(max_tokens=TOKENS))
    before = caption_clip(captioner, Clip(frames(2)))
    assert captioner._model is not None
    weights = weakref.ref(captioner._model._model)
    captioner.close()
    captioner.close()
    gc.collect()
    assert weights() is None
    assert caption_clip(captioner, Clip(frames(2))) == before
    captioner.close()


def test_a_model_that_is_too_slow_ends_in_time(llava: str) -> None:
    captioner = TransformersCaptioner(llava, VlmOptions(max_tokens=2000, timeout_s=0.3))
    list(captioner.caption([Clip(frames(1))]))  # loaded, and warm
    assert captioner._model is not None
    captioner._model._model.generation_config.min_new_tokens = 1000
    captioner._model._model.generation_config.no_repeat_ngram_size = 0
    began = time.monotonic()
    with pytest.raises(CaptionerFailed, match=r'did not caption within 0.3 s.*longer timeout'):
        caption_clip(captioner, Clip(frames(1)))
    assert time.monotonic() - began < patiently(5.0)
    captioner.close()


class ScriptedModel:
    """Stands in for a model; keeps what it was asked.

    :param script: returns what is written of a batch, or raises
    """

    def __init__(self, script: Callable[[int, bool], list[Written]]) -> None:
        self.script = script
        self.asked: list[tuple[int, bool]] = []

    def write(self, segments: Any, prompt: str, timeout_s: float, *, again: bool = False) -> list[Written]:
        self.asked.append((len(segments), again))
        return self.script(len(segments), again)

    def close(self) -> None:
        pass


def scripted(script: Callable[[int, bool], list[Written]], **options: Any) -> tuple[Any, ScriptedModel]:
    captioner: Any = TransformersCaptioner('a-model', VlmOptions(**options))
    model = ScriptedModel(script)
    captioner._model = model
    return captioner, model


def test_what_was_said_when_the_time_was_over_is_kept_by_the_sentence() -> None:
    captioner, _ = scripted(lambda n, _: [Written('A red door. A lift beside the st', False)] * n)
    assert caption_clip(captioner, Clip(frames(1))).text == 'A red door.'


def test_a_batch_that_does_not_fit_is_halved_once_and_stays_so(caplog: pytest.LogCaptureFixture) -> None:
    def script(count: int, again: bool) -> list[Written]:
        if count > 2:
            raise OutOfMemory('too large; take a smaller model')
        return [Written(f'A caption made with {count} at once.', True)] * count

    captioner, model = scripted(script, batch_size=4)
    outcomes = list(captioner.caption([Clip(frames(1))] * 6))
    assert [count for count, _ in model.asked] == [4, 2, 2, 2]
    assert all(isinstance(outcome, Caption) for outcome in outcomes)
    assert 'do not fit into memory; from now on 2' in caplog.text


def test_what_does_not_fit_in_halves_either_fails_with_the_remedy() -> None:
    def script(count: int, again: bool) -> list[Written]:
        raise OutOfMemory('a-model does not fit into memory; give it fewer frames')

    captioner, model = scripted(script, batch_size=4)
    outcomes = list(captioner.caption([Clip(frames(1))] * 4))
    assert [count for count, _ in model.asked] == [4, 2, 2]
    assert all(isinstance(outcome, CaptionerFailed) for outcome in outcomes)
    assert len({id(outcome) for outcome in outcomes}) == 4, 'each may carry a text of its own'
    with pytest.raises(CaptionerFailed, match='fewer frames'):
        caption_clip(captioner, Clip(frames(1)))


@pytest.mark.parametrize('kind', ['gpu', 'cpu', 'python'])
def test_memory_that_is_out_is_told_from_other_failures(
    llava: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    error = {
        'gpu': torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 20.00 GiB'),
        'cpu': RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
        'python': MemoryError(),
    }[kind]
    model = VlmModel(llava, VlmOptions())

    def generate(**_: Any) -> None:
        raise error

    monkeypatch.setattr(model._model, 'generate', generate)
    with pytest.raises(OutOfMemory, match='smaller frames, 4bit quantization'):
        model.write([frames(1)], 'door', 5.0)
    error = RuntimeError('mat1 and mat2 shapes cannot be multiplied')
    with pytest.raises(CaptionerFailed, match='shapes') as caught:
        model.write([frames(1)], 'door', 5.0)
    assert not isinstance(caught.value, OutOfMemory)


def test_memory_that_is_out_while_loading_says_so(llava: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from transformers import AutoModelForImageTextToText

    def too_large(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError('CUDA out of memory')

    monkeypatch.setattr(AutoModelForImageTextToText, 'from_pretrained', too_large)
    with pytest.raises(OutOfMemory, match='smaller model'):
        caption_clip(TransformersCaptioner(llava), Clip(frames(1)))


def test_one_segment_that_fails_costs_the_others_nothing() -> None:
    bad = np.zeros((5, 5, 3), np.uint8)

    class Picky(ScriptedModel):
        def write(
            self, segments: Any, prompt: str, timeout_s: float, *, again: bool = False
        ) -> list[Written]:
            if any(images[0].shape == bad.shape for images in segments):
                raise CaptionerFailed('too small a frame')
            return super().write(segments, prompt, timeout_s, again=again)

    captioner, _ = scripted(lambda n, _: [])
    captioner._model = Picky(lambda n, _: [Written('A long corridor with doors.', True)] * n)
    first, second, third = captioner.caption([Clip(frames(1)), Clip([bad]), Clip(frames(2))])
    assert first == third == Caption('A long corridor with doors.')
    assert isinstance(second, CaptionerFailed)


def test_a_caption_of_no_use_is_asked_for_again_in_another_way(caplog: pytest.LogCaptureFixture) -> None:
    loop = 'A red door. ' + 'It is red. ' * 9

    def script(count: int, again: bool) -> list[Written]:
        if again:
            return [Written('A door that is red.', True)] * count
        return [Written(text, True) for text in ('A lift.', loop, '')[:count]]

    captioner, model = scripted(script)
    outcomes = list(captioner.caption([Clip(frames(1))] * 3))
    assert [outcome.text for outcome in outcomes] == ['A lift.', 'A door that is red.', 'A door that is red.']
    assert model.asked == [(3, False), (2, True)]


def test_a_loop_that_stays_is_cut_and_nothing_at_all_is_a_failure() -> None:
    loop = 'A red door stands open. ' + 'It is red. ' * 9
    captioner, model = scripted(lambda n, again: [Written(loop, True)] * n)
    assert caption_clip(captioner, Clip(frames(1))).text == 'A red door stands open. It is red.'
    assert len(model.asked) == 2
    captioner, _ = scripted(lambda n, again: [Written(' \n', True)] * n)
    with pytest.raises(CaptionerFailed, match='empty, twice'):
        caption_clip(captioner, Clip(frames(1)))


@pytest.mark.parametrize(
    ('name', 'says'),
    [
        ('no/such-model', 'cannot be loaded.*downloaded'),
        ('/no/such/folder', 'cannot be loaded'),
        ('../up', 'cannot be loaded'),
    ],
)
def test_a_model_that_is_not_there_is_a_failure_with_a_remedy(name: str, says: str) -> None:
    with pytest.raises(CaptionerFailed, match=says):
        caption_clip(TransformersCaptioner(name), Clip(frames(1)))


def test_no_model_is_wrong_usage() -> None:
    with pytest.raises(InvalidRequest, match='--vlm'):
        TransformersCaptioner('')


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    from transformers import BertConfig, BertModel

    BertModel(
        BertConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=1)
    ).save_pretrained(tmp_path)
    with pytest.raises(CaptionerFailed, match=r'bert|cannot be loaded|captions images'):
        caption_clip(TransformersCaptioner(str(tmp_path)), Clip(frames(1)))


def test_a_model_without_a_chat_template_is_refused(llava: str, tmp_path: Path) -> None:
    for file in Path(llava).iterdir():
        if file.name != 'chat_template.jinja':
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(CaptionerFailed, match='instruct model'):
        caption_clip(TransformersCaptioner(str(tmp_path)), Clip(frames(1)))


def test_a_damaged_model_is_refused(llava: str, tmp_path: Path) -> None:
    for file in Path(llava).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / 'model.safetensors').write_bytes(b'\x00' * 100)
    with pytest.raises(CaptionerFailed, match='cannot be loaded'):
        caption_clip(TransformersCaptioner(str(tmp_path)), Clip(frames(1)))


@pytest.fixture
def with_code(llava: str, tmp_path: Path) -> Path:
    """A model that brings its class along, as VILA does, and tells when its code ran."""
    folder = tmp_path / 'with_code'
    folder.mkdir()
    for file in Path(llava).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    config = json.loads((folder / 'config.json').read_text())
    config['model_type'] = 'llava_of_my_own'
    config['auto_map'] = {
        'AutoConfig': 'mine.MyConfig',
        'AutoModelForCausalLM': 'mine.MyModel',
    }
    (folder / 'config.json').write_text(json.dumps(config))
    (folder / 'mine.py').write_text(
        'from pathlib import Path\n'
        'from transformers import LlavaConfig, LlavaForConditionalGeneration\n\n\n'
        'class MyConfig(LlavaConfig):\n'
        "    model_type = 'llava_of_my_own'\n\n\n"
        'class MyModel(LlavaForConditionalGeneration):\n'
        '    config_class = MyConfig\n\n\n'
        f"Path({str(folder / 'it_ran')!r}).write_text('yes')\n"
    )
    return folder


def test_code_of_a_model_runs_only_where_it_is_allowed(with_code: Path) -> None:
    with pytest.raises(CaptionerFailed, match=r'code of its own.*--trust-remote-code'):
        caption_clip(TransformersCaptioner(str(with_code)), Clip(frames(1)))
    assert not (with_code / 'it_ran').exists()
    options = VlmOptions(trust_remote_code=True, max_tokens=TOKENS)
    trusted = TransformersCaptioner(str(with_code), options)
    assert set(caption_clip(trusted, Clip(frames(1))).text.split()) <= set(WORDS)
    assert type(trusted._model._model).__name__ == 'MyModel'  # type: ignore[union-attr]
    assert (with_code / 'it_ran').exists()


def test_vila_is_of_the_classes_that_its_files_name_once_that_is_allowed(
    folder_of: Callable[[str], Path],
) -> None:
    folder = str(folder_of('nvila'))
    with pytest.raises(CaptionerFailed, match=r'code of its own.*--trust-remote-code'):
        caption_clip(get_captioner('vila', model=folder), Clip(frames(1)))
    trusted: Any = get_captioner('vila', model=folder, options=VlmOptions(trust_remote_code=True))
    caption_clip(trusted, Clip(frames(1)))
    parts = (trusted._model._model, trusted._model._processor, trusted._model._model.config)
    assert [(type(part).__name__, type(part).__module__.partition('.')[0]) for part in parts] == [
        ('NVILALiteForConditionalGeneration', 'transformers_modules'),
        ('NVILALiteProcessor', 'transformers_modules'),
        ('NVILALiteConfig', 'transformers_modules'),
    ]
    assert trusted.name == 'vila'


def test_vila_without_a_name_is_the_smallest_of_its_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('remembr_ros.captioning.captioners.vlm_loading.is_cached', lambda name: True)
    with pytest.raises(CaptionerFailed, match=f'{VILA} cannot be loaded'):
        caption_clip(get_captioner('vila'), Clip(frames(1)))


@pytest.mark.parametrize('quantization', ['8bit', '4bit'])
def test_quantization_without_its_package_says_what_to_install(
    llava: str, quantization: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        'find_spec',
        lambda name, *rest: None if name == 'bitsandbytes' else find_spec(name, *rest),
    )
    with pytest.raises(CaptionerFailed, match='pip install bitsandbytes'):
        caption_clip(TransformersCaptioner(llava, VlmOptions(quantization=quantization)), Clip(frames(1)))


def test_missing_packages_name_the_extra(llava: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, 'find_spec', lambda name, *rest: None if name == 'PIL' else find_spec(name, *rest)
    )
    with pytest.raises(CaptionerFailed, match=r'needs PIL.*\[vlm\]'):
        caption_clip(TransformersCaptioner(llava), Clip(frames(1)))


@pytest.mark.parametrize(
    ('option', 'value'),
    [
        *(('max_images', 0), ('max_side', 0), ('max_tokens', 0), ('timeout_s', 0.0), ('batch_size', 0)),
        *(('timeout_s', float('nan')), ('max_retries', -1), ('max_image_bytes', 100)),
        *(('dtype', 'float12'), ('quantization', '3bit')),
    ],
)
def test_options_without_sense_are_refused(option: str, value: Any) -> None:
    with pytest.raises(InvalidRequest, match=option):
        VlmOptions(**{option: value})


def test_without_a_gpu_no_memory_of_one_is_told() -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip('there is a GPU')
    assert vlm_model.gpu_peak_bytes() is None


def test_the_libraries_say_nothing_of_their_own(llava: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        caption_clip(TransformersCaptioner(llava, VlmOptions(max_tokens=TOKENS)), Clip(frames(1)))
    assert caplog.records == []
