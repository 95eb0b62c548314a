"""Superlatives of what is known without counting occurrences: the largest thing, the highest number read."""

import re
from math import prod

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.grounding import Claim, shown
from remembr_ros.agent.offline.not_seen import SURE
from remembr_ros.agent.offline.reader.contrast import Among, ComparedBy, Contrast
from remembr_ros.agent.offline.reader.deed_request import SEEN
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.objects.query import ObjectOrder, ObjectQuery
from remembr_ros.memory.objects.wording import described
from remembr_ros.memory.places.places import in_a_row
from remembr_ros.memory.recall_protocol import Recall, every

ANY_THING = frozenset('thing things object objects item items'.split())


def outstanding_object(asked: Contrast, recall: Recall, scope: Scope) -> tuple[Claim, str] | None:
    """Say which known thing is the largest, or was seen most often; None: that is not asked, or unknown."""
    by_size = asked.measure is ComparedBy.SIZE
    of_sights = asked.measure is ComparedBy.COUNT and SEEN.search(asked.sides[0])
    if asked.names or asked.group != 'object' or asked.among is not Among.BEST or not (by_size or of_sights):
        return None
    noun = asked.grouped if asked.grouped not in ANY_THING else ''
    order = ObjectOrder.LARGEST if by_size else ObjectOrder.MOST_SEEN
    found = recall.find_objects(ObjectQuery(noun, order=order, scope=scope)).objects
    if not found:
        return None
    known = found[0 if asked.most else -1].known
    said = litres(prod(known.size)) if by_size else f'seen {known.facts.observations} times'
    text, about = f'That was the {described(known)} ({said}), of {len(found)}.', (*asked.said, noun, 'thing')
    hits = shown([known.memory])
    return Claim(Kind.TEXT, text, hits, about=' '.join(about), confidence=SURE), 'objects'


def litres(cubic_metres: float) -> str:
    """Return a volume in words."""
    litres = 1_000.0 * cubic_metres
    return f'{cubic_metres:.2f} cubic metres' if litres >= 100.0 else f'{litres:.2g} litres'


def numbered_signs(asked: Contrast, recall: Recall, scope: Scope) -> tuple[Claim, str] | None:
    """Say which sign has the highest or the lowest number, or which there are: 'Which rooms did you pass?'"""
    if asked.measure is not ComparedBy.NUMBER:
        return None
    noun = asked.grouped.removesuffix('s')
    number_of = re.compile(rf'\b{noun}s?\s*(\d+)\b', re.IGNORECASE)
    having: dict[str, list[Hit]] = {}
    for memory in every(recall, scope)[0]:
        for number in {digits for text in memory.scene_text for digits in number_of.findall(text)}:
            having.setdefault(number, []).append(Hit(memory, 1.0))
    # Of 'ROOM 13' beside many 'ROOM 133' the last digit was out of view.
    cut_off = {
        part
        for part in having
        for whole in having
        if part != whole and whole.startswith(part) and len(having[whole]) >= 2 * len(having[part])
    }
    known = (number for number in having if number not in cut_off)
    read = [(int(number), having[number]) for number in sorted(known, key=int)]
    if not read:
        return None
    text, shown = f'{noun}s {in_a_row(str(number) for number, _ in read)}', read
    if asked.among is Among.BEST:
        shown = [read[-1 if asked.most else 0]]
        text = f'{noun} {shown[0][0]}, of {len(read)} of which I have read the numbers'
    hits = [*(hits[0] for _, hits in shown), *(hit for _, hits in shown for hit in hits[1:])]
    return Claim(
        Kind.TEXT, f'{text[:1].upper()}{text[1:]}.', hits, about=' '.join(asked.said), confidence=SURE
    ), 'sights'
