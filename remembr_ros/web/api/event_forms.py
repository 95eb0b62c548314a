"""What happens, as JSON: situation, drives, questions and their answers, memories that come."""

from weakref import WeakKeyDictionary

from typing_extensions import TypedDict

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.model.json_form import AnswerJson, answer_json
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS, format_iso
from remembr_ros.web.api.forms import FoundJson, found_json
from remembr_ros.web.backend import RobotPlace, Situation
from remembr_ros.web.drives import Drive
from remembr_ros.web.exchanges import Exchange
from remembr_ros.web.following import News


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


_made: WeakKeyDictionary[Exchange, ExchangeJson] = WeakKeyDictionary()  # nothing of what was forgotten


def exchange_json(exchange: Exchange) -> ExchangeJson:
    """Return a question and what became of it; made once, however many pages are told."""
    if exchange not in _made:
        _made[exchange] = _exchange_json(exchange)
    return _made[exchange]


def _exchange_json(exchange: Exchange) -> ExchangeJson:
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
        'proposal_id': situation.proposal_id,
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


def news_json(news: News) -> NewsJson:
    """Return what came to the memories or went from them."""
    return {
        'version': news.version,
        'total': news.total,
        'new': list(map(_new, news.new)),
        'anew': news.anew,
    }


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
    return {'id': memory.id, 't': round(memory.start_ns / NS, 3), 'x': x, 'y': y, 'robot': memory.robot}
