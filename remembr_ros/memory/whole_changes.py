"""Atomic changes of many memories and their files: deletion and moving to another map.

What is to be done is noted before anything is changed. If the process ends meanwhile, or the disk is full, it
is finished when the memory is opened next, or when somebody asks again.
"""

import json
import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from hashlib import sha256

from remembr_ros.errors import InvalidRequest, RemembrError, StoreUnavailable
from remembr_ros.geometry import Pose, RigidTransform
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.model.engine import Engine
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory, moved
from remembr_ros.memory.model.storable import storable
from remembr_ros.memory.motion.pose_graph import Moves
from remembr_ros.memory.pending.change_log import ChangeLog, ChangePlan, Location, LoggedChange, Placed

logger = logging.getLogger(__name__)

BATCH = 500  # memories looked at at once


@dataclass(frozen=True, slots=True)
class MapMove:
    """What somebody wants placed anew: see MemoryStore.move_map."""

    map_id: str
    transform: RigidTransform | Moves | None
    new_map_id: str | None
    frame_id: str | None

    @property
    def asked(self) -> str:
        """What is kept of it, to recognise it when it is asked for again."""
        matrix = astuple(self.transform) if isinstance(self.transform, RigidTransform) else self.transform
        return json.dumps([self.map_id, matrix, self.new_map_id, self.frame_id], default=repr)

    def placed(self, engine: Engine) -> tuple[Placed, ...]:
        """Return where the memories of the map are, and shall be.

        :raises InvalidRequest: a place would make no sense
        """
        found, by = engine.select(Scope(map_id=self.map_id)), self.transform
        into = {'map_id': self.new_map_id, 'frame_id': self.frame_id}
        moves = by(found) if callable(by) else ((m, moved(m, by, **into)) for m in found)
        return tuple(Placed(id=now.id, was=_place(now), to=_place(storable(then))) for now, then in moves)


class WholeChanges:
    """Deletes and moves memories. Not safe to share between threads.

    :param log: where is noted what is to be done; closed with this
    :param keyframes: of the memories
    """

    def __init__(self, log: ChangeLog, keyframes: KeyframeFolder) -> None:
        self._log = log
        self._keyframes = keyframes
        self._moved: list[LoggedChange] = []
        self._rows_left = False
        self._problem = ''

    @property
    def problem(self) -> str:
        """What could not be finished, and what to do; empty: nothing is left."""
        return '; '.join(filter(None, (self._problem, self._log.problem)))

    def open(self, engine: Engine) -> None:
        """Finish what was cut off; what cannot be finished is a problem, but keeps no memory closed."""
        try:
            changes = self._log.unfinished()
            cut_off = any(change.has_rows or change.plan.vacuum for change in changes)
            self._finish_all(engine, changes)
            if cut_off:
                logger.warning('deleting or moving memories was cut off before; it is finished now')
        except RemembrError as error:
            self._problem = str(error)
            logger.warning('a change of this memory that was cut off is not finished: %s', error)

    def ready(self, engine: Engine) -> None:
        """Finish what is to become of rows, before others are written: these may have the same ids.

        :raises StoreUnavailable: it cannot be finished
        """
        if self._rows_left:
            self._change_rows(engine, self._log.unfinished())

    def delete(self, engine: Engine, memories: Sequence[Memory], *, vacuum: bool) -> None:
        """Delete memories and their keyframes.

        :param vacuum: also what files still have of them, and of all that was deleted like this before
        :raises StoreUnavailable: the database or the disk does not work; what was begun is finished later
        """
        engine.delete([])  # what is refused for want of room or of a server shall not happen later
        changes, own = self._log.unfinished(), []
        if memories:
            names = [name for memory in memories for name in memory.keyframes]
            ids = [memory.id for memory in memories]
            # One note with those that failed: where a server refuses every write they would pile up.
            failed = [cut for cut in changes if not cut.plan.asked and cut.plan.vacuum <= vacuum]
            ids += [gone for cut_off in failed if cut_off.has_rows for gone in cut_off.plan.ids]
            names += [name for cut_off in failed for name in cut_off.plan.keyframes]
            own = [self._log.begin(ChangePlan(ids=tuple(ids), keyframes=tuple(names), vacuum=vacuum))]
            for cut_off in failed:
                cut_off.end()
        if vacuum:
            self._finish_all(engine, [cut for cut in changes if not cut.has_ended] + own)
        else:
            self._change_rows(engine, own)
            self._clean(engine, own)

    @contextmanager
    def dropping(self, engine: Engine, names: Collection[str]) -> Iterator[None]:
        """Delete keyframes after what happens meanwhile, where no memory names them any more.

        :raises StoreUnavailable: the database or the disk does not work
        """
        if not names:
            yield
            return
        engine.update([])  # as in delete: whoever is refused tries again, and would leave a note each time
        plan = ChangePlan(keyframes=tuple(sorted(names)))
        # Named by what it says: who is refused meanwhile tries again, and takes the place of the note.
        change = self._log.begin(plan, sha256(plan.model_dump_json().encode()).hexdigest()[:32])
        yield
        self._clean(engine, [change])

    def move(self, engine: Engine, move: MapMove) -> int:
        """Place memories anew; return how many. What was asked for, but cut off, is finished, not done twice.

        It counts as told when this is closed, or asked for something else.

        :raises StoreUnavailable: the database or the disk does not work; what was begun is finished later
        """
        engine.update([])  # as in delete
        self.report()
        changes = self._log.unfinished()
        moves = [change for change in changes if change.plan.asked]
        self._change_rows(engine, moves)
        for before in moves:
            if before.has_ended:
                continue
            if before.plan.asked == move.asked and _is_done(engine, before.plan.placed):
                # Some are where they were before: somebody imported an older copy of them since.
                older = [put for now, put in _changing(engine, before.plan.placed) if now == put.was]
                self._place(engine, older)
                self._moved.append(before)
            else:
                before.end()
        # Who was moved to another name is not there any more: the others have come since.
        if move.new_map_id not in (None, move.map_id) or not self._moved:
            self._moved += self._begin_move(engine, move)
        return sum(len(change.plan.placed) for change in self._moved)

    def was_cut_off(self, engine: Engine, move: MapMove) -> bool:
        """Tell whether a move was cut off, and nobody has been told yet that it is finished."""
        before = [cut for cut in self._log.unfinished() if cut.plan.asked == move.asked and cut.plan.placed]
        return any(cut.has_rows or _is_done(engine, cut.plan.placed) for cut in before)

    def report(self) -> None:
        """Let go of what was moved: somebody knows that it was."""
        moved, self._moved = self._moved, []
        for change in moved:
            try:
                change.end()
            except StoreUnavailable as error:
                logger.warning('the memories were moved, but that may be said once more: %s', error)

    def close(self, reported: bool = True) -> None:
        """Let go of the log.

        :param reported: somebody knows what was moved; False: when it is asked for again, it says so again
        """
        if reported:
            self.report()
        self._log.close()

    def _begin_move(self, engine: Engine, move: MapMove) -> list[LoggedChange]:
        """Place memories anew; none: there is nothing to do."""
        # Where they are is asked under the claim, whose name is noted before: else nobody could release it.
        claim = self._log.begin(ChangePlan(asked=move.asked))
        try:
            engine.claim(claim.name)
            placed = move.placed(engine)
        except InvalidRequest:
            engine.release(claim.name)
            claim.end()
            raise
        if not placed:
            engine.release(claim.name)
            claim.end()
            return []
        own = self._log.begin(ChangePlan(placed=placed, asked=move.asked), claim.name)
        self._change_rows(engine, [own])
        return [own]

    def _finish_all(self, engine: Engine, changes: Sequence[LoggedChange]) -> None:
        try:
            self._change_rows(engine, changes)
            self._clean(engine, changes)
        except RemembrError as error:
            self._problem = str(error)
            raise
        self._problem = ''

    def _change_rows(self, engine: Engine, changes: Sequence[LoggedChange]) -> None:
        self._rows_left = True
        for change in changes:
            if change.has_rows:
                # Without its claim it has moved nothing yet, and others may have since.
                if change.plan.placed and not engine.is_claimed(change.name):
                    change.end()
                    continue
                if change.plan.ids:
                    engine.delete(change.plan.ids)
                self._place(engine, change.plan.placed)
                change.rows_are_done()
            if change.plan.asked:
                engine.release(change.name)
        self._rows_left = False

    @staticmethod
    def _place(engine: Engine, placed: Sequence[Placed]) -> None:
        places = {placed_memory.id: placed_memory.to for placed_memory in placed}
        if places:
            engine.update([_placed(memory, places[memory.id]) for memory in engine.get(list(places))])

    def _clean(self, engine: Engine, changes: Sequence[LoggedChange]) -> None:
        """Delete from files what is in no row any more."""
        failed = None
        try:
            self._keyframes.remove((n for change in changes for n in change.plan.keyframes), engine.named)
        except OSError as error:
            failed = error
        if any(change.plan.vacuum for change in changes):
            engine.vacuum()
        if failed is not None:
            raise StoreUnavailable(
                f'the memories are gone, but not all of their keyframes: {failed}; forget them again, which '
                f'tries once more, or delete those of {self._keyframes.folder} by hand'
            ) from failed
        for change in changes:
            if not change.plan.placed:
                change.end()


def _place(memory: Memory) -> Location:
    pose = (*memory.pose.position, memory.pose.yaw) if memory.pose else None
    return pose, memory.map_id, memory.frame_id


def _placed(memory: Memory, place: Location) -> Memory:
    pose, map_id, frame_id = place
    return replace(memory, pose=Pose(*pose) if pose else None, map_id=map_id, frame_id=frame_id)


def _is_done(engine: Engine, placed: Sequence[Placed]) -> bool:
    """Tell whether memories are where they were moved to, and were not before.

    None of them is, where somebody put back an older copy of the database, or recorded all of them again. One
    is enough: others may have been forgotten since, or extended by a stay.
    """
    return any(now == move.to for now, move in _changing(engine, placed))


def _changing(engine: Engine, placed: Sequence[Placed]) -> Iterator[tuple[Location, Placed]]:
    """Yield where memories are that a move puts elsewhere; those without a place may stay where they are."""
    for start in range(0, len(placed), BATCH):
        moves = {move.id: move for move in placed[start : start + BATCH] if move.to != move.was}
        for memory in engine.get(list(moves)):
            yield _place(memory), moves[memory.id]
