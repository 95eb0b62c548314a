"""A form: fields that are read whatever face they come by, and errors in that face's words."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from remembr_ros.errors import InvalidRequest
from remembr_ros.printable import printable

AnyForm = TypeVar('AnyForm', bound='Form')

MOST_WRONG = 3  # of a form, that an error tells
_QUOTED = 80  # characters of a value that an error quotes

_WRONG = {
    **dict.fromkeys(('int_type', 'int_parsing', 'int_from_float', 'int_parsing_size'), 'a whole number'),
    **dict.fromkeys(('float_type', 'float_parsing', 'finite_number'), 'a number'),
    **dict.fromkeys(('bool_type', 'bool_parsing'), 'true or false'),
    **dict.fromkeys(('string_type', 'string_unicode'), 'a text'),
    **dict.fromkeys(('list_type', 'tuple_type'), 'a list'),
    **dict.fromkeys(('dict_type', 'model_type', 'model_attributes_type'), 'an object'),
    **dict.fromkeys(('literal_error', 'enum'), 'one of {expected}'),
    'greater_than_equal': 'at least {ge:g}',
    'less_than_equal': 'at most {le:g}',
    'greater_than': 'above {gt:g}',
    'less_than': 'below {lt:g}',
    'string_too_short': 'a text of at least {min_length} characters',
    'string_too_long': 'a text of at most {max_length} characters',
    'too_long': 'at most {max_length} of them',
    'too_short': 'at least {min_length} of them',
}
"""What a value has to be, by what pydantic says is wrong with it."""


class Form(BaseModel):
    """What is asked: the docstring of each says so. What is null is not given."""

    model_config = ConfigDict(extra='forbid', frozen=True, allow_inf_nan=False)

    @model_validator(mode='before')
    @classmethod
    def _without_null(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {name: _whole(value) for name, value in given.items() if value is not None}


def _whole(value: Any) -> Any:
    """Return a text without halves of characters, which no terminal and no database has."""
    return value.encode('utf-8', 'replace').decode() if isinstance(value, str) else value


def read(
    form: type[AnyForm], given: Mapping[str, Any], say: Callable[[str], str] = str, what: str = ''
) -> AnyForm:
    """Return a form as it was filled in.

    :param say: how a face writes the name of a field
    :param what: what takes the form, such as a tool; empty: the form says
    :raises InvalidRequest: a value makes no sense, or there is no such field
    """
    try:
        return form.model_validate(given)
    except ValidationError as error:
        raise InvalidRequest(in_words(error.errors(), form, say, what)) from None


def in_words(
    errors: Iterable[Any], form: type[BaseModel], say: Callable[[str], str] = str, what: str = ''
) -> str:
    """Return what pydantic found wrong, for a person; say and what: as of read."""
    what = what or form.__name__.removesuffix('Form').lower()
    return '; '.join(_sentence(error, form, say, what) for error in [*errors][:MOST_WRONG])


def unknown_argument(
    what: str,
    given: Iterable[str],
    known: Iterable[str],
    form: type[BaseModel],
    say: Callable[[str], str] = str,
) -> str | None:
    """Return why what was given is refused: dropped silently, it would look as if it had counted.

    :param what: what takes these arguments, such as a tool
    :param known: names of those that it takes
    :param form: that has other words for them
    :return: for a person or an agent; None: all of it is known
    """
    names = [*known]
    wrong = next((name for name in given if name not in names), None)
    if wrong is None:
        return None
    meant = next(
        (name for name in names if name in form.model_fields and wrong in synonyms(form, name)), None
    )
    if meant is not None:
        return f'{what} has no argument {say(wrong)!r}: it is called {say(meant)}'
    takes = f'it takes {", ".join(map(say, names))}' if names else 'it takes none'
    return f'{what} has no argument {say(wrong[:50])!r}; {takes}'


def synonyms(form: type[BaseModel], name: str) -> tuple[str, ...]:
    """Return other words for a field."""
    extra = form.model_fields[name].json_schema_extra if name in form.model_fields else None
    return tuple(extra.get('synonyms', ())) if isinstance(extra, dict) else ()  # type: ignore[arg-type]


def _sentence(error: Mapping[str, Any], form: type[BaseModel], say: Callable[[str], str], what: str) -> str:
    name, *inner = map(str, error['loc'] or [''])
    kind, about = error['type'], error.get('ctx', {})
    if kind == 'extra_forbidden':
        return str(unknown_argument(what, [name], form.model_fields, form, say))
    if kind == 'missing':
        return f'{say(name)} is missing' if name else f'{what} takes an object, and there is none'
    if kind == 'value_error':
        wrong = str(about['error'])
    elif kind in _WRONG:
        wrong = f'it has to be {_WRONG[kind].format(**about)}'
    else:
        wrong = error['msg']
    field = '.'.join([say(name), *inner])
    return f'{field} is {_quoted(error["input"])}: {wrong}' if name else f'{what}: {wrong}'


def _quoted(value: Any) -> str:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):  # of a page's address
        (value,) = value
    text = printable(value if isinstance(value, str) else repr(value))
    text = text.encode(errors='backslashreplace').decode()  # half a character of two
    text = text if len(text) <= _QUOTED else f'{text[:_QUOTED]}...'
    return f"'{text}'" if isinstance(value, str) else text
