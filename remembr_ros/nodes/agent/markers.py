"""What the last answer rests on, and where it sends the robot, as RViz markers."""

from collections.abc import Iterable, Sequence

from visualization_msgs.msg import Marker, MarkerArray

from remembr_ros.agent.model.answer import Answer
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.nodes.base.markers import GREEN, arrow, balls, clear, described, label, path, ramp

MAX_HITS = 200  # recalled memories shown, the best of them; the evidence is shown in any case


def answer_markers(answer: Answer, recalled: Iterable[Hit], goals: Sequence[StampedPose]) -> MarkerArray:
    """Return what shows an answer in place of the last one.

    What a question recalled is drawn as small balls, coloured by score (dark blue: 0, yellow: 1); what its
    answer cites as large ones, numbered and described; the goals, once there are any, as green arrows.

    :param recalled: everything that was found on the way to it
    """
    return clear([*_hits(answer, recalled), *_goals(goals)])


def _hits(answer: Answer, recalled: Iterable[Hit]) -> Iterable[Marker]:
    cited = {hit.memory.id for hit in answer.evidence}
    others = [hit for hit in recalled if hit.memory.id not in cited]
    best = sorted(others, key=lambda hit: hit.score, reverse=True)[:MAX_HITS]
    yield from balls('hits', ((hit.memory, ramp(hit.score)) for hit in best), 0.2)
    yield from balls('evidence', ((hit.memory, ramp(hit.score)) for hit in answer.evidence), 0.45)
    for rank, hit in enumerate(answer.evidence, start=1):
        if hit.memory.pose is not None:
            text = f'{rank}. (score {hit.score:.2f})  {described(hit.memory)}'
            yield label(hit.memory.frame_id, 'evidence_text', hit.memory.pose, text)


def _goals(goals: Sequence[StampedPose]) -> Iterable[Marker]:
    for rank, goal in enumerate(goals, start=1):
        yield arrow(goal.frame_id, 'goal', goal.pose, GREEN)
        yield label(goal.frame_id, 'goal_text', goal.pose, f'goal {rank}' if len(goals) > 1 else 'goal')
    if len(goals) > 1:
        yield path(goals[0].frame_id, 'goal_order', [goal.pose for goal in goals], GREEN)
