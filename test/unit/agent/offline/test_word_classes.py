import re
from pathlib import Path

import pytest

from remembr_ros.agent import offline
from remembr_ros.agent.offline.word_classes import classes_of, said_by, word_class


def test_a_class_has_the_words_of_the_classes_in_it() -> None:
    assert word_class('of_things') < word_class('attributes')
    assert 'colour' in word_class('attributes')
    assert not any(word.startswith('+') for word in word_class('of_motion'))


def test_words_that_look_like_others_in_yaml_are_words() -> None:
    assert {'no', 'not', "n't"} <= word_class('negative')
    assert {'on', 'any'} <= word_class('of_objects')


def test_there_is_no_other_class() -> None:
    with pytest.raises(KeyError, match='of_nothing'):
        word_class('of_nothing')


def test_classes_of_a_kind_are_known_by_the_words_that_name_them() -> None:
    assert classes_of('shade')['gray'] == ['grey', 'white', 'black']
    assert classes_of('shade')['green'] == []
    assert classes_of('like', str.upper)['SPHERICAL'] == ['apple', 'ball', 'orange']


def test_what_a_class_says_has_spaces_and_any_ending() -> None:
    said = re.compile(said_by('highlights'))
    assert [found[0] for found in said.finditer('a surprising thing, out of the ordinary')] == [
        'surprising',
        'out of the ordinary',
    ]
    assert not said.search('an especially usual day')


def test_each_class_is_there_once() -> None:
    listed = Path(offline.__path__[0], 'words.yaml').read_text()
    named = re.findall(r'^([\w ]+):', listed, re.MULTILINE)
    assert sorted(named) == sorted(set(named))
    assert max(map(len, listed.splitlines())) <= 110


def test_each_class_is_used() -> None:
    code = '\n'.join(path.read_text() for path in Path(offline.__path__[0]).rglob('*.py'))
    listed = Path(offline.__path__[0], 'words.yaml').read_text()
    named = set(re.findall(r'^([\w ]+):', listed, re.MULTILINE))
    by_kind = {
        name for name in named if re.match(r'(?:became|group|lies|like|say|shade|sort|state) |of_', name)
    }
    unused = [
        name for name in named - by_kind if f"'{name}'" not in code and not re.search(rf'\+{name}\b', listed)
    ]
    assert unused == []
