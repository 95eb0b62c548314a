"""JSON objects of the API, its events and MCP, each made in one place from the package's types."""

from typing_extensions import TypedDict

from remembr_ros.agent.model.answer import Answer, AnswerJson, Question, answer_json
from remembr_ros.agent.model.relevance_model import fit_in_a_word
from remembr_ros.agent.offline.request import searched
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.model.codec import HitJson, MemoryJson, hit_json
from remembr_ros.memory.model.recall import Hit, MapArea
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS, format_iso
from remembr_ros.web.backend import Situation
from remembr_ros.web.exchanges import Exchange
from remembr_ros.web.following import News
from remembr_ros.web.jobs import Drive


class FoundJson(HitJson):
    """A recalled memory; of one by text, how well it fits in a word: surely, likely, perhaps or hardly."""

    sureness: str | None


class RecallJson(TypedDict):
    """Memories in the order that was asked for, and how many the scope holds in all; null: not known."""

    memories: list[FoundJson]
    total: int | None


class OneMemoryJson(TypedDict):
    """A memory, the name of the place that it was made in (empty: it has none), the ids of those right before
    and after it (of the same robot), and some near to it."""

    memory: MemoryJson
    place: str
    before: str | None
    after: str | None
    neighbours: list[MemoryJson]


class ForgettingJson(TypedDict):
    """What goes with a memory: how many, itself and the answers that rest on it, segments that it stands for,
    pictures of its own; and those that stay, because a memory next to it shows them, too."""

    memories: int
    segments: int
    pictures: int
    shared: int
    start: str
    end: str


class AreaJson(TypedDict):
    """Where on a map memories are: least and greatest x and y [m]."""

    map: str
    memories: int
    low: list[float]
    high: list[float]


class InfoJson(TypedDict):
    """What is looked at, and what the one who asks may do: look, ask or act.

    abilities: ask, correct, drive, forget, note and listen, as far as this memory and its robot can.
    memories_version: the id of events, another one after each change. reading: the memories are still being
    read, so that the map and the figures here are not complete; problem: why they cannot be. gaps: from when
    to when a timeline leaves time out. zone: the IANA name of the time zone in which days begin; empty: not
    known. tokens: whether who comes needs a token.
    """

    name: str
    version: str
    right: str
    abilities: list[str]
    planner: str
    embedder: str
    memories: int
    memories_version: int
    first: str | None
    last: str | None
    gaps: list[tuple[str, str]]
    robots: list[str]
    maps: list[AreaJson]
    sources: list[str]
    cameras: list[str]
    now: str
    zone: str
    reading: bool
    problem: str
    tokens: bool


class CellsJson(TypedDict):
    """Memories in square cells of a map: mean x and y [m], how many, Unix seconds of the end of the newest,
    its id where it is the only one, and the robot where all are of one. cell: the side of a cell [m], wider
    than asked for where there would be too many cells. total: how many memories all cells hold."""

    cell: float
    cells: list[tuple[float, float, int, float, str | None, str | None]]
    total: int


class TrackJson(TypedDict):
    """Where a robot drove: x, y [m] and Unix seconds."""

    robot: str
    map: str
    points: list[tuple[float, float, float]]


class ActivityJson(TypedDict):
    """What happened when, bin by bin: memories stored, seconds driven and stood, questions asked."""

    start: str
    bin_s: float
    stored: list[int]
    driving: list[float]
    standing: list[float]
    questions: list[int]


class MapJson(TypedDict):
    """The occupancy grid: its cells, their side [m], where its lower left corner is (x, y [m], yaw [rad])."""

    width: int
    height: int
    resolution: float
    origin: list[float]
    version: str
    image: str


class PoseJson(TypedDict):
    """A pose: x, y, z [m] and heading [rad] in a frame."""

    position: list[float]
    yaw: float
    frame_id: str


class RobotJson(TypedDict):
    """Where a robot is, and since when that is known."""

    name: str
    position: list[float]
    yaw: float
    stamp: str
    map: str


class DriveJson(TypedDict):
    """A drive: checking, confirming or navigating; then arrived, sent (nobody tells more), failed or stopped.
    distance: to go [m]."""

    id: str
    stage: str
    detail: str
    goal: PoseJson | None
    distance: float | None
    asker: str


class SituationJson(TypedDict):
    """What is going on: robots, goals that wait for a person's yes, goals that it was sent to, keep-out areas
    (their corners [m]), and the drive that was asked for last. proposal_id: what a yes names."""

    robots: list[RobotJson]
    proposal: list[PoseJson]
    proposal_id: str
    goals: list[PoseJson]
    keep_out: list[list[tuple[float, float]]]
    drive: DriveJson | None


class CitedJson(AnswerJson):
    """An answer whose evidence says which sentence has most of the question's words."""

    evidence: list[FoundJson]  # type: ignore[misc]  # each is a HitJson


class ExchangeJson(TypedDict):
    """A question and what became of it: waiting, recalling, thinking or answering; then answered, failed or
    cancelled. error: why there is no answer; own: it was asked here, and not of the robot itself."""

    id: str
    question: str
    asker: str
    at: str
    stage: str
    detail: str
    memories_found: int
    answer: CitedJson | None
    error: str
    own: bool


class NewJson(TypedDict):
    """A memory that was stored: Unix seconds, and where [m]; null: unplaced."""

    id: str
    t: float
    x: float | None
    y: float | None
    robot: str


class NewsJson(TypedDict):
    """The event `memories`: how many there are now, and which are new; anew: more has changed than that."""

    version: int
    total: int
    new: list[NewJson]
    anew: bool


def found_json(hit: Hit, text: str | None, embedder: str) -> FoundJson:
    """Return a hit of a recall by this text; None: of one by something else.

    :param embedder: that the score is of; empty: not known, and how well it fits neither
    """
    sureness = fit_in_a_word(searched(text), hit, embedder) if text and embedder else None
    return {**hit_json(hit), 'sureness': sureness}


def area_json(area: MapArea) -> AreaJson:
    """Return the part of a map in which memories were made."""
    low, high = (list(corner[:2]) for corner in (area.low, area.high))
    return {'map': area.map_id, 'memories': area.memories, 'low': low, 'high': high}


def cited_json(question: str, at_ns: int, answer: Answer) -> CitedJson:
    """Return an answer to a question that was asked at a time."""
    # A planner's scores are of recalls of several texts: what one of them says in words is not known.
    evidence = [found_json(hit, question, '') for hit in answer.evidence]
    return {**answer_json(Question(question, at_ns), answer), 'evidence': evidence}


def exchange_json(exchange: Exchange) -> ExchangeJson:
    """Return a question and what became of it."""
    question, at_ns, answer = exchange.question, exchange.at_ns, exchange.answer
    return {
        'id': exchange.id,
        'question': question,
        'asker': exchange.asker,
        'at': format_iso(at_ns),
        'stage': exchange.stage,
        'detail': '' if exchange.is_over else exchange.detail,
        'memories_found': exchange.memories_found,
        'answer': None if answer is None else cited_json(question, at_ns, answer),
        'error': exchange.error,
        'own': exchange.own,
    }


def situation_json(situation: Situation, drive: Drive | None) -> SituationJson:
    """Return what is going on."""
    robots: list[RobotJson] = [
        {
            'name': robot.name,
            'position': list(robot.pose.pose.position),
            'yaw': robot.pose.pose.yaw,
            'stamp': format_iso(robot.pose.stamp_ns),
            'map': robot.map_id,
        }
        for robot in situation.robots
    ]
    return {
        'robots': robots,
        'proposal': list(map(pose_json, situation.proposal)),
        'proposal_id': situation.proposal_id,
        'goals': list(map(pose_json, situation.goals)),
        'keep_out': [list(area.corners) for area in situation.keep_out],
        'drive': None if drive is None else drive_json(drive),
    }


def drive_json(drive: Drive) -> DriveJson:
    """Return a drive, and how it goes."""
    return {
        'id': drive.id,
        'stage': drive.stage,
        'detail': drive.detail,
        'goal': None if drive.goal is None else pose_json(drive.goal),
        'distance': None if drive.is_over else drive.distance_m,
        'asker': drive.asker,
    }


def pose_json(at: StampedPose) -> PoseJson:
    """Return a pose."""
    return {'position': list(at.pose.position), 'yaw': at.pose.yaw, 'frame_id': at.frame_id}


def news_json(news: News) -> NewsJson:
    """Return what came to the memories or went from them."""
    return {'version': news.version, 'total': news.total, 'new': list(map(_new, news.new)), 'anew': news.anew}


def _new(memory: Memory) -> NewJson:
    x, y, _ = memory.pose.position if memory.pose else (None, None, None)
    return {'id': memory.id, 't': round(memory.start_ns / NS, 3), 'x': x, 'y': y, 'robot': memory.robot}
