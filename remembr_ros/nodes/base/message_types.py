"""Classes of messages by names that come from the graph or a bag."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_NAME = re.compile(r'([a-z][a-z0-9_]*)/(msg|srv|action)/([A-Z][A-Za-z0-9]*)((?:_[A-Z][A-Za-z0-9]*)*)')


def message_type(name: str) -> type[Any]:
    """Return the class of a message, such as nav2_msgs/action/NavigateToPose_FeedbackMessage.

    An import runs what it imports, and anybody can publish under any name: only a package beside whose code
    lies what rosidl generates for interfaces is imported.

    :raises ImportError: it is no name of a message, or no interface package of that name is installed
    :raises AttributeError: its package does not have it
    """
    if (named := _NAME.fullmatch(name)) is None:
        raise ImportError(f'{name!r} is no name of a message')
    package, folder, first, parts = named.groups()
    spec = find_spec(package)
    places = [Path(place) for place in (spec.submodule_search_locations if spec else None) or ()]
    if not any([*place.glob(f'{package}_s__rosidl_typesupport_c.*')] for place in places):
        raise ImportError(f'no interface package {package} is installed')
    found: Any = getattr(import_module(f'{package}.{folder}'), first)
    if folder == 'action':
        found = found.Impl
    for part in parts.split('_')[1:]:  # of an action FeedbackMessage or SendGoal_Event, of a service Event
        found = getattr(found, part, None) or getattr(found, f'{part}Service')
    kind: type[Any] = found
    return kind
