"""Declares ROS parameters with descriptors, from the dataclasses of parameters.py."""

import dataclasses
import difflib
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from remembr_ros.forms.parameter import Parameters, default_of, objection
from remembr_ros.printable import MASK, shown_url

# URLs with passwords that nodes were given, by parameter and by what is shown of each.
_hidden_of: WeakKeyDictionary[Node, dict[tuple[str, str], str]] = WeakKeyDictionary()

P = TypeVar('P', bound=Parameters)

_LISTS: dict[Any, Parameter.Type] = {
    list[float]: Parameter.Type.DOUBLE_ARRAY,
    list[str]: Parameter.Type.STRING_ARRAY,
}


def declare_parameters(node: Node, cls: type[P]) -> P:
    """Declare the dataclass's parameters on the node and return their values.

    :raises rclpy.exceptions.ParameterException: an override has the wrong type or is out of range
    """
    node.add_on_set_parameters_callback(lambda parameters: _check(cls, parameters))
    node.add_pre_set_parameters_callback(
        lambda parameters: [_hidden(node, given) for given in _typed(cls, parameters)]
    )
    overrides = _overrides(node)
    overrides |= {name: _hidden(node, given) for name, given in overrides.items()}
    list_types = _list_types(cls)
    for field in dataclasses.fields(cls):
        if (list_type := list_types.get(field.name)) is None:
            node.declare_parameter(field.name, default_of(field), _descriptor(field))
            continue
        given = overrides.get(field.name)
        empty = given is None or given.value is None or _is_empty(given)  # [] on a command line is None
        node.declare_parameter(field.name, list_type, _descriptor(field), ignore_override=empty)
        if empty:
            # rclpy knows the type of a list by its items, and would leave the parameter without a value: then
            # a request for several parameters, as tools send it, is answered with none of them.
            _declared(node)[field.name] = Parameter(field.name, list_type, [])
    return read_parameters(node, cls)


def unknown_overrides(node: Node) -> list[str]:
    """Return what was given a value and is no parameter of the node, each with the nearest that is one."""
    known = {name for name in _declared(node) if not name.startswith('qos_overrides.')}
    found = []
    for name in sorted(set(_overrides(node)) - known):
        if not name.startswith('qos_overrides.'):  # declared with the subscription
            near = difflib.get_close_matches(name, known, n=1)
            found.append(f'{name} (did you mean {near[0]}?)' if near else name)
    return found


def read_parameters(node: Node, cls: type[P]) -> P:
    """Return the present values of the declared parameters."""
    values = {field.name: node.get_parameter(field.name).value for field in dataclasses.fields(cls)}
    hidden = _hidden_of.get(node, {})
    values |= {name: url for (name, shown), url in hidden.items() if values.get(name) == shown}
    return cls(**values | {name: list(values[name]) for name in _list_types(cls)})


def _overrides(node: Node) -> dict[str, Parameter]:
    """Return the values that the node was started with; rclpy keeps these to itself."""
    return node._parameter_overrides


def _declared(node: Node) -> dict[str, Parameter]:
    """Return the parameters of the node, to be changed past its checks; rclpy keeps these to itself."""
    return node._parameters


def _list_types(cls: type[Parameters]) -> dict[str, Parameter.Type]:
    """Return the type of each parameter that is a list."""
    return {field.name: _LISTS[field.type] for field in dataclasses.fields(cls) if field.type in _LISTS}


def _is_empty(parameter: Parameter) -> bool:
    return parameter.type_.name.endswith('_ARRAY') and not parameter.value


def _typed(cls: type[Parameters], parameters: list[Parameter]) -> list[Parameter]:
    """Return the same parameters, an empty list with the type it should have: a tool cannot know it."""
    types = _list_types(cls)
    return [
        Parameter(given.name, types[given.name], []) if given.name in types and _is_empty(given) else given
        for given in parameters
    ]


def _hidden(node: Node, given: Parameter) -> Parameter:
    """Return a parameter without the password of a URL: every node and tool can read parameters."""
    url = given.value
    if not isinstance(url, str) or not url.partition('://')[0].isalnum() or (shown := shown_url(url)) == url:
        return given
    shown = shown.replace('://', f'://{MASK}@', 1)
    if url != shown:  # else somebody sets again what was shown: the password stays
        _hidden_of.setdefault(node, {})[given.name, shown] = url
    return Parameter(given.name, Parameter.Type.STRING, shown)


def _descriptor(field: 'dataclasses.Field[Any]') -> ParameterDescriptor:
    about = field.metadata
    unit = f' [{about["unit"]}]' if about['unit'] else ''
    when = 'takes effect at once' if about['live'] else 'read on configure'
    if about['read_only']:
        when = 'read at the start'
    descriptor = ParameterDescriptor(
        description=f'{about["text"]}{unit} ({when})', read_only=about['read_only']
    )
    if about['choices']:
        descriptor.additional_constraints = 'one of ' + ', '.join(about['choices'])
    low, high = about['low'], about['high']
    if low is not None and isinstance(field.default, int):
        descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high), step=1)]
    elif low is not None:
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high, step=0.0)]
    return descriptor


def _check(cls: type[Parameters], parameters: list[Parameter]) -> SetParametersResult:
    about = {field.name: field.metadata for field in dataclasses.fields(cls)}
    objections = (
        objection(given.name, about[given.name], given.value) for given in parameters if given.name in about
    )
    reason = next(filter(None, objections), '')
    return SetParametersResult(successful=not reason, reason=reason)
