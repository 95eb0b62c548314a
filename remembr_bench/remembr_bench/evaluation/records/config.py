"""The configuration of a run, kept with its results and compared when it is resumed."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    ValidationError,
    field_serializer,
    field_validator,
    model_validator,
)

from remembr_bench.evaluation.datasets.navqa import CAPTIONS
from remembr_ros.agent.build import AgentConfig, config_from_environment
from remembr_ros.errors import InvalidRequest
from remembr_ros.printable import shown_url


class PlannerName(str, Enum):
    """What answers; docs/evaluation.md says what each of them does."""

    OFFLINE = 'offline'
    AGENT = 'agent'
    ONE_CALL = 'one_call'
    TOP1 = 'top1'
    ALL_CAPTIONS = 'all_captions'
    FRAMES = 'frames'
    ORACLE = 'oracle'
    TEXT_MEMORY = 'text_memory'
    RANDOM = 'random'
    RETRIEVAL = 'retrieval'


LLM_PLANNERS = frozenset({PlannerName.AGENT, PlannerName.ALL_CAPTIONS, PlannerName.FRAMES})
"""Those that need a language model."""
TASK_PLANNERS = (
    *(PlannerName.OFFLINE, PlannerName.AGENT, PlannerName.ALL_CAPTIONS, PlannerName.FRAMES),
    *(PlannerName.ORACLE, PlannerName.TEXT_MEMORY, PlannerName.RANDOM),
)
"""Those that can be given tasks in simulated homes; the last two of them nothing else."""

SERVERS = ('llm_url', 'vlm_url', 'judge_url')  # the fields that may hold a password; written down without it
NEEDLE_LENGTHS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
LEAST_TOKENS = 5_000  # of a trajectory
_AGENT = AgentConfig()


def _once(values: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(values))


Seconds = Annotated[float, Field(gt=0.0, le=86_400.0)]
Seeds = Annotated[tuple[NonNegativeInt, ...], AfterValidator(_once)]
"""Each of them once."""
Options = TypeVar('Options', bound=BaseModel)


def option(default: Any, about: str, metavar: str = '', flag: str = '', **bounds: Any) -> Any:
    """Return a field that is an option of the command line, too.

    :param default: ... if it has to be given
    :param about: its help
    :param flag: the option, if it is not called as the field
    :param bounds: as of pydantic's Field
    """
    return Field(default, description=about, json_schema_extra={'metavar': metavar, 'flag': flag}, **bounds)


class RunConfig(BaseModel):
    """A run. Every field may stand in the YAML file of a grid."""

    model_config = ConfigDict(frozen=True, extra='forbid')

    data: Literal[
        'navqa', 'oc-navqa', 'building', 'findingdory', 'needles',
        'openeqa', 'findingdory-hub', 'infini-thor', 'env-qa', 'vq3d',
    ] = 'navqa'  # fmt: skip
    folder: str = option(
        '',
        "its folder: data.csv or oc_navqa_data.csv, or upstream's data; of a building: bag and truth.json",
        'DIR',
        flag='--data',
    )
    sequences: tuple[NonNegativeInt, ...] = option((), 'only these (default: all that are there)', 'N')
    captions: str = option(CAPTIONS, 'captions in N/NAME.json or captions/N/captions/NAME.json', 'NAME')
    bags: dict[NonNegativeInt, str] = option(
        {},
        'remember this recording as sequence N, in place of a captions file; may be repeated',
        'N=BAG',
        flag='--bag',
    )
    captioner: str = option('scene_text', 'of recordings', 'NAME')
    vlm: str = option('', 'model of the captioner openai', 'MODEL')
    vlm_url: str = option('', 'its server', 'URL')
    tf: tuple[str, ...] = option((), 'take the poses of recordings from TF', 'FRAME', max_length=2)
    segment_length: float | None = option(
        None,
        'of a memory of a recording (default: 3 s)',
        'S',
        gt=0.5,
        le=600.0,
    )
    episodes: tuple[str, ...] = option((), 'only these (default: all whose pictures are there)', 'NAME')
    subsample: int | None = option(
        None, 'so many pictures of an episode, evenly spread (default: all)', 'N', ge=1
    )
    homes: Seeds = option((), 'seeds of the homes', 'SEED')
    lengths: Seeds = option(
        (), f'tokens of captions (default: {" ".join(map(str, NEEDLE_LENGTHS))})', 'TOKENS'
    )
    detections: str = option(
        '',
        "detect objects in the frames with these errors (default: the simulator's objects)",
        'LEVEL',
    )
    fillings: int = option(
        2,
        'tasks of a template, or questions of a category in a fifth, at most',
        'N',
        ge=1,
        le=100,
    )
    planner: PlannerName = option(
        PlannerName.OFFLINE, 'what answers; retrieval: only the first recall is measured'
    )
    llm: str = option('', 'language model (REMEMBR_LLM)', 'MODEL')
    llm_url: str = option('', 'its OpenAI-compatible server (REMEMBR_LLM_URL)', 'URL')
    temperature: float = option(0.0, 'of the language model', 'T', ge=0.0, le=2.0)
    rounds: int = option(_AGENT.rounds, 'of recalling', 'N', ge=1, le=10)
    calls_per_round: int = option(_AGENT.calls_per_round, "the paper's k", 'K', ge=1, le=10)
    memories_per_call: int = option(_AGENT.memories_per_call, "the paper's m", 'M', ge=1, le=50)
    frames: int = option(50, 'of the planner frames, at most', 'N', ge=1, le=1000)
    frame_rate: float = option(
        0.0,
        'of the planner frames: so many in a second of the history, as the paper has 2; a question with more '
        'than --frames is refused (default: evenly spread)',
        'HZ',
        ge=0.0,
        le=30.0,
    )
    context_tokens: int = option(100_000, 'of the planner all_captions', 'N', ge=1_000)
    embedder: str = option('', 'sentence-transformers model, by name or folder', 'NAME')
    hybrid: bool = option(True, 'recall by meaning alone, not by words', flag='--no-hybrid')
    consolidation: bool = option(False, 'merge stays in which nothing changes')
    seeds: Seeds = option((0,), 'ask each question once per seed', 'N', min_length=1)
    judge: str = option('', 'language model that judges answers in words', 'MODEL')
    judge_url: str = option('', 'its OpenAI-compatible server', 'URL')
    timeout: Seconds = option(60.0, 'for one question or task', 'S')

    @model_validator(mode='after')
    def _make_sense(self) -> 'RunConfig':
        if (self.data in ('findingdory', 'needles')) != bool(self.homes):
            raise ValueError('findingdory and needles, and no other data set, take homes: give their seeds')
        if self.lengths and (self.data != 'needles' or min(self.lengths) < LEAST_TOKENS):
            raise ValueError(f'lengths are of needles, and {LEAST_TOKENS} tokens or more')
        if self.detections and self.data != 'findingdory':
            raise ValueError('detections are of findingdory')
        if self.planner not in TASK_PLANNERS if self.homes else self.planner in TASK_PLANNERS[-2:]:
            others = 'cannot be given tasks' if self.homes else 'is for tasks alone: findingdory, needles'
            raise ValueError(f'the planner {self.planner.value} {others}')
        if self.data == 'needles' and self.planner is PlannerName.FRAMES:
            raise ValueError('the planner frames has no frames of needles')
        if len(self.tf) == 1:
            raise ValueError('tf takes two frames, parent and child')
        return self

    @field_validator('bags', mode='before')
    @classmethod
    def _of_pairs(cls, bags: Any) -> Any:
        return dict(bags) if isinstance(bags, list) else bags

    @field_serializer(*SERVERS)
    def _shown(self, url: str) -> str:
        return shown_url(url)

    @property
    def uses_llm(self) -> bool:
        """Whether a language model answers."""
        if self.planner in LLM_PLANNERS or self.homes:
            return self.planner in LLM_PLANNERS
        return self.planner in (PlannerName.ONE_CALL, PlannerName.ORACLE) and bool(self.llm or self.llm_url)

    @property
    def captions_alone(self) -> bool:
        """Whether of a simulated home only what was seen, and the rooms' names, is remembered."""
        return self.planner in (PlannerName.TEXT_MEMORY, PlannerName.ALL_CAPTIONS, PlannerName.FRAMES)


def run_config(**values: object) -> RunConfig:
    """Return the configuration; a language model that is not named comes from the environment.

    :raises InvalidRequest: a value makes no sense, or a language model is needed and none is named
    """
    return with_llm(validated(RunConfig, values))


def with_llm(config: RunConfig) -> RunConfig:
    """Return the configuration with the language model of the environment where it needs one and names none.

    :raises InvalidRequest: none is named there, either
    """
    if config.planner not in LLM_PLANNERS:
        return config
    named = config_from_environment(AgentConfig(llm=config.llm, llm_url=config.llm_url))
    if not (named.llm or named.llm_url):
        raise InvalidRequest(
            f'the planner {config.planner.value} needs a language model: give --llm or --llm-url, '
            'or set OPENAI_API_KEY'
        )
    return config.model_copy(update={'llm': named.llm, 'llm_url': named.llm_url})


def validated(
    model: type[Options], values: Mapping[str, object], called: Callable[[str], str] = str
) -> Options:
    """Return options that make sense.

    :param called: returns what a field is called in messages
    :raises InvalidRequest: they do not
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = '; '.join(
            f'{called(str(fault["loc"][0])) if fault["loc"] else "the run"}: {fault["msg"]}'
            for fault in error.errors()[:5]
        )
        raise InvalidRequest(f'that cannot be run: {faults}') from error
