"""The plain-JSON protocol against a real server, `transformers serve`, with a tiny model made here."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.chat.bounded_call import FailoverChat
from remembr_ros.agent.chat.client import Call, Message
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.llm.tools import TOOLS
from remembr_ros.agent.model.answer import Ledger, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.trace import Trace, questions, read_trace
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import Cancelled, ChatUnavailable, RemembrError
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS
from test.integration.transformers_server import served
from test.patience import patiently

pytest.importorskip('transformers', reason='needs the extra embedding: make setup')
for library in ('fastapi', 'uvicorn'):
    pytest.importorskip(library, reason='transformers serve needs it: make setup')

START_NS = 1_700_000_000 * NS

TEMPLATE = (
    '{% if tools %}{{ raise_exception("tools are not supported") }}{% endif %}'
    '{% for message in messages %}{% if message.role not in ("user", "assistant", "system") %}'
    '{{ raise_exception("unknown role") }}{% endif %}'
    '<|{{ message.role }}|>{{ message.content }}</s>{% endfor %}'
    '{% if add_generation_prompt %}<|assistant|>{% endif %}'
)
"""Without tools and their results, as the templates of many small models."""


@pytest.fixture(scope='module')
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Llama of two layers whose weights are random, and a tokenizer of bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp('model')
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ['<s>', '</s>', '<|user|>', '<|assistant|>', '<|system|>']
    tokenizer.train_from_iterator(
        [json.dumps([tool.parameters for tool in TOOLS])],
        trainers.BpeTrainer(
            vocab_size=600,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token='<s>', eos_token='</s>', pad_token='</s>'
    )
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=16_384,
        bos_token_id=fast.bos_token_id,
        eos_token_id=fast.eos_token_id,
        pad_token_id=fast.pad_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope='module')
def url(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the server."""
    with served(model, tmp_path_factory.mktemp('server')) as url:
        yield url


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('OPENAI_API_KEY', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.timeout(240)
def test_a_question_to_a_model_that_babbles_ends(url: str, model: Path, tmp_path: Path) -> None:
    chat = OpenAIChat(str(model), url, max_retries=0)
    lift = Memory(
        id='a1', robot='robbie', start_ns=START_NS, end_ns=START_NS + 3 * NS, caption='A lift beside stairs.'
    )
    question = Question('Where is the lift?', now_ns=START_NS + 60 * NS)
    with open_store(str(tmp_path / 'm.db'), get_embedder('hashing')) as store:
        store.add([Observation(lift)])
        loop = LoopPlanner(FailoverChat([chat]), call_timeout_s=patiently(12.0))
        agent = Agent(store, [loop, OfflinePlanner()], trace=Trace(tmp_path / 'trace.jsonl'))
        began = time.monotonic()
        try:
            said = agent.ask(question, timeout_s=patiently(25.0)).planner
        except RemembrError as error:
            said = str(error)
        assert time.monotonic() - began < patiently(30.0)
    assert said
    (events,) = questions(read_trace(tmp_path / 'trace.jsonl'))
    calls = [event for event in events if event['event'] == 'chat']
    assert any('reply' in call for call in calls), calls  # the server did take part
    assert not chat.capabilities.tools


def chat_is_answered(url: str, model: Path) -> bool:
    """Return whether the server goes on after what was done to it."""
    chat = OpenAIChat(str(model), url, max_retries=0)
    reply = chat.complete(
        Call((Message('user', 'Hello.'),), (), must_call=None, timeout_s=40.0, ledger=Ledger())
    )
    return reply.usage.completion_tokens > 0


@pytest.mark.timeout(240)
def test_a_call_can_be_given_up_and_cancelled_while_the_model_writes(url: str, model: Path) -> None:
    chat = OpenAIChat(str(model), url, max_retries=0)
    messages = (Message('user', 'Where is the lift?'),)
    with pytest.raises(ChatUnavailable, match='did not answer'):
        # Its words are drawn by chance, and there may be so few of them that it is done after 0.1 s.
        chat.complete(Call(messages, (), timeout_s=0.01))
    cancel = threading.Event()
    timer = threading.Timer(0.01, cancel.set)
    timer.start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        chat.complete(Call(messages, (), timeout_s=20.0, cancel=cancel))
    assert time.monotonic() - began < patiently(2.0)
    timer.join()
    assert chat_is_answered(url, model)
