"""What decides the outcome of a run. Kept with its results, and compared when it is resumed."""

from enum import Enum

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_serializer, model_validator

from remembr_ros.agent.build import AgentConfig, config_from_environment
from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.datasets.navqa import CAPTIONS, Outside
from remembr_ros.printable import shown_url


class PlannerName(str, Enum):
    """What answers."""

    OFFLINE = 'offline'
    """The rules that a robot without a language model goes by."""
    AGENT = 'agent'
    """The language model with its tools."""
    ONE_CALL = 'one_call'
    """One retrieval only: with a language model it words the query, without one the question is the query."""
    TOP1 = 'top1'
    """The first memory by the raw question; always yes, always one minute."""
    ALL_CAPTIONS = 'all_captions'
    """A language model that reads every caption of the window in one prompt."""
    FRAMES = 'frames'
    """A vision language model that sees frames of the window, and no captions."""
    ORACLE = 'oracle'
    """The agent, or the rules, with only the answer's own memories before its eyes."""
    TEXT_MEMORY = 'text_memory'
    """The rules with captions alone, without objects and deeds; of tasks in simulated places."""
    RANDOM = 'random'
    """Any memories that have a place, as many as the goal has; of the same."""
    RETRIEVAL = 'retrieval'
    """Nothing: the first recall with the raw question is measured."""


LLM_PLANNERS = frozenset({PlannerName.AGENT, PlannerName.ALL_CAPTIONS, PlannerName.FRAMES})
"""Those that need a language model."""

SERVERS = ('llm_url', 'vlm_url', 'judge_url')  # the fields that may hold a password; written down without it
NEEDLE_LENGTHS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
LEAST_TOKENS = 5_000  # of a trajectory
_AGENT = AgentConfig()


class RunConfig(BaseModel):
    """A run. Every field may stand in the YAML file of a grid."""

    model_config = ConfigDict(frozen=True, extra='forbid')

    data: str = 'navqa'  # one of DATA_SETS
    folder: str = ''  # of the data set
    sequences: tuple[int, ...] = ()  # numbers; empty: all that are there
    captions: str = CAPTIONS  # of navqa: captions in N/NAME.json
    # recordings to remember instead, by the number of the sequence
    bags: dict[int, str] = Field(default_factory=dict)
    captioner: str = 'scene_text'  # of bags
    vlm: str = ''  # model of the captioner openai
    vlm_url: str = ''  # its server
    image_topic: str = ''  # of bags with several cameras
    pose_topic: str = ''  # of bags with several poses
    tf: tuple[str, ...] = Field((), max_length=2)  # of bags: parent and child frame
    # of bags, default 3; captions of a file are joined to that length [s]
    segment_length: float | None = Field(None, gt=0.5, le=600.0)
    homes: tuple[int, ...] = ()  # of findingdory and needles: their seeds
    lengths: tuple[int, ...] = ()  # of needles: tokens of captions; empty: NEEDLE_LENGTHS
    # of findingdory: level of noise of the detections; empty: the objects are the simulator's
    detections: str = ''
    pictures: bool = False  # of findingdory: nothing tells of interactions but what is seen
    fillings: int = Field(2, ge=1, le=100)  # of findingdory: tasks of a template, at most
    outside: Outside = Outside.EXCLUDE  # what to do where an answer time lies outside its question's window
    planner: PlannerName = PlannerName.OFFLINE  # what answers
    llm: str = ''  # model of the planner
    llm_url: str = ''  # its server
    temperature: float = Field(0.0, ge=0.0, le=2.0)  # of the language model
    rounds: int = Field(_AGENT.rounds, ge=1, le=10)  # of recalling
    calls_per_round: int = Field(_AGENT.calls_per_round, ge=1, le=10)  # the paper's k
    memories_per_call: int = Field(_AGENT.memories_per_call, ge=1, le=50)  # the paper's m
    frames: int = Field(50, ge=1, le=1000)  # shown to the planner frames
    context_tokens: int = Field(100_000, ge=1_000)  # that the planner all_captions may fill
    embedder: str = ''  # empty: the default
    hybrid: bool = True  # recall counts words beside meaning
    consolidation: bool = False  # stays in which nothing changes become one memory
    seeds: tuple[int, ...] = Field((0,), min_length=1)  # each question is asked once per seed
    judge: str = ''  # model that judges answers in words; empty with an empty judge_url: they are not judged
    judge_url: str = ''  # its server
    timeout: float = Field(60.0, gt=0.0, le=86_400.0)  # for one question [s]

    @model_validator(mode='after')
    def _make_sense(self) -> 'RunConfig':
        if self.data not in DATA_SETS:
            raise ValueError(f'there is no data set {self.data!r}; there are {", ".join(DATA_SETS)}')
        if (self.data in ('findingdory', 'needles')) != bool(self.homes):
            raise ValueError('findingdory and needles, and no other data set, take homes: give their seeds')
        if self.lengths and (self.data != 'needles' or min(self.lengths) < LEAST_TOKENS):
            raise ValueError(f'lengths are of needles, and {LEAST_TOKENS} tokens or more')
        if len(set(self.lengths)) != len(self.lengths):
            raise ValueError('a length is given twice')
        if min(self.homes, default=0) < 0 or len(set(self.homes)) != len(self.homes):
            raise ValueError('seeds of homes are 0 or more, each given once')
        if self.homes and self.planner not in OF_TASKS:
            raise ValueError(f'the planner {self.planner.value} cannot be given tasks')
        if not self.homes and self.planner in (PlannerName.TEXT_MEMORY, PlannerName.RANDOM):
            raise ValueError(f'the planner {self.planner.value} is for tasks alone: findingdory, needles')
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError('a seed is given twice')
        if len(self.tf) == 1:
            raise ValueError('tf takes two frames, parent and child')
        return self

    @field_serializer(*SERVERS)
    def _shown(self, url: str) -> str:
        return shown_url(url)

    @property
    def uses_llm(self) -> bool:
        """Whether a language model answers."""
        if self.planner in LLM_PLANNERS:
            return True
        if self.homes:
            return False
        return self.planner in (PlannerName.ONE_CALL, PlannerName.ORACLE) and bool(self.llm or self.llm_url)

    @property
    def captions_alone(self) -> bool:
        """Whether of a simulated home only what was seen, and the rooms' names, is remembered."""
        return self.planner in (PlannerName.TEXT_MEMORY, PlannerName.ALL_CAPTIONS)


DATA_SETS = ('navqa', 'oc-navqa', 'building', 'findingdory', 'needles')
OF_TASKS = frozenset({
    *(PlannerName.OFFLINE, PlannerName.AGENT, PlannerName.TEXT_MEMORY, PlannerName.ALL_CAPTIONS),
    *(PlannerName.RANDOM, PlannerName.ORACLE),
})  # fmt: skip
"""The planners that can be given tasks in simulated places."""


def run_config(**values: object) -> RunConfig:
    """Return the configuration; a language model that is not named comes from the environment.

    :raises InvalidRequest: a value makes no sense, or a language model is needed and none is named
    """
    try:
        config = RunConfig.model_validate(values)
    except ValidationError as error:
        faults = '; '.join(
            f'{".".join(map(str, fault["loc"])) or "the run"}: {fault["msg"]}' for fault in error.errors()[:5]
        )
        raise InvalidRequest(f'the run cannot be configured so: {faults}') from error
    if config.planner in LLM_PLANNERS:
        named = config_from_environment(AgentConfig(llm=config.llm, llm_url=config.llm_url))
        if not (named.llm or named.llm_url):
            raise InvalidRequest(
                f'the planner {config.planner.value} needs a language model: give --llm or --llm-url, '
                'or set OPENAI_API_KEY'
            )
        config = config.model_copy(update={'llm': named.llm, 'llm_url': named.llm_url})
    return config
