"""Real, small models, where `make models` put them: one that answers, one that listens, one that embeds."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.speech.sound.audio import SAMPLE_RATE, Audio
from remembr_ros.speech.whisper import WhisperTranscriber
from remembr_ros.timestamps import NS
from test.integration.real_models import llama_server, model_folder, spoken

START_NS = 1_700_000_000 * NS
APART_NS = 120 * NS
APART_M = 10.0

FIRST_S, TIMEOUT_S = 40.0, 15.0
"""For a question to the model [s]: the first, for which it reads the whole prompt, and the others, for which
the server kept that. So 12 take 3 minutes at most, however slow it is: what it cannot do, the rules do."""

UNDERSTOOD = {20.0: 11, 10.0: 10}
"""Of the 12 spoken questions, so many at least are answered rightly, by signal to noise [dB]: one fewer than
are, for Whisper draws lots where it is unsure."""

TOUR: dict[str, tuple[str, tuple[str, ...]]] = {
    'lobby': ('A lobby with a reception desk and two green armchairs.', ('Reception',)),
    'r117': ('A closed wooden door with a small sign beside it.', ('Room 117',)),
    'anna': (
        'The open door of an office with a name plate; a desk and a lamp inside.',
        ('Anna Keller', '204'),
    ),
    'kettle': ('A kitchen with a red kettle beside the sink.', ()),
    'printer': ('A copy room with a large printer and shelves full of paper.', ('Room 305',)),
    'lift': ('A lift with silver doors at the end of the corridor.', ()),
    'backpack': ('A blue backpack leans against a radiator in the corridor.', ()),
    'lab': ('A laboratory with a microscope on a bench.', ('Lab 12',)),
    'stairs': ('A fire extinguisher hangs on a white wall beside the stairs.', ()),
    'turing': ('A meeting room with a long table and a whiteboard.', ('Turing', 'Room 231')),
    'okafor': ('The door of an office with a name plate; it is closed.', ('Dr. Okafor', 'Room 118')),
    'drinks': ('A vending machine with cold drinks and snacks.', ()),
    'workshop': ('A workshop with a drill and a vice on a bench.', ('Room 42',)),
    'plant': ('A person in a red jacket waters a tall potted plant.', ()),
    'schmidt': ('The door of an office with a name plate; a bicycle stands beside it.', ('Peter Schmidt',)),
    'window': ('A corridor with a large window; a car park is outside.', ()),
}
"""What the robot saw, one stop every two minutes: caption and signs by the memory's id."""


def denies(answer: Answer) -> bool:
    """Tell whether an answer says that something was not seen."""
    return answer.kind is Kind.NOT_SEEN or answer.binary is False


@dataclass(frozen=True)
class Asked:
    """A question, and what is a right answer.

    :param kind: POSITION, TIME or BINARY (yes); NOT_SEEN: no is as right
    :param memory: id of the one that shows it; empty: none does
    """

    text: str
    kind: Kind
    memory: str = ''

    def is_right(self, answer: Answer) -> bool:
        if not self.memory or denies(answer):
            return not self.memory and denies(answer)
        return answer.kind is self.kind and [hit.memory.id for hit in answer.evidence[:1]] == [self.memory]


ASKED = (
    Asked('Where is the red kettle?', Kind.POSITION, 'kettle'),
    Asked('Where is room 117?', Kind.POSITION, 'r117'),
    Asked('When did you see the blue backpack?', Kind.TIME, 'backpack'),
    Asked('Is there a lift?', Kind.BINARY, 'lift'),
    Asked("Where is Anna Keller's office?", Kind.POSITION, 'anna'),
    Asked('Where can I print something?', Kind.POSITION, 'printer'),
    Asked('Have you seen an elephant?', Kind.NOT_SEEN),
    Asked('When did you see the microscope?', Kind.TIME, 'lab'),
    Asked('Where is the meeting room Turing?', Kind.POSITION, 'turing'),
    Asked('Where can I get a cold drink?', Kind.POSITION, 'drinks'),
    Asked('Did you see somebody in a red jacket?', Kind.BINARY, 'plant'),
    Asked('Where is the swimming pool?', Kind.NOT_SEEN),
)

SPOKEN = (
    Asked('Where is room 117?', Kind.POSITION, 'r117'),
    Asked('Where is room one seventeen?', Kind.POSITION, 'r117'),
    Asked('Where is room three oh five?', Kind.POSITION, 'printer'),
    Asked('When did you see room one one eight?', Kind.TIME, 'okafor'),
    Asked('Have you seen room two thirty-one?', Kind.BINARY, 'turing'),
    Asked('When did you see room 42?', Kind.TIME, 'workshop'),
    Asked('Where is lab twelve?', Kind.POSITION, 'lab'),
    Asked("When did you see Anna's office?", Kind.TIME, 'anna'),
    Asked('Where is the office of Peter Schmidt?', Kind.POSITION, 'schmidt'),
    Asked("Where is Doctor Okafor's office?", Kind.POSITION, 'okafor'),
    Asked('Where is the meeting room Turing?', Kind.POSITION, 'turing'),
    Asked('Have you seen the name Anna Keller?', Kind.BINARY, 'anna'),
)


def remember_tour(store: MemoryStore) -> None:
    for i, (name, (caption, signs)) in enumerate(TOUR.items()):
        start_ns = START_NS + i * APART_NS
        pose = Pose(i * APART_M, 0.0)
        store.add(
            [
                Observation(
                    Memory(name, 'robbie', start_ns, start_ns + 3 * NS, caption, pose=pose, scene_text=signs)
                )
            ]
        )


@pytest.fixture(scope='module')
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    with open_store(str(tmp_path_factory.mktemp('tour') / 'm.db'), get_embedder(OFFLINE)) as store:
        remember_tour(store)
        yield store


def answer(agent: Agent, text: str, timeout_s: float = 60.0) -> Answer:
    question = Question(text, now_ns=START_NS + len(TOUR) * APART_NS, here=Pose(0.0, 0.0))
    return agent.ask(question, timeout_s=timeout_s)


@pytest.fixture(scope='module')
def by_rules(store: MemoryStore) -> list[Answer]:
    """The answers of the offline planner alone."""
    agent = Agent(store, [OfflinePlanner()])
    return [answer(agent, asked.text) for asked in ASKED]


@pytest.fixture(scope='module')
def by_model(
    store: MemoryStore, by_rules: list[Answer], tmp_path_factory: pytest.TempPathFactory
) -> list[Answer]:
    """The answers of an agent with a model of 0.5 B parameters, and the offline planner behind it.

    It is asked what the rules know, too, as is a model of whose size neither name nor server tell.

    :param by_rules: made before, so that nothing is left to load when the model has used up its time
    """
    gguf = model_folder('qwen2.5-coder-0.5b') / 'model.gguf'
    log = tmp_path_factory.mktemp('llama') / 'log'
    with llama_server(gguf, log) as url, pytest.MonkeyPatch.context() as environment:
        for name in ('OPENAI_API_KEY', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
            environment.delenv(name, raising=False)
        assert OpenAIChat('local', url).parameters_b(FIRST_S) == pytest.approx(0.5, abs=0.2)
        environment.setattr(OpenAIChat, 'parameters_b', lambda chat, timeout_s: math.inf)
        agent = build_agent(store, AgentConfig(llm_url=url))
        first, *others = (asked.text for asked in ASKED)
        return [answer(agent, first, FIRST_S), *(answer(agent, text, TIMEOUT_S) for text in others)]


def right(asked: Sequence[Asked], answered: Sequence[Answer]) -> list[str]:
    """Return the questions that were answered rightly."""
    return [one.text for one, said in zip(asked, answered, strict=True) if one.is_right(said)]


@pytest.mark.timeout(300)
def test_real_models_answer_with_evidence_that_is_there(by_model: list[Answer]) -> None:
    assert len(by_model) == len(ASKED)
    assert any(said.cost.calls for said in by_model), 'the server took no part'
    for asked, said in zip(ASKED, by_model, strict=True):
        assert said.evidence or denies(said), (asked.text, said)
        assert {hit.memory.id for hit in said.evidence} <= TOUR.keys(), asked.text


@pytest.mark.timeout(300)
def test_real_models_answer_no_fewer_rightly_than_the_rules(
    by_model: list[Answer], by_rules: list[Answer]
) -> None:
    assert len(right(ASKED, by_model)) >= len(right(ASKED, by_rules)), by_model


@pytest.fixture(scope='module')
def transcriber() -> WhisperTranscriber:
    return WhisperTranscriber(str(model_folder('whisper-base')), device='cpu', language='en')


@pytest.fixture(scope='module')
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[Audio]:
    """The spoken questions, with half a second of silence on either side."""
    pause = SAMPLE_RATE // 2
    audios = spoken([asked.text for asked in SPOKEN], tmp_path_factory.mktemp('spoken'))
    return [np.pad(audio, pause) for audio in audios]


@pytest.mark.timeout(240)
@pytest.mark.parametrize('snr_db', UNDERSTOOD)
def test_real_models_understand_spoken_room_numbers_and_names(
    store: MemoryStore, transcriber: WhisperTranscriber, recordings: list[Audio], snr_db: float
) -> None:
    chance = np.random.default_rng(0)
    heard = [transcriber.transcribe(with_noise(audio, snr_db, chance)).text for audio in recordings]
    agent = Agent(store, [OfflinePlanner()])
    answered = [answer(agent, text) for text in heard]
    wrong = [
        (asked.text, text, said.text, said.confidence)
        for asked, text, said in zip(SPOKEN, heard, answered, strict=True)
        if not asked.is_right(said)
    ]
    assert len(SPOKEN) - len(wrong) >= UNDERSTOOD[snr_db], wrong
    assert all(confidence < 0.5 for *_, confidence in wrong), wrong


def with_noise(audio: Audio, snr_db: float, chance: np.random.Generator) -> Audio:
    """Return a recording in white noise.

    :param snr_db: of its mean power, pauses included, to that of the noise
    """
    std = np.sqrt(np.mean(np.square(audio))) * 10.0 ** (-snr_db / 20.0)
    return audio + chance.normal(0.0, std, audio.size).astype(np.float32)


@pytest.mark.timeout(120)
def test_real_models_embed_what_is_meant_rather_than_the_words(tmp_path: Path) -> None:
    embedder = get_embedder(str(model_folder('all-mpnet-base-v2')))
    assert embedder.dimension == 768
    with open_store(str(tmp_path / 'm.db'), embedder) as store:
        remember_tour(store)
        for meant, memory in (('somewhere to boil water for tea', 'kettle'), ('an elevator', 'lift')):
            (hit,) = store.find(Query(meant, limit=1))
            assert hit.memory.id == memory
