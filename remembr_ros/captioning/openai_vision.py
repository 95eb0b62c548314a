"""The captioner that asks a vision language model behind any OpenAI-compatible server."""

import base64
import os
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

from remembr_ros.captioning.captioner import Caption
from remembr_ros.errors import CaptionerFailed, InvalidRequest
from remembr_ros.images import Bgr, encode_jpeg

if TYPE_CHECKING:
    from openai import OpenAI

_T = TypeVar('_T')

DEFAULT_MODEL = 'gpt-4o-mini'
"""When neither a model nor a server is named; a server of one's own is asked what it has."""

MAX_TOKENS = 500
"""Some 350 words; a longer caption is a model that runs on."""

JPEG_QUALITY = 85


class OpenAIVisionCaptioner:
    """Sends the frames of a segment to a model as JPEG. The key comes from OPENAI_API_KEY only.

    :param model: empty or None: DEFAULT_MODEL at OpenAI, elsewhere the first one that the server lists
    :param base_url: such as http://localhost:8000/v1; None: OPENAI_BASE_URL if set, else OpenAI
    :param max_images: frames per request, evenly spread over the segment
    :param max_side: larger frames are reduced to this on their longer side [px]
    :param timeout_s: of one request [s]
    :param max_retries: of a request that failed in a way that a retry can help (429, 5xx, no connection)
    :raises CaptionerFailed: there is neither a key nor a server of one's own
    :raises InvalidRequest: a number is out of range
    """

    name = 'openai'

    def __init__(
        self,
        model: str | None = None,
        base_url: str | None = None,
        *,
        max_images: int = 6,
        max_side: int = 768,
        timeout_s: float = 60.0,
        max_retries: int = 2,
    ) -> None:
        if max_images < 1 or max_side < 1 or not timeout_s > 0.0 or max_retries < 0:
            raise InvalidRequest(
                'max_images, max_side and timeout_s of the openai captioner must be positive, '
                'max_retries not negative'
            )
        self._base_url = base_url or os.environ.get('OPENAI_BASE_URL') or None
        if self._base_url is None and not os.environ.get('OPENAI_API_KEY'):
            raise CaptionerFailed(
                'the openai captioner needs a server: give its URL (--vlm-url http://host:8000/v1), '
                'or set OPENAI_API_KEY to use OpenAI'
            )
        self._model = model or ('' if self._base_url else DEFAULT_MODEL)
        self._max_images = max_images
        self._max_side = max_side
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._client: OpenAI | None = None
        self._prompt = ''

    def caption(self, images: Sequence[Bgr]) -> Caption:
        if not images:
            return Caption('')
        import openai

        where = self._base_url or 'the OpenAI API'
        content: list[dict[str, Any]] = [{'type': 'text', 'text': self._instruction()}]
        content += [
            {'type': 'image_url', 'image_url': {'url': self._data_url(image)}}
            for image in evenly(images, self._max_images)
        ]
        try:
            client = self._connected()
            if not self._model:
                self._model = next(iter(client.models.list())).id
            response: Any = client.chat.completions.create(
                model=self._model,
                messages=[{'role': 'user', 'content': content}],  # type: ignore[misc,list-item]
                temperature=0,
                max_tokens=MAX_TOKENS,
            )
        except StopIteration:
            raise CaptionerFailed(f'{where} offers no model; name one with --vlm') from None
        except openai.APITimeoutError as error:
            raise CaptionerFailed(
                f'{where} did not caption within {self._timeout_s:g} s; '
                'use a smaller model, fewer images or a longer timeout'
            ) from error
        except openai.APIConnectionError as error:
            raise CaptionerFailed(f'{where} cannot be reached: is the server running? ({error})') from error
        except openai.APIStatusError as error:
            raise CaptionerFailed(
                f'{where} refused to caption with model {self._model!r}: {error.status_code} '
                f'{str(error)[:300]}; check the model (can it see images?), the key and the quota'
            ) from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            # The package's own parsing of a body that is no chat reply fails in several ways.
            raise CaptionerFailed(
                f'{where} sent something that is no chat reply: {str(error)[:300]}; is the URL right?'
            ) from error
        return Caption(_text(response, where))

    def close(self) -> None:
        """Close the connections to the server; a later caption opens them again."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _connected(self) -> 'OpenAI':
        if self._client is None:
            import openai

            self._client = openai.OpenAI(
                # Local servers want no key, but the package does.
                api_key=os.environ.get('OPENAI_API_KEY') or 'none',
                base_url=self._base_url,
                timeout=self._timeout_s,
                max_retries=self._max_retries,
            )
        return self._client

    def _instruction(self) -> str:
        if not self._prompt:
            folder = resources.files('remembr_ros.captioning') / 'prompts'
            self._prompt = (folder / 'caption.md').read_text(encoding='utf-8').strip()
        return self._prompt

    def _data_url(self, image: Bgr) -> str:
        import cv2

        height, width = image.shape[:2]
        scale = self._max_side / max(height, width)
        if scale < 1.0:
            size = (max(1, round(width * scale)), max(1, round(height * scale)))
            image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
        encoded = base64.b64encode(encode_jpeg(image, JPEG_QUALITY)).decode('ascii')
        return f'data:image/jpeg;base64,{encoded}'


def evenly(images: Sequence[_T], n: int) -> list[_T]:
    """Return n of the images or all if there are fewer, evenly spread, first and last among them."""
    if len(images) <= n:
        return list(images)
    if n == 1:
        return [images[len(images) // 2]]
    return [images[round(i * (len(images) - 1) / (n - 1))] for i in range(n)]


def _text(response: Any, where: str) -> str:
    """Return the caption of a reply; servers leave out or mistype any part of one."""
    try:
        choice = response.choices[0]
        message = choice.message
        refusal, content = getattr(message, 'refusal', None), message.content
    except (AttributeError, IndexError, TypeError) as error:
        raise CaptionerFailed(f'{where} sent a reply without a message; is the URL right?') from error
    if refusal or getattr(choice, 'finish_reason', None) == 'content_filter':
        raise CaptionerFailed(
            f'{where} refused to describe the frames: {str(refusal or "content filter")[:300]}'
        )
    text = content.strip() if isinstance(content, str) else ''
    if not text:
        raise CaptionerFailed(f'{where} sent an empty caption; is it a model that sees images?')
    return text
