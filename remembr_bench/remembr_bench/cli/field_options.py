"""Options of the command line that are made from the fields of a model, so that each is written once."""

import argparse
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel

from remembr_bench.evaluation.records.config import validated
from remembr_ros.forms.faces import choices_of, flag

Options = TypeVar('Options', bound=BaseModel)


def add_fields(
    parser: argparse._ActionsContainer,
    model: type[BaseModel],
    *names: str,
    required: tuple[str, ...] = (),
    **settings: Any,
) -> None:
    """Add an option for each field: its name, type, default and help are those of the field.

    :param names: of the fields; none: all of them
    :param required: names of those that have to be given
    :param settings: by the name of a field, what it can be here: default and choices
    """
    for name in names or model.model_fields:
        field, changed = model.model_fields[name], settings.get(name, {})
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        default = changed.get('default', field.default)
        about = field.description or ''
        option: dict[str, Any] = {'dest': name}
        if field.annotation is bool:
            option['action'] = 'store_false' if default else 'store_true'
        else:
            option |= _values(field.annotation) | changed
            option['required'] = name in required or field.is_required()
            if extra['metavar']:
                option['metavar'] = str(extra['metavar'])
                about += f': {", ".join(option["choices"])}' if 'choices' in option else ''
            if not option['required'] and (shown := _shown(default, option.get('choices'))):
                about += f' (default: {shown})'
        option = {'default': argparse.SUPPRESS, **option, 'help': about.replace('%', '%%')}
        parser.add_argument(str(extra['flag']) or flag(name), **option)


def read_fields(args: argparse.Namespace, model: type[Options], **values: object) -> Options:
    """Return the options that were given; what was not given keeps its default.

    :param values: of fields that are no options
    :raises InvalidRequest: they make no sense
    """
    given = {name: value for name, value in vars(args).items() if name in model.model_fields}
    return validated(model, {**given, **values}, flag)


def _values(annotation: Any) -> dict[str, Any]:
    """Return how many values an option takes, and which."""
    option: dict[str, Any] = {}
    kind = get_args(annotation)[0] if get_origin(annotation) is tuple else annotation
    if kind is not annotation:
        option['nargs'] = '+'
    if get_origin(annotation) is dict:
        option |= {'action': 'append', 'type': _pair}
    if choices := choices_of(kind):
        option['choices'] = choices
    return option


def _shown(default: Any, choices: Sequence[str] | None) -> str:
    """Return a default for the help; empty: there is none to be told."""
    if isinstance(default, tuple):
        return 'all' if choices and set(choices) == set(default) else ' '.join(map(str, default))
    if isinstance(default, Enum):
        return str(default.value)
    return str(default) if isinstance(default, str | int | float | Path) else ''


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition('=')
    if not equals:
        raise argparse.ArgumentTypeError(f'{text!r} is no pair KEY=VALUE')
    return key, value
