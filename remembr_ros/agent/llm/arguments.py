"""Arguments of tools: checked against a schema, tolerant of spelling.

What a model may mean only in one way is understood: a refusal costs a call.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


class Arguments(BaseModel):
    """What a call of a tool says; the docstring of each is what the model is told of the tool."""

    model_config = ConfigDict(extra='ignore', coerce_numbers_to_str=True)

    @model_validator(mode='before')
    @classmethod
    def _without_blanks(cls, given: Any) -> Any:
        """Take null and '' for not given: so many models fill in what they have no use for."""
        if not isinstance(given, dict):
            return given
        return {
            name: value
            for name, value in given.items()
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
    limit: int | None = Field(None, ge=1, json_schema_extra=UNTOLD)
