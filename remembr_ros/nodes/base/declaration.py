"""Parameters as ROS knows them: descriptors and values, from the dataclasses of parameters.py."""

import dataclasses
import difflib
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from remembr_ros.nodes.base.parameter_field import objection

P = TypeVar('P')


def declare_parameters(node: Node, cls: type[P]) -> P:
    """Declare the dataclass's parameters on the node and return their values.

    :raises rclpy.exceptions.ParameterException: an override has the wrong type or is out of range
    """

    def refuse_unknown_choices(parameters: list[Parameter]) -> SetParametersResult:
        return _check(cls, parameters)

    node.add_on_set_parameters_callback(refuse_unknown_choices)
    node.add_pre_set_parameters_callback(lambda parameters: _typed(cls, parameters))
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        if not _is_list(field):
            node.declare_parameter(field.name, default_of(field), _descriptor(field))
            continue
        given = node._parameter_overrides.get(field.name)
        empty = given is None or given.value is None or _is_empty(given)  # [] on a command line is None
        node.declare_parameter(field.name, _list_type(field), _descriptor(field), ignore_override=empty)
        if empty:
            # rclpy knows the type of a list by its items, and would leave the parameter without a value: then
            # a request for several parameters, as tools send it, is answered with none of them.
            node._parameters[field.name] = Parameter(field.name, _list_type(field), [])
    return read_parameters(node, cls)


def unknown_overrides(node: Node) -> list[str]:
    """Return what was given a value and is no parameter of the node, each with the nearest that is one."""
    known = {name for name in node._parameters if not name.startswith('qos_overrides.')}
    found = []
    for name in sorted(set(node._parameter_overrides) - known):
        if not name.startswith('qos_overrides.'):  # declared with the subscription
            near = difflib.get_close_matches(name, known, n=1)
            found.append(f'{name} (did you mean {near[0]}?)' if near else name)
    return found


def read_parameters(node: Node, cls: type[P]) -> P:
    """Return the present values of the declared parameters."""
    values = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        parameter = node.get_parameter_or(field.name, None)
        unset = parameter is None or parameter.type_ == Parameter.Type.NOT_SET
        value = default_of(field) if unset else parameter.value
        values[field.name] = list(value) if isinstance(default_of(field), list) else value
    return cls(**values)


def default_of(field: 'dataclasses.Field[Any]') -> Any:
    """Return a field's default."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _is_list(field: 'dataclasses.Field[Any]') -> bool:
    return isinstance(default_of(field), list)


def _is_empty(parameter: Parameter) -> bool:
    return parameter.type_.name.endswith('_ARRAY') and not parameter.value


def _typed(cls: type, parameters: list[Parameter]) -> list[Parameter]:
    """Return the same parameters, an empty list with the type it should have: a tool cannot know it."""
    kinds = {field.name: _list_type(field) for field in dataclasses.fields(cls) if _is_list(field)}
    return [
        Parameter(one.name, kinds[one.name], []) if one.name in kinds and _is_empty(one) else one
        for one in parameters
    ]


def _list_type(field: 'dataclasses.Field[Any]') -> Parameter.Type:
    return Parameter.Type.DOUBLE_ARRAY if field.type == list[float] else Parameter.Type.STRING_ARRAY


def _descriptor(field: 'dataclasses.Field[Any]') -> ParameterDescriptor:
    metadata = field.metadata
    unit = f' [{metadata["unit"]}]' if metadata['unit'] else ''
    descriptor = ParameterDescriptor(
        description=f'{metadata["text"]}{unit} ({_when(metadata)})', read_only=metadata['read_only']
    )
    if metadata['choices']:
        descriptor.additional_constraints = 'one of ' + ', '.join(metadata['choices'])
    if metadata['low'] is not None and isinstance(field.default, int):
        descriptor.integer_range = [
            IntegerRange(from_value=int(metadata['low']), to_value=int(metadata['high']), step=1)
        ]
    elif metadata['low'] is not None:
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=metadata['low'], to_value=metadata['high'], step=0.0)
        ]
    return descriptor


def _when(metadata: Any) -> str:
    """Return when a new value counts."""
    if metadata['read_only']:
        return 'read at the start'
    return 'takes effect at once' if metadata['live'] else 'read on configure'


def _check(cls: type, parameters: list[Parameter]) -> SetParametersResult:
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for parameter in parameters:
        field = fields.get(parameter.name)
        if field is None:
            continue
        if reason := objection(parameter.name, field.metadata, parameter.value):
            return SetParametersResult(successful=False, reason=reason)
    return SetParametersResult(successful=True)
