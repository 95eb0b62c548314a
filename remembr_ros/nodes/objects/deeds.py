"""Deeds heard by the objects node: which object each was done to, and its state since."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from remembr_ros.agent.chat.client import ChatClient
from remembr_ros.agent.object_meant import CALL_S, look_which
from remembr_ros.agent.planner import Run
from remembr_ros.errors import RemembrError
from remembr_ros.geometry import Point
from remembr_ros.memory.deeds.deed import TALK, DeedFacts, facts_of
from remembr_ros.memory.deeds.object_ids import BY, STATE, candidates, object_meant
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.objects.wording import described
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.memory_conversion import memory_to_msg
from remembr_ros.nodes.base.outbox import Outbox
from remembr_ros.nodes.base.worker_pool import WorkerPool
from remembr_ros.objects.visible import NEAR_NS, VisibleObjects, numbered

MOST_WAITING = 10  # deeds that wait for the model; others are told by name, sight and distance
MOST_SHOWN = 12  # objects among which the model chooses


class ObjectDeeds:
    """Tells the memory node which object a deed was done to, where more is known of that here than there.

    :param chat: vision language model; None: name, sight and the distance to the gripper tell
    :param outbox: deeds go back by it, each the same memory as before
    """

    def __init__(self, node: ManagedNode, chat: ChatClient | None, outbox: Outbox) -> None:
        self._log, self._chat, self._outbox = node.get_logger(), chat, outbox
        self._pool = WorkerPool(node, 1, 'which-object')
        self._room = threading.Semaphore(MOST_WAITING)
        self.visible = VisibleObjects()

    def close(self) -> None:
        """Take no more; what the model is asked just now is not waited for."""
        self._pool.close()

    def take(self, deed: Memory, known: Callable[[], Sequence[KnownObject]], hand: Point | None) -> None:
        """Take a deed that is stored.

        :param hand: where the gripper was then [m] in the map; None: not known
        """
        facts = facts_of(deed)
        newest = self.visible.near(deed.end_ns)
        if facts is None or not facts.object or BY in facts.details or deed.captioner == TALK:
            return
        if newest is None and hand is None:
            return  # it is of another time, or nothing is known here that the memory node does not know
        objects = known()
        named = candidates(facts.object, deed, objects, hand)
        shown = self.visible.near(deed.start_ns, [thing.id for thing in named or objects])
        meant = object_meant(facts.object, deed, objects, hand)
        if self._chat is None or shown is None or not self._room.acquire(blocking=False):
            self._tell(deed, facts, meant)
            return
        pool = [thing for thing in named or objects if thing.id in shown.boxes][:MOST_SHOWN]
        pool.sort(key=lambda thing: shown.boxes[thing.id])  # from left to right
        pictures = [numbered(shown, [thing.id for thing in pool])]
        after = self.visible.near(deed.end_ns + NEAR_NS)
        if after is not None and after.stamp_ns > shown.stamp_ns:
            pictures.append(numbered(after, ()))
        look = partial(look_which, self._chat, deed.caption, [described(thing) for thing in pool], pictures)
        self._pool.call(self._ask, look, partial(self._tell, deed, facts), pool, meant)

    def _ask(
        self,
        look: Callable[[Run], tuple[int | None, str]],
        tell: Callable[..., None],
        pool: Sequence[KnownObject],
        meant: KnownObject | None,
    ) -> None:
        """Have the model look, in a thread that may wait; where it says nothing, meant stands."""
        try:
            chosen, state = look(Run(time.monotonic() + 2.0 * CALL_S))
            tell(meant if chosen is None else pool[chosen], state, by='model')
        except RemembrError as error:
            self._log.warning(f'which object a deed was done to, no model tells: {error}')
            tell(meant)
        finally:
            self._room.release()

    def _tell(
        self, deed: Memory, facts: DeedFacts, meant: KnownObject | None, state: str = '', by: str = 'sight'
    ) -> None:
        if meant is None or (meant.id == facts.object_id and not state):
            return
        details = {**facts.details, BY: by, **({STATE: state} if state else {})}
        changed = {'object_id': meant.id, 'details': details}
        self._outbox.publish(memory_to_msg(replace(deed, facts={**deed.facts, **changed})))
