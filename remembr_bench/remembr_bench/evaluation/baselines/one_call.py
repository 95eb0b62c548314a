"""Baselines of one call: one retrieval and rules; all captions in a prompt; frames instead of captions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pydantic import NonNegativeInt, TypeAdapter, ValidationError

from remembr_bench.evaluation.baselines.forced_answer import ForcedAnswerPlanner, prompt
from remembr_bench.evaluation.datasets.sample import answer_at
from remembr_ros.agent.chat.client import ChatClient, Message, Picture, Reply
from remembr_ros.agent.chat.loose_json import objects_in
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.llm.reply_text import MAX_REPLY
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.model.memory_prompt import describe, situation, whereabouts
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.captioning.frame_choice import evenly
from remembr_ros.errors import InvalidRequest, ReplyInvalid, Ungrounded
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey, survey_of
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import format_clock


class OneCallPlanner:
    """Decides by the offline planner's rules, on a memory that holds no more than what one retrieval found.

    What fits is decided by the scores of the raw question, whose other words lower them. With a language
    model the same is LoopPlanner(rounds=1, calls_per_round=1).

    :param memories: retrieved
    """

    name = 'one_call'

    def __init__(self, memories: int = 15) -> None:
        self._memories = memories
        self._rules = OfflinePlanner()

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        run.check()
        run.on_progress(Progress('recalling', question.text))
        scope = Scope(map_id=question.map_id or None)
        hits = recall.find(Query(question.text, scope=scope, limit=self._memories))
        found = _Found(hits, recall.embedder_name)
        return replace(self._rules.answer(question, found, run), planner=self.name)


@dataclass(frozen=True, slots=True)
class _Found:
    """A recall that has nothing but these hits; by text it returns them all, whatever the text."""

    hits: Sequence[Hit]
    embedder_name: str

    def find(self, query: Query) -> list[Hit]:
        hits = [
            hit.measured(query.place, query.time_ns) for hit in self.hits if query.scope.admits(hit.memory)
        ]
        if query.place is not None:
            hits = [hit for hit in hits if hit.memory.pose is not None]
            hits.sort(key=lambda hit: hit.distance_m or 0.0)
        elif query.around:
            hits.sort(key=lambda hit: (hit.memory.start_ns, hit.memory.id))
        elif query.time_ns is not None:
            hits.sort(key=lambda hit: abs(hit.offset_s or 0.0))
        elif query.text is None:
            hits.sort(key=lambda hit: -hit.memory.end_ns)
        return query.cut(hits)

    def count(self, scope: Scope = ANYTHING) -> int:
        return sum(scope.admits(hit.memory) for hit in self.hits)

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        return survey_of(hit.memory for hit in self.hits if scope.admits(hit.memory))

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        return FoundObjects()


CHARACTERS_PER_TOKEN = 4
RESERVE_TOKENS = 2_000  # kept free for the answer tool, the reply, and one that is sent back
HEADING_CHARACTERS = 100  # of the line before the memories
LABEL_CHARACTERS = 6  # by which a label may grow, and the line's end


class AllCaptionsPlanner(ForcedAnswerPlanner):
    """Shows a language model every memory that it may see, and takes its answer.

    :param context_tokens: of the model, at four characters a token; of more memories than fit, the newest are
        shown, and the model is told how many were left out
    :raises InvalidRequest: the context has no room for anything
    """

    METHOD = 'all_captions'
    CAPTIONS_SHOWN = True

    def __init__(
        self, chat: ChatClient, *, call_timeout_s: float = 60.0, context_tokens: int = 100_000
    ) -> None:
        super().__init__(chat, call_timeout_s)
        if context_tokens <= RESERVE_TOKENS:
            raise InvalidRequest(f'context_tokens is {context_tokens}; it is above {RESERVE_TOKENS}')
        self._context_tokens = context_tokens

    def _shown(self, hits: list[Hit], older: int, question: Question, evidence: Evidence) -> Message:
        shown = self._fitting(hits, question)
        lines = [describe(label, hit, question) for label, hit, _ in evidence.add(shown)]
        left_out = older + len(hits) - len(shown)
        heading = f'{len(shown)} memories, oldest first'
        if left_out > 0:
            heading += f'; {left_out} older ones are left out, for lack of room'
        return Message('user', '\n'.join([situation(question), '', f'{heading}:', *lines]))

    def _fitting(self, hits: list[Hit], question: Question) -> list[Hit]:
        """Return the newest memories for which there is room."""
        room = (self._context_tokens - RESERVE_TOKENS) * CHARACTERS_PER_TOKEN
        room -= len(prompt(self.METHOD)) + len(situation(question)) + HEADING_CHARACTERS
        first = len(hits)
        while first > 0:
            room -= len(describe('', hits[first - 1], question)) + LABEL_CHARACTERS
            if room < 0:
                break
            first -= 1
        if first == len(hits):
            raise InvalidRequest(
                f'a context of {self._context_tokens} tokens has no room for a memory; '
                'give more context_tokens'
            )
        return hits[first:]


class FramesPlanner(ForcedAnswerPlanner):
    """Shows a model keyframes with their times and places, but no captions, and takes its answer.

    :param keyframe: returns the JPEG of a memory's id and an index, such as MemoryStore.keyframe
    :param frames: shown at most, one per memory, evenly spread over the memories that have any
    :param all_or_none: refuse a question with more, as the paper's multi-frame VLM has to
    """

    METHOD = 'frames'
    CAPTIONS_SHOWN = False

    def __init__(
        self,
        chat: ChatClient,
        keyframe: Callable[[str, int], bytes],
        *,
        frames: int = 50,
        all_or_none: bool = False,
        call_timeout_s: float = 120.0,
    ) -> None:
        super().__init__(chat, call_timeout_s)
        self._keyframe = keyframe
        self._frames, self._all_or_none = frames, all_or_none

    def _shown(self, hits: list[Hit], older: int, question: Question, evidence: Evidence) -> Message:
        pictured = [hit for hit in hits if hit.memory.keyframes]
        if not pictured:
            raise InvalidRequest(
                f'none of {len(hits)} memories has a keyframe: ingest them from a bag (files of captions '
                'have no frames)'
            )
        if self._all_or_none and len(pictured) + older > self._frames:
            raise InvalidRequest(
                f'its history has {len(pictured) + older} frames, and {self._frames} are shown at most; '
                'give more --frames, if the model takes them'
            )
        images = tuple(
            Picture(self._named(label, hit, question), self._keyframe(hit.memory.id, 0))
            for label, hit, _ in evidence.add(evenly(pictured, self._frames))
        )
        return Message('user', f'{situation(question)}\n\n{len(images)} frames, oldest first:', images=images)

    def _named(self, label: str, hit: Hit, question: Question) -> str:
        return whereabouts(label, hit, question)


class FrameIndicesPlanner(FramesPlanner):
    """The video model of FindingDory (section 5): it names the frames to go to by their numbers, one for each
    place, in the order in which they are to be visited."""

    METHOD = 'frame_indices'
    TOOLS = ()
    WANTED = 'Reply with {"frame_indices": [...]}, one for each place to go to.'

    def _named(self, label: str, hit: Hit, question: Question) -> str:
        return f'frame {int(label[1:]) - 1}, {format_clock(hit.memory.start_ns, question.zone)}'

    def _answer(self, reply: Reply, evidence: Evidence, question: Question) -> Answer:
        objects = (data for data, _, _ in objects_in(reply.content[:MAX_REPLY]) if 'frame_indices' in data)
        try:
            indices = TypeAdapter(list[NonNegativeInt]).validate_python(next(objects)['frame_indices'])
            hits = [evidence.cite(f'm{index + 1}') for index in indices]
        except (StopIteration, ValidationError, KeyError) as error:
            raise ReplyInvalid(f'that names no frames from 0 to {len(evidence) - 1}') from error
        if not hits:
            raise Ungrounded('no frame is named')
        return answer_at(self.name, [hit.memory for hit in hits])
