import argparse
import json

import pytest

from remembr_bench.cli import compare
from remembr_ros.errors import InvalidRequest


def command(*arguments) -> int:
    parser = argparse.ArgumentParser()
    compare.add_arguments(parser)
    return compare.run(parser.parse_args([str(argument) for argument in arguments]))


@pytest.fixture
def runs(tmp_path, record):
    for name, correct in (('a', False), ('b', True)):
        (tmp_path / name).mkdir()
        line = record('x', correct=correct).model_dump_json() + '\n'
        (tmp_path / name / 'answers.jsonl').write_text(line)
    (tmp_path / 'b' / 'results.json').write_text('{"planner": "agent", "embedder": "hashing"}')
    return tmp_path / 'a', tmp_path / 'b'


def test_json(runs, capfd):
    assert command(*runs, '--json') == 0
    found = json.loads(capfd.readouterr().out)
    assert (found['a'], found['b']) == tuple(map(str, runs))
    assert found['correctness']['ALL']['difference'] == 1.0
    assert found['wins'] == [['navqa-7', 'x', 0]]


def test_the_table(runs, capfd):
    assert command(*runs) == 0
    out = capfd.readouterr().out
    assert f'A  {runs[0]}: 1 answers\n' in out
    assert f'B  {runs[1]}: 1 answers, planner agent, embedder hashing\n' in out
    assert 'McNemar' in out


def test_no_run(runs, tmp_path):
    with pytest.raises(InvalidRequest, match='holds no run'):
        command(runs[0], tmp_path)
