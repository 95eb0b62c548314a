"""Parameters as ROS knows them: descriptors and values, from the dataclasses of parameters.py."""

import dataclasses
import difflib
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from remembr_ros.nodes.parameter_field import objection

P = TypeVar('P')


def declare_parameters(node: Node, cls: type[P]) -> P:
    """Declare the dataclass's parameters on the node and return their values.

    :raises rclpy.exceptions.ParameterException: an override has the wrong type or is out of range
    """

    def refuse_unknown_choices(parameters: list[Parameter]) -> SetParametersResult:
        return _check(cls, parameters)

    node.add_on_set_parameters_callback(refuse_unknown_choices)
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        default = default_of(field)
        # An empty list has no type of its own.
        kind = None if default != [] else _list_type(field)
        node.declare_parameter(field.name, kind or default, _descriptor(field))
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
