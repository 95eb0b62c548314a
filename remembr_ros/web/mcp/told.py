"""Results for MCP clients: the JSON of the API, short, with text from the camera quoted as data."""

from collections.abc import Mapping
from typing import Any

from mcp_types import CallToolResult, TextContent

from remembr_ros.agent.model.answer import Answer
from remembr_ros.agent.model.confidence import in_a_word
from remembr_ros.agent.model.quoting import neutral, quoted
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.objects.query import FoundObject, object_json
from remembr_ros.memory.objects.wording import described
from remembr_ros.web.forms import cited_json, found_json

MAX_CAPTION = 4_000  # characters of a caption, and of its texts, that an agent is told of one memory
LISTED_CAPTION = 250  # and of each of several; look tells the rest
LINE_CAPTION = 100  # and on a line beside the structure
NAMED_EVIDENCE = 5  # memories of an answer on the line beside the structure

_QUOTED = frozenset(('caption', 'scene_text', 'reason', 'sentence', 'other_names'))
_UNTOLD = frozenset(
    'frame_id facts captioner camera merged travelled history observations aliases sentence guessed question '
    'prompt_tokens completion_tokens tokens_estimated llm_calls latency_sec'.split()
)
"""What takes more room than it tells an agent."""


def result(text: str, structure: Mapping[str, Any]) -> CallToolResult:
    """Return the result of a tool: a structure, and what of it a model is shown that reads text alone."""
    return CallToolResult(content=[TextContent(text=text)], structured_content=dict(structure))


def brief(value: Any, name: str = '') -> Any:
    """Return a JSON value without what is not known or takes much room: metres to the centimetre, what a
    camera saw or a person wrote in quotation marks."""
    if isinstance(value, Mapping):
        told = {key: brief(inner, key) for key, inner in value.items() if key not in _UNTOLD}
        if 'keyframes' in told:
            told['pictures'] = len(told.pop('keyframes'))
        return {key: inner for key, inner in told.items() if inner not in (None, '', [], {})}
    if isinstance(value, list | tuple):
        return [brief(inner, name) for inner in value]
    if isinstance(value, str) and name != 'id':
        return quoted(value) if name in _QUOTED and value else neutral(value)
    return round(value, 3 if name == 'yaw' else 2) if isinstance(value, float) else value


def told_memory(
    hit: Hit, *, most: int = MAX_CAPTION, asked: str | None = None, embedder: str = ''
) -> dict[str, Any]:
    """Return a memory as an agent is told it.

    :param most: characters of caption and of texts
    :param asked: in words; of a longer caption that sentence is told which is nearest to it
    :param embedder: that the score for what was asked is of; empty: it is of something else
    """
    found: dict[str, Any] = {**found_json(hit, asked, embedder)}
    texts: list[str] = []
    for text in found['scene_text']:
        texts.append(text[: max(most - sum(map(len, texts)), 0)])
    found |= {'caption': _cut(hit, most), 'scene_text': [text for text in texts if text]}
    if not (asked and embedder):
        del found['score']
    return brief(found)  # type: ignore[no-any-return]


def memory_text(told: Mapping[str, Any]) -> str:
    """Return a memory on one line."""
    at = 'at ({:.2f}, {:.2f}, {:.2f})'.format(*told['position']) if 'position' in told else 'place unknown'
    read = f', text {" ".join(told["scene_text"])}' if 'scene_text' in told else ''
    fits = f'{told["sureness"]}, ' if 'sureness' in told else ''
    by = f'robot {quoted(told["robot"])}, {told["source"]}'
    at += f' in {told["place"]}' if 'place' in told else ''
    return (
        f'{told["id"]}: {fits}{told["start"]} to {told["end"]}, {at}, {by}, caption {told["caption"]}{read}'
    )


def told_object(found: FoundObject) -> dict[str, Any]:
    """Return an object as an agent is told it."""
    form = object_json(found.known, place=found.place)
    names = ('id', 'map', 'position', 'place', 'last_seen', 'presence', 'missing_since')
    relations = [f'{relation.name} {quoted(relation.other_name)}' for relation in found.relations]
    told = {'name': quoted(described(found.known)), 'relations': relations}
    return {**brief({name: form[name] for name in names}), **told}


def told_answer(answer: Answer, question: str) -> dict[str, Any]:
    """Return an answer to a question as an agent is told it."""
    cited = brief({**cited_json(question, 0, answer), 'evidence': [], 'map': answer.map_id})
    evidence = [told_memory(hit, most=LISTED_CAPTION, asked=question) for hit in answer.evidence]
    unsaid = {'minutes_ago'} | ({'time'} if answer.time_ns is None else set())
    told = {name: value for name, value in cited.items() if name not in unsaid}
    return told | ({'sureness': sure} if (sure := _sureness(answer)) else {}) | {'evidence': evidence}


def answer_text(answer: Answer) -> str:
    """Return an answer on one line."""
    ids = [hit.memory.id for hit in answer.evidence]
    more = ', ...' if len(ids) > NAMED_EVIDENCE else ''
    rests = f'rests on {len(ids)} memories: {", ".join(ids[:NAMED_EVIDENCE])}{more}' if ids else ''
    basis = '; '.join(filter(None, (_sureness(answer), rests)))
    return neutral(answer.text) + (f' ({basis})' if basis else '')


def _sureness(answer: Answer) -> str | None:
    """Return how sure an answer is, in a word; None: nobody knows."""
    return in_a_word(answer.confidence) if answer.confidence else None


def _cut(hit: Hit, most: int) -> str:
    caption = hit.memory.caption
    if len(caption) <= most:
        return caption
    nearest = (text for text in hit.passages if text not in hit.memory.scene_text)
    return f'{next(nearest, caption)[:most]} ...'
