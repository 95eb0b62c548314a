"""Places: the parts of a map that have names."""

from typing import Annotated

import shapely

from remembr_ros.forms.fields import Limit, Map, PlaceWords, Position, word
from remembr_ros.forms.form import Form
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.places.places import known_places
from remembr_ros.memory.recall_protocol import Recall


class PlacesForm(Form):
    """List the places that have names, smaller ones first."""

    place: Annotated[
        PlaceWords, word('only the one of this name, or another name of it', 'kitchen', 'name room')
    ] = ''
    position: Annotated[
        Position | None, word('only those that it lies in', [2, 1.5, 0], 'at here point', 'm')
    ] = None
    map: Map = None
    limit: Annotated[Limit | None, word('so many at most (default: all)', 10, 'k n')] = None

    def find(self, recall: Recall) -> list[NamedPlace]:
        """Return the places.

        :raises InvalidRequest: there is no place of that name
        :raises StoreUnavailable: the memory does not work
        """
        known = known_places(recall)
        found = [known.named(self.place, self.map)] if self.place else [*known.all]
        if self.position is not None:
            point = shapely.Point(self.position[:2])
            found = [spot for spot in found if spot.shape.covers(point)]
        return [spot for spot in found if self.map in (None, spot.memory.map_id)][: self.limit]
