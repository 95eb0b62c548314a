"""A captioner that asks a vision language model on an OpenAI-compatible server."""

import base64
import os
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from remembr_ros.bounded_request import Bounds, TimeOver
from remembr_ros.captioning.captioners.caption_check import checked, whole_sentences
from remembr_ros.captioning.captioners.captioner import Caption, Clip, one_by_one
from remembr_ros.captioning.captioners.vlm_options import VlmOptions, read_prompt
from remembr_ros.captioning.frame_choice import evenly, jpeg_within
from remembr_ros.chat_capabilities import Negotiation, as_taken
from remembr_ros.chat_endpoint import ChatEndpoint, Refused, Server
from remembr_ros.chat_reply import Said, plain, said_in
from remembr_ros.errors import CaptionerFailed, ChatUnavailable, ReplyInvalid
from remembr_ros.images import Bgr

DEFAULT_MODEL = 'gpt-4o-mini'  # with neither model nor server named; one's own server is asked what it has
ANOTHER_WAY: dict[str, Any] = {'temperature': 0.7, 'frequency_penalty': 0.5}  # after a useless one


class OpenAIVisionCaptioner:
    """Sends the frames of a segment to a model as JPEG. The key comes from OPENAI_API_KEY only.

    A caption ends in time, whatever the server does: see :mod:`remembr_ros.bounded_request`.

    :param model: empty or None: DEFAULT_MODEL at OpenAI, elsewhere the first one that the server lists
    :param base_url: such as http://localhost:8000/v1; None: OPENAI_BASE_URL if set, else OpenAI
    :param name: what memories keep as their captioner
    :raises CaptionerFailed: there is neither a key nor a server of one's own
    :raises InvalidRequest: the prompt cannot be read
    """

    def __init__(
        self,
        model: str | None = None,
        base_url: str | None = None,
        options: VlmOptions | None = None,
        *,
        name: str = 'openai',
    ) -> None:
        self.name = name
        self._options = options or VlmOptions()
        server = Server(base_url or os.environ.get('OPENAI_BASE_URL') or None, 'OPENAI_API_KEY')
        if server.base_url is None and not server.key:
            raise CaptionerFailed(
                'the openai captioner needs a server: give its URL (--vlm-url http://host:8000/v1), '
                'or set OPENAI_API_KEY to use OpenAI'
            )
        self._given = model or ('' if server.base_url else DEFAULT_MODEL)
        self._model = self._given
        self._prompt = read_prompt(self._options.prompt)
        self._endpoint = ChatEndpoint(server, self._options.max_retries, model_option='--vlm')
        self._known = Negotiation()

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        return one_by_one(self._described, clips)

    def close(self) -> None:
        """Do nothing: no connection is kept."""

    def _described(self, clip: Clip) -> Caption:
        if not clip.images:
            return Caption('')
        server, timeout_s = self._endpoint.where, self._options.timeout_s
        bounds = Bounds(time.monotonic() + timeout_s)
        content: list[dict[str, Any]] = [
            {'type': 'image_url', 'image_url': {'url': self._data_url(image)}}
            for image in evenly(clip.images, self._options.max_images)
        ]
        # The frames come first, as most open models are trained.
        content.append({'type': 'text', 'text': self._prompt})
        try:
            if not self._model:
                self._model = self._endpoint.first_model(bounds)
            return Caption(checked(lambda again: self._said(content, bounds, again), self._model))
        except TimeOver:
            raise CaptionerFailed(
                f'{server} did not caption within {timeout_s:g} s; '
                'use a smaller model, fewer images or a longer timeout'
            ) from None
        except Refused as error:
            model, self._model = self._model, self._given  # the server may have another one by now
            checks = f'the model {model!r} (can it see images?), the key and the quota'
            if error.status == 404:
                checks = f"the URL (most servers want /v1, VILA's own has none) and the model {model!r}"
            raise CaptionerFailed(f'{error}; check {checks}') from error
        except ChatUnavailable as error:
            raise CaptionerFailed(str(error)) from error

    def _said(self, content: list[dict[str, Any]], bounds: Bounds, again: bool) -> str:
        endpoint, server = self._endpoint, self._endpoint.where
        wished = {
            'model': self._model,
            'messages': [{'role': 'user', 'content': content}],
            'max_tokens': self._options.max_tokens,
            'temperature': 0.0,
            **(ANOTHER_WAY if again else {}),
        }

        def send(fields: dict[str, Any]) -> Said:
            response = endpoint.retried(lambda: endpoint.create(fields, bounds), bounds)
            try:
                return said_in(response)
            except ReplyInvalid as error:
                raise CaptionerFailed(
                    f'{server} sent a reply without a message; is the URL right?'
                ) from error

        # Half a caption is one up to its last sentence, half a thought is none.
        said: Said = self._known.ask(
            partial(as_taken, wished), send, lambda said: said.cut_off and not plain(said.text)
        )
        if refused := said.refusal:
            raise CaptionerFailed(f'{server} refused to describe the frames: {endpoint.shown(refused)}')
        if said.cut_off and not plain(said.text):
            raise CaptionerFailed(
                f'{self._model} was cut off before it described anything; it may think: allow more tokens '
                '(--max-tokens), or turn its thinking off'
            )
        # No half a sentence at the end.
        return whole_sentences(plain(said.text)) or said.text if said.cut_off else said.text

    def _data_url(self, image: Bgr) -> str:
        jpeg = jpeg_within(image, self._options.max_side, self._options.max_image_bytes)
        return f'data:image/jpeg;base64,{base64.b64encode(jpeg).decode("ascii")}'
