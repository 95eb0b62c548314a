"""The file of launch argument params_file, checked before anything starts.

A node would run without what it cannot find in the file, such as its keep-out areas, and say nothing.
"""

import dataclasses
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.parameter import Parameters, default_of, objection
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.captioner.parameters import CaptionerParameters
from remembr_ros.nodes.events.parameters import EventsParameters
from remembr_ros.nodes.memory.parameters import MemoryParameters
from remembr_ros.nodes.objects.parameters import ObjectsParameters
from remembr_ros.nodes.replay.parameters import BagPlayerParameters
from remembr_ros.nodes.speech.parameters import SpeechParameters
from remembr_ros.nodes.web.parameters import WebParameters

NODE_PARAMETERS: dict[str, type[Parameters]] = {
    'captioner': CaptionerParameters,
    'memory': MemoryParameters,
    'agent': AgentParameters,
    'events': EventsParameters,
    'objects': ObjectsParameters,
    'speech': SpeechParameters,
    'web': WebParameters,
    'bag_player': BagPlayerParameters,
}
"""Parameters of each node, by node name."""

_OF_EVERY_NODE = ('use_sim_time', 'start_type_description_service')
_OVERRIDES = 'qos_overrides.'
_WILDCARDS = ('*', '**')

# difflib's ratio from which on a name is taken for a slip of the pen: 'agnet', but not 'amcl'.
NEAR = 0.7

_SHAPES = {
    bool: 'true or false',
    int: 'an integer',
    float: 'a number with a decimal point, such as 1.0',
    str: "text, in quotation marks such as 'this'",
    list: 'a list',
}


def check_params_file(path: str, nodes: Sequence[str]) -> None:
    """Return if the nodes can do with a parameters file.

    :param nodes: full names of those that start, such as /remembr/agent
    :raises InvalidRequest: it cannot be read, or has nodes, parameters or values that there are not
    """
    try:
        content = yaml.safe_load(Path(path).read_text('utf-8'))
    except OSError as error:
        raise InvalidRequest(f'params_file:={path} cannot be read: {error.strerror}') from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidRequest(f'params_file:={path} is no YAML: {" ".join(str(error).split())}') from error
    # None: all of it is commented out.
    if content is not None and (problems := list(_problems(content, nodes))):
        more = f'; and {len(problems) - 5} more' if len(problems) > 5 else ''
        raise InvalidRequest(f'params_file:={path}: {"; ".join(problems[:5])}{more}')


def _problems(content: Any, nodes: Sequence[str]) -> Iterator[str]:
    if not isinstance(content, Mapping):
        yield "it has no nodes; such as '/**/agent', with ros__parameters below"
        return
    meant: dict[str, list[str]] = {}
    for section, values in _sections(content):
        last = section.rpartition('/')[2]
        if last not in (*NODE_PARAMETERS, *_WILDCARDS):
            # A file may be that of the whole robot, with the nodes of others.
            if not set(section.split('/')).isdisjoint(NODE_PARAMETERS):
                yield f'there is no node {section!r}; parameters come below ros__parameters'
            elif near := difflib.get_close_matches(last, NODE_PARAMETERS, n=1, cutoff=NEAR):
                yield f'there is no node {section!r} (did you mean {near[0]}?)'
            continue
        meant.setdefault(last, []).append(section)
        if values == {}:
            continue
        if not isinstance(values, Mapping):
            yield f'{section} has no parameters below ros__parameters'
            continue
        kinds = list(NODE_PARAMETERS) if last in _WILDCARDS else [last]
        for name, value in _flat(values):
            of_others = last in _WILDCARDS and not _fields(kinds, name)
            if not of_others and (problem := _problem(kinds, name, value)):
                yield f'{section}: {problem}'
    for last, sections in meant.items():
        starting = [node for node in nodes if last in (node.rpartition('/')[2], *_WILDCARDS)]
        if starting and not any(_matches(section, node) for section in sections for node in starting):
            yield f'{", ".join(sections)} is not the name of {", ".join(starting)}; write /**/{last}'


def _sections(content: Mapping[Any, Any], above: str = '') -> Iterator[tuple[str, Any]]:
    """Yield the name that each section has, with namespaces, and what is below its ros__parameters."""
    for key, below in content.items():
        name = f'{above}/{str(key).removeprefix("/")}'
        if not isinstance(below, Mapping) or not below:
            yield name, None
            continue
        if 'ros__parameters' in below:
            yield name, below['ros__parameters']
        yield from _sections({k: v for k, v in below.items() if k != 'ros__parameters'}, name)


def _matches(section: str, node: str) -> bool:
    """Tell whether rcl gives a section to a node: * is one part of its name, ** any number of parts."""
    parts = {'*': r'/\w+', '**': r'(/\w+)*'}
    pattern = ''.join(parts.get(part, f'/{re.escape(part)}') for part in section[1:].split('/'))
    return bool(re.fullmatch(pattern, node))


def _flat(values: Mapping[Any, Any], above: str = '') -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f'{above}{key}.')
        else:
            yield f'{above}{key}', value


def _problem(kinds: Sequence[str], name: str, value: Any) -> str:
    if name in _OF_EVERY_NODE or name.startswith(_OVERRIDES):
        return ''
    if not (of_name := _fields(kinds, name)):
        near = difflib.get_close_matches(name, [field.name for field in _fields(kinds)], n=1)
        return f'there is no parameter {name!r}' + (f' (did you mean {near[0]}?)' if near else '')
    return next(filter(None, (_objection(field, value) for field in of_name)), '')


def _fields(kinds: Sequence[str], name: str = '') -> 'list[dataclasses.Field[Any]]':
    """Return the parameters of nodes, those of a name if one is given."""
    fields = [field for kind in kinds for field in dataclasses.fields(NODE_PARAMETERS[kind])]
    return [field for field in fields if name in ('', field.name)]


def _objection(field: 'dataclasses.Field[Any]', value: Any) -> str:
    kind = type(default_of(field))
    if kind is float and isinstance(value, str):  # '1e3' is a number to ROS, and a text to YAML 1.1
        with suppress(ValueError):
            value = float(value)
    # What YAML 1.1 takes for a date or nothing is a text to ROS.
    if type(value) is not kind and not (kind is str and type(value) not in _SHAPES):
        return f'{field.name} is {value!r}; it has to be {_SHAPES[kind]}'
    return objection(field.name, field.metadata, value)
