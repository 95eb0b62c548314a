"""What the API answers: JSON objects, and how they are made of what the package knows."""

from typing_extensions import TypedDict

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.model.confidence import how_well
from remembr_ros.agent.model.json_form import AnswerJson, answer_json
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.matching.best_passage import best_passage
from remembr_ros.memory.model.json_form import HitJson, MemoryJson, hit_json
from remembr_ros.memory.model.recall import Hit, MapArea
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS, format_iso
from remembr_ros.web.backend import PartState, RobotPlace, Situation
from remembr_ros.web.drives import Drive
from remembr_ros.web.exchanges import Exchange
from remembr_ros.web.following import News


class FoundJson(HitJson):
    """A recalled memory, and why: by text, how well it fits in a word (surely, likely, perhaps or hardly) and
    which of its sentences or signs has most of the asked words; else, or where none has any, null."""

    sureness: str | None
    sentence: str | None


class RecallJson(TypedDict):
    """Memories in the order that was asked for, and how many the scope holds in all; null: not known."""

    memories: list[FoundJson]
    total: int | None


class OneMemoryJson(TypedDict):
    """A memory, the ids of those right before and after it (of the same robot), and some near to it."""

    memory: MemoryJson
    before: str | None
    after: str | None
    neighbours: list[MemoryJson]


class ForgettingJson(TypedDict):
    """What goes with a memory: segments that it stands for, pictures of its own; and those that stay, because
    a memory next to it shows them, too."""

    memories: int
    segments: int
    pictures: int
    shared: int
    start: str
    end: str


class ForgottenJson(TypedDict):
    """How many memories were deleted."""

    forgotten: int


class NotedJson(TypedDict):
    """The id of a note."""

    id: str


class AreaJson(TypedDict):
    """Where on a map memories are: least and greatest x and y [m]."""

    map_id: str
    memories: int
    low: list[float]
    high: list[float]


class InfoJson(TypedDict):
    """What is looked at, and what the one who asks may do: look, ask or act.

    abilities: ask, drive, forget, note and listen, as far as this memory and its robot can. reading: the
    memories are still being read, so that the map and the figures here are not complete;
    problem: why they cannot be. zone: the IANA name of
    the time zone in which days begin; empty: not known. tokens: whether who comes needs a token.
    """

    name: str
    version: str
    right: str
    abilities: list[str]
    planner: str
    embedder: str
    memories: int
    first: str | None
    last: str | None
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
    and its id where it is the only one. cell: the side of a cell [m], wider than asked for where there would
    be too many cells. total: how many memories all cells hold."""

    cell: float
    cells: list[tuple[float, float, int, float, str | None]]
    total: int


class TrackJson(TypedDict):
    """Where a robot drove: x, y [m] and Unix seconds."""

    robot: str
    map_id: str
    points: list[tuple[float, float, float]]


class TracksJson(TypedDict):
    """Where robots drove; a track ends where the map changes or nothing is known for long."""

    tracks: list[TrackJson]


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


class PartJson(TypedDict):
    """How a part of the system is: ok, warn, error or stale."""

    name: str
    level: str
    message: str
    values: dict[str, str]


class StateJson(TypedDict):
    """How the parts of the system are."""

    parts: list[PartJson]


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
    map_id: str


class DriveJson(TypedDict):
    """A drive: checking, confirming or navigating; then arrived, failed or stopped. distance: to go [m]."""

    id: str
    stage: str
    detail: str
    goal: PoseJson | None
    distance: float | None
    asker: str


class SituationJson(TypedDict):
    """What is going on: robots, goals that wait for a person's yes, goals that it was sent to, keep-out areas
    (their corners [m]), and the drive that was asked for last."""

    robots: list[RobotJson]
    proposal: list[PoseJson]
    goals: list[PoseJson]
    keep_out: list[list[tuple[float, float]]]
    drive: DriveJson | None


class DoneJson(TypedDict):
    """What came of it, for a person."""

    detail: str


class SaidJson(TypedDict):
    """What was understood of speech; empty: nothing."""

    text: str


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


class ExchangesJson(TypedDict):
    """Questions and answers of late, the newest last."""

    exchanges: list[ExchangeJson]


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
    return {
        **hit_json(hit),
        'sureness': how_well(hit.score, embedder) if text and embedder else None,
        'sentence': best_passage(text, hit.memory) if text else None,
    }


def area_json(area: MapArea) -> AreaJson:
    """Return the part of a map in which memories were made."""
    return {
        'map_id': area.map_id,
        'memories': area.memories,
        'low': list(area.low[:2]),
        'high': list(area.high[:2]),
    }


def exchange_json(exchange: Exchange) -> ExchangeJson:
    """Return a question and what became of it."""
    answer = exchange.answer
    return {
        'id': exchange.id,
        'question': exchange.question,
        'asker': exchange.asker,
        'at': format_iso(exchange.at_ns),
        'stage': exchange.stage,
        'detail': exchange.detail,
        'memories_found': exchange.memories_found,
        'answer': None if answer is None else _cited(exchange.question, exchange.at_ns, answer),
        'error': exchange.error,
        'own': exchange.own,
    }


def situation_json(situation: Situation, drive: Drive | None) -> SituationJson:
    """Return what is going on."""
    return {
        'robots': [_robot(robot) for robot in situation.robots],
        'proposal': [pose_json(pose) for pose in situation.proposal],
        'goals': [pose_json(pose) for pose in situation.goals],
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
        'distance': drive.distance_m,
        'asker': drive.asker,
    }


def pose_json(at: StampedPose) -> PoseJson:
    """Return a pose."""
    return {'position': list(at.pose.position), 'yaw': at.pose.yaw, 'frame_id': at.frame_id}


def part_json(part: PartState) -> PartJson:
    """Return how a part of the system is."""
    return {'name': part.name, 'level': part.level, 'message': part.message, 'values': part.values}


def news_json(news: News) -> NewsJson:
    """Return what came to the memories or went from them."""
    return {
        'version': news.version,
        'total': news.total,
        'new': list(map(_new, news.new)),
        'anew': news.anew,
    }


def unix_s(ns: int) -> float:
    """Return a time in Unix seconds, to the millisecond."""
    return round(ns / NS, 3)


def _cited(question: str, at_ns: int, answer: Answer) -> CitedJson:
    said = answer_json(Question(question, at_ns), answer)
    # A planner's scores are of recalls of several texts: what one of them says in words is not known.
    evidence = [found_json(hit, question, '') for hit in answer.evidence]
    return {**said, 'evidence': evidence}


def _robot(robot: RobotPlace) -> RobotJson:
    at = robot.pose
    return {
        'name': robot.name,
        'position': list(at.pose.position),
        'yaw': at.pose.yaw,
        'stamp': format_iso(at.stamp_ns),
        'map_id': robot.map_id,
    }


def _new(memory: Memory) -> NewJson:
    x, y, _ = memory.pose.position if memory.pose else (None, None, None)
    return {'id': memory.id, 't': unix_s(memory.start_ns), 'x': x, 'y': y, 'robot': memory.robot}
