"""The captioners by name."""

from collections.abc import Sequence

from remembr_ros.captioning.captioner import Caption, Captioner
from remembr_ros.errors import InvalidRequest
from remembr_ros.images import Bgr

CAPTIONERS = ('scene_text', 'openai', 'none')


class NoCaptioner:
    """Looks at nothing: place, time and keyframes are remembered without a model's cost."""

    name = 'none'

    def caption(self, images: Sequence[Bgr]) -> Caption:
        return Caption('Nothing was described.')


def get_captioner(
    name: str = 'scene_text',
    *,
    model: str | None = None,
    base_url: str | None = None,
    timeout_s: float = 60.0,
    threads: int = 2,
) -> Captioner:
    """Return a captioner; its models are loaded when it is first used.

    :param name: one of CAPTIONERS
    :param model: of openai: the model's name; None: the server's first
    :param base_url: of openai: the server, such as http://localhost:8000/v1
    :param timeout_s: of openai: longest wait for one caption [s]
    :param threads: of scene_text: CPU threads
    :raises InvalidRequest: there is no such captioner
    :raises CaptionerFailed: what it needs is not installed or not configured
    """
    if name == 'scene_text':
        from remembr_ros.captioning.scene_text import SceneTextCaptioner

        return SceneTextCaptioner(threads=threads)
    if name == 'openai':
        from remembr_ros.captioning.openai_vision import OpenAIVisionCaptioner

        return OpenAIVisionCaptioner(model, base_url, timeout_s=timeout_s)
    if name == 'none':
        return NoCaptioner()
    raise InvalidRequest(f'there is no captioner {name!r}; choose one of {", ".join(CAPTIONERS)}')
