"""The parameters of every node: one frozen dataclass per node, see remembr_ros.nodes.base.declaration."""

import dataclasses

from remembr_ros.agent.model.same_place import SAME_PLACE_M
from remembr_ros.captioning.backlog import POLICIES
from remembr_ros.captioning.captioners.by_name import CAPTIONERS, DESCRIBERS
from remembr_ros.captioning.captioners.vlm_options import DTYPES, QUANTIZATIONS
from remembr_ros.geometry import MAX_POSITION_STD_M
from remembr_ros.nodes.base.parameter_field import about_list as _about_list
from remembr_ros.nodes.base.parameter_field import autostart as _autostart
from remembr_ros.nodes.base.parameter_field import parameter as _parameter
from remembr_ros.nodes.memory.parameters import MemoryParameters
from remembr_ros.nodes.nav2.parameters import NavigationParameters
from remembr_ros.nodes.speech.parameters import SpeechParameters

POSE_SOURCES = ('tf', 'odometry', 'pose_with_covariance', 'pose', 'navsat', 'none')
TRANSPORTS = ('auto', 'raw', 'compressed')


@dataclasses.dataclass(frozen=True)
class PoseParameters:
    """Where a node takes the robot's pose from."""

    pose_source: str = _parameter('pose_with_covariance', 'what the pose is taken from', choices=POSE_SOURCES)
    map_frame: str = _parameter('map', 'frame that positions refer to (pose_source tf: its root)')
    base_frame: str = _parameter('base_link', 'frame of the robot (pose_source tf)')
    map_id: str = _parameter('', 'name of the map that the robot is on; empty if there is only one')
    datum: list[float] = dataclasses.field(
        default_factory=list,
        metadata=_about_list(
            'latitude, longitude and altitude of the map origin (pose_source navsat); '
            'empty: the first fix, which differs at every start',
            unit='deg, deg, m',
        ),
    )
    max_position_std: float = _parameter(
        MAX_POSITION_STD_M,
        'a pose (of pose_with_covariance or odometry) that is less certain is none: the memory has no place; '
        '0: every pose counts',
        unit='m',
        low=0.0,
        high=1000.0,
        live=True,
    )


@dataclasses.dataclass(frozen=True)
class CaptionerParameters(PoseParameters):
    """Parameters of the captioner node."""

    autostart: bool = _autostart()
    robot: str = _parameter('robot', 'name of the robot, kept with each memory')
    captioner: str = _parameter('scene_text', f'captioner: {", ".join(CAPTIONERS)}', choices=CAPTIONERS)
    captioner_model: str = _parameter(
        '', "model of the captioner; openai: empty for the server's first; transformers: a name or a folder"
    )
    captioner_url: str = _parameter('', 'server of the captioner openai; the key comes from OPENAI_API_KEY')
    image_transport: str = _parameter(
        'auto', 'auto: whichever of image and image/compressed arrives first', choices=TRANSPORTS
    )
    segment_length: float = _parameter(3.0, 'length of a segment', unit='s', low=0.5, high=600.0, live=True)
    sample_rate: float = _parameter(
        2.0, 'frames looked at in a segment', unit='Hz', low=0.1, high=30.0, live=True
    )
    max_gap: float = _parameter(
        1.5, 'a longer pause of the camera ends a segment', unit='s', low=0.1, high=60.0, live=True
    )
    keyframes: int = _parameter(2, 'frames kept with each memory', low=0, high=10, live=True)
    flush_after: float = _parameter(
        3.0,
        'end a segment when no image came for so long (wall time)',
        unit='s',
        low=0.1,
        high=600.0,
        live=True,
    )
    pose_max_age: float = _parameter(
        0.5, 'a pose counts that near to an image', unit='s', low=0.01, high=60.0
    )
    pose_hold: float = _parameter(
        0.0,
        'a pose stays valid so long when no newer one comes (AMCL is silent while the robot stands); '
        '0: pose_max_age',
        unit='s',
        low=0.0,
        high=86400.0,
    )
    camera: str = _parameter('', 'name of the camera, kept with each memory; empty if there is only one')
    skip_unchanged: bool = _parameter(
        True, 'where the robot stands and nothing changes, say the last caption again: the model idles'
    )
    queue_size: int = _parameter(32, 'segments that may wait for the captioner', low=1, high=10000)
    queue_bytes_mb: float = _parameter(
        256.0, 'frames of segments that wait may take so much memory', unit='MB', low=1.0, high=100000.0
    )
    when_slow: str = _parameter(
        'keep',
        'segments too many are kept without a caption (see remembr recaption), merged or dropped',
        choices=POLICIES,
    )
    batch_size: int = _parameter(
        1, 'waiting segments that are captioned at once, where the captioner can', low=1, high=64
    )
    drain_timeout: float = _parameter(
        10.0, 'on deactivation, wait so long for waiting segments', unit='s', low=0.0, high=600.0, live=True
    )
    captioner_describer: str = _parameter(
        'openai', 'what the captioner fused joins with the text that is read', choices=DESCRIBERS
    )
    captioner_captions: str = _parameter('', 'file of the captioner recorded')
    captioner_prompt: str = _parameter('', "file of the model's prompt; empty: the package's own")
    captioner_images: int = _parameter(6, 'frames of a segment that the model sees', low=1, high=100)
    captioner_image_side: int = _parameter(
        768, 'their longer side is reduced to this', unit='px', low=28, high=8192
    )
    captioner_max_tokens: int = _parameter(512, 'a longer caption is cut', low=16, high=8192)
    captioner_timeout: float = _parameter(
        60.0, 'wait so long for the caption of a segment', unit='s', low=0.1, high=3600.0
    )
    captioner_device: str = _parameter('auto', 'where transformers runs: auto, cpu, cuda, cuda:1, ...')
    captioner_dtype: str = _parameter('auto', 'numbers that transformers computes with', choices=DTYPES)
    captioner_quantization: str = _parameter(
        'none', 'how transformers makes the weights smaller', choices=QUANTIZATIONS
    )
    captioner_trust_remote_code: bool = _parameter(
        False, 'true: Python code that comes with a model (VILA, NVILA) may run here'
    )


@dataclasses.dataclass(frozen=True)
class AgentParameters(PoseParameters, NavigationParameters):
    """Parameters of the agent node."""

    autostart: bool = _autostart()
    robot: str = _parameter('robot', 'name of the robot, as diagnostics show it')
    llm: str = _parameter('', "language model; empty: its server's default, or the offline planner")
    llm_url: str = _parameter(
        '',
        'its server: openai, nim, ollama, vllm or llama.cpp, or the URL of any that speaks the OpenAI chat '
        'API; keys come from the environment only',
    )
    llm_fallback: str = _parameter('', 'language model to ask when the first is out of reach')
    llm_fallback_url: str = _parameter('', 'server of the fallback, as llm_url')
    rounds: int = _parameter(3, 'rounds of recall per question', low=1, high=10)
    calls_per_round: int = _parameter(3, 'recalls per round', low=1, high=10)
    memories_per_call: int = _parameter(5, 'memories per recall', low=1, high=50)
    token_budget: int = _parameter(
        32000, 'prompt tokens per question; then the model has to answer', low=2000, high=10000000
    )
    look_again_model: str = _parameter(
        '', "vision language model that looks at keyframes again; empty: its server's default"
    )
    look_again_url: str = _parameter(
        '', 'its server; with neither model nor server, look_again_captioner looks'
    )
    look_again_captioner: str = _parameter(
        '', 'captioner that looks at keyframes again, such as scene_text; empty: none'
    )
    same_place: float = _parameter(
        SAME_PLACE_M,
        'sights of a thing from this near to each other, with no wall of the map between, are of one thing',
        unit='m',
        low=0.0,
        high=100.0,
        live=True,
    )
    follow_up: float = _parameter(
        300.0,
        "so long a follow-up question refers to the asker's last answer",
        unit='s',
        low=1.0,
        high=86400.0,
    )
    time_zone: str = _parameter(
        '',
        "whose clock 'yesterday' and '3 pm' are on, such as Europe/Berlin; empty: this machine's",
        live=True,
    )
    timeout: float = _parameter(
        60.0, 'deadline of a question that names none', unit='s', low=0.1, high=3600.0, live=True
    )
    call_timeout: float = _parameter(
        30.0, 'wait so long for one reply of the language model', unit='s', low=0.1, high=3600.0
    )
    recall_timeout: float = _parameter(
        5.0, 'wait so long for the memory node', unit='s', low=0.05, high=600.0, live=True
    )
    parallel_questions: int = _parameter(4, 'questions answered at the same time', low=1, high=64)
    navigate_on_topic: bool = _parameter(
        False, 'true: a place in the answer to a question by topic becomes a goal, too', live=True
    )
    trace: str = _parameter('', 'file to append what happens to each question to; empty: none')
    trace_max_mb: float = _parameter(
        50.0, 'the trace may take so much of the disk', unit='MB', low=0.01, high=100000.0
    )


@dataclasses.dataclass(frozen=True)
class BagPlayerParameters:
    """Parameters of the bag player node."""

    bag: str = _parameter('', 'rosbag2 folder or file, or ROS 1 bag', read_only=True)
    rate: float = _parameter(1.0, 'times real speed', low=0.01, high=1000.0, read_only=True)
    topics: list[str] = dataclasses.field(
        default_factory=list, metadata=_about_list('play only these topics; empty: all', read_only=True)
    )
    loop: bool = _parameter(False, 'start again at the end', read_only=True)
    start_delay: float = _parameter(
        0.0,
        'wait so long before the first message (wall time)',
        unit='s',
        low=0.0,
        high=3600.0,
        read_only=True,
    )
    wait_for_subscribers: float = _parameter(
        0.0,
        'wait at most so long (wall time) until an image topic is subscribed',
        unit='s',
        low=0.0,
        high=3600.0,
        read_only=True,
    )


NODE_PARAMETERS: dict[str, type] = {
    'captioner': CaptionerParameters,
    'memory': MemoryParameters,
    'agent': AgentParameters,
    'speech': SpeechParameters,
    'bag_player': BagPlayerParameters,
}
"""Parameters of each node, by node name."""
