"""Options made from the fields of a model: names, values, defaults and help come from there."""

import argparse
from enum import Enum
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel

from remembr_bench.cli.field_options import add_fields, read_fields
from remembr_bench.evaluation.records.config import option
from remembr_ros.errors import InvalidRequest


class Colour(str, Enum):
    RED = 'red'


class Made(BaseModel):
    folder: Path = option(..., 'where', 'DIR', flag='--data')
    most_tries: int = option(3, '100 % sure', 'N', ge=1)
    names: tuple[str, ...] = option((), 'several', 'NAME')
    colour: Colour = option(Colour.RED, 'which')
    mood: Literal['good', 'bad'] = option('good', 'how')
    words: bool = option(True, 'without words', flag='--no-words')
    rate: float | None = option(None, 'at most', 'N')


def parser(*names: str, **settings) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser()
    add_fields(made, Made, *names, **settings)
    return made


def test_what_is_given_is_read_and_the_rest_keeps_its_default() -> None:
    given = '--data d --most-tries 7 --names a b --mood bad --no-words --rate 2.5'.split()
    assert read_fields(parser().parse_args(given), Made) == Made(
        folder=Path('d'), most_tries=7, names=('a', 'b'), mood='bad', words=False, rate=2.5
    )
    assert read_fields(parser().parse_args(['--data', 'd']), Made) == Made(folder=Path('d'))


def test_the_help_has_text_defaults_and_choices() -> None:
    told = ' '.join(parser(names={'choices': ['a', 'b']}).format_help().split())
    for words in ('--data DIR', '100 % sure (default: 3)', '{red}', '{good,bad}', 'several: a, b'):
        assert words in told


def test_a_verb_may_have_its_own_default_and_some_fields_only() -> None:
    args = parser('most_tries', most_tries={'default': 9}).parse_args([])
    assert vars(args) == {'most_tries': 9}


@pytest.mark.parametrize('wrong', [[], ['--mood', 'odd'], ['--colour', 'blue']])
def test_what_is_missing_or_no_choice_is_wrong_usage(wrong: list[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(['--data', 'd', *wrong] if wrong else [])


def test_a_value_without_sense_is_named_by_its_option() -> None:
    args = parser().parse_args(['--data', 'd', '--most-tries', '0'])
    with pytest.raises(InvalidRequest, match='--most-tries'):
        read_fields(args, Made)
