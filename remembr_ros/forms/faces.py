"""The faces of a form: options of the command line, keyword arguments, a tool of a model, a ROS message.

A page's address and body are no face of their own: FastAPI reads a form as it is.
"""

import argparse
import functools
import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.fields import Nanoseconds, Position, Time, TimeOrDeed
from remembr_ros.forms.form import AnyForm, Form, read, synonyms
from remembr_ros.timestamps import NS

_Method = TypeVar('_Method', bound=Callable[..., Any])

_LEAST = 1e-6  # of a length in a message that has to count [m]
_KEPT = ('type', 'enum', 'required')
_BOUNDS = ('minimum', 'maximum', 'minItems', 'maxItems', 'maxLength')


def fields_of(form: type[Form]) -> dict[str, FieldInfo]:
    """Return the fields of a form, its own before those that it has from another one."""
    inherited = [name for base in form.__mro__[1:] for name in getattr(base, '__annotations__', ())]
    own = [name for name in form.model_fields if name in form.__annotations__]
    named = [*own, *(name for name in form.model_fields if name in inherited and name not in own)]
    return {name: form.model_fields[name] for name in named}


def kind_of(field: FieldInfo) -> Any:
    """Return the type of what a field takes, without None."""
    kinds = [field.annotation]
    if get_origin(field.annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(field.annotation) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 else TimeOrDeed


def choices_of(kind: Any) -> tuple[Any, ...]:
    """Return what can be chosen; empty: anything."""
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if get_origin(kind) is tuple:
        return choices_of(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(one.value for one in kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()


def flag(name: str) -> str:
    """Return the option of the command line for a field."""
    return f'--{name.replace("_", "-")}'


def add_options(parser: argparse._ActionsContainer, form: type[Form], *, words: str = '') -> None:
    """Add an option for each field, with its text; other words for it are understood, too.

    :param words: the field that may be given without its option, in as many words as it has
    """
    if words:
        about = form.model_fields[words].description
        parser.add_argument('words', metavar=words.upper(), nargs='*', default=[], help=about)
        parser.set_defaults(words_of=words)
    for name, field in fields_of(form).items():
        kind = kind_of(field)
        option: dict[str, Any] = {'dest': name, 'default': argparse.SUPPRESS, 'metavar': name.upper()}
        about, chosen = field.description or '', choices_of(kind)
        if kind is bool:
            option['action'] = 'store_true' if field.default is False else argparse.BooleanOptionalAction
            del option['metavar']
        elif kind == Position:
            option |= {'nargs': '+', 'metavar': ('X Y', 'Z'), 'action': _Coordinates}
        elif kind == Time:
            option['metavar'] = 'TIME'
        elif kind == TimeOrDeed:
            option['metavar'] = 'TIME|WORDS'
        elif _is_several(kind):
            option['action'] = 'append'
        if chosen:
            about += f': {", ".join(chosen)}'
        default = getattr(field.default, 'value', field.default)
        if not field.is_required() and default not in (None, '', (), False):
            about += f' (default: {default})'
        others = [flag(other) for other in synonyms(form, name) if len(other) > 1]
        known = parser._option_string_actions
        flags = [flag(name), *(other for other in others if other not in known)]
        parser.add_argument(*flags, **option, help=about.replace('%', '%%'))


class _Coordinates(argparse.Action):
    """Takes two or three numbers, or 'x,y,z'; words behind them are of what needs no option."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, _: Any = None) -> None:
        end = 1 if ',' in values[0] else 3
        setattr(namespace, self.dest, values[:end])
        namespace.behind = [*getattr(namespace, 'behind', ()), *values[end:]]


def from_options(form: type[AnyForm], args: argparse.Namespace, **more: Any) -> AnyForm:
    """Return the form that the options say.

    :param more: fields that are said otherwise
    :raises InvalidRequest: they make no sense; the message names options
    """
    given = {name: value for name, value in vars(args).items() if name in form.model_fields}
    field, words = getattr(args, 'words_of', ''), ' '.join(getattr(args, 'words', ()))
    if words and field in form.model_fields:
        if field in given:
            raise InvalidRequest(f'{words!r:.60} is a second {field} beside {flag(field)}; give one of them')
        given[field] = words
    return read(form, given | more, flag)


def keywords(form: type[Form], *first: str) -> Callable[[_Method], _Method]:
    """Give a method, which takes a form, the fields of it as keyword arguments.

    :param first: fields that may be given without their names
    """
    named = fields_of(form)
    order = [*first, *(name for name in named if name not in first)]

    def with_fields(method: _Method) -> _Method:
        @functools.wraps(method)
        def call(self: Any, *given: Any, **values: Any) -> Any:
            if len(given) > len(first):
                raise InvalidRequest(f'{method.__name__} takes these by name: {", ".join(order)}')
            twice = [name for name in first[: len(given)] if name in values]
            if twice:
                raise InvalidRequest(f'{method.__name__} is given {twice[0]} twice')
            return method(self, read(form, {**dict(zip(first, given, strict=False)), **values}))

        parameters = [
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD if name in first else inspect.Parameter.KEYWORD_ONLY,
                default=named[name].get_default(call_default_factory=True),
            )
            for name in order
        ]
        itself = inspect.Parameter('self', inspect.Parameter.POSITIONAL_ONLY)
        returned = inspect.signature(method).return_annotation
        call.__signature__ = inspect.Signature([itself, *parameters], return_annotation=returned)  # type: ignore[attr-defined]
        told = '\n'.join(f'        :param {name}: {named[name].description}' for name in order)
        call.__doc__ = f'{inspect.cleandoc(method.__doc__ or "")}\n\n{told}'
        return call  # type: ignore[return-value]

    return with_fields


def tool_schema(form: type[Form]) -> dict[str, Any]:
    """Return the JSON schema of a form's fields, its own first, for another program's model."""
    whole = compact(form.model_json_schema(), bounds=True)
    properties = {name: whole['properties'][name] for name in fields_of(form)}
    required = {'required': whole['required']} if 'required' in whole else {}
    return {'type': 'object', 'properties': properties, 'additionalProperties': False, **required}


def compact(
    schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None, *, bounds: bool = False
) -> dict[str, Any]:
    """Return a JSON schema in as few words as a model needs: the checks themselves are done by code.

    Without titles and defaults, with references filled in. An optional value is of its only type, and what
    may be a text or something else is a text.

    :param bounds: of numbers and lists, too
    """
    definitions = {**(definitions or {}), **schema.get('$defs', {})}
    if '$ref' in schema:
        named = definitions[schema['$ref'].rpartition('/')[2]]
        about = {'description': schema['description']} if 'description' in schema else {}
        return compact({**named, 'description': '', **about}, definitions, bounds=bounds)
    kept = {key: schema[key] for key in (*_KEPT, *(_BOUNDS if bounds else ())) if key in schema}
    if schema.get('description'):
        kept['description'] = ' '.join(schema['description'].split())
    options = [option for option in schema.get('anyOf', ()) if option.get('type') != 'null']
    if options:
        text = next((option for option in options if option.get('type') == 'string'), options[0])
        inner = compact(text, definitions, bounds=bounds)
        said = ': '.join(filter(None, (kept.get('description'), inner.get('description'))))
        kept |= inner | ({'description': said} if said else {})
    if 'items' in schema:
        kept['items'] = compact(schema['items'], definitions, bounds=bounds)
    if 'properties' in schema:
        kept['properties'] = {
            name: compact(inner, definitions, bounds=bounds)
            for name, inner in schema['properties'].items()
            if not inner.get('untold')
        }
    return kept


def from_message(form: type[AnyForm], message: Any) -> AnyForm:
    """Return the form of a ROS message whose fields have its names; what is empty, zero or false is not
    given, unless use_NAME says that it counts. A time or words of a deed are NAME and NAME_deed.

    :raises InvalidRequest: the fields make no sense
    """
    given: dict[str, Any] = {}
    for name, field in form.model_fields.items():
        if not hasattr(message, name):
            continue
        kind, value = kind_of(field), getattr(message, name)
        if hasattr(value, 'nanosec'):
            value = Nanoseconds(value.sec * NS + value.nanosec)
        elif hasattr(value, 'x'):
            point = [value.x, value.y, value.z]
            value = point if any(point) else None
            if getattr(message, f'use_{name}', False):
                value = point
        if kind == TimeOrDeed:
            words = getattr(message, f'{name}_deed')
            if words and value:
                raise InvalidRequest(f'{name} and {name}_deed are both given; give one of them')
            value = words or value
        if value is not None and (getattr(message, f'use_{name}', False) or _counts(value)):
            given[name] = list(value) if _is_several(kind) else value
    return read(form, given)


def fill_message(form: Form, message: Any) -> None:
    """Fill the fields of a form into a ROS message, those that it has; see from_message.

    Where no use_NAME says that zero counts, a time or a length of zero becomes the least that does. A time
    that no message can hold becomes the nearest that one can.
    """
    for name, field in type(form).model_fields.items():
        value = getattr(form, name)
        if not hasattr(message, name) or value is None or (value == field.default and not value):
            continue
        kind, target = kind_of(field), getattr(message, name)
        zero_counts = hasattr(message, f'use_{name}')
        if zero_counts:
            setattr(message, f'use_{name}', True)
        if hasattr(target, 'nanosec'):
            if isinstance(value, str):
                setattr(message, f'{name}_deed', value)
                continue
            value = min(max(value, -(2**31) * NS), 2**31 * NS - 1)
            target.sec, target.nanosec = divmod(value or int(not zero_counts), NS)
        elif isinstance(value, float):
            setattr(message, name, value or (0.0 if zero_counts else _LEAST))
        elif kind == Position:
            target.x, target.y, target.z = map(float, value)
        elif _is_several(kind):
            setattr(message, name, list(value))
        else:
            setattr(message, name, getattr(value, 'value', value))


def _is_several(kind: Any) -> bool:
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    return get_origin(kind) is tuple and get_args(kind)[-1] is ...


def _counts(value: Any) -> bool:
    return len(value) > 0 if hasattr(value, '__len__') else bool(value)
