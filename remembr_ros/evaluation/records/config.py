"""What decides the outcome of a run. Kept with its results, and compared when it is resumed."""

from enum import Enum

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_serializer, model_validator

from remembr_ros.agent.build import AgentConfig, config_from_environment
from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.datasets.navqa import CAPTIONS, Outside
from remembr_ros.redaction import shown_url


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
    RETRIEVAL = 'retrieval'
    """Nothing: the first recall with the raw question is measured."""


LLM_PLANNERS = frozenset({PlannerName.AGENT, PlannerName.ALL_CAPTIONS, PlannerName.FRAMES})
"""Those that need a language model."""

SERVERS = ('llm_url', 'vlm_url', 'judge_url')  # the fields that may hold a password; written down without it
_AGENT = AgentConfig()


class RunConfig(BaseModel):
    """A run. Every field may stand in the YAML file of a grid.

    :param data: navqa, oc-navqa or building
    :param folder: of the data set
    :param sequences: numbers; empty: all that are there
    :param captions: of navqa: captions in N/NAME.json
    :param bags: recordings to remember instead, by the number of the sequence
    :param captioner: of bags
    :param vlm: model of the captioner openai
    :param vlm_url: its server
    :param image_topic: of bags with several cameras
    :param pose_topic: of bags with several poses
    :param tf: of bags: parent and child frame
    :param segment_length: of bags, default 3; captions of a file are joined to that length [s]
    :param outside: what to do where an answer time lies outside its question's window
    :param planner: what answers
    :param llm: model of the planner
    :param llm_url: its server
    :param temperature: of the language model
    :param rounds: of recalling
    :param calls_per_round: the paper's k
    :param memories_per_call: the paper's m
    :param frames: shown to the planner frames
    :param context_tokens: that the planner all_captions may fill
    :param embedder: empty: the default
    :param diversity: recall shows distinct stays rather than one parked hour
    :param hybrid: recall counts words beside meaning
    :param consolidation: stays in which nothing changes become one memory
    :param seeds: each question is asked once per seed
    :param judge: model that judges answers in words; empty with an empty judge_url: they are not judged
    :param judge_url: its server
    :param timeout: for one question [s]
    """

    model_config = ConfigDict(frozen=True, extra='forbid')

    data: str = 'navqa'
    folder: str = ''
    sequences: tuple[int, ...] = ()
    captions: str = CAPTIONS
    bags: dict[int, str] = Field(default_factory=dict)
    captioner: str = 'scene_text'
    vlm: str = ''
    vlm_url: str = ''
    image_topic: str = ''
    pose_topic: str = ''
    tf: tuple[str, ...] = Field((), max_length=2)
    segment_length: float | None = Field(None, gt=0.5, le=600.0)
    outside: Outside = Outside.EXCLUDE
    planner: PlannerName = PlannerName.OFFLINE
    llm: str = ''
    llm_url: str = ''
    temperature: float = Field(0.0, ge=0.0, le=2.0)
    rounds: int = Field(_AGENT.rounds, ge=1, le=10)
    calls_per_round: int = Field(_AGENT.calls_per_round, ge=1, le=10)
    memories_per_call: int = Field(_AGENT.memories_per_call, ge=1, le=50)
    frames: int = Field(50, ge=1, le=1000)
    context_tokens: int = Field(100_000, ge=1_000)
    embedder: str = ''
    diversity: bool = True
    hybrid: bool = True
    consolidation: bool = False
    seeds: tuple[int, ...] = Field((0,), min_length=1)
    judge: str = ''
    judge_url: str = ''
    timeout: float = Field(60.0, gt=0.0, le=86_400.0)

    @model_validator(mode='after')
    def _make_sense(self) -> 'RunConfig':
        if self.data not in DATA_SETS:
            raise ValueError(f'there is no data set {self.data!r}; there are {", ".join(DATA_SETS)}')
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
        return self.planner in (PlannerName.ONE_CALL, PlannerName.ORACLE) and bool(self.llm or self.llm_url)


DATA_SETS = ('navqa', 'oc-navqa', 'building')


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
