"""Arguments of tools: checked against a schema, tolerant of spelling.

What a model may mean only in one way is understood: a refusal costs a call.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from remembr_ros.forms.faces import kind_of
from remembr_ros.forms.fields import Position, Source, Time, TimeOrDeed
from remembr_ros.forms.form import Form, synonyms


class Arguments(BaseModel):
    """What a call of a tool says; the docstring of each is what the model is told of the tool."""

    model_config = ConfigDict(extra='ignore', coerce_numbers_to_str=True)
    form: ClassVar[type[Form]] = Form
    """What it asks for, whose other words for a field are understood."""

    @model_validator(mode='before')
    @classmethod
    def _without_blanks(cls, given: Any) -> Any:
        """Take null and '' for not given: so many models fill in what they have no use for."""
        if not isinstance(given, dict):
            return given
        meant = {other: name for name in cls.form.model_fields for other in synonyms(cls.form, name)}
        named = {name if name in cls.model_fields else meant.get(name, name): given[name] for name in given}
        return {
            name: value
            for name, value in named.items()
            if name not in cls.model_fields or (value is not None and value != '')
        }


UNTOLD: dict[str, Any] = {'untold': True}
"""Understood, as many models use it, but not in the schema: each word of it is paid for in every call."""


def as_one_of(aliases: Mapping[str, str]) -> Callable[[Any], Any]:
    """Return what makes the word that a model writes one of those in a schema."""

    def named(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        word = '_'.join(value.lower().replace('-', ' ').replace('/', ' ').replace('_', ' ').split())
        return aliases.get(word, word)

    return named


def _as_point(value: Any) -> Any:
    if isinstance(value, dict) and {'x', 'y'} <= value.keys():
        return [value['x'], value['y'], value.get('z', 0.0)]
    if isinstance(value, int | float):
        raise ValueError('a place is here, a label, or x, y, z')
    return value


Place = Annotated[list[float] | str, BeforeValidator(_as_point)]
Labels = Annotated[list[str], BeforeValidator(lambda value: value if isinstance(value, list) else [value])]


class Narrowed(Arguments):
    """What a tool that goes over memories may be narrowed down to. The system prompt explains these once."""

    when: str | None = Field(None, max_length=200)
    after: str | None = Field(None, max_length=200, json_schema_extra=UNTOLD)
    before: str | None = Field(None, max_length=200, json_schema_extra=UNTOLD)
    near: Place | None = None
    radius: float = Field(10.0, gt=0.0, le=1e6, json_schema_extra=UNTOLD)
    robot: str | None = Field(None, max_length=200, json_schema_extra=UNTOLD)
    map: str | None = Field(None, max_length=200, json_schema_extra=UNTOLD)
    place: str | None = Field(None, max_length=200, json_schema_extra=UNTOLD)
    source: Source = Field(None, json_schema_extra=UNTOLD)
    limit: int | None = Field(None, ge=1, json_schema_extra=UNTOLD)


def arguments_of(form: type[Form], name: str, doc: str, *told: str, **more: Any) -> Any:
    """Return the arguments of a tool that asks for what a form does, times and places in words.

    :param name: of the class
    :param doc: what a model is told of the tool
    :param told: the fields that it is told of; the others are understood
    :param more: fields that the form does not have, as create_model takes them
    """
    fields: dict[str, Any] = {}
    for field_name, field in form.model_fields.items():
        kind = kind_of(field)
        if field_name in Narrowed.model_fields and not (field_name in told and kind in (Time, TimeOrDeed)):
            continue
        typed: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        typed = str | None if kind in (Time, TimeOrDeed) else typed
        typed = Place | None if kind == Position else typed
        extra = None if field_name in told else UNTOLD
        fields[field_name] = (typed, Field(field.default, json_schema_extra=extra))
    made = create_model(name, __base__=Narrowed, __doc__=doc, **fields | more)
    made.form = form
    return made
