"""What narrows down which memories count; each condition combines with the others by "and"."""

from typing import Any

from remembr_ros.forms.fields import After, Before, Map, Nanoseconds, Near, Place, Radius, Robot, Source
from remembr_ros.forms.form import Form
from remembr_ros.geometry import Point
from remembr_ros.memory.model.recall import Scope


class ScopeForm(Form):
    """Which memories count."""

    after: After = None
    before: Before = None
    robot: Robot = ()
    map: Map = None
    place: Place = None
    near: Near = None
    radius: Radius = None

    @property
    def nearest_to(self) -> Point | None:
        """What the nearest is to come first to [m]; None: something else does."""
        position: Point | None = getattr(self, 'position', None)
        return position if position is not None or self.radius is not None else self.near

    def scope(self) -> Scope:
        """Return the same for a store.

        :raises InvalidRequest: the conditions do not go together
        """
        near = self.near
        if 'position' in type(self).model_fields:
            position: Point | None = getattr(self, 'position', None)
            if self.radius is not None:
                near = near or position
            elif position is None:  # near says what is nearest
                near = None
        source: str | None = getattr(self, 'source', None)
        window = self.after, self.before
        return Scope(*window, near, self.radius, self.robot, self.map, source, place=self.place)


class SourceForm(ScopeForm):
    """Which memories count, also by where they come from."""

    source: Source = None


def scope_asked(scope: Scope) -> dict[str, Any]:
    """Return the fields that ask for the same as a scope."""
    times = {'after': scope.after_ns, 'before': scope.before_ns}
    return {
        **{name: Nanoseconds(max(ns, 1)) for name, ns in times.items() if ns is not None},
        'robot': scope.robots,
        'map': scope.map_id,
        'place': scope.place,
        'near': scope.near,
        'radius': scope.radius_m,
    }
