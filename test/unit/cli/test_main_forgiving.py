"""The command forgives: words without quotes, three examples in every help, one line of what is wrong."""

import importlib
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.cli.main import VERBS, _module, _Parser, main
from test.unit.cli.conftest import Run

RunJson = Callable[..., dict[str, Any]]


@pytest.mark.parametrize('verb', VERBS)
def test_every_verb_has_three_examples_that_are_understood(command: Run, verb: str) -> None:
    module = importlib.import_module(_module(verb))
    assert len(module.EXAMPLES) == 3
    parser = _Parser(prog='remembr')
    made = parser.add_subparsers(dest='verb').add_parser(verb)
    module.add_arguments(made)
    for example in module.EXAMPLES:
        args, rest = parser.parse_known_args(shlex.split(example))
        assert args.verb == verb
        assert not rest
    code, out, _ = command(verb, '--help')
    assert code == 0
    assert all(f'  remembr {example}\n' in out for example in module.EXAMPLES)


def test_words_need_no_quotes_and_may_stand_behind_options(command_json: RunJson, memory_file: str) -> None:
    asked = command_json('ask', 'Where', 'is', 'the', 'lift', '--memory', memory_file)
    assert asked['question'] == 'Where is the lift'
    for words in (
        ['the', 'printer', '--limit', '1'],
        ['--limit', '1', 'the', 'printer'],
        ['--text', 'the printer', '--limit', '1'],
    ):
        (found,) = command_json('recall', *words, '--memory', memory_file)['memories']
        assert found['id'] == 'id2'


def test_a_position_is_two_or_three_numbers_or_one_word(command_json: RunJson, memory_file: str) -> None:
    within = ['recall', '--memory', memory_file, '--limit', '1', '--radius', '99']
    whole = command_json(*within, '--near', '9', '1', '0', '--text', 'the printer')
    for near in (
        ['the', 'printer', '--near', '9', '1'],
        ['--near', '9,1', 'the', 'printer'],
        ['--near', '9', '1', '0', 'the', 'printer'],
    ):
        assert command_json(*within, *near) == whole
    assert len(whole['memories']) == 1


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (['recall', '--limt', '3'], "it does not take '--limt', but --limit"),
        (['recall', '--limit'], 'recall: --limit: expected one argument'),
        (['recall', 'lift', '--text', 'printer'], "'lift' is a second text beside --text"),
        (['recall', '--position'], 'recall: --position: expected at least one argument'),
        (['recall', '--position', '1', '2', 'up'], 'it has to be coordinates x, y and maybe z'),
        (['recall', '--position', '1', 'the printer'], 'it has to be coordinates x, y and maybe z'),
        (['recall', '--place', '1, 2'], '--place is '),
        (['info', 'more'], "it does not take 'more'"),
        (
            ['objects', '--relation', 'above', '--anchor', 'table'],
            "--relation is 'above': it has to be one of 'on'",
        ),
        (['ask', 'Where?', '--map', 'attic'], "there is no memory of a map 'attic'; there are: ''"),
    ],
)
def test_what_is_wrong_is_one_line(command: Run, memory_file: str, arguments: list[str], said: str) -> None:
    code, out, err = command(*arguments, '--memory', memory_file)
    assert (code, out, err.count('\n')) == (2, '', 1)
    assert said in err


@pytest.mark.parametrize('old', ['--map-id', '--robots'])
def test_another_word_for_an_option_is_understood(command_json: RunJson, memory_file: str, old: str) -> None:
    assert command_json('recall', old, 'nothing', '--memory', memory_file) == {'memories': [], 'total': 0}


def test_the_options_of_a_server_are_shown_where_they_are_asked_for(command: Run) -> None:
    code, out, _ = command('recall', '--help')
    assert (code, '--help-server' in out, '--ca-pem' in out) == (0, True, False)
    code, out, _ = command('recall', '--help-server')
    assert code == 0
    assert all(option in out for option in ('--db-name', '--ca-pem', '--token-file', 'REMEMBR_MILVUS_TOKEN'))
    assert '--milvus-token-file' in command('web', '--help-server')[1]


def test_who_has_seen_enough_ends_it_quietly(memory_file: str, tmp_path: Path) -> None:
    program = [
        sys.executable,
        '-m',
        'remembr_ros.cli.main',
        'recall',
        '--limit',
        '1000',
        '--memory',
        memory_file,
    ]
    errors = (tmp_path / 'errors').open('w')
    with errors, subprocess.Popen(program, stdout=subprocess.PIPE, stderr=errors) as running:
        assert running.stdout is not None
        running.stdout.close()  # as `| head -0` does
        code = running.wait(60)
    assert (tmp_path / 'errors').read_text() == ''
    assert code == 141  # of SIGPIPE, as of any other program


def test_a_connection_that_breaks_is_no_reader_that_has_seen_enough(
    memory_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise BrokenPipeError('the server hung up')

    monkeypatch.setattr('remembr_ros.cli.verbs.info.open_memory', broken)
    with pytest.raises(BrokenPipeError, match='hung up'):
        main(['info', '--memory', memory_file])


def test_a_verb_that_is_nearly_one_is_told_which_is_meant(command: Run) -> None:
    code, out, err = command('places')
    assert (code, out, err.count('\n')) == (2, '', 1)
    assert "there is no verb 'places', but place;" in err
