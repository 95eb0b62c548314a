"""Makes a captioner by its name; joins a model's captions with the text that OCR reads."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

from remembr_ros.captioning.captioners.captioner import Caption, Captioner, Clip
from remembr_ros.captioning.captioners.vlm_options import VlmOptions
from remembr_ros.errors import CaptionerFailed, InvalidRequest
from remembr_ros.extensions import load_extension

CAPTIONERS = ('scene_text', 'openai', 'vila', 'transformers', 'recorded', 'fused', 'none')
DESCRIBERS = ('openai', 'vila', 'transformers', 'recorded')  # what fused can join with the text that is read
VLMS = ('openai', 'vila', 'transformers', 'fused')  # those whose captions depend on a model and a prompt
VILA = 'Efficient-Large-Model/NVILA-Lite-2B-hf'  # the smallest of its family that transformers loads


class NoCaptioner:
    """Looks at nothing: place, time and keyframes are remembered without a model's cost."""

    name = 'none'

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption]:
        return (Caption('Nothing was described.') for _ in clips)

    def close(self) -> None:
        """Nothing is held."""


def get_captioner(
    name: str = 'scene_text',
    *,
    model: str | None = None,
    base_url: str | None = None,
    captions: str = '',
    describer: str = 'openai',
    options: VlmOptions | None = None,
) -> Captioner:
    """Return a captioner; its models are loaded when it is first used.

    :param name: one of CAPTIONERS, or one that another package adds
    :param model: of openai: the model's name; None: the server's first. Of transformers: a name on the
        Hugging Face hub or a folder. Of vila: one or the other; None: without a server, VILA
    :param base_url: of openai: the server, such as http://localhost:8000/v1. Of vila: the same; None: the
        model runs in this process, like that of transformers
    :param captions: of recorded: the file
    :param describer: of fused: one of DESCRIBERS, which the other parameters are for
    :param options: of openai, vila and transformers; None: the defaults
    :raises InvalidRequest: there is no such captioner, or a parameter makes no sense
    :raises CaptionerFailed: what it needs is not installed or not configured
    :raises ExtensionFailed: another package adds it, and it cannot be imported
    """
    options = options or VlmOptions()
    made: Captioner | None = None
    if name == 'scene_text':
        from remembr_ros.captioning.captioners.scene_text import SceneTextCaptioner

        made = SceneTextCaptioner()
    elif name == 'openai' or (name == 'vila' and base_url):
        from remembr_ros.captioning.captioners.openai_vision import OpenAIVisionCaptioner

        made = OpenAIVisionCaptioner(model, base_url, options, name=name)
    elif name in ('transformers', 'vila'):
        from remembr_ros.captioning.captioners.transformers_vlm import TransformersCaptioner

        if name == 'vila':
            # Its processor looks at a single frame in tiles, but not beside the frames of another segment.
            model, options = model or VILA, replace(options, batch_size=1)
        made = TransformersCaptioner(model or '', options, name=name)
    elif name == 'recorded':
        from remembr_ros.captioning.captioners.recorded import RecordedCaptioner

        made = RecordedCaptioner(captions)
    elif name == 'fused':
        if describer not in DESCRIBERS:
            raise InvalidRequest(
                f'the captioner fused cannot describe with {describer!r}; '
                f'choose one of {", ".join(DESCRIBERS)}'
            )
        seeing = get_captioner(describer, model=model, base_url=base_url, captions=captions, options=options)
        made = FusedCaptioner(seeing, get_captioner('scene_text'))
    elif name == 'none':
        made = NoCaptioner()
    elif make := load_extension('captioners', name):
        made = make(model, base_url)
    if made is None:
        raise InvalidRequest(f'there is no captioner {name!r}; choose one of {", ".join(CAPTIONERS)}')
    return made


_log = logging.getLogger(__name__)


class FusedCaptioner:
    """Has one captioner describe a segment and another one read its signs, which language models do badly.

    If the description fails, the failure carries what was read.

    :param describer: says what is seen
    :param reader: its scene text counts, not its caption
    """

    name = 'fused'

    def __init__(self, describer: Captioner, reader: Captioner) -> None:
        self._describer = describer
        self._reader = reader

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        for read, described in zip(self._reader.caption(clips), self._describer.caption(clips), strict=True):
            if isinstance(read, CaptionerFailed):
                _log.warning('no text is read in a segment: %s', read)
            texts = tuple(dict.fromkeys((*described.scene_text, *read.scene_text)))
            if isinstance(described, CaptionerFailed):
                yield CaptionerFailed(str(described), texts)
            else:
                yield Caption(described.text, texts)

    def close(self) -> None:
        self._describer.close()
        self._reader.close()
